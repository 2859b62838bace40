"""What the screens keep between runs: the user's preferences, and the marks of reviewed changes.

Preferences are in `config.toml` in the user's config folder. The file is the user's: a change replaces or adds one
line, and everything else in it, unknown keys and comments too, remains. A file that cannot be read is never written.

Marks are the user's own work, so they lie in the data folder, apart from the cache. Several processes may use them at
once. Nothing of them raises; `MarkStore.take_notices` returns failures as sentences.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from locklens.errors import ConfigurationError, LockLensError
from locklens.storage.database import Database, DatabaseLayout
from locklens.text import counted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping
    from pathlib import Path

CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": ("dark", "light"),
    "review.group": ("root", "provider", "severity"),
    "review.sort": ("severity", "provider", "age", "root"),
    "upgrade.group": ("provider", "root"),
}
"""The keys and their values, the default first."""

MAX_PREFERENCES_BYTES = 64 * 1024
"""No larger file is read: all keys together take a few lines."""

_HEADER = "# Preferences of locklens' terminal UI, kept when a key changes them.\n"
_PLACE = re.compile(r" \(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)\Z")
_TABLE = re.compile(r"\s*\[\s*(?P<name>[^\[\]]*?)\s*\]\s*(?:#.*)?\Z")

_LAYOUT = DatabaseLayout(
    schema=2,
    tables=(
        """
        CREATE TABLE IF NOT EXISTS marks (
            repository TEXT NOT NULL,
            change_id TEXT NOT NULL,
            marked_at TEXT NOT NULL,
            findings TEXT,
            PRIMARY KEY (repository, change_id)
        ) WITHOUT ROWID
        """,
    ),
    name="store of marks",
    contents="Marks",
    steps=((1, "ALTER TABLE marks ADD COLUMN findings TEXT"),),
)
_OUTDATED = re.compile("(finding:)?[0-9a-f]{16}")
"""Ids of earlier versions. One of them could stand for several changes, so its mark proves nothing about any."""


def default_preferences_path() -> Path:
    """The file in the user's config folder."""
    from platformdirs import user_config_path

    return user_config_path("locklens", appauthor=False) / "config.toml"


def read_preferences(path: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the values by key, and a notice with file and line for each invalid one; never raises."""
    try:
        text = _read(path)
        document = _parsed(text, path)
    except LockLensError as error:
        return {}, (f"{error}; the defaults apply, and no preference is saved",)
    values: dict[str, str] = {}
    notices: list[str] = []
    for key, choices in CHOICES.items():
        value = _value(document, key)
        if isinstance(value, str) and value in choices:
            values[key] = value
        elif value is not None:
            line = _line_of(text, key)
            place = f"{path}:{line + 1}" if line is not None else str(path)
            shown = repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:39]}…"
            notices.append(f"{place}: {key} is {' or '.join(choices)}, not {shown}; {choices[0]} applies")
    return values, tuple(notices)


def save_preference(path: Path, key: str, value: str) -> None:
    """Change one value in the file, in one step; the file and its folder are made if needed.

    Raises:
        ConfigurationError: The file is not valid TOML, cannot be read or written, or has the key in another form.
    """
    from locklens.storage.files import write_atomically

    before = _read(path)
    document = _parsed(before, path)
    if _value(document, key) == value:
        return
    text = _with_value(before, key, value)
    _require_only_change(document, _parsed(text, path), key, value, path)
    # A link is the user's, for example to a repository of settings.
    place = path.resolve()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot be created: {error.strerror}", path=str(place.parent)) from error
    write_atomically(place, text.encode())


def _read(path: Path) -> str:
    """The file's text; "" without a file."""
    from locklens.storage.files import read_bounded

    data = read_bounded(path, MAX_PREFERENCES_BYTES, missing=b"")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError("not UTF-8, as TOML has to be", path=str(path), line=line) from error


def _parsed(text: str, path: Path) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)
        place = _PLACE.search(reason)
        line = int(place["line"]) if place and place["line"] else text.rstrip("\n").count("\n") + 1
        what = reason[: place.start()] if place else "too deeply nested"
        raise ConfigurationError(f"not valid TOML: {what}", path=str(path), line=line) from error


def _value(document: Mapping[str, object], key: str) -> object:
    value: object = document
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _line_of(text: str, key: str) -> int | None:
    """The index of the line that sets a key; None if no line does so in the usual form."""
    table, _, name = key.rpartition(".")
    here = ""
    for index, line in enumerate(text.split("\n")):
        if heading := _TABLE.match(line):
            here = heading["name"].strip()
        elif here == table and re.match(rf"\s*{re.escape(name)}\s*=", line):
            return index
    return None


