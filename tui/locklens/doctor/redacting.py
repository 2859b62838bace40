"""Text that is safe to paste in public: without tokens, passwords, and names of home folders."""

from __future__ import annotations

import re

_TOKEN = "[removed]"  # noqa: S105 - the text in place of a token
_SECRETS = tuple(
    map(
        re.compile,
        (
            r"(?P<kept>\bTF_TOKEN_\w{1,200}=)\S{1,4096}",
            r"(?i:(?P<kept>\bauthorization: ?(?:bearer|basic|token)? ?))\S{1,4096}",
            r"(?i:(?P<kept>\bbearer ))[\w.~+/=-]{8,4096}",
            r"(?i:(?P<kept>[?&](?:\w{0,40}token|\w{0,40}secret|\w{0,40}password|\w{0,40}signature|sig|key|x-amz-\w{1,40})=))[^&\s\"']{1,4096}",
            r"(?i:(?P<kept>\b\w{0,40}(?:token|secret|password|passwd|api_?key)\"? ?[=:] ?\"?))[^\s\"',;]{1,4096}",
            r"(?P<kept>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^\s/@]{1,512}@",
            r"(?P<kept>)\b(?:gh[pousr]_\w{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,255}|AKIA[A-Z0-9]{12,32})",
            r"(?P<kept>)\b(?:xox[abprs]-[\w-]{10,255}|eyJ[\w-]{8,4096}\.[\w.-]{8,4096}|\w{10,20}\.atlasv1\.\w{20,255})",
        ),
    )
)
_HOMES = re.compile(
    r"(?:/home/|/Users/|(?i:[a-z]:\\Users\\)|/var/lib/)(?P<user>[^\s/\\\"':]{1,64})|/root(?=[/\s\"':]|$)"
)


def redacted(text: str, *, home: str = "") -> str:
    """Return text with a mark for each token, and `~` for home folders.

    Args:
        text: Any text; every pattern is bounded.
        home: The user's home folder, "" for none; homes of Linux, macOS and Windows are recognised by their place.
    """
    for secret in _SECRETS:
        text = secret.sub(lambda match: f"{match['kept']}{_TOKEN}", text)
    if len(home) > 1:
        text = text.replace(home, "~")
    return _HOMES.sub("~", text)
