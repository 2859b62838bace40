"""Planned writes on disk: all files or none, whatever happens in between."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec import structs

from locklens.errors import ConfigurationError, StaleLockFileError
from locklens.operations.plan import FileChanges, PlannedFile
from locklens.operations.write import apply as applying
from locklens.operations.write.apply import apply
from locklens.operations.write.recover import recover_at
from locklens.storage.journal import Journal, WrittenFile, write_temporary


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "root").mkdir(parents=True)
    (top / "a.tf").write_bytes(b"old a\r\n")
    (top / "root/lock").write_bytes(b"old lock\n")
    return top


A = PlannedFile("a.tf", b"old a\r\n", b"new a\r\n")
LOCK = PlannedFile("root/lock", b"old lock\n", b"new lock\n")
FRESH = PlannedFile("root/fresh", None, b"fresh\n")


def proposal(top: Path, *files: PlannedFile) -> FileChanges:
    return FileChanges(top, files, ("something",), "locklens upgrade")


def contents(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


OLD = {"a.tf": b"old a\r\n", "root/lock": b"old lock\n"}
NEW = {"a.tf": b"new a\r\n", "root/lock": b"new lock\n", "root/fresh": b"fresh\n"}


def test_all_files_are_written_and_nothing_else_is_left(top: Path, journal: Journal) -> None:
    assert apply(proposal(top, A, LOCK, FRESH), journal=journal) == ()
    assert contents(top) == NEW
    assert journal.pending(top) is None


def test_what_was_there_before_is_kept_for_its_owner_alone(top: Path, journal: Journal) -> None:
    apply(proposal(top, A, FRESH), journal=journal)
    record = journal.last(top)
    assert record is not None
    assert record.command == "locklens upgrade"
    assert [(file.path, file.old, file.new) for file in record.files] == [
        (str(top / "a.tf"), A.old, A.new),
        (str(top / "root/fresh"), None, FRESH.new),
    ]
    assert journal.folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in journal.folder.iterdir())


def test_permissions_stay(top: Path, journal: Journal) -> None:
    (top / "a.tf").chmod(0o640)
    (top / "root/lock").chmod(0o755)
    apply(proposal(top, A, LOCK, FRESH), journal=journal)
    modes = [(top / name).stat().st_mode & 0o777 for name in ("a.tf", "root/lock", "root/fresh")]
    assert modes == [0o640, 0o755, 0o644]


@pytest.mark.parametrize("change", ["other", "gone", "folder", "appeared"])
def test_a_file_that_changed_since_it_was_read(top: Path, journal: Journal, change: str) -> None:
    lock = top / "root/lock"
    if change == "other":
        lock.write_bytes(b"other\n")
    elif change == "appeared":
        (top / "root/fresh").write_bytes(b"")
    else:
        lock.unlink()
        if change == "folder":
            lock.mkdir()
    before = contents(top)
    with pytest.raises(ConfigurationError) as caught:
        apply(proposal(top, A, LOCK, FRESH), journal=journal)
    assert isinstance(caught.value, StaleLockFileError) == (change != "folder")
    assert caught.value.path == ("root/fresh" if change == "appeared" else "root/lock")
    assert contents(top) == before
    assert journal.pending(top) is None


def test_a_file_that_changes_while_the_others_are_prepared(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = write_temporary

    def stage(file: object, data: bytes, name: str) -> None:
        real(file, data, name)  # type: ignore[arg-type]
        (top / "a.tf").write_bytes(b"somebody's\n")

    monkeypatch.setattr("locklens.operations.write.apply.write_temporary", stage)
    with pytest.raises(StaleLockFileError, match=r"^a\.tf: "):
        apply(proposal(top, A, LOCK), journal=journal)
    assert contents(top) == OLD | {"a.tf": b"somebody's\n"}


def test_links_are_followed_inside_of_the_repository_only(top: Path, journal: Journal, tmp_path: Path) -> None:
    outside = tmp_path / "outside.tf"
    outside.write_bytes(A.old or b"")
    (top / "root/link.tf").symlink_to("../a.tf")
    apply(proposal(top, PlannedFile("root/link.tf", A.old, A.new)), journal=journal)
    assert (top / "root/link.tf").is_symlink()
    assert (top / "a.tf").read_bytes() == A.new

    for name, target in (("out.tf", outside), ("up", tmp_path)):
        (top / name).symlink_to(target)
    for path in ("out.tf", "up/outside.tf", "../outside.tf", str(outside)):
        with pytest.raises(ConfigurationError, match=re.escape(f"leads out of {os.path.realpath(top)}, to ")):
            apply(proposal(top, PlannedFile(path, A.old, A.new), LOCK), journal=journal)
    assert outside.read_bytes() == A.old
    assert (top / "root/lock").read_bytes() == LOCK.old


def test_nothing_is_written_into_gits_own_folder(top: Path, journal: Journal) -> None:
    (top / ".git").mkdir()
    (top / ".git" / "config").write_bytes(A.old or b"")
    (top / "link.tf").symlink_to(".git/config")
    with pytest.raises(ConfigurationError, match=r"link\.tf: leads to .*/\.git/config"):
        apply(proposal(top, PlannedFile("link.tf", A.old, A.new)), journal=journal)
    assert (top / ".git" / "config").read_bytes() == A.old


def test_a_file_with_two_names_is_written_once(top: Path, journal: Journal) -> None:
    (top / "link.tf").symlink_to("a.tf")
    apply(proposal(top, A, PlannedFile("link.tf", A.old, A.new)), journal=journal)
    assert (top / "a.tf").read_bytes() == A.new
    (top / "a.tf").write_bytes(A.old or b"")
    with pytest.raises(ConfigurationError, match=r"^link\.tf: is the same file as a\.tf"):
        apply(proposal(top, A, PlannedFile("link.tf", A.old, b"other")), journal=journal)
    assert (top / "a.tf").read_bytes() == A.old


def test_a_pipe_is_no_file(top: Path, journal: Journal) -> None:
    (top / "a.tf").unlink()
    os.mkfifo(top / "a.tf")
    with pytest.raises(ConfigurationError, match=r"^a\.tf: cannot be read"):
        apply(proposal(top, A), journal=journal)


@pytest.mark.parametrize("fails_at", [1, 2, 3])
@pytest.mark.parametrize("step", ["stage", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_step_that_fails_leaves_all_as_it_was(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, step: str, fails_at: int, error: BaseException
) -> None:
    calls = 0

    def failing(real: object) -> object:
        def call(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if calls == fails_at:
                raise error
            return real(*arguments)  # type: ignore[operator]

        return call

    if step == "stage":
        monkeypatch.setattr("locklens.operations.write.apply.write_temporary", failing(write_temporary))
    else:
        real, count = os.replace, 0

        def replace(source: str, target: str) -> None:
            nonlocal count
            count += ".locklens-" in os.fspath(source)
            if count == fails_at and ".locklens-" in os.fspath(source):
                count = 99
                raise error
            real(source, target)

        monkeypatch.setattr(os, "replace", replace)
    expected = ConfigurationError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        apply(proposal(top, A, LOCK, FRESH), journal=journal)
    if isinstance(caught.value, ConfigurationError):
        assert "cannot be written: no space left on device" in str(caught.value)
        assert caught.value.hint.startswith("nothing was written; ")
    assert contents(top) == OLD
    assert journal.pending(top) is None


def test_a_full_disk(top: Path, journal: Journal, tmp_path: Path) -> None:
    """A file system of 64 kB, where there may be one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (disk / "a.tf").write_bytes(A.old or b"")
        with pytest.raises(ConfigurationError, match=r"^b\.tf: cannot be written: no space left on device"):
            apply(proposal(disk, A, PlannedFile("b.tf", None, b"x" * 200_000)), journal=journal)
        assert contents(disk) == {"a.tf": A.old}
    finally:
        subprocess.run(["umount", str(disk)], check=True)


