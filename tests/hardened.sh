#!/bin/bash
# hardened.sh DIR - reads attn-cli, libattn.so and libattn.a of a build, and fails unless they were hardened as
# the Makefile says.
set -euo pipefail
export LC_ALL=C
cd "$1"
failed=0

# How a page of a large frame is touched, and what the note of an object says of indirect jumps.
case $(readelf -hW attn-cli | sed -n 's/^ *Machine: *//p') in
AArch64) touch='str *xzr, \[sp' jumps='BTI, PAC' option=-mbranch-protection objdump=aarch64-linux-gnu-objdump;;
*) touch='\(or\|mov\)q *\$0x0,(%rsp)' jumps='IBT, SHSTK' option=-fcf-protection objdump=objdump;;
esac
command -v $objdump >/dev/null || objdump=objdump

# expect FILE TEXT WHY COMMAND...: the command's output must have the text.
expect() {
    local found
    found=$("${@:4}") && grep -q -- "$2" <<<"$found" || { echo "$1: $3"; failed=1; }
}

expect attn-cli 'Type: *DYN' 'is loaded at the same address every time (no -pie)' readelf -hW attn-cli
for file in attn-cli libattn.so; do
    expect "$file" 'GNU_RELRO' 'has no segment that becomes read-only (no -z relro)' readelf -lW "$file"
    expect "$file" 'GNU_STACK .* RW ' 'has a stack that is executable' readelf -lW "$file"
    expect "$file" 'NOW' 'binds symbols at their first use (no -z now)' readelf -dW "$file"
    expect "$file" '__stack_chk_fail' 'was built without -fstack-protector-strong' nm -D "$file"
    expect "$file" '__snprintf_chk' 'was built without -D_FORTIFY_SOURCE' nm -D "$file"
    expect "$file" "$touch" 'was built without -fstack-clash-protection' $objdump -d --no-show-raw-insn "$file"
done

# No symbol tells level 2 from 3, which gcc and clang have from versions 12 and 14 on.
expect flags '-D_FORTIFY_SOURCE=3' 'has not the compiler'"'"'s highest level of _FORTIFY_SOURCE' cat flags

# The note of a whole program tells only whether all objects have it, and the libraries that we link statically do not.
objects=$(ar t libattn.a | wc -l)
marked=$(readelf -nW libattn.a | grep -c "$jumps" || true)
[ "$objects" -gt 0 ] && [ "$marked" = "$objects" ] ||
    { echo "libattn.a: $marked of $objects objects were built with $option"; failed=1; }
[ $failed = 0 ] || exit 1
echo "hardened: attn-cli, libattn.so, $objects objects"
