#!/bin/sh
# make.sh DIR [OPTION...] - trains the model again, in DIR: half a minute.  Further options are those of attn-cli train.
set -e
here=$(dirname "$0")
to=$1
shift
awk -f "$here/text.awk" | "${A:-attn-cli}" train -f - -o "$to" --config "$here/config.json" --vocab "$here" \
    --steps 4000 --batch 32 --lr 0.003 --warmup 50 --eval-every 0 --dtype F16 --seed 0 "$@"
