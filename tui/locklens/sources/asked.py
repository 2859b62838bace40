"""The hosts that may be asked: those that the user or the base of a comparison vouches for, and no other.

A change under review names hosts too. If those were asked, a pull request could make a reviewer's machine call a host
of its choice, from inside a company's network and with the reviewer's address.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from locklens.addresses import spelt_host
from locklens.dialect import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from locklens.dialect import Dialect


class ContactReason(StrEnum):
    """The reason why a host may be asked; the value ends the sentence "is asked because it is …"."""

    DEFAULT = "the tool's own registry"
    OTHER_DEFAULT = "the other tool's own registry"
    SERVICES = 'in a "host" block of the CLI configuration'
    CREDENTIALS = "one that credentials are set for"
    BASE = "named by the base's lock files or policy"
    GIVEN = "given with --ask-host"


class NotAsked(Struct, frozen=True):
    """A host that is not asked, which is no error.

    Attributes:
        host: Comparison form.
        hint: What would make it one that is.
    """

    host: str
    hint: str

    def __str__(self) -> str:
        return f"{spelt_host(self.host)} was not asked"


class AskedHosts(Struct, frozen=True):
    """The hosts that may be asked, in comparison form, each with the first reason found."""

    vouchers: Mapping[str, ContactReason]

    def judge(self, host: str) -> ContactReason | NotAsked:
        """The reason why a host is asked, or the statement that it is not."""
        voucher = self.vouchers.get(host)
        if voucher is not None:
            return voucher
        return NotAsked(host, f"only the change under review names this host; --ask-host {host} asks it")


def asked_hosts(
    dialect: Dialect,
    *,
    services: Iterable[str] = (),
    credentials: Iterable[str] = (),
    base: Iterable[str] = (),
    given: Iterable[str] = (),
) -> AskedHosts:
    """Put together the hosts that may be asked. Hosts are in comparison form.

    Args:
        dialect: Whose default registry is asked; the other tool's is, too, to recognise hashes of its releases.
        services: Of `host` blocks.
        credentials: Of `credentials` blocks and TF_TOKEN_ variables. A credentials helper vouches for no host: it
            would have to be asked first.
        base: That the base's lock files or policy name.
        given: On the command line.
    """
    others = [each.default_host for each in DIALECTS.values() if each.name != dialect.name]
    groups: tuple[tuple[ContactReason, Iterable[str]], ...] = (
        (ContactReason.DEFAULT, (dialect.default_host,)),
        (ContactReason.SERVICES, services),
        (ContactReason.CREDENTIALS, credentials),
        (ContactReason.BASE, base),
        (ContactReason.GIVEN, given),
        (ContactReason.OTHER_DEFAULT, others),
    )
    vouchers: dict[str, ContactReason] = {}
    for voucher, hosts in groups:
        for host in hosts:
            vouchers.setdefault(host, voucher)
    return AskedHosts(vouchers)
