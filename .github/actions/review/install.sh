#!/usr/bin/env bash
# Installs locklens from the action's own checkout, with the locked versions of its libraries, beside the job's Python.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$LOCKLENS_PYTHON" -I -m venv "$RUNNER_TEMP/locklens"
bin=$RUNNER_TEMP/locklens/bin
[ -d "$bin" ] || bin=$RUNNER_TEMP/locklens/Scripts
# From the runner's folder: a pull request's files must not be on Python's path, nor configure pip.
cd "$RUNNER_TEMP"
"$bin/python" -I -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$here/requirements.txt"
"$bin/python" -I -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$here/../../.."
"$bin/locklens" --version
