#!/bin/bash
# bare.sh [RELEASE [COMMAND...]] - whether `make run` and `make test`, or COMMANDs, do everything on a fresh
# Debian or Ubuntu.
#
# Makes the smallest root of RELEASE (bookworm; noble and others are Ubuntu's) with debootstrap, installs make and git,
# and clones the commit that is checked out here: what is not committed is not in it, but for the folder that `carry` in
# the environment names.  Each command is the first in a copy of that root.  Needs to be root, and a network; without,
# it is skipped and says so, which is a failure with ATTN_SKIP_NOTHING=1.  With unsigned=1 it also takes a release whose
# signature nobody can check here, as Ubuntu's where its keys are not installed.
#
# `arch` in the environment, arm64, asks for another architecture than this machine's: an emulator then runs all
# that is in the root, some twenty times as slowly.  This system learns nothing of that: only the namespaces of the
# root know how.
set -euo pipefail
cd "$(dirname "$0")/.."
self=tests/bare.sh
release=bookworm
arch=${arch-}

skip() { echo "test-bare: skipped, $1"; exit "${ATTN_SKIP_NOTHING:-0}"; }

# Proxies that the environment or apt names, for debootstrap and for all that runs in the root.
proxies=()
take_proxies()
{
    local v
    [ -n "${http_proxy-}" ] || eval "$(apt-config shell http_proxy Acquire::http::Proxy 2>/dev/null)"
    for v in http_proxy https_proxy no_proxy; do
        [ -z "${!v-}" ] || { export "${v?}"; proxies+=("$v=${!v}"); }
    done
}

# What else apt was told here about the way to its mirror; but not the programs it asks, which the root lacks.
of_apt()
{
    apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Retries|Check-Valid-Until)' | grep -vi detect || true
}

# Releases that are not Debian's are Ubuntu's, which are all made alike.
of_ubuntu() { case $release in bookworm | trixie | forky | sid | stable | testing) return 1;; esac; }

# The mirror this machine installs from; nothing: debootstrap's own.
mirror()
{
    local by sites labels=("Label: Debian")
    ! of_ubuntu || labels=("Label: Ubuntu")
    for by in "${labels[@]}" "Release: $release"; do
        sites=$(apt-get indextargets --format '$(SITE)' "$by" "Component: main" "Created-By: Packages" 2>/dev/null |
            sed -n '/^https\{0,1\}:/p') || true
        [ -z "$sites" ] || { echo "${sites%%$'\n'*}"; return; }
    done
}

# Mounts in root $1 what a machine has there, and runs command line $2 in it, without this machine's environment and
# without a terminal.  As a child: the first process of a namespace ignores most signals.
enter()
{
    local dev=$1/dev n
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount -t tmpfs -o mode=755 dev "$dev"
    mkdir "$dev/pts" "$dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$dev/pts"
    mount -t tmpfs -o mode=1777 shm "$dev/shm"
    for n in null zero full random urandom tty; do
        : >"$dev/$n"
        mount --bind "/dev/$n" "$dev/$n"
    done
    ln -s pts/ptmx "$dev/ptmx"
    ln -s /proc/self/fd "$dev/fd"
    for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "$dev/${n#*:}"; done
    setsid --wait chroot "$1" env -i --default-signal HOME=/root LOGNAME=root \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${proxies[@]}" sh -c "$2" </dev/null
}

# Makes root $1, from mirror $2 if there is one.
make_root()
{
    local more=() script=()
    case $2 in https:*) more=(--include=ca-certificates);; esac
    ! of_ubuntu || { more+=(--components=main,universe); script=(gutsy); }
    [ "${unsigned-}" != 1 ] || more+=(--no-check-gpg)
    debootstrap --variant=minbase "${more[@]}" ${arch:+--arch="$arch" --foreign} "$release" "$1" "$2" "${script[@]}"
}

# Its second half is done by its own programs.  In a container, as debootstrap calls it, nobody makes devices.
furnish()
{
    [ -z "$arch" ] || chroot "$1" env container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /debootstrap/debootstrap \
        --second-stage
    of_apt >"$1/etc/apt/apt.conf.d/90as-here"
    enter "$1" 'export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update && apt-get -qq -y --no-install-recommends install make git'
}

# Runs a function of this file in namespaces of its own, so that its mounts and processes end with it, however it ends.
# In the background: a shell hears signals while it waits.
namespaces=(setpriv --pdeathsig KILL unshare --mount --mount-proc --pid --fork --kill-child "$self" --apart)
apart()
{
    "${namespaces[@]}" "$release" "$@" &
    end_of $!
}