READ_ONLY = """
import fcntl, os, sys
from pathlib import Path
from locklens.storage.journal import Journal, WrittenFile
from locklens.operations.write.apply import apply
from locklens.operations.plan import FileChanges, PlannedFile
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
top = Path(sys.argv[1])
try:
    files = (PlannedFile("a.tf", b"old a\\r\\n", b"new"), PlannedFile("root/lock", b"old lock\\n", b"new"))
    apply(FileChanges(top, files, (), ""), journal=Journal(Path(sys.argv[2])))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_folder_that_may_not_be_written_to() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o711)
        top, data = place / "top", place / "data"
        for folder in (top, top / "root", data):
            folder.mkdir()
            folder.chmod(0o777)
        for path, content in OLD.items():
            (top / path).write_bytes(content)
            (top / path).chmod(0o666)
        (top / "root").chmod(0o555)
        command = [sys.executable, "-c", READ_ONLY, str(top), str(data / "writes")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (top / "root").chmod(0o755)
        assert said == "ConfigurationError root/lock: cannot be written: permission denied\n"
        assert contents(top) == OLD


def test_without_a_data_folder_one_file_is_written_and_several_are_not(top: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    journal = Journal(tmp_path / "file" / "writes")
    with pytest.raises(ConfigurationError, match=r"data folder .* cannot be used") as caught:
        apply(proposal(top, A, LOCK), journal=journal)
    assert "XDG_DATA_HOME" in caught.value.hint
    assert contents(top) == OLD
    (notice,) = apply(proposal(top, A), journal=journal)
    assert notice.startswith("this write cannot be undone: ")
    assert (top / "a.tf").read_bytes() == A.new


def test_two_runs_take_turns(top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "_WAIT_SECONDS", 0.1)
    with journal.held(top, wait=0) as is_held:
        assert is_held
        with pytest.raises(ConfigurationError, match="another locklens is writing in this repository"):
            apply(proposal(top, A), journal=journal)
        assert recover_at(top, journal=journal) == ()
    apply(proposal(top, A), journal=journal)


def test_nothing_to_write_touches_nothing(top: Path, journal: Journal) -> None:
    assert apply(proposal(top), journal=journal) == ()
    assert not journal.folder.exists()


# What was interrupted


def killed(top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Stops after so many files were put in their place, and lets nothing tidy up."""

    class _KilledError(BaseException):
        pass

    real, count = os.replace, 0

    def replace(source: str, target: str) -> None:
        nonlocal count
        if ".locklens-" in os.fspath(source):
            if count == after:
                raise _KilledError
            count += 1
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        patch.setattr(applying._Writing, "_revert", lambda *_: None)
        if after == 3:
            patch.setattr(Journal, "finish", lambda *_: None)
            apply(proposal(top, A, LOCK, FRESH), journal=journal)
            return
        with pytest.raises(_KilledError):
            apply(proposal(top, A, LOCK, FRESH), journal=journal)


