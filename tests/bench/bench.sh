#!/bin/sh
# bench.sh PROGRAM - how close attn-cli comes to this machine, with random weights in the shape of GPT-2 124M.
set -eu
cli=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/attn-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

"$cli" init -q -o "$dir/gpt2" --family gpt2
"$cli" init -q -o "$dir/gpt2-bf16" --family gpt2 --dtype BF16
echo "== 124M numbers, stored as F32"
"$cli" bench -q -m "$dir/gpt2"
echo "== stored as BF16"
"$cli" bench -q -m "$dir/gpt2-bf16" --stage 'decode.bf16.*'
echo "== the model built in"
"$cli" bench -q --stage tokenize,startup,startup.sentence
