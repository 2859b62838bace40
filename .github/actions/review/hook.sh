#!/usr/bin/env bash
# Runs locklens as a hook of pre-commit: the first time it is installed, beside this clone, with locked libraries.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment=$here/../../../.hook
program() { [ -x "$environment/bin/locklens" ] && echo bin/locklens || echo Scripts/locklens; }
[ -x "$environment/$(program)" ] || bash "$here/install.sh" "$environment" >&2
exec "$environment/$(program)" "$@"
