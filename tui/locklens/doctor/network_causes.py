"""Causes between the machine and the registry, as far as the message and an own request tell."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from msgspec import Struct

from locklens.dialect import DIALECTS
from locklens.doctor.arrivals import assumed_words
from locklens.doctor.messages import LOCKLENS, PAGE
from locklens.doctor.model import Basis, CauseVerdict, Judgement
from locklens.doctor.reasons import CERTIFICATE_FIXES, ON_THE_WAY, SENSELESS, NetworkReason
from locklens.project.configuration import source_place
from locklens.text import clauses, counted
from locklens.trust.authentication import Refusal

if TYPE_CHECKING:
    from locklens.doctor.examined import Examined

_YES, _LIKELY, _UNKNOWN, _NO = CauseVerdict.YES, CauseVerdict.LIKELY, CauseVerdict.UNKNOWN, CauseVerdict.NO

_N = NetworkReason
_ABOUT_REQUESTS = frozenset(
    {"registry-unreachable", "registry-failed", "query-failed", "sums-unavailable", "download-failed"}
)
_SAME_REQUEST = "the result of the same request on the runner"
_MORE_LINES = "the lines behind the message"


class _Repeated(Struct, frozen=True):
    """The failing request as it was made here; `words` are the outcome in a clause.

    Attributes:
        is_answered: None where it was not made here, or nothing is known about it.
        as_of: Time of an answer of the registry; None without one.
    """

    is_answered: bool | None = None
    words: str = ""
    as_of: str | None = None


def _repeated(x: Examined) -> _Repeated:
    """Return what the request of the message gave here: only the same one to the same registry tells about it."""
    if (listing := x.today.listing) is None or not _is_of_registry(x):
        return _Repeated()
    is_sent = x.today.is_known or x.today.authentication is not None  # a list that is refused was sent, too
    of_sums = x.today.as_of if is_sent else None
    answer = x.today.as_of or listing.as_of
    trouble = next((one for one in (x.today.trouble, listing.trouble) if one is not None and one.was_asked), None)
    known = {  # request: the time of its answer, why there was none
        "versions": (listing.as_of, listing.trouble),
        "sums": (of_sums, x.today.trouble),
        "download": (of_sums, x.today.trouble),
        "discovery": (answer, None if answer else trouble),
    }
    assert x.address is not None
    if x.message.host not in {"", x.address.host, urlsplit(x.places.registry_url).netloc}:
        # The host of a registry's services: whether its answer leads to the same one here is not known.
        if trouble is not None and x.message.host in trouble.words:
            return _Repeated(False, f"that host fails here: {trouble.words}")
        words = f"the message names {x.message.host}, and {x.address.host} was asked here: the outcome may differ"
        return _Repeated(None, words if answer or trouble is not None else "", answer)
    request = _request(x)
    as_of, problem = known.get(request, (None, None))
    if problem is not None and problem.was_asked:
        what = "a request for this version" if request == "download" else "the same request"
        is_other = x.message.kind == "credentials-rejected" and not x.places.may_send_token
        words = "without credentials the request fails here" if is_other else f"{what} fails here"
        return _Repeated(False, f"{words}: {problem.words}")
    if as_of:
        return _Repeated(True, f"{_REPEATED.get(request, 'the same request is')} answered here", as_of)
    if answer:
        return _Repeated(None, "the registry answers here; whether it answers this request is not known", answer)
    return _Repeated(None, f"another request fails here: {trouble.words}" if trouble is not None else "")


_REPEATED = {
    "discovery": "requests of this registry are",  # the settings may name its services in place of the document
    "download": "requests for this version are",  # of some platform, and not of each
}
"""What is repeated where it is not just the request of the message."""


def _is_of_registry(x: Examined) -> bool:
    """True if the request of the message went to the registry that was asked here."""
    if x.error is None or x.address is None or "provider mirror" in x.message.words:
        return False
    if x.message.provider.count("/") == 2 and x.message.provider.partition("/")[0] != x.address.host:
        return False
    is_named = x.message.host in {"", x.address.host}
    return is_named or x.message.kind in {"registry-failed", "sums-unavailable"}  # of a registry's own services


def _request(x: Examined) -> str:
    """Return which request of a registry failed; "" for one that is not repeated here."""
    if x.error is None:
        return ""
    if x.message.kind in {"registry-unreachable", "discovery-invalid"}:
        return "discovery"
    if x.message.kind == "sums-unavailable":
        return "sums"
    is_own = x.message.command == LOCKLENS and x.message.host != ""
    if is_own and not x.message.version:  # it names that of a package, and of its list
        return "discovery" if "asked for its services" in x.message.words else "versions"
    if x.message.is_of_version or (is_own and x.today.trouble is not None):  # else it may have been the file
        return "" if x.is_of_other_version else "download"
    return "versions" if any(words in x.message.words for words in _OF_VERSIONS) else ""


_OF_VERSIONS = ("list of available versions", "/versions", "could not resolve provider")
"""Words of both tools that a request for a provider's versions failed."""


