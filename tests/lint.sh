#!/bin/sh
# lint.sh NODES FILE FLAG... - reads a source file with clang-tidy and with gcc's analyzer.
#
# NODES: how many clang's analyzer explores per function; 225000 is its default, which takes ten seconds for some files.
# With fewer, as .ci/run asks for, gcc's analyzer is left out, which takes almost as long again.
# Left out: checks that are noise in C (Annex K and strlcpy; sizeof of arrays of pointers; strcmp as a truth value;
# bytes without a NUL; macros that hold initialisers) and those that our style contradicts (a condition may assign an
# error code; branches and adjacent parameters may look alike).  No -Wanalyzer-malloc-leak: gcc 12 loses track of memory
# whose address is stored in a table; `make asan` checks for leaks.  No -Wanalyzer-shift-count-overflow: it takes a
# vector for a number of few bits; of numbers the compiler says it.
set -e
nodes=$1 file=$2
shift 2
checks='-*,clang-analyzer-*,bugprone-*'
for left_out in clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling \
    clang-analyzer-security.insecureAPI.strcpy bugprone-sizeof-expression bugprone-suspicious-string-compare \
    bugprone-not-null-terminated-result bugprone-macro-parentheses \
    bugprone-assignment-in-if-condition bugprone-branch-clone bugprone-easily-swappable-parameters; do
    checks=$checks,-$left_out
done
clang-tidy --quiet --warnings-as-errors='*' --checks="$checks" --extra-arg=-Xclang --extra-arg=-analyzer-config \
    --extra-arg=-Xclang --extra-arg=max-nodes="$nodes" "$file" -- "$@" -DATTN_ANALYZED
[ "$nodes" -lt 225000 ] ||
    gcc "$@" -DATTN_ANALYZED -O1 -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-shift-count-overflow -Werror \
        -c -o /dev/null "$file"
