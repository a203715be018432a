#!/bin/sh
# make.sh CORPORA DIR - trains the model again, as DIR/tiny: an hour and a half on two cores.  The same command goes on
# after an interruption.  CORPORA has tinystories.txt and gutenberg-children-unwrapped.txt; README.md beside this file
# says what they are.
set -eu
corpora=$1 dir=$2 here=$(dirname "$0") attn=${ATTN_CLI:-attn-cli}
train() {
    "$attn" train -f "$corpora/tinystories.txt" --batch 16 --dtype F16 --eval-every 1000 --save-every 500 --resume "$@"
}

mkdir -p "$dir"
python3 -B "$here/texts.py" "$corpora" "$dir"
test -e "$dir/first/config.json" || "$attn" vocab --bpe --size 8192 -f "$dir/vocabulary.txt" -o "$dir/vocab"

# With much that repeats itself, so that heads which look back form early; then with little, so that what the model
# writes does not.
train --also "$dir/first.txt" --also-share 0.45 --vocab "$dir/vocab" -o "$dir/first" --n-layer 6 --d-model 128 \
    --n-head 4 \
    --n-ctx 256 --bias true --steps 20000 --lr 0.003 --lr-end 0.05 --warmup 200 --seed 1
train -m "$dir/first" --also "$dir/second.txt" --also-share 0.33 -o "$dir/second" \
    --steps 5000 --lr 0.001 --lr-end 0.03 --warmup 100 --seed 2

# Twice it unlearns to go round in circles, from what it writes itself.
round() {
    test -e "$dir/third-$1.txt" || ATTN_CLI=$attn python3 -B "$here/circles.py" "$corpora" "$dir" "$dir/$2" "$1"
    from=$2 to=$3 number=$1
    shift 3
    train -m "$dir/$from" --also "$dir/third-$number.txt" --also-share 0.45 --against "$dir/circles-$number.txt" \
        -o "$dir/$to" "$@"
}
round 1 second third --against-share 0.25 --steps 1000 --lr 0.0004 --lr-end 0.05 --warmup 30 --seed 3
round 2 third tiny --against-share 0.2 --steps 1200 --lr 0.0004 --lr-end 0.03 --warmup 30 --seed 4
