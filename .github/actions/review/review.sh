#!/usr/bin/env bash
# Reviews the checked-out commit: text to the log, Markdown to the job's summary, SARIF to a file.
# Ends with 0 whatever it finds: the review's exit status is an output, so that later steps can report it.
set -euo pipefail

locklens=$RUNNER_TEMP/locklens/bin/locklens
[ -x "$locklens" ] || locklens=$RUNNER_TEMP/locklens/Scripts/locklens
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(dirname "$locklens")/python
markdown=$RUNNER_TEMP/locklens-review.md
sarif=$RUNNER_TEMP/locklens-review.sarif
rm -f "$markdown" "$sarif"

base=$LOCKLENS_BASE
if [ -z "$base" ]; then
  base=$("$python" -I "$here/base.py")
fi

words=(--head HEAD --merge-base "--prove=$LOCKLENS_PROVE")
[ -z "$LOCKLENS_FAIL_ON" ] || words+=("--fail-on=$LOCKLENS_FAIL_ON")
while IFS= read -r host; do
  [ -z "$host" ] || words+=("--ask-host=$host")
done <<< "$LOCKLENS_ASK_HOSTS"
while IFS= read -r root; do
  [ -z "$root" ] || words+=("--root=$root")
done <<< "$LOCKLENS_ROOTS"
# An option cannot be smuggled in as a base: the name stands alone, and a revision begins with no "-".
case $base in
  "" | -*)
    echo "error: no base to compare with" >&2
    echo "hint: give the action's input \"base\"; a pull request, a merge queue or a push has one" >&2
    echo "status=2" >> "$GITHUB_OUTPUT"
    exit 0
    ;;
esac
words+=("$base")

status=0
"$locklens" review "${words[@]}" --format text || status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"
if [ "$status" -gt 1 ]; then
  echo "hint: the checkout needs both sides: actions/checkout with fetch-depth: 0" >&2
  exit 0
fi

# The answers of registries are cached by now: nothing is asked twice.
"$locklens" review "${words[@]}" --format markdown --output "$markdown" || [ $? -le 1 ]
echo "markdown=$markdown" >> "$GITHUB_OUTPUT"
if [ "$LOCKLENS_SUMMARY" = true ]; then
  cat "$markdown" >> "$GITHUB_STEP_SUMMARY"
fi
if [ "$LOCKLENS_SARIF" = true ]; then
  "$locklens" review "${words[@]}" --format sarif --output "$sarif" || [ $? -le 1 ]
  echo "sarif=$sarif" >> "$GITHUB_OUTPUT"
fi
