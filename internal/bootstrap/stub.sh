# shellcheck shell=sh disable=SC2154 # the assignments before it are made by stub.go
# The same for every pool from here on. Each run first sets the node labels; then, once per instance, it fetches the
# bootstrap data and leaves it where cloud-init, later in this boot, reads its configuration.
# Secrets pass through pipes, functions and 0600 files only: never through an argument, the environment or a log.
set -u
umask 077
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C

logfile=/var/log/aws-machinepool.log
config=/etc/cloud/cloud.cfg.d/99-aws-machinepool.cfg
download=$config.download # cloud-init reads names that end in .cfg only
new=$config.new
marker=/var/lib/cloud/instance/aws-machinepool
attempts=30
pause=10
nl='
'

# log keeps its own file: cloud-init drops the output of a boothook that ends well.
log() {
	line="$(date -u +%Y-%m-%dT%H:%M:%SZ) aws-machinepool: $*"
	printf '%s\n' "$line" >&2
	printf '%s\n' "$line" >>"$logfile"
}

# die also tells the console, which EC2 shows of a node that nobody can log in to.
die() {
	log "failed: $*"
	if [ -c /dev/console ]; then { printf '%s\n' "$line" >/dev/console; } 2>/dev/null; fi
	exit 1
}

# replace FILE TEXT: atomically, and only if it changes; mode and owner stay.
replace() {
	if [ -f "$1" ]; then
		[ "$(cat "$1")" != "$2" ] || return 0
		cp -p "$1" "$1.new"
	else
		: >"$1.new" && chmod 644 "$1.new"
	fi && printf '%s' "${2:+$2$nl}" >"$1.new" && mv -f "$1.new" "$1"
}

