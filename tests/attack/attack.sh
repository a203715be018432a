#!/bin/bash
# attack.sh [PART...] - tries to make the tool give way; README.md says how.  Parts: places, faults,
# kills, differential, mutators.
#
# ATTACK_SECONDS is the time for each part (default 120; for faults and kills 0 is all cases), SEED the beginning of all
# random sequences, ATTACK_JOBS how many processes work at once (default: all processors).
set -uo pipefail
cd "$(dirname "$0")/../.."
parts=("$@")
[ $# -gt 0 ] || parts=(places faults kills differential mutators)
export SEED=${SEED:-1} ATTACK_SECONDS=${ATTACK_SECONDS:-120} ATTACK_JOBS=${ATTACK_JOBS:-$(nproc)}
build=${BUILD:-build}
cli=$build/release/attn-cli
work=$build/attack
failed=0

skip() { echo "$1: skipped, there is no $2"; exit "${ATTN_SKIP_NOTHING:-0}"; }

# $1: places, faults or kills
disturb()
{
    local python=/usr/bin/python3       # the first on the path may be a script that takes ten times as long to start
    [ -x $python ] || python=python3
    command -v $python >/dev/null || skip "$1" python3
    $python -B tests/attack/faults.py "$1" $cli $build/release/fault.so
}

# Several processes with cases of their own.
differential()
{
    local pids=() bad=0 job
    for ((job = 0; job < ATTACK_JOBS; job++)); do
        $work/differential $((SEED + job * 1000000000)) "$ATTACK_SECONDS" &
        pids+=($!)
    done
    for job in "${pids[@]}"; do wait "$job" || bad=1; done
    return $bad
}

# One fuzz target, under one choice of kernels: $1 and the environment.
fuzz()
{
    local name=$1 seconds=$2 corpus=$work/corpus/$1 log=$work/$1.log
    mkdir -p "$corpus"
    cp -n tests/corpus/"$name"/* "$corpus"
    ASAN_OPTIONS=allocator_may_return_null=1 "$build"/fuzz/fuzz_"$name" -seed="$SEED" -max_total_time="$seconds" \
        -max_len=32768 -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix=$work/finding-"$name"- "$corpus" >"$log" 2>&1
    local rc=$?
    awk -v name="$name" -v rc=$rc -v kernels="${ATTN_SIMD:-}${LIBXSMM_TARGET:+ libxsmm $LIBXSMM_TARGET}" '
        /number_of_executed_units/ {n = $2} /average_exec_per_sec/ {rate = $2}
        END {
            printf "mutators: %s%s: %d executions, ", name, kernels ? " (" kernels ")" : "", n
            printf "%d a second, %d findings\n", rate, rc != 0
        }' "$log"
    [ $rc = 0 ] || { grep -E 'ERROR|SUMMARY|runtime error|Test unit|    #[0-9]+ ' "$log" | head -n 30; return 1; }
}

# Two rounds: all instructions the processor has, then AVX2 without libxsmm's kernels, which sanitizers do not see into.
mutators()
{
    command -v clang >/dev/null || skip mutators clang
    local names each
    names=$(sed -n 's/.*fuzz_\(.*\)\.c/\1/p' <<<"$(ls tests/fuzz/fuzz_*.c)")
    each=$((ATTACK_SECONDS * ATTACK_JOBS / 2 / $(wc -l <<<"$names")))
    each=$((each > 0 ? each : 1))
    WERROR='' MAKEFLAGS='' make -s -j"$ATTACK_JOBS" flavour=fuzz CC=clang \
        $(sed "s,^,$build/fuzz/fuzz_," <<<"$names") || return 1
    export -f fuzz
    export build work each
    xargs -P "$ATTACK_JOBS" -I{} bash -c 'fuzz {} $each' <<<"$names" &&
        ATTN_SIMD=avx2 LIBXSMM_TARGET=generic xargs -P "$ATTACK_JOBS" -I{} bash -c 'fuzz {} $each' <<<"$names"
}

mkdir -p $work
for part in "${parts[@]}"; do
    case $part in
    places) ATTACK_SECONDS=0 disturb places || failed=1;;
    faults | kills) disturb "$part" || failed=1;;
    differential | mutators) $part || failed=1;;
    *) echo "attack.sh: no part is called $part" >&2; exit 2;;
    esac
done
exit $failed