@pytest.mark.parametrize("folder", [".", "root", ".."])
@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_the_next_run_completes_what_was_begun(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, after: int, folder: str
) -> None:
    (top / ".git").mkdir()
    killed(top, journal, monkeypatch, after)
    (said,) = recover_at(top / folder, journal=journal)
    if after == 0:
        assert said == "an interrupted write (locklens upgrade) had changed no file, and was discarded"
        assert contents(top) == OLD
    else:
        assert said == "an interrupted write (locklens upgrade) was completed: a.tf, root/lock, root/fresh"
        assert contents(top) == NEW
        assert journal.last(top) is not None
    assert recover_at(top, journal=journal) == ()


@pytest.mark.parametrize("has_repository", [False, True])
def test_what_was_begun_in_a_folder_above_is_left_alone_and_said(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, has_repository: bool
) -> None:
    """Only the top of what is worked on is written in: not a folder above that a record names."""
    if has_repository:
        (top / "root" / ".git").mkdir()
    killed(top, journal, monkeypatch, 1)
    before = contents(top)
    (said,) = recover_at(top / "root", journal=journal)
    assert said == f"an interrupted write in {top} was left untouched: run locklens there to complete or revert it"
    assert contents(top) == before
    (said,) = recover_at(top, journal=journal)
    assert "was completed" in said