# kubelet_env FILE: FILE with our line last, or without it when there are no labels. systemd takes a variable's last
# assignment, so ours repeats the image's arguments, read by systemd's own rules for quotes, escapes and comments.
kubelet_env() {
	labels=$labels awk '
		BEGIN { mark = "# aws-machinepool: node labels, written on every boot" }
		$0 == mark { getline; next }
		{ text = text $0 "\n" }
		END {
			printf "%s", text
			if (ENVIRON["labels"] == "") exit
			for (i = 1; i <= length(text); i++) {
				c = substr(text, i, 1)
				if (s == "comment") {
					if (c == "\\") i++
					else if (c == "\n") s = ""
				} else if (s == "") {
					if (c == "#" || c == ";") s = "comment"
					else if (c !~ /[ \t\r\n]/) { s = "name"; name = c }
				} else if (s == "name") {
					if (c == "\n") s = ""
					else if (c == "=") { s = "="; value = ""; sub(/[ \t]+$/, "", name) }
					else name = name c
				} else if (s == "\047") {
					if (c == s) s = "="
					else value = value c
				} else if (s == "\"") {
					if (c == s) s = "="
					else if (c != "\\") value = value c
					else if ((c = substr(text, ++i, 1)) != "\n") value = value (c ~ /["\\`$]/ ? "" : "\\") c
				} else if (c == "\n") {
					if (s == "bare") sub(/[ \t\r]+$/, "", value)
					if (name == "KUBELET_EXTRA_ARGS") args = value
					s = ""
				} else if (s == "=" && (c == "\047" || c == "\"")) s = c
				else if (c == "\\") {
					s = "bare"
					if ((c = substr(text, ++i, 1)) != "\n") value = value c
				} else if (s == "bare" || c !~ /[ \t\r]/) { s = "bare"; value = value c }
			}
			gsub(/\n/, " ", args)
			gsub(/["\\`$]/, "\\\\&", args)
			print mark
			print "KUBELET_EXTRA_ARGS=\"" args (args == "" ? "" : " ") "--node-labels=" ENVIRON["labels"] "\""
		}' "$1"
}

# set_labels writes for kubeadm and for RKE2; whichever is not in use is never read.
set_labels() {
	for dir in /etc/default /etc/sysconfig; do # Debian's kubelet unit reads the one, Red Hat's the other
		file=$dir/kubelet
		if [ -f "$file" ]; then
			text=$(kubelet_env "$file") && replace "$file" "$text"
		elif [ -d "$dir" ] && [ -n "$labels" ]; then
			text=$(kubelet_env /dev/null) && replace "$file" "$text"
		fi || log "could not write the node labels to $file"
	done
	file=/etc/rancher/rke2/config.yaml.d/99-aws-machinepool.yaml
	if [ -z "$labels" ]; then
		rm -f "$file"
	else # the + adds to the lists of other files instead of replacing them
		mkdir -p "${file%/*}" &&
			replace "$file" "node-label+:$nl$(printf '%s\n' "$labels" | tr , '\n' | sed 's/.*/  - "&"/')"
	fi || log "could not write the node labels to $file"
}

# ipv6_only: without a way out over IPv4 but with one over IPv6, only the dual-stack names are in reach.
ipv6_only() {
	[ -z "$(awk '$2 == "00000000" && $8 == "00000000"' /proc/net/route)" ] &&
		[ -n "$(awk '$1 ~ /^0+$/ && $2 == "00" && $10 != "lo"' /proc/net/ipv6_route)" ]
} 2>/dev/null

# fetch_cli, fetch_curl: the object into $download, or fail with the reason in $why.
fetch_cli() {
	for AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE in $metadata; do
		export AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE
		why=$(timeout 180 aws s3api get-object --region "$region" --bucket="$bucket" --key="$key" "$download" \
			2>&1 >/dev/null) && return
		why=$(printf '%s\n' "$why" | sed '/./!d' | tail -n 1 | cut -c 1-300)
	done
	return 1
}

fetch_curl() {
	why='no credentials of an instance role from the instance metadata (IMDSv2)'
	credentials || return 1
	now=$(date -u +%Y%m%dT%H%M%SZ)
	sign
	# The headers as a file on standard input, since arguments show in ps.
	if status=$(printf 'header = "%s"\n' "Authorization: $authorization" "x-amz-content-sha256: $empty" "x-amz-date: $now" \
		"x-amz-security-token: $token" | curl -q -gsS --path-as-is --connect-timeout 10 --max-time 180 \
		-K - -o "$download" -w '%{http_code}' "https://$host$path" 2>&1); then
		[ "$status" != 200 ] || return 0
		why="HTTP $status$(sed -n 's/.*<Code>\([A-Za-z]*\)<.*/ \1/p' "$download" | head -n 1)"
	else
		why=$(printf '%s\n' "$status" | sed -n 's/.*\(curl: .*\)/\1/p' | head -n 1)
	fi
	return 1
}

# credentials sets $id, $secret and $token to the instance role's.
credentials() {
	for address in 169.254.169.254 '[fd00:ec2::254]'; do
		session=$(metadata_curl -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' \
			"http://$address/latest/api/token") && [ -n "$session" ] && break
	done || return 1
	role=$(metadata "") && json=$(metadata "${role%%"$nl"*}") &&
		id=$(field AccessKeyId) && secret=$(field SecretAccessKey) && token=$(field Token)
}

# metadata_curl never goes through a proxy: it would not be this instance's metadata.
metadata_curl() {
	curl -q -gsf --noproxy '*' --connect-timeout 3 --max-time 10 "$@" 2>/dev/null
}

metadata() {
	printf 'header = "X-aws-ec2-metadata-token: %s"\n' "$session" |
		metadata_curl -K - "http://$address/latest/meta-data/iam/security-credentials/$1"
}

# field NAME: that string of $json.
field() {
	printf '%s\n' "$json" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | grep .
}

# sign sets $authorization by AWS Signature Version 4. Not with curl --aws-sigv4, which curl has from 7.75 only and which
# leaves the token unsigned before 7.88 or so; and not with openssl, which takes the key as an argument.
sign() {
	signed='host;x-amz-content-sha256;x-amz-date;x-amz-security-token'
	scope=${now%T*}/$region/s3/aws4_request
	request="GET$nl$path$nl${nl}host:$host${nl}x-amz-content-sha256:$empty${nl}x-amz-date:$now
x-amz-security-token:$token$nl$nl$signed$nl$empty"
	signature=$(printf 'AWS4%s' "$secret" | hex)
	for part in "${now%T*}" "$region" s3 aws4_request \
		"AWS4-HMAC-SHA256$nl$now$nl$scope$nl$(printf %s "$request" | sha256)"; do
		signature=$(hmac "$signature" "$part")
	done
	authorization="AWS4-HMAC-SHA256 Credential=$id/$scope, SignedHeaders=$signed, Signature=$signature"
}
empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 # SHA-256 of no body

hex() { od -An -v -tx1 | tr -d ' \n'; }

sha256() { sha256sum | cut -c 1-64; }

# hmac KEY TEXT: HMAC-SHA256 (RFC 2104) in hex. KEY is in hex, and 64 bytes at most, as all of SigV4's are here.
hmac() {
	inner=$({ bytes "$1" 54 64 && printf %s "$2"; } | sha256)
	{ bytes "$1" 92 64 && bytes "$inner" 0 32; } | sha256
}

# bytes HEX MASK LENGTH: that many bytes, of HEX and then zeros, each XORed with MASK.
bytes() {
	rest=$1 escapes='' count=0
	while [ "$count" -lt "$3" ]; do
		byte=${rest%"${rest#??}"}
		rest=${rest#"$byte"}
		byte=$((0x${byte:-0} ^ $2))
		escapes=$escapes\\$((byte / 64))$((byte / 8 % 8))$((byte % 8))
		count=$((count + 1))
	done
	# shellcheck disable=SC2059 # The format is ours, and only formats take octal escapes everywhere.
	printf "$escapes"
}

# kind says what $new is, in words of its own.
kind() {
	head -c 4096 "$new" | awk '
		{ sub(/[ \t\r]+$/, "") }
		NR == 1 && tolower($0) ~ /^##[ \t]*template:[ \t]*jinja$/ { jinja = "jinja "; next }
		{ print jinja (/^#cloud-config([ \t]|$)/ ? "cloud-config" : "unknown"); exit }'
}

# is_mapping: YAML that cloud-init can read. Of any other it would print the lines around the fault into its log.
is_mapping() {
	python3 -c 'import yaml' || return 0 # cannot tell
	python3 -c 'import sys, yaml; sys.exit(not isinstance(yaml.safe_load(open(sys.argv[1], "rb")), dict))' "$new"
} 2>/dev/null

set_labels
log "node labels: ${labels:-none}"

instance=${INSTANCE_ID:-$(cat /var/lib/cloud/data/instance-id)}
if [ "$(cat "$marker" 2>/dev/null)" = "$instance" ]; then
	log "instance $instance has its bootstrap data"
	exit 0
fi

trap 'rm -f "$download" "$new"' EXIT
trap 'exit 1' HUP INT TERM
rm -f "$config" # an image made from a used instance brings that one's

metadata=IPv4
if ipv6_only; then
	host=$dualstack metadata='IPv6 IPv4'
	export AWS_USE_DUALSTACK_ENDPOINT=true
fi
no_proxy="${no_proxy:-${NO_PROXY:-}},169.254.169.254,fd00:ec2::254,[fd00:ec2::254]"
NO_PROXY=$no_proxy
AWS_METADATA_SERVICE_TIMEOUT=5 AWS_METADATA_SERVICE_NUM_ATTEMPTS=3
AWS_S3_US_EAST_1_REGIONAL_ENDPOINT=regional # not s3.amazonaws.com, which no VPC endpoint answers for
export no_proxy NO_PROXY AWS_METADATA_SERVICE_TIMEOUT AWS_METADATA_SERVICE_NUM_ATTEMPTS AWS_S3_US_EAST_1_REGIONAL_ENDPOINT

if aws --version >/dev/null 2>&1; then
	with='the AWS CLI' fetch=fetch_cli
elif curl --version >/dev/null 2>&1; then
	with=curl fetch=fetch_curl
else
	die "neither the AWS CLI nor curl is installed: cannot fetch s3://$bucket/$key"
fi
log "instance $instance fetches s3://$bucket/$key from $host with $with"
attempt=1
until rm -f "$download" && $fetch; do
	log "attempt $attempt of $attempts: $why"
	[ "$attempt" -lt "$attempts" ] || die "gave up on s3://$bucket/$key: $why"
	attempt=$((attempt + 1))
	sleep "$pause"
done

if [ "$(head -c 2 "$download" | hex)" = 1f8b ]; then
	gzip -dc <"$download" >"$new" 2>/dev/null || die "s3://$bucket/$key is damaged gzip"
else
	mv -f "$download" "$new"
fi
case $(kind) in
cloud-config) ;;
'jinja cloud-config') # rendered here, since cloud-init before 22.4 does not, and later ones print what they cannot render
	cloud-init devel render "$new" >"$download" 2>/dev/null ||
		die "s3://$bucket/$key is a Jinja template that cloud-init cannot render"
	mv -f "$download" "$new"
	;;
*) die "s3://$bucket/$key is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that" ;;
esac
is_mapping || die "s3://$bucket/$key is not a YAML mapping"

# After a failed first boot cloud-init has run its modules without the data: let it run them with it.
rm -f /var/lib/cloud/instance/sem/config_*
if ! { sync "$new" && mv -f "$new" "$config" && printf '%s\n' "$instance" >"$marker"; }; then
	die "could not write $config"
fi
log "installed s3://$bucket/$key as $config"
