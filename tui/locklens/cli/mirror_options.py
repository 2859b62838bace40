"""The options of `lock` and `upgrade` that name a mirror instead of registries."""

from __future__ import annotations

from locklens.cli.arguments import UsageError
from locklens.project.installation import InstallationMethod, MethodKind, check_mirror_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable


def add_mirror_options(add: Callable[..., object]) -> None:
    """Add the options to a group of arguments, whose `add_argument` is `add`."""
    add("--fs-mirror", metavar="DIR", help="use packages from a mirror in a folder (default: registries)")
    add("--net-mirror", metavar="URL", help="use packages from a network mirror (default: registries)")


def check_mirror_options(options: Namespace) -> None:
    """Require at most one mirror, with a URL that the tools accept.

    Raises:
        UsageError: They are invalid.
    """
    if options.fs_mirror and options.net_mirror:
        raise UsageError("--fs-mirror and --net-mirror cannot be used together", hint="leave out one of them")
    if options.net_mirror:
        try:
            check_mirror_url(options.net_mirror)
        except ValueError as error:
            raise UsageError(f"invalid network mirror URL: {error}") from error


def mirror_methods(options: Namespace) -> tuple[InstallationMethod, ...] | None:
    """Return the mirror that the command line names; None for none."""
    if getattr(options, "fs_mirror", None):
        return (InstallationMethod(MethodKind.FILESYSTEM, options.fs_mirror),)
    if getattr(options, "net_mirror", None):
        return (InstallationMethod(MethodKind.NETWORK, options.net_mirror),)
    return None
