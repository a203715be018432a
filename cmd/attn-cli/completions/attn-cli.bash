# bash completion for attn-cli, printed by: attn-cli help --completion bash

_attn_cli_words()
{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_attn_cli_list()    # completes what follows the last comma
{
    local before=
    [[ $2 == *,* ]] && before=${2%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
    compopt -o nospace
}

_attn_cli_paths()   # -f files, -d directories, after the words of $2
{
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$3"; compgen "$1" -- "$3")
    compopt -o filenames
}

_attn_cli()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    if [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    if [[ $cur == "=" ]]; then cur=; fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _attn_cli_words 'run batch merge tokenize generate score explain variants diff plot info vocab init train bench help --help --version' "$cur"
        return
    fi
    case ${COMP_WORDS[1]} in
    run)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --cross) : ;;
        --cross-file) _attn_cli_paths -f '' "$cur" ;;
        --cross-ids) : ;;
        --show) _attn_cli_list 'tokens embed pos_embed resid_pre norm1 q k v dots scores pattern context blocks.*.attn.out resid_mid norm2 pre linear post blocks.*.mlp.out resid_post norm_final logits' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        --format) _attn_cli_words 'text json csv tidy npy npz term png svg html' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --precision) : ;;
        --color-scale) _attn_cli_words 'linear log row' "$cur" ;;
        --palette) _attn_cli_words 'viridis magma cividis gray balance' "$cur" ;;
        --cell) : ;;
        --attention) : ;;
        --scale) : ;;
        --dropout) : ;;
        --seed) : ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --cross --cross-file --cross-ids --show --layer --head --format --output --precision --color-scale --hide-first --palette --cell --attention --scale --dropout --seed --compute --threads --quiet --help --version' "$cur" ;;
        esac ;;
    batch)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --input) _attn_cli_words 'text ndjson csv tsv' "$cur" ;;
        --column) : ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --show) _attn_cli_list 'tokens embed pos_embed resid_pre norm1 q k v dots scores pattern context blocks.*.attn.out resid_mid norm2 pre linear post blocks.*.mlp.out resid_post norm_final logits' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        --format) _attn_cli_words 'ndjson tidy summary csv npy npz png svg stack' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --summary) _attn_cli_paths -f '' "$cur" ;;
        --max-seconds) : ;;
        --shard) : ;;
        --color-scale) _attn_cli_words 'linear log row' "$cur" ;;
        --palette) _attn_cli_words 'viridis magma cividis gray balance' "$cur" ;;
        --cell) : ;;
        --attention) : ;;
        --scale) : ;;
        --dropout) : ;;
        --seed) : ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --file --input --column --no-header --special --bos --show --layer --head --format --output --summary --resume --force --fail-fast --keep-going --max-seconds --shard --stride --dry-run --progress --color-scale --hide-first --palette --cell --attention --scale --dropout --seed --compute --threads --quiet --help --version' "$cur" ;;
        esac ;;
    merge)
        case $prev in
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --summary) _attn_cli_paths -f '' "$cur" ;;
        *) _attn_cli_paths -f '--output --summary --quiet --help --version' "$cur" ;;
        esac ;;
    tokenize)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --format) _attn_cli_words 'text json ids' "$cur" ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --format --decode --quiet --help --version' "$cur" ;;
        esac ;;
    generate)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --prompt) : ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        -n|--max-tokens) : ;;
        --temperature) : ;;
        --top-k) : ;;
        --top-p) : ;;
        --seed) : ;;
        --stop) : ;;
        --format) _attn_cli_words 'text json csv tidy npy npz term png svg html' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --show) _attn_cli_list 'tokens embed pos_embed resid_pre norm1 q k v dots scores pattern context blocks.*.attn.out resid_mid norm2 pre linear post blocks.*.mlp.out resid_post norm_final logits' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        --color-scale) _attn_cli_words 'linear log row' "$cur" ;;
        --palette) _attn_cli_words 'viridis magma cividis gray balance' "$cur" ;;
        --cell) : ;;
        --attention) : ;;
        --scale) : ;;
        --dropout) : ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --prompt --special --bos --ids --max-tokens --temperature --top-k --top-p --seed --stop --ignore-eos --format --output --show --layer --head --color-scale --hide-first --palette --cell --attention --scale --dropout --compute --threads --quiet --help --version' "$cur" ;;
        esac ;;
    score)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --stride) : ;;
        --format) _attn_cli_words 'text json' "$cur" ;;
        --attention) : ;;
        --scale) : ;;
        --dropout) : ;;
        --seed) : ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --stride --format --attention --scale --dropout --seed --compute --threads --quiet --help --version' "$cur" ;;
        esac ;;
    explain)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --cross) : ;;
        --cross-file) _attn_cli_paths -f '' "$cur" ;;
        --cross-ids) : ;;
        --layer) : ;;
        --head) : ;;
        --query) : ;;
        --key) : ;;
        --article) _attn_cli_words 'life' "$cur" ;;
        --format) _attn_cli_words 'text md html' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --precision) : ;;
        --attention) : ;;
        --scale) : ;;
        --dropout) : ;;
        --seed) : ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --cross --cross-file --cross-ids --layer --head --query --key --article --all --format --output --precision --attention --scale --dropout --seed --threads --quiet --help --version' "$cur" ;;
        esac ;;
    variants)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --kinds) _attn_cli_list 'model full causal causal-renorm window: strided: random: linear block:' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        --format) _attn_cli_words 'text json term png svg html' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --color-scale) _attn_cli_words 'linear log row' "$cur" ;;
        --palette) _attn_cli_words 'viridis magma cividis gray balance' "$cur" ;;
        --cell) : ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --kinds --layer --head --format --output --color-scale --hide-first --palette --cell --compute --threads --quiet --help --version' "$cur" ;;
        esac ;;
    diff)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --cross) : ;;
        --cross-file) _attn_cli_paths -f '' "$cur" ;;
        --cross-ids) : ;;
        --show) _attn_cli_list 'tokens embed pos_embed resid_pre norm1 q k v dots scores pattern context blocks.*.attn.out resid_mid norm2 pre linear post blocks.*.mlp.out resid_post norm_final logits' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        --with) _attn_cli_paths -d 'tiny life' "$cur" ;;
        --compute) _attn_cli_words 'f32 bf16' "$cur" ;;
        --atol) : ;;
        --rtol) : ;;
        --format) _attn_cli_words 'text json' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_paths -f '--model --sentence --file --raw --special --bos --ids --cross --cross-file --cross-ids --show --layer --head --with --compute --atol --rtol --exact --all --format --threads --quiet --help --version' "$cur" ;;
        esac ;;
    plot)
        case $prev in
        --format) _attn_cli_words 'term png svg html' "$cur" ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --show) : ;;
        --layer) : ;;
        --head) : ;;
        --frames) : ;;
        --color-scale) _attn_cli_words 'linear log row' "$cur" ;;
        --palette) _attn_cli_words 'viridis magma cividis gray balance' "$cur" ;;
        --cell) : ;;
        *) _attn_cli_paths -f '--format --output --show --layer --head --frames --color-scale --hide-first --palette --cell --quiet --help --version' "$cur" ;;
        esac ;;
    info)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        --ids) : ;;
        --format) _attn_cli_words 'text json' "$cur" ;;
        --digest) _attn_cli_words 'sampled full' "$cur" ;;
        -t|--threads) : ;;
        *) _attn_cli_words '--model --sentence --file --raw --special --bos --ids --format --check --digest --threads --quiet --help --version' "$cur" ;;
        esac ;;
    vocab)
        case $prev in
        -s|--sentence) : ;;
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        --drop) : ;;
        --unknown) : ;;
        -o|--output) _attn_cli_paths -f '' "$cur" ;;
        --size) : ;;
        *) _attn_cli_words '--sentence --file --raw --drop --lowercase --unknown --output --bpe --size --quiet --help --version' "$cur" ;;
        esac ;;
    init)
        case $prev in
        -o|--output) _attn_cli_paths -d '' "$cur" ;;
        --seed) : ;;
        --draw) : ;;
        --dtype) _attn_cli_words 'F32 F16 BF16' "$cur" ;;
        --rng) _attn_cli_words 'avx2 scalar' "$cur" ;;
        --family) _attn_cli_words 'gpt2 gpt_neo gpt_neox llama qwen2' "$cur" ;;
        --vocab) _attn_cli_paths -f '' "$cur" ;;
        --config) _attn_cli_paths -f '' "$cur" ;;
        --vocab-size) : ;;
        --n-ctx) : ;;
        --n-layer) : ;;
        --n-head) : ;;
        --n-kv-head) : ;;
        --d-model) : ;;
        --d-head) : ;;
        --d-value) : ;;
        --d-mlp) : ;;
        --position) _attn_cli_words 'none learned rope' "$cur" ;;
        --norm) _attn_cli_words 'none layernorm rmsnorm' "$cur" ;;
        --norm-eps) : ;;
        --mlp) _attn_cli_words 'none gelu gelu_new swiglu' "$cur" ;;
        --mask) _attn_cli_words 'causal none' "$cur" ;;
        --scale) _attn_cli_words 'sqrt none' "$cur" ;;
        --residual) _attn_cli_words 'true false' "$cur" ;;
        --output-projection) _attn_cli_words 'true false' "$cur" ;;
        --bias) _attn_cli_words 'true false' "$cur" ;;
        --tied) _attn_cli_words 'true false' "$cur" ;;
        --unembed) _attn_cli_words 'true false' "$cur" ;;
        --rope-theta) : ;;
        --drop) : ;;
        --unknown) : ;;
        *) _attn_cli_words '--output --seed --draw --dtype --rng --family --vocab --config --vocab-size --n-ctx --n-layer --n-head --n-kv-head --d-model --d-head --d-value --d-mlp --position --norm --norm-eps --mlp --mask --scale --residual --output-projection --bias --tied --unembed --rope-theta --drop --lowercase --unknown --quiet --help --version' "$cur" ;;
        esac ;;
    train)
        case $prev in
        -f|--file) _attn_cli_paths -f '' "$cur" ;;
        -o|--output) _attn_cli_paths -d '' "$cur" ;;
        --also) _attn_cli_paths -f '' "$cur" ;;
        --vocab) _attn_cli_paths -d '' "$cur" ;;
        --vocab-size) : ;;
        --config) _attn_cli_paths -f '' "$cur" ;;
        --settings) _attn_cli_paths -f '' "$cur" ;;
        --draw) : ;;
        --n-ctx) : ;;
        --n-layer) : ;;
        --n-head) : ;;
        --n-kv-head) : ;;
        --d-model) : ;;
        --d-head) : ;;
        --d-value) : ;;
        --d-mlp) : ;;
        --position) _attn_cli_words 'none learned rope' "$cur" ;;
        --norm) _attn_cli_words 'none layernorm rmsnorm' "$cur" ;;
        --norm-eps) : ;;
        --mlp) _attn_cli_words 'none gelu gelu_new swiglu' "$cur" ;;
        --scale) _attn_cli_words 'sqrt none' "$cur" ;;
        --bias) _attn_cli_words 'true false' "$cur" ;;
        --tied) _attn_cli_words 'true false' "$cur" ;;
        --rope-theta) : ;;
        --steps) : ;;
        --batch) : ;;
        --accumulate) : ;;
        --lr) : ;;
        --lr-end) : ;;
        --warmup) : ;;
        --beta1) : ;;
        --beta2) : ;;
        --eps) : ;;
        --weight-decay) : ;;
        --clip) : ;;
        --dropout) : ;;
        --held-out) : ;;
        --eval-every) : ;;
        --also-share) : ;;
        --seed) : ;;
        --documents) _attn_cli_words 'part join' "$cur" ;;
        --keep) _attn_cli_words 'last best' "$cur" ;;
        --dtype) _attn_cli_words 'F32 F16 BF16' "$cur" ;;
        --save-every) : ;;
        --max-seconds) : ;;
        --watch-every) : ;;
        --show) _attn_cli_list 'tokens embed pos_embed resid_pre norm1 q k v dots scores pattern context blocks.*.attn.out resid_mid norm2 pre linear post blocks.*.mlp.out resid_post norm_final logits' "$cur" ;;
        --layer) : ;;
        --head) : ;;
        -t|--threads) : ;;
        --gradients) _attn_cli_paths -f '' "$cur" ;;
        --ids) : ;;
        -s|--sentence) : ;;
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        --bos) _attn_cli_words 'auto yes no' "$cur" ;;
        *) _attn_cli_words '--file --output --also --vocab --vocab-size --config --settings --draw --n-ctx --n-layer --n-head --n-kv-head --d-model --d-head --d-value --d-mlp --position --norm --norm-eps --mlp --scale --bias --tied --rope-theta --steps --batch --accumulate --lr --lr-end --warmup --beta1 --beta2 --eps --weight-decay --clip --dropout --held-out --eval-every --also-share --seed --documents --keep --dtype --resume --save-every --max-seconds --watch-every --progress --show --layer --head --threads --gradients --ids --sentence --raw --model --special --bos --quiet --help --version' "$cur" ;;
        esac ;;
    bench)
        case $prev in
        -m|--model) _attn_cli_paths -d 'tiny life' "$cur" ;;
        --stage) _attn_cli_list 'prefill.* prefill.f32.* prefill.bf16.* decode.* batch.100 train.16 tokenize csv npy startup*' "$cur" ;;
        --seconds) : ;;
        -t|--threads) : ;;
        --format) _attn_cli_words 'text json' "$cur" ;;
        *) _attn_cli_words '--model --stage --seconds --threads --format --quiet --help --version' "$cur" ;;
        esac ;;
    help)
        case $prev in
        --completion) _attn_cli_words 'bash zsh fish' "$cur" ;;
        *) _attn_cli_words '--man --completion --quiet --help --version run batch merge tokenize generate score explain variants diff plot info vocab init train bench help' "$cur" ;;
        esac ;;
    esac
}
complete -F _attn_cli attn-cli
