#!/bin/bash
# foreign.sh DEBIAN-ARCHITECTURE DIR PACKAGE... - unpacks packages of another architecture, with all that they depend
# on, into DIR: what a program for it is linked with, and run with by an emulator.
#
# They come from where this machine's own packages do, by an apt with a state of its own: nothing is installed, and
# the packages of this machine stay as they are.
set -euo pipefail
architecture=$1 root=$2 packages=("${@:3}")

work=$root.new
rm -rf "$work"
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/root"
at=$(realpath "$work/apt")
get()
{
    LC_ALL=C apt-get -qq -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" \
        -o "Dir::State=$at" -o "Dir::State::lists=$at/lists" -o "Dir::Cache=$at/cache" -o Dir::State::status=/dev/null \
        -o "APT::Sandbox::User=$(id -un)" "$@" 2>&1
}
# Of several archives, those that fail, or have nothing for this architecture, may not be needed.
updated=$(get update) || true
if ! installed=$(get -y --no-install-recommends --download-only install "${packages[@]}"); then
    why=$(printf '%s\n%s\n' "$installed" "$updated" | sed -n 's/^[EW]: //p' | head -n 1)
    echo "no packages for $architecture: $why;" \
        "with a network and Debian's main archive, try again" >&2
    rm -rf "$work"
    exit 1
fi
# Beside what is in them, a line for each file: PACKAGE VERSION ARCHITECTURE PATH.
for package in "$at"/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$work/root"
    named=$(dpkg-deb --show --showformat '${Package} ${Version} ${Architecture}' "$package")
    dpkg-deb --fsys-tarfile "$package" | tar --list | sed "s,^\.,$named ,"
done >"$work/root/packages"
# Links to the root of that system lead into DIR.
find "$work/root" -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfn --relative "$work/root$(readlink "$link")" "$link"
done
rm -rf "$root"
mv "$work/root" "$root"
rm -rf "$work"
