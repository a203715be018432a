#!/bin/sh
# coverage.sh BUILD - how many lines of lib/ the last run of a build with --coverage has run.
find "$1/lib" -name '*.gcda' -exec gcov -n {} + | awk -F '[:% ]+' '/^File/ {ours = /lib\//}
    /^Lines/ && ours {ours = 0; run += $3 * $5 / 100; all += $5}
    END {printf "coverage of lib: %.1f%% of %d lines\n", 100 * run / all, all}'
