# shellcheck shell=sh disable=SC2154 # the assignments before it are made by stub.go
# The same for every pool from here on. Each run first sets the node labels; then, once per instance, it fetches the
# bootstrap data and leaves it where cloud-init, later in this boot, reads its configuration.
# Secrets pass through pipes, functions and 0600 files only: never through an argument, the environment or a log.
set -u
umask 077
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C
unset session json id secret token request signature authorization rest escapes byte inner # none may be exported

logfile=/var/log/aws-machinepool.log
config=/etc/cloud/cloud.cfg.d/99-zzz-aws-machinepool.cfg # the last name wins
download=$config.download # cloud-init reads names that end in .cfg only
new=$config.new
marker=/var/lib/cloud/instance/aws-machinepool
attempts=30 pause=10 deadline=900
nl='
'

# log keeps its own file: cloud-init drops the output of a boothook that ends well.
log() {
	line="$(date -u +%Y-%m-%dT%H:%M:%SZ) aws-machinepool: $*"
	printf '%s\n' "$line" >&2
	printf '%s\n' "$line" >>"$logfile"
}

# tell also tells the console, which EC2 shows of a node that nobody can log in to.
tell() {
	log "$@"
	if [ -c /dev/console ]; then { printf '%s\n' "$line" >/dev/console; } 2>/dev/null; fi
}

die() {
	tell "failed: $*"
	exit 1
}

# replace FILE TEXT: atomically, and only if it changes; mode and owner stay.
replace() {
	if [ -f "$1" ]; then
		[ "$(cat "$1")" != "$2" ] || return 0
		cp -p "$1" "$1.new"
	else
		printf '' >"$1.new" && chmod 644 "$1.new" # not with ":", at whose failure sh exits
	fi && printf '%s' "${2:+$2$nl}" >"$1.new" && sync "$1.new" && mv -f "$1.new" "$1"
}

