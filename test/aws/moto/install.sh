#!/bin/sh
# Installs moto into a venv below the cache, anew when requirements.txt changes, and prints the venv's Python.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
cache=${MACHINEPOOL_CACHE:-$here/../../.cache}
venv=$cache/moto-$(cksum <"$here/requirements.txt" | cut -d' ' -f1)

say() { printf 'moto: %s\n' "$*" >&2; }

# has_venv: Debian's and Ubuntu's python3 comes without what makes a venv.
has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

install_python() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		say 'needs python3 with venv: install it, on Debian and Ubuntu with: apt-get install python3-venv'
		exit 1
	fi
	say 'installs python3-venv'
	apt-get update -qq >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
	has_venv || {
		say "$(command -v python3) still cannot make a venv: put one that can first in PATH"
		exit 1
	}
}

if [ ! -e "$venv/complete" ]; then
	has_venv || install_python
	say "installs into $venv, half a minute the first time ..."
	mkdir -p "$cache"
	python3 -m venv --clear "$venv" >&2
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --require-hashes --requirement "$here/requirements.txt" >&2
	touch "$venv/complete"
fi
printf '%s\n' "$venv/bin/python"
