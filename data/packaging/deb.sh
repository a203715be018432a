#!/bin/sh
# deb.sh VERSION - builds Debian's packages from a copy of this directory, into $BUILD/deb.
#
# Their tests are those of make test, so that they are left out here.
set -eu
version=$1
described=$(dpkg-parsechangelog -l data/packaging/debian/changelog -S Version)
[ "${described%-*}" = "$version" ] || {
    echo "deb.sh: data/packaging/debian/changelog begins with $described, expected a revision of $version:" \
        "add an entry" >&2
    exit 1
}
copy=$BUILD/deb/attn-cli-$version
rm -rf "$BUILD/deb"
mkdir -p "$copy"
tar -c --exclude-vcs --exclude=./build . | tar -x -C "$copy"
data/packaging/commit.sh >"$copy/data/packaging/commit"
cd "$copy"
mv data/packaging/debian .
unset MAKEFLAGS MFLAGS MAKELEVEL
DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage -Pnocheck -b -us -uc
cd ..
rm -rf "attn-cli-$version"
ls -l ./*.deb