# kubelet_env FILE: FILE with our line last, or without it when there are no labels. systemd takes a variable's last
# assignment, so ours repeats the image's arguments, read by systemd's own rules for quotes, escapes and comments.
kubelet_env() {
	labels=$labels awk '
		BEGIN { mark = "# aws-machinepool: node labels, written on every boot" }
		function assign() {
			if (s == "bare") sub(/[ \t\r]+$/, "", value)
			if (name == "KUBELET_EXTRA_ARGS") args = value
		}
		$0 == mark { marked = 1; next }
		marked && /^KUBELET_EXTRA_ARGS="(.* )?--node-labels=[^ ]*"$/ { marked = 0; next }
		{ marked = 0; text = text $0 "\n" }
		END {
			printf "%s", text
			if (ENVIRON["labels"] == "") exit
			for (i = 1; i <= length(text); i++) {
				c = substr(text, i, 1)
				if (s == "comment") {
					if (c == "\n") s = "" # as systemd from 254 on: no comment is continued
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
					assign()
					s = ""
				} else if (s == "=" && (c == "\047" || c == "\"")) s = c
				else if (c == "\\") {
					s = "bare"
					if ((c = substr(text, ++i, 1)) != "\n") value = value c
				} else if (s == "bare" || c !~ /[ \t\r]/) { s = "bare"; value = value c }
			}
			if (s != "" && s != "comment") { # the last value is not closed
				assign()
				print s ~ /["\047]/ ? s : ""
			}
			sub(/\n+$/, "", args)
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
		(umask 022 && mkdir -p "${file%/*}") &&
			replace "$file" "node-label+:$nl$(printf '%s\n' "$labels" | tr , '\n' | sed 's/.*/  - "&"/')"
	fi || log "could not write the node labels to $file"
}

uptime() { cut -d . -f 1 /proc/uptime; } # the clock may yet be set

# ipv6_only: without a way out over IPv4 but with one over IPv6, only the dual-stack names are in reach.
ipv6_only() {
	[ -z "$(awk '$2 == "00000000" && $8 == "00000000"' /proc/net/route)" ] &&
		[ -n "$(awk '$1 ~ /^0+$/ && $2 == "00" && $10 != "lo"' /proc/net/ipv6_route)" ]
} 2>/dev/null

# choose_host decides anew for each attempt: routes may come late.
choose_host() {
	before=$from
	if ipv6_only; then
		from=$dualstack metadata='IPv6 IPv4' AWS_USE_DUALSTACK_ENDPOINT=true
	else
		from=$host metadata=IPv4 AWS_USE_DUALSTACK_ENDPOINT=false
	fi
	export AWS_USE_DUALSTACK_ENDPOINT
	[ "$from" = "$before" ] || log "instance $instance fetches s3://$bucket/$key from $from with $with"
}

# fetch_cli, fetch_curl: the object into $download, or fail with the reason in $why.
fetch_cli() {
	for AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE in $metadata; do
		export AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE
		why=$(timeout 180 aws --cli-connect-timeout 10 --cli-read-timeout 60 s3api get-object --region "$region" \
			--bucket="$bucket" --key="$key" "$download" 2>&1 >/dev/null) && return
		why=$(printf '%s\n' "$why" | awk '
			NF { last = $0 }
			/error occurred|Error/ { error = $0 }
			END { print error == "" ? last : error }' | cut -c 1-300)
	done
	return 1
}

fetch_curl() {
	credentials || return 1
	now=$(date -u +%Y%m%dT%H%M%SZ)
	sign
	# The headers as a file on standard input, since arguments show in ps.
	if status=$(printf 'header = "%s"\n' "Authorization: $authorization" "x-amz-content-sha256: $empty" "x-amz-date: $now" \
		"x-amz-security-token: $token" | curl -q -gsS --path-as-is --connect-timeout 10 --max-time 180 \
		-K - -o "$download" -w '%{http_code}' "https://$from$path" 2>&1); then
		[ "$status" != 200 ] || return 0
		why="HTTP $status$(for name in Code Endpoint; do
			sed -n "s/.*<$name>\([A-Za-z0-9._-]*\)<.*/ \1/p" "$download" | head -n 1
		done | tr -d '\n')"
	else
		why=$(printf '%s\n' "$status" | sed -n 's/.*\(curl: .*\)/\1/p' | head -n 1)
	fi
	return 1
}

# credentials sets $id, $secret and $token to the instance role's.
credentials() {
	why='the instance metadata (IMDSv2) gives no session token'
	for address in 169.254.169.254 '[fd00:ec2::254]'; do
		session=$(metadata_curl -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' \
			"http://$address/latest/api/token") && [ -n "$session" ] && break
	done || return 1
	why='the instance metadata has no credentials of an instance role'
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
	request="GET$nl$path$nl${nl}host:$from${nl}x-amz-content-sha256:$empty${nl}x-amz-date:$now
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

# kind says what $new is, in words of its own. cloud-init, too, overlooks case and blank lines. payload.go has the same rule.
kind() {
	head -c 4096 "$new" | awk '
		{ sub(/[ \t\r]+$/, "") }
		NR == 1 && tolower($0) ~ /^##[ \t]*template:[ \t]*jinja$/ { jinja = "jinja "; next }
		NF { print jinja (tolower($0) ~ /^#cloud-config([ \t]|$)/ ? "cloud-config" : "unknown"); exit }'
}

# is_mapping: YAML that cloud-init can read. Of any other it would print the lines around the fault into its log.
is_mapping() {
	for python in "$(sed -n '1s/^#! *//p' "$(command -v cloud-init)")" /usr/bin/python3 /usr/libexec/platform-python python3; do
		# shellcheck disable=SC2086 # The first may bring an argument.
		if [ -n "$python" ] && $python -c 'import yaml'; then
			$python -c 'import sys, yaml; sys.exit(not isinstance(yaml.safe_load(open(sys.argv[1], "rb")), dict))' "$new"
			return
		fi
	done 2>/dev/null
	log 'no python3 with yaml: cannot check the YAML, and cloud-init prints what it cannot read'
}

# warn_overruled names the files that come after ours and set what ours sets: cloud-init takes theirs.
warn_overruled() {
	later=''
	for file in "${config%/*}"/*.cfg; do
		if [ -n "$later" ]; then
			names=$(awk -F '[ \t]*:' '
				!/^[A-Za-z_]+[ \t]*:/ { next }
				NR == FNR { ours[$1]; next }
				$1 in ours { printf " %s", $1 }' "$config" "$file")
			[ -z "$names" ] || tell "warning: $file comes after $config and overrules its$names"
		fi
		[ "$file" != "$config" ] || later=yes
	done
}

set_labels
log "node labels: ${labels:-none}"

instance=${INSTANCE_ID:-$(cat /var/lib/cloud/data/instance-id)}
[ -n "$instance" ] || die 'cloud-init tells no instance id'
if [ "$(cat "$marker" 2>/dev/null)" = "$instance" ]; then
	log "instance $instance has its bootstrap data"
	exit 0
fi

trap 'rm -f "$download" "$new"' EXIT
trap 'exit 1' HUP INT TERM
# An image made from a used instance brings that one's.
{ rm -f "$config" && printf '' >"$download"; } || die "cannot write in ${config%/*}"

# The AWS CLI gets no settings but ours, and its credentials from the instance role only.
# shellcheck disable=SC2046 # Names.
unset $(env | sed -n 's/^\(AWS_[A-Z0-9_]*\)=.*/\1/p' | grep -vx AWS_CA_BUNDLE)
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null BOTO_CONFIG=/dev/null AWS_MAX_ATTEMPTS=1
export AWS_METADATA_SERVICE_TIMEOUT=5 AWS_METADATA_SERVICE_NUM_ATTEMPTS=3
export AWS_S3_US_EAST_1_REGIONAL_ENDPOINT=regional # not s3.amazonaws.com, which no VPC endpoint answers for

if aws --version >/dev/null 2>&1; then
	with='the AWS CLI' fetch=fetch_cli
	no_proxy="${no_proxy:-${NO_PROXY:-}},169.254.169.254,fd00:ec2::254,[fd00:ec2::254]"
	export no_proxy NO_PROXY="$no_proxy"
elif curl --version >/dev/null 2>&1; then
	with=curl fetch=fetch_curl
else
	die "neither the AWS CLI nor curl is installed: cannot fetch s3://$bucket/$key"
fi
attempt=1 from='' why=''
end=$(($(uptime) + deadline))
until choose_host; rm -f "$download" && $fetch; do
	[ -n "$why" ] || why='no answer in 180 s'
	case $attempt in
	1 | *0) tell "attempt $attempt of $attempts: $why" ;;
	*) log "attempt $attempt of $attempts: $why" ;;
	esac
	if [ "$attempt" -ge "$attempts" ] || [ "$(uptime)" -ge "$end" ]; then
		die "gave up on s3://$bucket/$key: $why"
	fi
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
warn_overruled
