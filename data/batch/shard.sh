#!/bin/sh
# shard.sh I/N INPUT OUT [options of attn-cli batch]: one shard of a batch, to be started as often as you like.
#
# What is done already is not done again, so that a shard that was interrupted goes on where it was.  Records
# that failed are records that say why, and no reason for an engine to stop the others: 3 becomes 0 here.
set -u
shard=$1 input=$2 out=$3
shift 3
attn-cli batch -q -f "$input" --shard "$shard" --resume -o "$out" "$@"
status=$?
[ $status -eq 3 ] && exit 0
exit $status
