#!/bin/sh
# commit.sh - the commit that this folder is of, and ".dirty" after it where what a program is made of
# was changed since.
#
# An archive that git made says it in the file `commit` beside this one, and so does a copy that is about to be built;
# without git or such a file it is unknown.
cd "$(dirname "$0")/../.." || exit
from=$(cat data/packaging/commit 2>/dev/null)
case $from in
'$'* | '') ;;
*) echo "$from" | sed -E 's/^([0-9a-f]{12})[0-9a-f]*/\1/'; exit;;
esac
# Whoever owns the folder: `sudo make install` builds the same program.
git() { command git -c safe.directory='*' --no-optional-locks "$@" 2>/dev/null; }
[ -e .git ] && at=$(git rev-parse --short=12 HEAD) || { echo unknown; exit; }
[ -z "$(git status --porcelain -- Makefile cmd lib models data/fonts data/lang data/packaging | head -n 1)" ] ||
    at=$at.dirty
echo "$at"