class ListHere(StrEnum):
    """What arrives here as the SHA256SUMS of a release, of which the failing run got one without the package."""

    WITH_PACKAGE = auto()
    WITHOUT = auto()
    NO_LIST = auto()
    UNKNOWN = auto()


def list_here(x: Examined) -> ListHere:
    """Return what arrives here as the SHA256SUMS of the release that the error is of."""
    if x.today.case is None or x.is_of_other_version:
        return ListHere.UNKNOWN
    if x.today.is_known:
        has_it = x.platform in x.today.platforms if x.platform else bool(x.today.platforms)
        return ListHere.WITH_PACKAGE if has_it else ListHere.WITHOUT
    found, judged = x.today.case.new.checksums, x.today.case.new.authentication
    if found is None or judged is None or judged.refusal is not Refusal.NOT_LISTED:
        return ListHere.UNKNOWN
    return ListHere.WITHOUT if found.hashes else ListHere.NO_LIST


def listed_words(x: Examined) -> str:
    """Return that the registry lists the version which failed; "" where it does not, or its list is unknown."""
    if x.address is None or x.entry is None or x.today.listing is None or not x.today.listing.is_known:
        return ""
    version = x.message.version if x.is_of_other_version else str(x.entry.version)
    is_there = any(str(one.version) == version for one in x.today.listing.versions)
    return f"{x.address.host} {x.today.lists} {version}" if is_there else ""


def _other_list(x: Examined) -> Judgement:
    """Judge whether a page or another list came in the place of SHA256SUMS."""
    title = "something else than the release's SHA256SUMS arrived"
    match list_here(x):
        case ListHere.WITH_PACKAGE:
            words = f"{x.sums} lists the package: another list, or the page of a proxy, came in its place"
            return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.RUN, title=title)
        case ListHere.NO_LIST:
            words = "what arrives here as SHA256SUMS has no hash in it, like the page of a proxy"
            return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.RUN, title=title)
        case ListHere.WITHOUT:
            return Judgement(_NO, "the list that arrives here does not name the package either", as_of=x.today.as_of)
        case ListHere.UNKNOWN:
            words = "the page of a proxy in the place of SHA256SUMS gives the same message"
            return Judgement(_UNKNOWN, words, _SAME_REQUEST, basis=Basis.GUESS)
        case _ as never:
            assert_never(never)


_TITLES_OF_DENIALS = {
    "credentials-missing": "{} denied access, and no credentials were sent",
    "credentials-rejected": "{} denied access; whether credentials were sent is not known",
}
"""A mirror's denial has the words of refused credentials, whether there were any or not."""
_OF_GIVEN = "{} denied access, though the run had credentials for it"


def _host(x: Examined) -> str:
    """Return the host that the request of the message went to, which need not be the registry."""
    return x.message.host or "a server"


def _wrong_answer(x: Examined) -> Judgement:
    """Judge a registry whose answer has another hash than the signed list."""
    if x.packed.intersection(x.message.hashes[:1]):
        words = "the signed list that arrived has the hash that is locked, and the registry's answer names another one"
        title = "the registry's answer contradicts the signed list"
        return Judgement(_YES, words, basis=Basis.HASHES, title=title)
    words = "which of the list and the answer is right is not known"
    return Judgement(_UNKNOWN, words, x.why_unknown, basis=Basis.GUESS)