@pytest.mark.parametrize("place", ["../beside", "root/../../beside", "."])
def test_a_record_with_a_place_outside_of_its_top_is_left_alone_and_said(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    killed(top, journal, monkeypatch, 1)
    record = journal.pending(top)
    assert record is not None
    beside = top.parent / "beside"
    beside.write_bytes(b"mine\n")
    odd = WrittenFile(os.fsencode(top) + b"/" + place.encode(), b"mine\n", b"yours\n", 0o644)
    journal.begin(structs.replace(record, files=(*record.files, odd)))
    before = contents(top)
    (said,) = recover_at(top, journal=journal)
    assert "was left untouched: it would write outside of" in said
    assert said.endswith(f"remove {journal.place(top)}")
    assert contents(top) == before
    assert beside.read_bytes() == b"mine\n"


def test_a_record_that_names_other_temporary_files_is_left_alone(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(top, journal, monkeypatch, 1)
    record = journal.pending(top)
    assert record is not None
    journal.begin(structs.replace(record, id="/../../beside/x"))
    assert "was left untouched" in recover_at(top, journal=journal)[0]


@pytest.mark.skipif(os.name != "posix", reason="owners and modes")
@pytest.mark.parametrize("what", ["folder", "record"])
@pytest.mark.parametrize("how", ["others may write to it", "it belongs to another user"])
def test_a_record_that_another_user_could_have_written_is_not_believed(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, what: str, how: str
) -> None:
    killed(top, journal, monkeypatch, 1)
    before = contents(top)
    place = journal.folder if what == "folder" else journal.place(top)
    if how.startswith("others"):
        place.chmod(0o722 if what == "folder" else 0o620)
    else:
        monkeypatch.setattr("locklens.machine._euid", lambda: os.geteuid() + 1)
    (said,) = recover_at(top, journal=journal)
    assert how in said
    assert "XDG_DATA_HOME" in said
    assert str(place) in said or what == "record"
    assert contents(top) == before
    with pytest.raises(ConfigurationError, match=how):
        apply(proposal(top, A, LOCK), journal=journal)
    with pytest.raises(ConfigurationError, match=how):
        journal.pending(top)


def test_it_is_taken_back_where_a_file_changed_since(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(top, journal, monkeypatch, 1)
    (top / "root/lock").write_bytes(b"somebody's\n")
    (said,) = recover_at(top, journal=journal)
    assert said.endswith("was reverted in a.tf, because root/lock changed since")
    assert contents(top) == OLD | {"root/lock": b"somebody's\n"}


def test_what_changed_after_the_last_file_was_written_is_somebodys_own(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(top, journal, monkeypatch, 3)
    (top / "a.tf").write_bytes(b"somebody's\n")
    (said,) = recover_at(top, journal=journal)
    assert "was completed" in said
    assert contents(top) == NEW | {"a.tf": b"somebody's\n"}


def test_a_written_file_that_changed_is_not_taken_for_one_that_was_not_written(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(top, journal, monkeypatch, 1)
    (top / "a.tf").write_bytes(b"somebody's\n")
    (said,) = recover_at(top, journal=journal)
    assert "can be neither completed nor reverted, because a.tf changed since" in said
    assert contents(top) == OLD | {"a.tf": b"somebody's\n"}
    assert journal.pending(top) is None


def test_a_folder_that_became_a_link_is_not_followed(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    killed(top, journal, monkeypatch, 1)
    outside = tmp_path / "outside"
    (top / "root").rename(outside)
    (top / "root").symlink_to(outside)
    before = contents(outside)
    (said,) = recover_at(top, journal=journal)
    assert "was reverted in a.tf" in said
    assert contents(outside) == before


def test_a_record_that_cannot_be_concluded_stands_in_nobodys_way(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "finish", failing)
        (said,) = apply(proposal(top, A, LOCK, FRESH), journal=journal)
    assert "this write cannot be undone" in said
    assert contents(top) == NEW
    assert journal.pending(top) is None


def test_words_of_names_that_are_not_utf_8(top: Path, journal: Journal) -> None:
    odd = structs.replace(
        proposal(top, A), words=("bad\udcff: put right",), command="locklens format --root 'bad\udcff'"
    )
    assert apply(odd, journal=journal) == ()
    record = journal.last(top)
    assert record is not None
    assert record.words == ("bad\\udcff: put right",)


def test_another_repository_is_not_touched(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    killed(top, journal, monkeypatch, 1)
    before = contents(top)
    (tmp_path / "top2").mkdir()
    assert recover_at(tmp_path / "top2", journal=journal) == ()
    assert contents(top) == before


def test_what_cannot_be_completed_is_said_and_kept(
    top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(top, journal, monkeypatch, 1)
    (top / "root/lock").unlink()
    (top / "root/lock").mkdir()
    (said,) = recover_at(top, journal=journal)
    assert "can be neither completed nor reverted: it is not a regular file" in said
    assert journal.pending(top) is not None
    with pytest.raises(
        ConfigurationError, match="an interrupted write in this repository has to be completed or reverted first"
    ):
        apply(proposal(top, PlannedFile("other", None, b"")), journal=journal)


def test_a_damaged_record_is_set_aside(top: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(top, journal, monkeypatch, 1)
    (pending,) = journal.folder.glob("*.pending")
    pending.write_bytes(pending.read_bytes()[:-5])
    assert recover_at(top, journal=journal) == ()
    assert [path.suffix for path in journal.folder.iterdir() if path.suffix != ".lock"] == [".damaged"]


def test_looking_for_one_makes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "nowhere")
    assert recover_at(tmp_path, journal=journal) == ()
    assert not journal.folder.exists()
