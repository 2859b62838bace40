"""Terraform and OpenTofu as two frozen values: what differs between the tools, and nothing else."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from locklens.addresses import LEGACY_NAMESPACE, AddressError, ProviderAddress, parse_plain, parse_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MANUAL_EDITS_COMMENT = "# Manual edits may be lost in future updates."
"""Second line of every lock file that a tool wrote."""


class Dialect(Struct, frozen=True):
    """One tool's rules.

    Attributes:
        name: The name for `--tool`: "terraform" or "opentofu".
        product: The product's name in prose.
        command: The executable.
        default_host: Registry of addresses without a host, comparison form.
        builtin_hosts: Hosts whose namespace `builtin` is part of the tool.
        redundant_prefixes: Prefixes that a provider type may not have.
        has_underscores: True if a namespace may have underscores; Terraform takes them from 1.16 on.
        file_suffixes: Suffixes of configuration files, in pairs with native syntax first.
        test_suffixes: Suffixes of test files, in such pairs.
    """

    name: str
    product: str
    command: str
    default_host: str
    builtin_hosts: tuple[str, ...]
    redundant_prefixes: tuple[str, ...]
    has_underscores: bool
    file_suffixes: tuple[str, ...]
    test_suffixes: tuple[str, ...]

    @property
    def header(self) -> str:
        """First line of the lock files that the tool writes."""
        return f'# This file is maintained automatically by "{self.command} init".'

    @property
    def preamble(self) -> str:
        """The lines before the entries of a lock file that the tool writes."""
        return f"{self.header}\n{MANUAL_EDITS_COMMENT}\n"

    def parse_source(self, text: str) -> ProviderAddress:
        """Read a provider source as this tool would, whether or not it is in normal form.

        Raises:
            AddressError: With the tool's words.
        """
        address = parse_plain(text)
        if address is not None and not address.type.startswith(self.redundant_prefixes):
            return address
        return parse_source(
            text,
            default_host=self.default_host,
            redundant_prefixes=self.redundant_prefixes,
            has_underscores=self.has_underscores,
        )

    def parse_sources(self, texts: Iterable[str]) -> frozenset[ProviderAddress]:
        """Read provider sources, without those that are none."""
        found = set()
        for text in texts:
            with suppress(AddressError):
                found.add(self.parse_source(text))
        return frozenset(found)

    def default_provider(self, local_name: str) -> ProviderAddress:
        """Return the address of a local name without an entry in required_providers."""
        if local_name == "terraform":
            return ProviderAddress("terraform.io", "builtin", "terraform")
        return ProviderAddress(self.default_host, "hashicorp", local_name)

    def is_builtin(self, address: ProviderAddress) -> bool:
        """True if the provider is part of the tool, so never installed and never locked."""
        return address.namespace == "builtin" and address.host in self.builtin_hosts

    def is_legacy(self, address: ProviderAddress) -> bool:
        """True for an address from the time before namespaces, which cannot be locked."""
        return address.namespace == LEGACY_NAMESPACE and address.host == self.default_host


TERRAFORM = Dialect(
    name="terraform",
    product="Terraform",
    command="terraform",
    default_host="registry.terraform.io",
    builtin_hosts=("terraform.io",),
    redundant_prefixes=("terraform-",),
    has_underscores=True,
    file_suffixes=(".tf", ".tf.json"),
    test_suffixes=(".tftest.hcl", ".tftest.json"),
)

OPENTOFU = Dialect(
    name="opentofu",
    product="OpenTofu",
    command="tofu",
    default_host="registry.opentofu.org",
    builtin_hosts=("terraform.io", "opentofu.org"),
    redundant_prefixes=("terraform-", "opentofu-"),
    has_underscores=False,
    file_suffixes=(".tf", ".tf.json", ".tofu", ".tofu.json"),
    test_suffixes=(".tftest.hcl", ".tftest.json", ".tofutest.hcl", ".tofutest.json"),
)

DIALECTS = {TERRAFORM.name: TERRAFORM, OPENTOFU.name: OPENTOFU}


def dialect_of_header(text: str) -> Dialect | None:
    """Return the tool that wrote a lock file, by its first line; None for any other line."""
    first = text.partition("\n")[0].removeprefix("\ufeff").rstrip("\r")
    return next((dialect for dialect in DIALECTS.values() if first == dialect.header), None)


_OF_WORDS = {
    r"OpenTofu|\btofu init|not signed with a valid signing key": OPENTOFU,
    r"Terraform uses|terraform init|terraform providers": TERRAFORM,
}
"""What messages say of the tool; behind the first of these, a log may go on with the command of the next run."""

_OF_HOSTS = {r"opentofu\.org": OPENTOFU, r"hashicorp\.com": TERRAFORM}
"""Hosts that say less of it: either tool may name those of both, such as the registry of a locked provider."""


def dialect_of_words(words: str) -> Dialect | None:
    """Return the tool that messages name in their words; None where they do not."""
    return _matching(_OF_WORDS, words)


def dialect_of_messages(words: str, commanded: Dialect | None = None) -> Dialect | None:
    """Return the tool that wrote messages, `commanded` being that of the command line; None where nothing tells it.

    That is also the one whose registry they leave out before a provider that they name with it, too.
    """
    if (told := dialect_of_words(words) or commanded or _matching(_OF_HOSTS, words)) is not None:
        return told
    return dialect_of_names(words)


def dialect_of_names(words: str) -> Dialect | None:
    """Return the tool whose registry a message leaves out before a provider that it names with it, too; else None."""
    for tool in DIALECTS.values():
        full = re.findall(rf"(?<![\w./-]){re.escape(tool.default_host)}/([\w-]{{1,99}}/[\w-]{{1,99}})", words)
        if any(re.search(rf"(?<![\w./-]){re.escape(one)} v\d", words) for one in full):
            return tool
    return None


def _matching(tools: Mapping[str, Dialect], words: str) -> Dialect | None:
    found = ((match.start(), tool) for known, tool in tools.items() if (match := re.search(known, words)))
    return min(found, key=lambda pair: pair[0], default=(0, None))[1]


def twin_of(address: ProviderAddress | None) -> ProviderAddress | None:
    """Return the provider of the same name in the other tool's registry; None for one of any other registry."""
    hosts = [tool.default_host for tool in DIALECTS.values()]
    if address is None or address.host not in hosts:
        return None
    return replace(address, host=next(host for host in hosts if host != address.host))


__all__ = [
    "DIALECTS",
    "MANUAL_EDITS_COMMENT",
    "OPENTOFU",
    "TERRAFORM",
    "AddressError",
    "Dialect",
    "dialect_of_header",
    "dialect_of_messages",
    "dialect_of_names",
    "dialect_of_words",
    "twin_of",
]