end_of()
{
    local rc=0
    running=$1
    wait "$running" || rc=$?
    running=
    return $rc
}

# The same where programs of `arch` run.  From Linux 6.7 on, which emulator runs what may be told to a
# user namespace alone.
emulated()
{
    [ -n "$arch" ] || { apart "$@"; return; }
    setpriv --pdeathsig KILL unshare --user "$self" --unmapped "$release" "$@" &
    local id=$!
    until [ "$(readlink "/proc/$id/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.1; done
    echo 0 0 65536 | tee "/proc/$id/gid_map" >"/proc/$id/uid_map"       # users are whom they are outside
    end_of $id
}

knowing_the_emulator()
{
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
    "$@"
}

leave()
{
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
    # Processes of a namespace may take a moment to end.
    [ -z "$work" ] || rm -rf --one-file-system "$work" 2>/dev/null || { sleep 2; rm -rf --one-file-system "$work"; }
}

versions()
{
    echo "with$(dpkg-query --admindir="$work/copy/var/lib/dpkg" -W -f ' ${Package} ${Version};' "$@" 2>/dev/null)"
}

# Runs command $1 in a copy of the root, and says how it went.
try()
{
    local rc=0 began packages
    printf '\n== %s, first on %s\n' "$1" "$machine"
    cp -a --reflink=auto "$work/root" "$work/copy" || return
    began=$SECONDS
    emulated enter "$work/copy" "cd /root/attn-cli && $1" >"$work/log" 2>&1 || rc=$?
    if [ $rc = 0 ]; then tail -n 25 "$work/log"; else cat "$work/log"; fi
    packages=$(sed -n 's/^installing //p' "$work/log")
    [ -z "$packages" ] || versions make git $packages
    printf '== %s: %d s, exit status %d\n' "$1" $((SECONDS - began)) $rc
    rm -rf --one-file-system "$work/copy"
    return $rc
}

take_proxies
case ${1-} in
--apart) release=$2; "${@:3}"; exit;;
--unmapped)
    until [ "$(id -u)" = 0 ]; do sleep 0.1; done
    exec "${namespaces[@]}" "$2" knowing_the_emulator "${@:3}";;
esac
release=${1:-$release}
commands=("${@:2}")
[ ${#commands[@]} -gt 0 ] || commands=("make run" "make test")
if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || skip "only root can make a bare system: sudo make test-bare"
    exec sudo -n env ATTN_SKIP_NOTHING="${ATTN_SKIP_NOTHING-}" carry="${carry-}" unsigned="${unsigned-}" arch="$arch" \
        "${proxies[@]}" \
        "$self" "$release" "${commands[@]}"
fi
[ -z "$arch" ] || [ "$arch" = arm64 ] || skip "no emulator is known here for $arch, expected arm64"
{ missing=$(tests/need.sh debootstrap ${arch:+qemu-user-static} 2>&1 >&3); } 3>&1 || skip "$missing"
command -v debootstrap >/dev/null || skip "there is no debootstrap: install it"
unshare --mount --mount-proc --pid --fork true 2>/dev/null ||
    skip "root may not mount here: run it outside of this container"
emulated true 2>/dev/null || skip "this kernel does not let a namespace choose an emulator: Linux 6.7 or later does"

running='' work=''
trap leave EXIT
trap 'exit 130' INT TERM HUP
work=$(mktemp -d)
from=$(mirror)
printf '== a fresh %s%s%s\n' "$release" "${arch:+ for $arch}" "${from:+ from $from}"
if ! { apart make_root "$work/root" "$from" && emulated furnish "$work/root"; } >"$work/log" 2>&1; then
    ! grep -qE "^E: (Failed getting release file|Couldn't download|Failed to fetch)|Temporary failure" "$work/log" ||
        skip "no network leads to $release on ${from:-the mirror}: connect this machine, or give apt a proxy"
    cat "$work/log"
    exit 1
fi
# Whoever owns the checkout, as root of the new system would clone it.
printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
GIT_CONFIG_GLOBAL=$work/gitconfig git clone -q --depth 1 "file://$PWD" "$work/root/root/attn-cli"
[ -z "${carry-}" ] || cp -a --parents "$carry" "$work/root/root/attn-cli"
machine="Debian $(cat "$work/root/etc/debian_version") ($release${arch:+, $arch})"
! of_ubuntu || machine="Ubuntu $release${arch:+, $arch}"
bad=0
for command in "${commands[@]}"; do try "$command" || bad=1; done
exit $bad
