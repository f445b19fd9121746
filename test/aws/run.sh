#!/bin/sh
# Runs the tests against a real moto server: test/aws/run.sh [go test flags], for example -run Reader -v.
#
# Moto goes into a venv below the cache, made anew when requirements.txt changes. The tests start the server
# themselves, on a free port, and it ends with them however they end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${MACHINEPOOL_CACHE:-$root/.cache}
venv=$cache/moto-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)

if [ ! -e "$venv/complete" ]; then
	echo "installing moto into $venv, half a minute the first time ..." >&2
	mkdir -p "$cache"
	python3 -m venv --clear "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
	touch "$venv/complete"
fi

cd "$root"
MACHINEPOOL_MOTO_PYTHON=$venv/bin/python
export MACHINEPOOL_MOTO_PYTHON
exec "${GO:-go}" test -tags moto -count=1 "$@" ./test/aws/...
