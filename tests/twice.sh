#!/bin/bash
# twice.sh PROGRAM - whether a copy of this directory, elsewhere and under another name, builds the same program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/a/directory/with/a/longer/name
mkdir -p "$copy"
tar -c --exclude-vcs --exclude=./build . | tar -x -C "$copy"
data/packaging/commit.sh >"$copy/data/packaging/commit"
built=$(realpath "$BUILD") program=$(realpath "$1")
cd "$copy"
unset MAKEFLAGS MAKELEVEL
make static CJSON_C="$built/cjson/cJSON.c" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for file in "${program%/*}"/attn-cli-*; do
    cmp "$file" "build/release/static/${file##*/}"
done
echo "test-twice: $(wc -l <build/release/static/SHA256SUMS) files have the same bytes" \
    "from ${#OLDPWD} and ${#PWD} letters of path"
