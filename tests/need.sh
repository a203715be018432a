#!/bin/sh
# need.sh PACKAGE... - on Debian, installs the packages that are missing and says so; never asks for a password.
# Where that fails, it says in one sentence which packages are missing, why, and what to do.
command -v dpkg-query >/dev/null || exit 0
missing=
for p; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
root=
[ "$(id -u)" = 0 ] || root='sudo -n'
$root true 2>/dev/null || { echo "missing packages: sudo apt-get install$missing" >&2; exit 1; }
echo "installing$missing"
# A machine that has just started may still be installing updates: waits a minute for those.
get() { $root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=60 "$@" </dev/null 2>&1; }
# Where the network fails, update only warns; and where another archive than Debian's fails, install may succeed.
updated=$(get update)
installed=$(get -y --no-install-recommends install $missing) && exit 0
why=$(echo "$installed" | sed -n 's/^E: //p' | head -n 1)
next="once that is mended"
case $why in
'Unable to '* | 'Failed to fetch'* | *'no installation candidate') next="with a network and Debian's main archive";;
esac
case $why in 'Failed to fetch'*) updated=;; esac
also=$(echo "$updated" | sed -n 's/^E: /, /p; s/^W: Failed to fetch/, Failed to fetch/p' | head -n 1)
echo "missing packages:$missing (apt-get: ${why:-$installed}$also);" \
    "$next, run: sudo apt-get update && sudo apt-get install$missing" >&2
exit 1
