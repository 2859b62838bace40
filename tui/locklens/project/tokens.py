"""A token as a value that does not tell itself: it sits in settings that are printed when something goes wrong."""

from __future__ import annotations

from typing import NoReturn


class Token:
    """A secret that proves to one host who asks. Neither printing nor pickling reveals it.

    Args:
        secret: As it is sent.
        scheme: Of the Authorization header.
    """

    __slots__ = ("_scheme", "_secret")

    def __init__(self, secret: str, *, scheme: str = "Bearer") -> None:
        self._secret = secret
        self._scheme = scheme

    def authorization(self) -> str:
        """The value of the Authorization header.

        Raises:
            ValueError: It holds what a header cannot; str() does not tell what.
        """
        if any(not "\x20" <= character < "\x7f" for character in self._secret):
            raise ValueError("the token holds characters that cannot be sent")
        return f"{self._scheme} {self._secret}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token) and (other._scheme, other._secret) == (self._scheme, self._secret)

    def __hash__(self) -> int:
        return hash(self._secret)

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not written anywhere")
