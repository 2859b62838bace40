#!/usr/bin/env bash
# Installs locklens from the clone that this file is in, with the locked versions of its libraries: install.sh DIR
# DIR becomes a virtual environment of the Python that LOCKLENS_PYTHON names, or else of python3 on PATH.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
"${LOCKLENS_PYTHON:-python3}" -I -m venv "${1:?a folder is needed: install.sh DIR}"
# From the new folder: a pull request's files must not be on Python's path, nor configure pip.
cd "$1"
bin=$PWD/bin
[ -d "$bin" ] || bin=$PWD/Scripts
options=(--quiet --disable-pip-version-check)
"$bin/python" -I -m pip install "${options[@]}" --require-hashes --requirement "$top/.github/actions/review/requirements.txt"
"$bin/python" -I -m pip install "${options[@]}" --no-deps --no-build-isolation "$top"
"$bin/locklens" --version