def _with_value(text: str, key: str, value: str) -> str:
    table, _, name = key.rpartition(".")
    lines = (text or _HEADER).removesuffix("\n").split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    setting = f'{name} = "{value}"'
    index = _line_of(text, key)
    if index is not None:
        comment = re.search(r"""\s*=\s*(?:"[^"]*"|'[^']*'|[^"'#]*?)(\s*#.*)?\r?\Z""", lines[index])
        lines[index] = setting + (comment[1] or "" if comment else "").rstrip("\r") + end
        return "\n".join(lines) + "\n"
    documented = f"{setting}  # {', '.join(CHOICES[key])}{end}"
    headings = [(at, heading["name"].strip()) for at, line in enumerate(lines) if (heading := _TABLE.match(line))]
    if not table:
        # Keys of the top come before the first table.
        first = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
        lines.insert(first, documented)
    elif (at := next((at for at, heading in headings if heading == table), None)) is not None:
        lines.insert(at + 1, documented)
    else:
        lines += [end, f"[{table}]{end}", documented]
    return "\n".join(lines) + "\n"


def _require_only_change(before: dict[str, object], after: dict[str, object], key: str, value: str, path: Path) -> None:
    """Refuse an edit that changed anything but the key's value, such as a line within a string of several lines."""
    table, _, name = key.rpartition(".")
    expected = {**before}
    if table:
        own = before.get(table)
        expected[table] = {**(own if isinstance(own, dict) else {}), name: value}
    else:
        expected[name] = value
    if after != expected:
        hint = (
            f"write {key} = {value!r} yourself" if not table else f"write {name} = {value!r} below [{table}] yourself"
        )
        raise ConfigurationError(f"{key} cannot be changed in this form", path=str(path), hint=hint)


def default_marks_path() -> Path:
    """The path of the store, in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("locklens", appauthor=False) / "store.sqlite3"


class MarkStore:
    """Marks of changes by repository, in a SQLite file. Safe to use from several threads and processes.

    Each call opens the file anew; it is that of `default_marks_path` unless given.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._database = Database(_LAYOUT, lambda: path or default_marks_path())
        self._notices: list[str] = []

    def take_notices(self) -> tuple[str, ...]:
        """Return the failures since the last call, and the dropped marks, as sentences."""
        taken, self._notices = self._notices, []
        return (*taken, *self._database.take_notices())

    @property
    def is_kept(self) -> bool:
        """True if marks outlive the run."""
        return self._database.is_kept

    def marks(self, repository: str) -> dict[str, frozenset[str] | None]:
        """Return the changes that are marked in a repository, by their ids; those of earlier versions are dropped.

        Of each there are the rules of the findings that it had when it was marked; None where they were not kept.
        """

        def read(connection: sqlite3.Connection) -> list[tuple[str, str | None]]:
            rows = connection.execute("SELECT change_id, findings FROM marks WHERE repository = ?", (repository,))
            return rows.fetchall()

        rows = self._database.run(read)
        outdated = frozenset(one for one, _ in rows if _OUTDATED.fullmatch(one))
        if outdated:
            self.unmark(repository, outdated)
            marks = counted(len(outdated), "mark of a reviewed change was", "marks of reviewed changes were")
            why = "an earlier locklens made them, with ids that could stand for several changes"
            self._notices.append(f"{marks} dropped: {why}; review and mark these changes again")
        return {one: None if rules is None else frozenset(rules.split()) for one, rules in rows if one not in outdated}

    def mark(self, repository: str, changes: Mapping[str, Collection[str]]) -> None:
        """Mark changes as reviewed, each with the rules of its findings by its id; a marked one keeps its time."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(repository, one, now, " ".join(sorted(rules))) for one, rules in changes.items()]
        statement = (
            "INSERT INTO marks VALUES (?, ?, ?, ?)"
            " ON CONFLICT (repository, change_id) DO UPDATE SET findings = excluded.findings"
        )
        self._database.run(lambda file: file.executemany(statement, rows))

    def unmark(self, repository: str, change_ids: Collection[str]) -> None:
        """Remove marks."""
        rows = [(repository, change_id) for change_id in change_ids]
        self._database.run(
            lambda file: file.executemany("DELETE FROM marks WHERE repository = ? AND change_id = ?", rows)
        )
