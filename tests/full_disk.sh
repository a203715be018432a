#!/bin/sh
# full_disk.sh BUILD - why a build in BUILD failed, where that is a full disk: says which, and what to
# do.  Always fails.
for at in "$1" "${TMPDIR:-/tmp}"; do
    df -Pk "$at" | awk -v at="$at" 'NR == 2 && $4 < 20480 {
        print "the disk is full: " int($4 / 1024) " MB are left at " $6 ", where " at " lies, and a build takes " \
            "400 MB: remove something there, then run make again"; exit 1 }' >&2 || break
done
exit 1
