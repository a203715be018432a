#!/bin/bash
# pack.sh DIR - prints the files of a directory as one input for the targets that read archives (archive.h).
set -euo pipefail
cd "$1"
find . -type f -printf '%P\n' | LC_ALL=C sort | while read -r file; do
    printf '@@ %s %s\n' "$file" "$(stat -c %s "$file")"
    cat "$file"
    echo
done
