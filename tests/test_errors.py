"""What every error has to say, and where."""

from __future__ import annotations

import pytest

from locklens.errors import ConfigurationError, LockLensError, RunCancelledError, UnauthorizedError


@pytest.mark.parametrize(
    ("error", "message", "sentence", "place"),
    [
        (LockLensError("it is down"), "it is down", "it is down", None),
        (LockLensError("it is down", hint="ask again"), "it is down", "it is down; ask again", None),
        (ConfigurationError("no file", hint="name one"), "no file", "no file; name one", None),
        (ConfigurationError("no version", path="a.tf", line=3), "no version", "a.tf:3: no version", ("a.tf", 3)),
        (ConfigurationError("empty", path="a.tf", hint="x"), "empty", "a.tf: empty; x", ("a.tf", None)),
    ],
)
def test_a_sentence_and_its_place(
    error: LockLensError, message: str, sentence: str, place: tuple[str, int | None] | None
) -> None:
    assert (error.message, error.sentence, error.place) == (message, sentence, place)


def test_a_run_that_was_stopped_is_no_failure() -> None:
    assert not issubclass(RunCancelledError, LockLensError)


def test_a_twin_is_equal_and_has_its_own_attributes() -> None:
    error = UnauthorizedError("refused", source="x", hint="log in", had_credentials=True)
    twin = error.twin()
    error.name_place("https://x/", "")
    assert (str(twin), twin.hint, twin.had_credentials) == ("refused", "log in", True)
    twin.name_place("https://x/", "")
    assert str(twin) == str(error) == "refused (https://x/)"
