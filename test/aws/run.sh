#!/bin/sh
# Runs the tests against a real moto server: test/aws/run.sh [go test flags], for example -run Reader -v.
#
# The tests start the server themselves, on a free port, and the function's own binary beside it; both end with them
# however they end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${MACHINEPOOL_CACHE:-$root/.cache}
go=${GO:-go}

MACHINEPOOL_MOTO_PYTHON=$("$here/moto/install.sh")
MACHINEPOOL_FUNCTION=$cache/bin/function
export MACHINEPOOL_MOTO_PYTHON MACHINEPOOL_FUNCTION

cd "$root"
[ -x "$cache/bin/function" ] || printf 'test-aws: builds the function, about 2 minutes the first time ...\n' >&2
"$go" build -o "$cache/bin/function" .

# They wait more than they work.
exec "$go" test -tags moto -count=1 -parallel 4 "$@" ./test/aws/...
