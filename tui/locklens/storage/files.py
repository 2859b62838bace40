"""Writes files so that a reader sees the old bytes or the new ones, never half of them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from locklens.errors import ConfigurationError


def write_atomically(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replaces a file in one step: a temporary file beside it, flushed to the disk, then renamed over it.

    A device or a pipe is written to directly.

    Args:
        path: Where to write; a symbolic link is replaced, not followed.
        data: The whole new content.
        mode: Of the new file, whatever the process's umask is.

    Raises:
        ConfigurationError: The file cannot be written; what was there is untouched.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "name another file or folder"
        raise ConfigurationError(f"cannot be written: {reason}", path=str(path), hint=hint) from error
