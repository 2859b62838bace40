"""The user's config.toml: read forgivingly, changed one line at a time."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from locklens.errors import ConfigurationError
from locklens.storage.preferences import (
    CHOICES,
    MAX_PREFERENCES_BYTES,
    default_preferences_path,
    read_preferences,
    save_preference,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "locklens" / "config.toml"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def test_the_file_is_in_the_users_config_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_preferences_path().name == "config.toml"
    assert "locklens" in default_preferences_path().parts


def test_every_preference_is_kept_and_documented(path: Path) -> None:
    assert read_preferences(path) == ({}, ())
    for key, choices in CHOICES.items():
        for value in choices[::-1]:
            save_preference(path, key, value)
            assert read_preferences(path)[0][key] == value
    assert read_preferences(path) == ({key: choices[0] for key, choices in CHOICES.items()}, ())
    assert path.read_text() == (
        "# Preferences of locklens' terminal UI, kept when a key changes them.\n"
        'theme = "dark"  # dark, light\n'
        "\n[review]\n"
        'sort = "severity"  # severity, provider, age, root\n'
        'group = "root"  # root, provider, severity\n'
        "\n[upgrade]\n"
        'group = "provider"  # provider, root\n'
    )
    assert [file.name for file in path.parent.iterdir()] == ["config.toml"]


MINE = """\
# mine
colour = 'red'   # unknown

[ review ] # rows
sort = 'age' # latest first
other = { x = 1 }

[[plugins]]
name = "x"
"""


def test_everything_else_remains(path: Path) -> None:
    put(path, MINE)
    assert read_preferences(path) == ({"review.sort": "age"}, ())
    save_preference(path, "review.sort", "root")
    assert path.read_text() == MINE.replace("sort = 'age' #", 'sort = "root" #')
    save_preference(path, "theme", "light")
    save_preference(path, "review.group", "severity")
    save_preference(path, "upgrade.group", "root")
    text = path.read_text()
    for line in MINE.replace("sort = 'age' #", 'sort = "root" #').splitlines():
        assert line in text.splitlines()
    document = tomllib.loads(text)
    assert (document["colour"], document["plugins"]) == ("red", [{"name": "x"}])
    assert document["review"] == {"sort": "root", "group": "severity", "other": {"x": 1}}
    assert (document["theme"], document["upgrade"]) == ("light", {"group": "root"})


def test_windows_line_ends_remain(path: Path) -> None:
    put(path, '# x\r\ntheme = "dark" # y\r\n')
    save_preference(path, "theme", "light")
    save_preference(path, "review.sort", "age")
    assert path.read_bytes() == (
        b'# x\r\ntheme = "light" # y\r\n\r\n[review]\r\nsort = "age"  # severity, provider, age, root\r\n'
    )


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        (
            '# x\n\n[review]\nsort = "up"\n',
            ":4: review.sort is severity or provider or age or root, not 'up'; severity applies",
        ),
        ("theme = 3\n", ":1: theme is dark or light, not 3; dark applies"),
        ("review = 3\n", ""),
        ('theme = "dark"\ntheme = "light"\n', ":2: not valid TOML: Cannot overwrite a value"),
        ("theme = \n", ":1: not valid TOML: Invalid value"),
        ('a = 1\n[review\nsort = "age"\n', ":2: not valid TOML"),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("#" * (MAX_PREFERENCES_BYTES + 1), "larger than 64 KiB"),
    ],
)
def test_a_mistake_is_a_notice_with_file_and_line(path: Path, text: str, notice: str) -> None:
    put(path, text)
    values, notices = read_preferences(path)
    assert values == {}
    assert len(notices) == bool(notice)
    if notice:
        assert f"{path}" in notices[0]
        assert notice in notices[0]
    if "TOML" in notice or "KiB" in notice:
        assert "the defaults apply, and no preference is saved" in notices[0]
        with pytest.raises(ConfigurationError):
            save_preference(path, "theme", "light")
        assert path.read_text() == text


def test_bytes_that_are_no_text(path: Path) -> None:
    put(path, "")
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    assert f"{path}:2: not UTF-8" in read_preferences(path)[1][0]


@pytest.mark.parametrize(
    "text",
    [
        'review = { sort = "age" }\n',
        'review.sort = "age"\n',
        'note = """\n[review]\nsort = "age"\n"""\n[review]\nsort="age"\n',
    ],
    ids=["inline", "dotted", "string"],
)
def test_another_form_is_left_alone(path: Path, text: str) -> None:
    put(path, text)
    assert read_preferences(path)[0] == {"review.sort": "age"}
    with pytest.raises(ConfigurationError) as caught:
        save_preference(path, "review.sort", "root")
    assert str(path) in str(caught.value)
    assert path.read_text() == text


def test_a_link_to_the_users_own_settings_is_followed(path: Path, tmp_path: Path) -> None:
    put(path, "")
    path.unlink()
    put(tmp_path / "dotfiles/locklens.toml", 'theme = "dark"\n')
    try:
        path.symlink_to(tmp_path / "dotfiles/locklens.toml")
    except OSError:
        pytest.skip("no links here")
    save_preference(path, "theme", "light")
    assert path.is_symlink()
    assert (tmp_path / "dotfiles/locklens.toml").read_text() == 'theme = "light"\n'
