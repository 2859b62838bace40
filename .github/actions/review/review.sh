#!/usr/bin/env bash
# Reviews the checked-out commit, once: text to the log, Markdown and SARIF to files.
# Ends with 0 whatever it finds: the review's exit status is an output, so that later steps can report it.
set -euo pipefail

locklens=$RUNNER_TEMP/locklens/bin/locklens
[ -x "$locklens" ] || locklens=$RUNNER_TEMP/locklens/Scripts/locklens
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(dirname "$locklens")/python
reports=$(mktemp -d "$RUNNER_TEMP/locklens-review.XXXXXX")
markdown=$reports/review.md
sarif=$reports/review.sarif
# This stands until a review replaces it: whatever ends the step, the last run's comment does not stay.
cp "$here/unreviewed.md" "$markdown"
echo "markdown=$markdown" >> "$GITHUB_OUTPUT"

base=$LOCKLENS_BASE
if [ -z "$base" ]; then
  base=$("$python" -I "$here/base.py")
fi

words=(--head HEAD --merge-base "--prove=$LOCKLENS_PROVE" --format text --report "markdown=$markdown")
[ "$LOCKLENS_SARIF" != true ] || words+=(--report "sarif=$sarif")
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
# Whatever the base: another commit than that of the pull request may well be ok.
if ! "$python" -I "$here/head.py"; then
  echo "status=2" >> "$GITHUB_OUTPUT"
  exit 0
fi

status=0
"$locklens" review "${words[@]}" || status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"
if [ "$status" -gt 1 ]; then
  echo "hint: the checkout needs both sides: actions/checkout with fetch-depth: 0" >&2
elif [ -s "$sarif" ]; then
  echo "sarif=$sarif" >> "$GITHUB_OUTPUT"
fi
