#!/bin/sh
# need.sh PACKAGE... - on Debian, installs the packages that are missing and says so; never asks for a password.
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
$root env DEBIAN_FRONTEND=noninteractive sh -c \
    "apt-get -qq update; apt-get -qq -y --no-install-recommends install$missing" </dev/null