def registry_down(x: Examined) -> Judgement | None:
    """Test if the registry answers."""
    if x.error is None:
        return None
    reason, here = x.message.reason, _repeated(x)
    if x.message.kind == "sums-differ":
        return _wrong_answer(x)
    if reason in {_N.SERVER, _N.LIMITED, _N.GAVE_UP} | SENSELESS:
        # Who gave the answer is not known: a proxy on the way may have.
        title = f"a request to {_host(x)} was answered: {reason}"
        said = f"the message says so: {reason}"
        if reason is _N.GAVE_UP:
            said = "the message gives no status: OpenTofu repeats a download, and gives up so, after 429 and 5xx alone"
        words = clauses(said, here.words)
        return Judgement(_YES, words, as_of=here.as_of, basis=Basis.RUN, title=title)
    if reason in ON_THE_WAY:
        words = clauses(str(reason), here.words)
        missing = "a request from here: run again without --offline" if x.today.is_offline else _SAME_REQUEST
        what = "gave no whole answer" if reason is _N.BROKEN else "could not be reached"
        title = f"{_host(x)} {what}: {reason}"
        if here.is_answered:
            words = f"{words}, so that it was down then, or something between the runner and it was, or still is"
            title = f"{_host(x)}, or a proxy before it, {what} then: {reason}"
        if here.is_answered and reason is _N.NAME:
            return Judgement(_UNKNOWN, words, _SAME_REQUEST, here.as_of, basis=Basis.RUN)
        return Judgement(_LIKELY, words, missing, here.as_of, basis=Basis.RUN, title=title)
    if reason is _N.PROXY_FAILED:
        words = f"{reason}, which may be down, or be kept from the proxy"
        return Judgement(_UNKNOWN, words, _SAME_REQUEST, here.as_of, basis=Basis.RUN)
    if reason is not None:
        return Judgement(_NO, f"the message names another reason: {reason}")
    if here.is_answered is False and x.message.kind in _ABOUT_REQUESTS:
        words = f"{here.words}; the failing run may have had another reason"
        return Judgement(_LIKELY, words, _MORE_LINES, basis=Basis.HERE)
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, basis=Basis.GUESS)


_OF_PROXY = "; see HTTPS_PROXY and NO_PROXY of the runner"
_SEE = {
    _N.AUTHORITY: "; see SSL_CERT_FILE of the runner",
    _N.DATES: "; see the dates of the certificate, and the clock of the runner",
    _N.OTHER_NAME: "; see the host in the URL, and the names in the certificate",
    _N.CERTIFICATE: ", and not why",
    _N.PROXY: _OF_PROXY,
    _N.PROXY_FAILED: _OF_PROXY,
    _N.PROXY_NAME: _OF_PROXY,
    _N.PROXY_DOWN: _OF_PROXY,
}
"""What tells more of a reason that is a certificate's or the proxy's own."""

_OF_A_DENIAL = "the tools say so of a 401 and of a 403 alike, and a proxy or a firewall may have answered"


def _without_token(x: Examined) -> str:
    """Return that a registry gives without a token what it denied, in a clause; "" if that is not known."""
    is_denial = x.message.reason is _N.DENIED and x.message.kind in _TITLES_OF_DENIALS
    if not is_denial or x.address is None or not _is_of_registry(x):
        return ""
    if (here := _repeated(x)).is_answered and not x.places.may_send_token:
        return f"{here.words} without a token"
    is_public = x.address.host in {tool.default_host for tool in DIALECTS.values()} and not x.places.registry_url
    return f"{x.address.host} is public" if is_public else ""


