"""Records of writes that cannot be read are not taken for none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from locklens.errors import ConfigurationError
from locklens.storage.journal import Journal


@pytest.mark.parametrize("refused", ["listdir", "open"])
def test_records_that_cannot_be_read_are_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    journal = Journal(tmp_path / "records")
    assert (journal.unfinished(), journal.writes(tmp_path), journal.pending(tmp_path)) == ((), (), None)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, refused, refuse)
    with pytest.raises(ConfigurationError, match="records of writes cannot be read: permission denied"):
        journal.writes(tmp_path)
