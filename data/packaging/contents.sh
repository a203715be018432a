#!/bin/sh
# contents.sh .json|.copyright PROGRAM VERSION LINKED FILE... - what a program that stands alone holds, and whose it is.
#
# LINKED has what the linker read, one file per line; FILEs went in by other ways.  Each that is not of this build
# belongs to a package, whose version dpkg knows, or the list in ROOT of the environment, where packages of another
# architecture were unpacked (tests/foreign.sh).  Prints them as a CycloneDX document, or the copyright of each.
set -eu
kind=$1 program=$2 version=$3 linked=$4
shift 4

fail() { echo "contents.sh: $*" >&2; exit 1; }
sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# Lines such as (/usr/lib/.../libz.a)inflate.o, /usr/lib/.../libz.a, build/arm/root/usr/lib/.../libz.a.
files()
{
    sed -n 's/^(\{0,1\}\([^)]*\/[^)]*\).*/\1/p' "$linked" | sort -u
    for f; do echo "$f"; done
}

# Lines PACKAGE VERSION ARCHITECTURE.
owners()
{
    paths=$(files "$@" | xargs realpath | sort -u)
    echo "$paths" | grep -v "^$PWD/" | xargs dpkg-query -S 2>/dev/null | sed 's/: .*//' | sort -u |
        xargs -r dpkg-query -W -f '${Package} ${Version} ${Architecture}\n'
    [ -z "${ROOT-}" ] || echo "$paths" | sed -n "s,^$(realpath "$ROOT"),,p" |
        awk 'NR == FNR {used[$0] = 1; next} $4 in used {print $1, $2, $3}' - "$ROOT/packages" | sort -u
}

packages=$(owners "$@")
[ -n "$packages" ] || fail "dpkg knows none of the files that went into $program"

copyright()
{
    cat LICENSE
    printf '\n%s\n\n' "---- cJSON ($(cat "$BUILD/cjson/cJSON.from"))"
    sed '/\*\//q' "$BUILD/cjson/cJSON.c"
    echo "$packages" | while read -r p version architecture; do
        printf '\n%s\n\n' "---- $p"
        of=${ROOT-}/usr/share/doc/$p/copyright
        [ -e "$of" ] || of=/usr/share/doc/$p/copyright
        cat "$of"
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
    cjson=$(sed -n 's/^cjson \([0-9][^ ]*\).*/\1/p' "$BUILD/cjson/cJSON.from")
    source=$(sum "$BUILD/cjson/cJSON.c")
    printf '{\n  "bomFormat": "CycloneDX",\n  "specVersion": "1.5",\n  "version": 1,\n  "metadata": {\n'
    printf '    "component": {"type": "application", "name": "attn-cli", "version": "%s", ' "$version"
    printf '"licenses": [{"license": {"id": "MIT"}}],\n'
    printf '      "hashes": [{"alg": "SHA-256", "content": "%s"}]}\n  },\n  "components": [\n' "$(sum "$program")"
    component cjson "$cjson" "" "$source"
    echo "$packages" | while read -r p version architecture; do
        printf ',\n'
        component "$p" "$version" \
            "pkg:deb/debian/$p@$(echo "$version" | sed 's/+/%2B/g; s/:/%3A/g; s/~/%7E/g')?arch=$architecture"
    done
    printf '\n  ]\n}\n'
}

case $kind in
.json) document;;
*) copyright;;
esac
