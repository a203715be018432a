#!/bin/sh
# bench.sh PROGRAM - measures how close attn-cli comes to this machine's limits, with random weights in the shape
# of GPT-2 124M.
set -eu
cli=$1 stages=${1%/*}/bench-stages
dir=$(mktemp -d "${TMPDIR:-/tmp}/attn-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

"$cli" init -q -o "$dir/gpt2" --family gpt2
"$cli" init -q -o "$dir/gpt2-bf16" --family gpt2 --dtype BF16
"$cli" init -q -o "$dir/gpt2-f16" --family gpt2 --dtype F16
echo "== 124M numbers, stored as F32"
"$stages" -q -m "$dir/gpt2"
echo "== stored as BF16"
"$stages" -q -m "$dir/gpt2-bf16" --stage 'decode.bf16.*,prefill.bf16.*'
echo "== stored as F16"
"$stages" -q -m "$dir/gpt2-f16" --stage 'decode.f16.*'
echo "== the model built in"
"$stages" -q --stage tokenize,startup,startup.sentence
echo "== others, with random weights of the same shape, every pattern kept"
python=/usr/bin/python3                 # Debian's own, which has the packages
if [ -x $python ]; then
    $python tests/bench/peers.py "$cli" "$dir/gpt2" "$dir/gpt2-bf16"
    echo "== training, 1.8M numbers"
    mkdir "$dir/train"
    $python tests/bench/train_peers.py "$cli" "$dir/train"
else
    echo "Python is not installed: apt-get install python3-numpy python3-torch"
fi
