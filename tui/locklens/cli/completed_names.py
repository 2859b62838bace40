"""What completes revisions and providers: functions for each shell that run when the key is pressed.

Names of a repository are untrusted, and a shell runs what its line holds: only names of plain letters are offered,
which stand for themselves in every shell. A key press reads at most fifty lock files, and a mebibyte of each.
"""

from __future__ import annotations

_LOCK = ".terraform.lock.hcl"

_PLAIN = "^[A-Za-z0-9_][A-Za-z0-9_./@+-]*$"

_ENTRY = r"""-e 's,^provider "registry\.terraform\.io/\([^"]*\)".*,\1,p' -e t """
_ENTRY += r"""-e 's,^provider "registry\.opentofu\.org/\([^"]*\)".*,\1,p' -e t """
_ENTRY += r"""-e 's,^provider "\([^"]*\)".*,\1,p'"""
"""Addresses without the host of a default registry, as they are typed."""

_REFERENCES = (
    "git for-each-ref --count=500 --sort=-creatordate '--format=%(refname:short)' refs/heads refs/tags refs/remotes"
)

_LISTING = f"""\
_locklens_list_revisions() {{
  {_REFERENCES} 2>/dev/null | LC_ALL=C grep -E '{_PLAIN}'
}}

_locklens_list_providers() {{
  {{
    if [ -f {_LOCK} ]; then printf '%s\\n' {_LOCK}; else git ls-files -- '*{_LOCK}' 2>/dev/null; fi
  }} | head -n 50 | while IFS= read -r file; do
    if [ -f "./$file" ]; then head -c 1048576 "./$file" | LC_ALL=C sed -n {_ENTRY}; fi
  done | LC_ALL=C grep -E '{_PLAIN}' | sort -u
}}
"""

_BASH = f"""{_LISTING}
_locklens_beginning() {{
  local name
  while IFS= read -r name; do
    if [[ "$name" == "$1"* ]]; then printf '%s\\n' "$name"; fi
  done
}}

_locklens_revisions() {{ _locklens_list_revisions | _locklens_beginning "$1"; }}
_locklens_providers() {{ _locklens_list_providers | _locklens_beginning "$1"; }}
"""

_ZSH = f"""{_LISTING}
_locklens_revisions() {{ local -a names=( ${{(f)"$(_locklens_list_revisions)"}} ); compadd -a names; }}
_locklens_providers() {{ local -a names=( ${{(f)"$(_locklens_list_providers)"}} ); compadd -a names; }}
"""

_FISH = f"""\
function _locklens_revisions
    {_REFERENCES} 2>/dev/null | LC_ALL=C grep -E '{_PLAIN}'
end

function _locklens_providers
    set -l files {_LOCK}
    test -f {_LOCK}; or set files (git ls-files -- '*{_LOCK}' 2>/dev/null | head -n 50)
    for file in $files
        test -f "./$file"; and head -c 1048576 "./$file" | LC_ALL=C sed -n {_ENTRY}
    end | LC_ALL=C grep -E '{_PLAIN}' | sort -u
end
"""

PREAMBLE = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The functions, by shell."""

REVISIONS = {"bash": "_locklens_revisions", "zsh": "_locklens_revisions", "fish": "(_locklens_revisions)"}
PROVIDERS = {"bash": "_locklens_providers", "zsh": "_locklens_providers", "fish": "(_locklens_providers)"}
