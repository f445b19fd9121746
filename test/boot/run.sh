#!/bin/sh
# Boots the bootstrap stub in a Debian chroot, against a fake S3 and a fake instance metadata service.
#
#   test/boot/run.sh [-test.run NAME]
#
# It needs root, Go and apt, and installs the rest. The chroot is made once and kept in the cache; every test runs on an
# overlay of it that is thrown away. Everything runs in namespaces of its own: the network there has no way out, and all
# that was mounted, started or configured goes with them, however the run ends.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cache=${MACHINEPOOL_CACHE:-$root/.cache}/boot
mirror=${MACHINEPOOL_DEBIAN_MIRROR:-} # debootstrap knows one itself
suite=${MACHINEPOOL_DEBIAN_SUITE:-bookworm} # trixie works as well
# What is booted (cloud-init, shells and awks, curl, the AWS CLI, Ignition), and what looks on (shellcheck, strace, systemd).
packages='awscli bash busybox ca-certificates cloud-init curl gawk ignition mawk shellcheck strace systemd'

say() { printf 'test-boot: %s\n' "$*"; }

if [ "$(id -u)" != 0 ]; then
	say 'needs root: it makes a chroot and namespaces' >&2
	exit 1
fi

# quietly COMMAND...: shows what it printed only if it fails.
quietly() {
	"$@" >"$cache/last.log" 2>&1 && return
	tail -n 20 "$cache/last.log" >&2
	say "failed: $*" >&2
	exit 1
}

install_tools() {
	missing=''
	for tool in debootstrap:debootstrap unshare:util-linux ip:iproute2 flock:util-linux gpgv:gpgv; do
		command -v "${tool%%:*}" >/dev/null || missing="$missing ${tool##*:}"
	done
	# The keys that debootstrap checks Debian with: without them (on Ubuntu, for one) it checks nothing.
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing="$missing debian-archive-keyring"
	[ -n "$missing" ] || return 0
	say "installs$missing"
	quietly apt-get update -q
	# shellcheck disable=SC2086 # A list of packages.
	quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}

# make_image makes the chroot under another name first: one that is there is whole.
make_image() {
	[ ! -d "$image" ] || return 0
	say "makes a Debian $suite chroot in $image"
	rm -rf --one-file-system "$cache/debian-$suite"-*
	# In a mount namespace: what debootstrap mounts in the chroot goes with it, even if it is killed.
	# shellcheck disable=SC2016 # Expanded by the shell in the namespace.
	quietly unshare --mount sh -euc '
		image=$1 suite=$2 packages=$3 mirror=$4
		debootstrap --variant=minbase "$suite" "$image" ${mirror:+"$mirror"}
		chroot "$image" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages
		chroot "$image" apt-get clean
	' sh "$image.partial" "$suite" "$packages" "$mirror" 9>&-
	rm -rf --one-file-system "$image.partial"/var/lib/apt/lists/*
	mv "$image.partial" "$image"
}

mkdir -p "$cache"
image=$cache/debian-$suite-$(printf '%s' "$packages" | cksum | cut -d ' ' -f 1)
install_tools
exec 9>"$cache/lock"
flock -n 9 || { # two runs at once would make the chroot twice, and share a log
	say 'waits for another run, which holds the lock'
	flock 9
}
make_image

(cd "$root" && go test -c -tags boot -o "$cache/boot.test" ./test/boot 9>&-)

# The network: instance metadata at its real addresses, and a link that default routes can point to, with nobody at its
# other end. Names resolve by each chroot's /etc/hosts.
# shellcheck disable=SC2016 # Expanded by the shell in the namespaces.
in_namespaces='
set -eu
ip link set lo up
ip address add 169.254.169.254/32 dev lo
ip -6 address add fd00:ec2::254/128 dev lo nodad
ip link add ens5 type veth peer name nowhere
ip link set nowhere up
ip link set ens5 up
ip address add 192.0.2.2/24 dev ens5
ip -6 address add 2001:db8::2/64 dev ens5 nodad
ip route add default via 192.0.2.1
ip -6 route add default via 2001:db8::1
mount -t tmpfs -o mode=700 tmpfs "$MACHINEPOOL_BOOT_WORK"
exec "$@"
'

mkdir -p "$cache/work"
log=$cache/test.log
say "logs to $log"
MACHINEPOOL_BOOT_IMAGE=$image MACHINEPOOL_BOOT_WORK=$cache/work \
	setpriv --pdeathsig KILL unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc \
	sh -c "$in_namespaces" sh "$cache/boot.test" -test.v -test.timeout 20m "$@" >"$log" 2>&1 9>&- &
tests=$! # which end with us, and do not keep the lock
trap 'kill -KILL "$tests" 2>/dev/null || true' EXIT # and with it all that is in the namespaces
trap 'exit 1' HUP INT TERM
tail -n +1 -f --pid="$tests" "$log" 9>&- | grep --line-buffered -E '^ *(--- (PASS|FAIL|SKIP)|panic:|[a-z_]+_test\.go:[0-9]+:)' 9>&- &
shown=$!
status=0
wait "$tests" || status=$?
wait "$shown" || true # nothing to show is no failure

# All that the failed tests said, or how a run ended that broke off.
if [ "$status" != 0 ]; then
	awk '
		/^=== / { name = $3; next }
		/^ *--- FAIL/ { failed = 1; printf "\n%s\n%s", $0, said[$3] }
		/^ *--- / { next }
		/^panic:/ { broken = 1 }
		{ said[name] = said[name] $0 "\n" }
		END { exit broken || !failed }' "$log" || tail -n 40 "$log"
fi

# A run that broke off before any test failed is a failure, too.
awk -v status="$status" '
	/^ *--- PASS/ { passed++ }
	/^ *--- FAIL/ { failed++ }
	END {
		if (status != 0 && !failed) failed = 1
		printf "%d passed, %d failed\n", passed, failed
	}' "$log"
exit "$status"
