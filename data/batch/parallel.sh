#!/bin/sh
# parallel.sh N INPUT OUT [options of attn-cli batch]: a batch in N shards by GNU parallel, then merged into OUT.
#
#     parallel.sh 16 sentences.txt all.ndjson --show pattern -t 1
#     HOSTS=8/node1,8/node2 parallel.sh 16 sentences.txt all.ndjson -t 1
#
# HOSTS: where, by ssh, with how many jobs at once each; they share this directory, and attn-cli is installed there.
# Options with blanks or quotes in them are kept as they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
n=$1 input=$2 out=$3
shift 3
seq 0 $((n - 1)) | parallel ${HOSTS:+--sshlogin "$HOSTS" --workdir "$PWD"} --quote --halt soon,fail=1 \
    "$here/shard.sh" "{}/$n" "$input" "$out.{}" "$@"
set --
i=0
while [ $i -lt "$n" ]; do
    set -- "$@" "$out.$i"
    i=$((i + 1))
done
attn-cli merge "$@" -o "$out"
