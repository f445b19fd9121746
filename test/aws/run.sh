#!/bin/sh
# Runs the tests against a real moto server: test/aws/run.sh [go test flags], for example -run Reader -v.
#
# Moto goes into a venv below the cache, made anew when requirements.txt changes. The tests start the server
# themselves, on a free port, and the function's own binary beside it; both end with them however they end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${MACHINEPOOL_CACHE:-$root/.cache}
venv=$cache/moto-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)
go=${GO:-go}

say() { printf 'test-aws: %s\n' "$*" >&2; }

# has_venv: Debian's and Ubuntu's python3 comes without what makes a venv.
has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

install_python() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say 'needs python3 with venv: install it, on Debian and Ubuntu with: apt-get install python3-venv'
		exit 1
	fi
	say 'installs python3-venv'
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
	has_venv || {
		say "$(command -v python3) still cannot make a venv: put one that can first in PATH"
		exit 1
	}
}

if [ ! -e "$venv/complete" ]; then
	has_venv || install_python
	say "installs moto into $venv, half a minute the first time ..."
	mkdir -p "$cache"
	python3 -m venv --clear "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --requirement "$here/requirements.txt"
	touch "$venv/complete"
fi

cd "$root"
[ -x "$cache/bin/function" ] || say 'builds the function, about 2 minutes the first time ...'
"$go" build -o "$cache/bin/function" .

MACHINEPOOL_MOTO_PYTHON=$venv/bin/python MACHINEPOOL_FUNCTION=$cache/bin/function
export MACHINEPOOL_MOTO_PYTHON MACHINEPOOL_FUNCTION
# They wait more than they work.
exec "$go" test -tags moto -count=1 -parallel 4 "$@" ./test/aws/...
