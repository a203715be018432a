#!/bin/sh
# cjson.sh DIR [CJSON_C] - puts cJSON.c and cJSON.h into DIR, for programs that stand alone: Debian has no libcjson.a.
#
# They are those of Debian's source package, with its patches, which apt fetches and checks by the archive's
# signature; or a file that somebody has, beside its cJSON.h, which is taken if cjson.sha256 lists its SHA-256 or
# CJSON_SHA256 is that.  The header must be the one that the library here was compiled with.  DIR/cJSON.from then says
# where they come from.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 given=${2-}
header=/usr/include/cjson/cJSON.h

fail() { echo "cjson.sh: $*" >&2; exit 1; }
sum() { sha256sum "$1" | cut -d ' ' -f 1; }
listed() { grep -q "^$(sum "$1") " "$here/cjson.sha256"; }

# The sources that belong to the packages apt knows of, from the same mirrors.
from_apt()
{
    command -v dpkg-source >/dev/null || fail "no dpkg-source to unpack Debian's cjson with: install dpkg-dev," \
        "or name a file: make static CJSON_C=.../cJSON.c"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/empty"
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -f $keys ] && signed=" [signed-by=$keys]" || signed=
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' \
        'Component: main' |
        sort -u | sed "s|^|deb-src$signed |" >"$work/sources.list"
    [ -s "$work/sources.list" ] ||
        fail "apt knows no archive of Debian here: name a file: make static CJSON_C=.../cJSON.c"
    printf '%s;\n' "Dir::Etc::SourceList \"$work/sources.list\"" "Dir::Etc::SourceParts \"$work/empty\"" \
        "Dir::State::Lists \"$work/lists\"" "Dir::Cache \"$work/cache\"" 'APT::Sandbox::User ""' \
        'APT::Update::Error-Mode "any"' 'Acquire::Languages "none"' >"$work/apt.conf"
    version=$(dpkg-query -W -f '${source:Version}' libcjson-dev)
    (
        cd "$work"
        export APT_CONFIG=$work/apt.conf
        apt-get -qq update && { apt-get -qq --only-source source "cjson=$version" ||
            apt-get -qq --only-source source cjson; }
    ) >"$work/log" 2>&1 ||
        fail "apt could not fetch the source of cjson ($(sed -n 's/^[EW]: //p' "$work/log" | head -n 1)):" \
        "with a network, make static; without one, make static CJSON_C=.../cJSON.c"
    from="cjson $(sed -n 's/^Version: //p' "$work"/*.dsc | head -n 1) of Debian"
    given=$(echo "$work"/cjson-*/cJSON.c)
    listed "$given" || echo "cjson.sh: $from is newer than cjson.sha256, which lists what released programs hold" >&2
}

if [ -n "$given" ]; then
    [ -f "$given" ] && [ -f "$(dirname "$given")/cJSON.h" ] || fail "$given: expected a file, with cJSON.h beside it"
    listed "$given" || [ "$(sum "$given")" = "${CJSON_SHA256-}" ] ||
        fail "$given: its SHA-256 is $(sum "$given"), which cjson.sha256 does not list:" \
            "if you trust the file, set CJSON_SHA256 to that"
    from=$(sed -n "s/^$(sum "$given") //p" "$here/cjson.sha256")
    [ -n "$from" ] || from="cjson with SHA-256 $(sum "$given")"
else
    from_apt
fi
cmp -s "$(dirname "$given")/cJSON.h" "$header" ||
    fail "$from: its cJSON.h is not $header, with which the library was compiled:" \
        "install the libcjson-dev of that version"
mkdir -p "$dir"
cp "$(dirname "$given")/cJSON.h" "$given" "$dir"
echo "$from" >"$dir/cJSON.from"
