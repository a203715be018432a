#!/bin/sh
# smoke.sh BUILD NAME SECONDS RUNS - fuzzes one target from its corpus until the time or the runs (-1: no
# limit) are over.
#
# The same seed each time: with a number of runs, a machine that passes passes again.
corpus=$1/corpus/$2
rm -rf "$corpus" && mkdir -p "$corpus" && cp tests/corpus/"$2"/* "$corpus" || exit
echo "  FUZZ $2"
words=tests/fuzz/$2.dict
test -e "$words" && words=-dict=$words || words=
# Memory that is asked for in vain, or only asked for, is no fault; what is used has the limit
# of libFuzzer, -rss_limit_mb.
export ASAN_OPTIONS=allocator_may_return_null=1
"$1/fuzz_$2" $words -seed=1 -runs="$4" -max_total_time="$3" -malloc_limit_mb=1000000 -artifact_prefix="$1/" "$corpus" \
    >"$corpus.log" 2>&1 ||
    { tail -n 50 "$corpus.log"; exit 1; }
