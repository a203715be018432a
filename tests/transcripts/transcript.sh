#!/bin/bash
# transcript.sh FILE - prints the file anew: after each line "$ command" what the command prints now, to both outputs.
#
# The commands are run from the root of the repository: $A is the binary, $D an empty directory, "sum" a checksum of what is
# too long to be read.  They compute without extensions of the processor, whose last digits differ, so that every machine
# prints the same.
export A=$(realpath "$A") D=$(mktemp -d) LIBXSMM_TARGET=generic ATTN_SIMD=generic LC_ALL=C COLUMNS=80 NO_COLOR=1
export version=$("$A" --version | sed 's/.* //; s/[.]/[.]/g')
unset ATTN_MODEL ATTN_MODEL_PATH
trap 'rm -rf "$D"' EXIT
everywhere() { sed "s|$D|DIR|g; s|\\b$version\\b|VERSION|g"; }
sum() { everywhere | cksum; }
export -f everywhere sum
grep '^\$ ' "$1" | while IFS= read -r line; do
    printf '%s\n' "$line"
    bash -o pipefail -c "${line:2}" </dev/null 2>&1 | everywhere
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || echo "[status $status]"
done
