#!/bin/bash
# static.sh PROGRAM [EMULATOR] - whether a program that stands alone does in an empty root what attn-cli does here.
#
# There it finds no library, no /proc, /dev, /tmp or /etc, and must write the same bytes.  A program for another machine
# has EMULATOR there, which stands alone, too.  Needs to be root, or namespaces in which one is; without, it is skipped
# and says so, which is a failure with ATTN_SKIP_NOTHING=1.
set -euo pipefail
here=$PWD
program=$(realpath "$1") emulator=${2-} usual=$(realpath "$BUILD/release/attn-cli")

as_root=()
[ "$(id -u)" = 0 ] || as_root=(unshare --user --map-root-user)
"${as_root[@]}" chroot / true 2>/dev/null || {
    echo "test-static: skipped, nobody may change the root here: run it as root"; exit "${ATTN_SKIP_NOTHING:-0}"; }

fail() { echo "test-static: $*"; exit 1; }
! readelf -lW "$program" | grep -q INTERP || fail "$program asks for a loader"
! readelf -dW "$program" | grep NEEDED || fail "$program needs libraries"
readelf -hW "$program" | grep -q 'Type: *DYN' || fail "$program is loaded at the same address every time"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/root" "$work/usual"
cp "$program" "$work/root/attn-cli"
[ -z "$emulator" ] || cp "$emulator" "$work/root/emulator"
# Reads a line of arguments for each run.
lines()
{
    cat <<'LINES'
run -m tiny -s "Tom and Lily went to the park" --show * -o run.npz
run -m tiny -s "Tom and Lily went to the park" --format html -o page.html
run -m life -s "Life is short, eat dessert first" -o life.png
run -m tiny -s "Tom and Lily went to the park" --format pdf -o figure.pdf
page -m tiny -s "Tom and Lily went to the park" -o live.html
batch -m tiny -f text -o batch.ndjson -q
train -f text --steps 2 --vocab-size 270 --n-layer 1 --n-head 2 --d-model 32 --n-ctx 32 -o trained -q
heads -m tiny -s "Tom and Lily went to the park" -o heads.csv
info --check -m tiny
lesson life
LINES
}
for where in root usual; do
    for i in $(seq 99); do echo "to be or not to be, that is the question $i"; done >"$work/$where/text"
    cd "$work/$where"
    lines | while IFS= read -r line; do
        set -f; eval "words=($line)"; set +f
        run=("$usual")
        [ $where != root ] || run=("${as_root[@]}" chroot . ${emulator:+/emulator} /attn-cli)
        "${run[@]}" "${words[@]}" </dev/null >>said 2>&1 || { cat said; fail "$where: $line: ended with $?"; }
    done
done
rm -f "$work/root/attn-cli" "$work/root/emulator"
# The head of a batch says which vectors computed it.
[ -z "$emulator" ] || sed -i 's/"cpu":"[a-z0-9]*"//' "$work"/*/batch.ndjson.json
diff -r "$work/root" "$work/usual" || fail "other bytes than attn-cli writes"
echo "test-static: $(find "$work/root" -type f | wc -l) files of $(lines | wc -l)" \
    "runs${emulator:+ under ${emulator##*/}} in an empty root have the bytes of attn-cli's"
