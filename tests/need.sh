#!/bin/sh
# need.sh [--say] PACKAGE... - on Debian, installs the packages that are missing, and says what it does; never asks for
# a password.  Where that fails, or with --say, it says in one sentence which packages are missing, why, and what to do.
say=
[ "${1-}" != --say ] || { say=1; shift; }
command -v dpkg-query >/dev/null || { [ -z "$say" ] || echo "what Debian has in $*: install it" >&2; exit 0; }
missing=
for p; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

# How whoever asks becomes root: by sudo if there is one, else as su does.
install="apt-get update && apt-get install -y$missing"
if [ "$(id -u)" = 0 ]; then
    advice=$install
elif command -v sudo >/dev/null; then
    advice="sudo apt-get update && sudo apt-get install -y$missing"
else
    advice="su -c '$install', or ask whoever is root here to run that"
fi
[ -z "$say" ] || { echo "missing packages:$missing; run: $advice" >&2; exit 0; }
root=
[ "$(id -u)" = 0 ] || root='sudo -n'
$root true 2>/dev/null || { echo "missing packages:$missing; run: $advice" >&2; exit 1; }
echo "installing$missing"
kept=$(mktemp) || exit
trap 'rm -f "$kept"' EXIT
# A machine that has just started may still be installing updates: waits a minute for those.
get() { $root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=60 "$@" </dev/null 2>&1; }
# What apt-get is at, a line for every tenth thing, as people wait for it.
progress() {
    awk -v kept="$kept" '
        { print >kept }
        /^(Get|Hit):.*InRelease/ && !lists++ { print "  reading lists of packages" }
        /^After this operation/ { fetched = 0; print "  fetching them" }
        /^Get:/ && ++fetched % 10 == 0 { print "  fetched " fetched " files" }
        /^(Unpacking|Setting up) / && $1 != at { at = $1; n = 0 }
        /^Unpacking / && n++ % 10 == 0 { sub(/:[a-z0-9]+$/, "", $2); print "  unpacking " $2 }
        /^Setting up / { sub(/:[a-z0-9]+$/, "", $3); if (n++ % 10 == 0) print "  setting up " $3 }
        { fflush() }'
}
# Where the network fails, update only warns; and where another archive than Debian's fails, install may succeed.
get update | progress
updated=$(cat "$kept")
{ get -y --no-install-recommends install $missing || echo 'E: apt-get failed'; } | progress
installed=$(cat "$kept")
case $installed in *'E: apt-get failed') ;; *) exit 0;; esac
why=$(echo "$installed" | sed -n 's/^E: //p' | head -n 1)
next="once that is mended"
case $why in
'Unable to '* | 'Failed to fetch'* | *'no installation candidate') next="with a network and Debian's main archive";;
esac
case $why in 'Failed to fetch'*) updated=;; esac
also=$(echo "$updated" | sed -n 's/^E: /, /p; s/^W: Failed to fetch/, Failed to fetch/p' | head -n 1)
echo "missing packages:$missing (apt-get: ${why:-$installed}$also); $next, run: $advice" >&2
exit 1