def proxy_or_ca(x: Examined) -> Judgement | None:
    """Test if a proxy, or a certificate that is not accepted, is in between."""
    if x.error is None:
        return None
    if x.message.kind == "sums-without-package":
        return _other_list(x)
    reason, here = x.message.reason, _repeated(x)
    if reason in _SEE:
        words = f"the message says so: {reason}{_SEE[reason]}"
        title = str(reason)
        if reason in CERTIFICATE_FIXES:
            title = title.replace("TLS certificate", f"TLS certificate of {_host(x)}")
        return Judgement(_YES, words, basis=Basis.RUN, title=title)
    if reason is _N.FOREIGN_PAGE:
        words = "the answer was not the registry's: a sign-in page or a proxy"
        title = "something else than the registry answered"
        return Judgement(_LIKELY, words, _SAME_REQUEST, basis=Basis.RUN, title=title)
    if x.today.is_page_served:
        digest = x.message.arrived.removeprefix("zh:")
        is_same = digest != "" and digest == x.today.downloads[0].removeprefix(PAGE)
        words = "what arrives here in the place of the package is no zip file, like the page of a proxy"
        words = f"{words}{', and has the hash of what the failing run got' if is_same else ''}"
        title = "something else than a package arrived, like the page of a proxy"
        if is_same:
            return Judgement(_YES, words, as_of=x.today.as_of, basis=Basis.HASHES, title=title)
        words = f"{words}{assumed_words(x, x.platform_on_disk)}"
        return Judgement(_LIKELY, words, _SAME_REQUEST, x.today.as_of, basis=Basis.HERE, title=title)
    if x.message.kind == "archive-checksum":
        missing, title = "the same download without the proxy", "a proxy altered the file"
        return Judgement(_UNKNOWN, "a proxy may alter files", missing, basis=Basis.GUESS, title=title)
    if reason in SENSELESS:
        words = f"{reason}; a proxy may answer so, too"
        return Judgement(_UNKNOWN, words, _SAME_REQUEST, basis=Basis.GUESS, title=_BETWEEN.format(_host(x)))
    if reason in ON_THE_WAY:
        is_name = reason is _N.NAME
        title = f"the runner's DNS or proxy settings keep it from {_host(x)}" if is_name else _BETWEEN.format(_host(x))
        missing = f"{'the DNS, ' if is_name else ''}HTTPS_PROXY, NO_PROXY and the firewall of the runner"
        words = clauses(str(reason), here.words)
        is_there_alone = is_name and here.is_answered is not False
        verdict = _LIKELY if is_there_alone else _UNKNOWN
        basis = Basis.RUN if is_name and here.is_answered else Basis.GUESS
        return Judgement(verdict, words, missing, here.as_of, basis=basis, title=title)
    if free := _without_token(x):
        words = f"{_OF_A_DENIAL}; {free}"
        title = f"a proxy or a firewall denied access in the place of {_host(x)}"
        return Judgement(_LIKELY, words, _SAME_REQUEST, here.as_of, basis=Basis.RUN, title=title)
    if reason is not None:
        is_file = reason is _N.DENIED and x.message.is_of_plain_file
        words = f"{reason}; the message does not say who answered"
        if is_file:
            words = f"{words}; tools send no token for a release's files, so that its host or a proxy keeps them back"
        title = f"{_host(x)} or a proxy denied access to the file" if is_file else _BETWEEN.format(_host(x))
        verdict, basis = (_LIKELY, Basis.RUN) if is_file else (_UNKNOWN, Basis.GUESS)
        return Judgement(verdict, words, _SAME_REQUEST, basis=basis, title=title)
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, basis=Basis.GUESS)


