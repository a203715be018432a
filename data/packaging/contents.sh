#!/bin/sh
# contents.sh .json|.copyright PROGRAM VERSION LINKED FILE... - what a program that stands alone holds, and whose it is.
#
# LINKED has what the linker read, a file a line; FILEs went in by other ways.  Each that is not of this build belongs to
# a package, whose version dpkg knows.  Prints them as a CycloneDX document, or the copyright of each.
set -eu
kind=$1 program=$2 version=$3 linked=$4
shift 4

fail() { echo "contents.sh: $*" >&2; exit 1; }
sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# Lines such as (/usr/lib/.../libz.a)inflate.o, libz.a, crt1.o.
files()
{
    sed -n 's/^(\{0,1\}\(\/[^)]*\).*/\1/p' "$linked" | sort -u
    for f; do echo "$f"; done
}

owners()
{
    files "$@" | xargs realpath | grep -v "^$PWD/" | sort -u | xargs dpkg-query -S 2>/dev/null | sed 's/: .*//' | sort -u
}

packages=$(owners "$@")
[ -n "$packages" ] || fail "dpkg knows none of the files that went into $program"

copyright()
{
    cat LICENSE
    printf '\n%s\n\n' "---- cJSON ($(cat build/cjson/cJSON.from))"
    sed '/\*\//q' build/cjson/cJSON.c
    for p in $packages; do
        printf '\n%s\n\n' "---- $p"
        cat "/usr/share/doc/${p%%:*}/copyright"
    done
}

# NAME VERSION [PURL] [SHA-256]
component()
{
    printf '    {"type": "library", "name": "%s", "version": "%s"' "$1" "$2"
    [ -z "$3" ] || printf ', "purl": "%s"' "$3"
    [ -z "${4-}" ] || printf ', "hashes": [{"alg": "SHA-256", "content": "%s"}]' "$4"
    printf '}'
}

document()
{
    cjson=$(sed -n 's/^cjson \([0-9][^ ]*\).*/\1/p' build/cjson/cJSON.from)
    source=$(sum build/cjson/cJSON.c)
    printf '{\n  "bomFormat": "CycloneDX",\n  "specVersion": "1.5",\n  "version": 1,\n  "metadata": {\n'
    printf '    "component": {"type": "application", "name": "attn-cli", "version": "%s", "licenses": [{"license": {"id": "MIT"}}],\n' "$version"
    printf '      "hashes": [{"alg": "SHA-256", "content": "%s"}]}\n  },\n  "components": [\n' "$(sum "$program")"
    component cjson "$cjson" "" "$source"
    for p in $packages; do
        printf ',\n'
        set -- "$p" $(dpkg-query -W -f '${Version} ${Architecture}' "$p")
        component "${1%%:*}" "$2" "pkg:deb/debian/${1%%:*}@$(echo "$2" | sed 's/+/%2B/g; s/:/%3A/g; s/~/%7E/g')?arch=$3"
    done
    printf '\n  ]\n}\n'
}

case $kind in
.json) document;;
*) copyright;;
esac
