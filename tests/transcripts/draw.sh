#!/bin/bash
# draw.sh NAME.png TO - draws a picture that is kept here anew.  $A is the binary, $D an empty directory.
#
# As in transcript.sh, nothing depends on the processor.
export LIBXSMM_TARGET=generic ATTN_SIMD=generic
case $1 in
loss.png)                               # two curves; axes with and without digits after the point
    "$A" train -q -f data/life.txt -o "$D/loss" --steps 30 --vocab-size 262 --n-ctx 8 --n-layer 1 --n-head 2 --d-model 8 --batch 2 \
        --eval-every 5 --seed 3 --lr 0.01 && cp "$D/loss/loss.png" "$2";;
loss-alone.png)                         # more steps than columns; nothing is held out
    "$A" train -q -f data/life.txt -o "$D/alone" --steps 900 --vocab-size 262 --n-ctx 4 --n-layer 1 --n-head 1 --d-model 4 --batch 4 \
        --held-out 0 --seed 3 --lr 0.01 && cp "$D/alone/loss.png" "$2";;
heads.png)
    "$A" run -q -m models/stacked -s "The cat sees the moth" --show pattern --layer 0-1 --format png -o "$2";;
scores.png)                             # hidden cells, and numbers on both sides of 0
    "$A" run -q -m models/stacked -s "The cat sees" --show scores,context --layer 2 --head 1 --palette balance --format png -o "$2";;
*) exit 1;;
esac
