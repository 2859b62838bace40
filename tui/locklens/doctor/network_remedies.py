"""The fixes of what a host, or the way to it, did or lacks: retry, look at the request, name credentials. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from locklens.doctor.model import CauseId, CauseVerdict, PackagePath, Remedy, TrustCost
from locklens.doctor.network_causes import token_variable
from locklens.doctor.provider_remedies import fix_mirror
from locklens.doctor.reasons import CERTIFICATE_FIXES, ON_THE_WAY, SENSELESS, NetworkReason
from locklens.doctor.run_remedies import FAILED_AGAIN, failed_again
from locklens.doctor.version_remedies import with_other_constraints
from locklens.text import clauses, shell_words
from locklens.versions import newest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locklens.doctor.affected import Affected
    from locklens.doctor.examined import Examined

_C = CauseId
_NONE, _LOW, _HIGH = TrustCost.NONE, TrustCost.LOW, TrustCost.HIGH


def fix_download(one: Affected) -> Iterator[Remedy]:
    """The download is tried again, and compared first where it may have been altered; then it is reported."""
    x = one.examined
    is_same = (
        len(x.today.downloads) > 1
        and len(set(x.today.downloads)) == 1
        and x.today.downloads[0] != ""
        and not x.today.is_page_served
    )
    if is_same and x.today.downloads[0] not in x.today.listed:
        yield from fix_package(one)
        return
    is_certain = any(cause.id is _C.DOWNLOAD_DAMAGED and cause.verdict is CauseVerdict.YES for cause in one.causes)
    if x.message.arrived and x.today.downloads and not is_certain:
        yield _compared(one, "Keep the file, and compare what the network of the failing run gets", "run it there")
    yield from fix_by_retry(one)


def fix_lacking(one: Affected) -> Iterator[Remedy]:
    """What a registry has by now is asked for again; the mirror that lacks it is filled, or what it has is required."""
    x = one.examined
    is_there_now = x.message.kind == "platform-unavailable" and x.platform in x.today.platforms and not x.is_left_out
    if is_there_now and x.places.asks_registry and not x.is_of_mirror:
        yield from fix_by_retry(one)
    yield from fix_mirror(one)
    if x.message.kind == "no-matching-release":
        yield from with_other_constraints(
            one.alone, newest(one for those in x.places.mirrors_alone.values() for one in those)
        )


def fix_by_retry(one: Affected) -> Iterator[Remedy]:
    """The tool is run again; an answer that makes no sense is looked at first."""
    if one.examined.message.reason in SENSELESS:
        yield from fix_request(one)
    is_late = one.examined.message.reason is NetworkReason.TIMEOUT
    note = "TF_REGISTRY_CLIENT_TIMEOUT and TF_REGISTRY_DISCOVERY_RETRY give it more time" if is_late else ""
    if one.examined.message.kind == "sums-without-package":
        note = "if it fails again, look at what the runner gets from the shasums_url that the registry names"
    if one.examined.is_of_other_version:
        note = f"the lock file has {one.examined.release}: init asks for another version with -upgrade alone"
    title = "Try again" if one.failed_line or one.examined.is_of_upgrade else FAILED_AGAIN
    yield failed_again(one, "retry", title, note)
    if one.examined.message.reason in ON_THE_WAY and one.examined.message.host:
        yield from fix_request(one)


def fix_package(one: Affected) -> Iterator[Remedy]:
    """An altered package: nobody installs it, and its publisher is told."""
    title = "Do not install it: tell the publisher, and compare what another network gets"
    yield _compared(one, title, "run it where no proxy stands between")


def _compared(one: Affected, title: str, where: str) -> Remedy:
    """Return the remedy that downloads the package of the log in another place, which is named in a clause."""
    platform = one.examined.platform
    words = [f"--platform={platform}"] if platform else []
    command = one.alone.line("doctor", *words, "--prove=changed", "LOG")
    note = f"LOG is the log of the failing run; {where}"
    return one.alone.remedy("compare-elsewhere", title, _NONE, one.size_of(platform), command, note)


def fix_request(one: Affected) -> Iterator[Remedy]:
    """The request is repeated on the runner, as the message names it; a certificate is made one that it accepts."""
    if one.examined.message.kind == "sums-without-package":  # its host is often another one than the registry
        yield from fix_by_retry(one)
        return
    x, host = one.examined, _host(one.examined)
    if x.today.is_page_served and x.today.offered is not None and x.today.offered.url:
        title, look = f"Check on the runner who answers for {x.today.offered.host}", _look(x.today.offered.url, "-sSvL")
        yield one.alone.remedy("test-registry", title, _NONE, 0, look, host=x.today.offered.host)
        return
    text = one.examined.message.text
    urls = (url.rstrip(":") for url in _URL.findall(text) if not url.endswith("..."))
    named = next((url for url in urls if f"//{host}/" in url), "")
    is_of_block = x.places.registry_url and x.address is not None and host == x.address.host
    is_denied = x.message.reason is NetworkReason.DENIED and not x.message.is_of_plain_file
    is_of_provider = is_denied or (is_of_block and x.message.kind not in _OF_DISCOVERY)
    other = x.places.registry_url if is_of_block else f"https://{host}/"
    url = named or (_tried_url(x, host)[0] if is_of_provider else other)
    if x.message.reason in CERTIFICATE_FIXES:
        known_as, title, shown, note = CERTIFICATE_FIXES[x.message.reason]
        note = clauses(f"the command shows {shown}, and changes nothing: -k is for this look alone", note)
        look = _look(url, "-sSvk")
        yield one.alone.remedy(known_as, title.format(host), _NONE, 0, "", note, hint=look, host=host)
        return
    title = f"Check on the runner who answers for {host}"
    yield one.alone.remedy("test-registry", title, _NONE, 0, _look(url, "-sSv"), host=host)


_OF_DISCOVERY = frozenset({"registry-unreachable", "discovery-invalid"})
"""Failures before any provider was asked for."""


def _look(url: str, options: str) -> str:
    """Return the command line that shows who answers a URL; with GET, as the tools ask: some registries refuse HEAD."""
    return shell_words(["curl", options, "-o", "/dev/null", url])


_URL = re.compile(r"https?://[\w./:~%+-]{0,299}[\w/](?=[\"\s]|:\s|$)")
"""A URL of a message, without a query."""


_OF_PROXIES = "a 403 may be a proxy's answer: curl -v shows who gives it"


def fix_credentials(one: Affected) -> Iterator[Remedy]:
    """The token of the runner is tried, which the discovery document would not need."""
    x, host = one.examined, _host(one.examined)
    if x.message.is_of_oci:
        title, command = f"Log the runner in to {host}", shell_words(["docker", "login", host])
        note = f"or give it an oci_credentials block in its CLI configuration; {_OF_PROXIES}"
        yield one.alone.remedy("test-credentials", title, _NONE, 0, command, note, host=host)
        return
    variable = token_variable(host)
    url, note = _tried_url(x, host)
    command = (
        f'curl -sS -o /dev/null -w "%{{http_code}}\\n" -H "Authorization: Bearer ${variable or "TOKEN"}" '
        f"{shell_words([url])}"
    )
    if not variable:
        block = f"TOKEN is that of the credentials block of {host}: a host with a port has no TF_TOKEN_ variable"
        note = f"{block}; {note}" if note else block
    if x.message.kind != "credentials-helper":
        note = clauses(note, _OF_PROXIES)
    title = f"Give the runner a token that {host} accepts, and try it there: 200 means that it does"
    yield one.alone.remedy("test-credentials", title, _NONE, 0, command, note, host=host)


def _tried_url(x: Examined, host: str) -> tuple[str, str]:
    """Return the URL that failed as a source on a host has it, and a note on what is not known of it.

    It is that of a provider's versions, or where those were answered, of one version and platform.
    """
    mirror = x.failing_mirror
    last, index = "versions", "index.json"
    if x.message.is_of_version:
        platform = x.platform_on_disk.replace("_", "/")  # of any, the same one answers
        last, index = f"{x.message.version}/download/{platform}", f"{x.message.version}.json"
    named = x.address if x.address is not None else "HOST/NAMESPACE/TYPE"
    path = f"{x.address.namespace}/{x.address.type}" if x.address is not None else "NAMESPACE/TYPE"
    if x.places.registry_url and host in {
        x.address.host if x.address is not None else "",
        urlsplit(x.places.registry_url).netloc,
    }:
        url = f"{x.places.registry_url.rstrip('/')}/{path}/{last}"
        return url, "the URL is that of the host block in the settings here"
    if mirror or x.incident.path is PackagePath.NETWORK_MIRROR:
        url = f"{mirror.rstrip('/') or f'https://{host}/PATH'}/{named}/{index}"
        return url, "" if mirror else "PATH is that of the mirror's URL in the CLI configuration of the runner"
    url = f"https://{host}/v1/providers/{path}/{last}"
    return url, "a registry may have another path: https://HOST/.well-known/terraform.json names it as providers.v1"


def _host(x: Examined) -> str:
    """Return the host that the failing request went to."""
    return x.message.host or (x.address.host if x.address is not None else "HOST")