def mistyped_host(x: Examined) -> Judgement | None:
    """Judge a host without an address: it is likely mistyped where its name is nearly that of one that is known here.

    One that is not alike may be where the provider was moved to, if the lock file has it of a host which nothing
    requires any more, or had it of another one before the entry of now.
    """
    address = x.address
    if x.message.reason is not _N.NAME or address is None or not x.required:
        return None
    if x.configuration.unknown_reason:
        return None  # something that is not read may require the locked one
    name, first = (address.namespace, address.type), x.required[0]
    same = (one for one in x.lock.entries if (one.address.namespace, one.address.type) == name)
    held = next((one for one in same if not x.configuration.requires(one.address)), None)
    words = f"{source_place(first)} requires {address}, whose host name was not found"
    if x.entry is not None:
        held = x.history.renamed_from
        if held is None or held.address.host == address.host:
            return None  # its host was known when it was locked
        words = f"{words}; {x.renamed_words}"
    elif held is not None:
        words = f"{words}; {x.lock.path}:{held.line} locks {held.address}, which nothing requires any more"
    named = {*x.configuration.required(), *x.lock.by_address, *([held.address] if held is not None else ())}
    known = {one.host: str(one) for one in sorted(named)}
    known |= {tool.default_host: f"{tool.product}'s own registry" for tool in DIALECTS.values()}
    edits, near = min((_edits(address.host, host), host) for host in known if host != address.host)
    if edits <= _MOST_MISTYPED:
        of = f" ({known[near]})" if held is None or near != held.address.host else ""
        words = f"{words}; it differs in {counted(edits, 'character')} from {near}{of}"
        title = f"the host of the source address was not found, and is nearly {near}: mistyped, or moved"
        return Judgement(_LIKELY, words, "which of the two hosts is meant", basis=Basis.RUN, title=title)
    if held is None:
        return None
    title = "the source address has another host than the locked one, and that was not found"
    return Judgement(_UNKNOWN, words, "which of the two hosts is meant", title=title)


_MOST_MISTYPED = 2
"""The most characters in which a name differs from the one that was meant: two change places."""


def _edits(text: str, other: str) -> int:
    """Return how many characters have to be replaced, added or taken out to make one text of another, at most."""
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, text, other, autojunk=False).get_opcodes()
    return sum(max(end - start, to - at) for kind, start, end, at, to in codes if kind != "equal")


_BETWEEN = "a proxy or a firewall stands between the runner and {}"


def token_variable(host: str) -> str:
    """Return the environment variable of a host's token; "" for a host with a port, which has none."""
    return "" if ":" in host else f"TF_TOKEN_{host.replace('-', '__').replace('.', '_')}"


def credentials(x: Examined) -> Judgement | None:
    """Test if the registry refused access."""
    if x.error is None:
        return None
    host = x.message.host or (x.address.host if x.address is not None else "")
    variable = token_variable(host)
    block = f"the credentials block of {host}"
    where = f"the credentials block or {variable}" if variable else block
    if x.message.kind == "credentials-helper":
        words = f"the message says so: see {where} of the runner"
        return Judgement(_YES, words, basis=Basis.RUN, title="the credentials helper failed")
    if x.message.reason is _N.DENIED and x.message.is_of_plain_file:
        return Judgement(_NO, "no tool sends a token for the files of a release", basis=Basis.RUN)
    if x.message.reason is _N.DENIED:
        here, title = _repeated(x), _TITLES_OF_DENIALS.get(x.message.kind, "{} denied access")
        words, missing = f"the message says so: {x.message.reason}", f"the token of the runner: {variable or block}"
        if x.message.kind in _TITLES_OF_DENIALS:
            words, missing = _OF_A_DENIAL, f"the status of the same request on the runner, and {where} there"
        elif x.message.is_of_oci:
            missing = "the login of the runner: docker login, or an oci_credentials block"
        if x.message.kind == "credentials-rejected" and x.address is not None and host == x.address.host:
            title = _OF_GIVEN
            words = f"the message says that credentials were sent, and an empty token counts as such; {words}"
        free = _without_token(x)
        words = clauses(words, free or here.words)
        basis = Basis.GUESS if free and x.message.kind == "credentials-missing" else Basis.RUN
        return Judgement(_LIKELY, words, missing, here.as_of, basis=basis, title=title.format(host or "the host"))
    if x.message.kind == "provider-unknown":
        words = "a private registry hides what a token may not see"
        return Judgement(_UNKNOWN, words, f"the token of the runner: {variable or block}", basis=Basis.GUESS)
    if x.message.reason is not None:
        return Judgement(_NO, f"the message names another reason: {x.message.reason}")
    return Judgement(_UNKNOWN, "the message does not tell", _MORE_LINES, basis=Basis.GUESS)
