#!/bin/sh
# Lint and the quick tests side by side, on two cores. The arguments go to vitest; what lint says comes last.
said=$(mktemp)
npm run --silent lint >"$said" 2>&1 &
lint=$!
vitest run --project alone --project quick "$@"
tests=$?
wait "$lint"
linted=$?
cat "$said"
rm "$said"
[ "$linted" -eq 0 ] && exit "$tests"
echo "lint: exit code $linted"
exit 1
