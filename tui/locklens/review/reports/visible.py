"""The one place where foreign text is made harmless."""

from __future__ import annotations


def visible(text: str) -> str:
    """Returns foreign text with everything invisible or active made visible: controls, line ends, direction marks.

    What is left is one line of printable characters. It is still not to be read as anybody's markup.
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _named(character) for character in text)


def _named(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
