#!/bin/bash
# install.sh - whether `make install` puts everything where it says, in a folder whose name has a blank, its documents
# link to what is there, and `make uninstall` leaves nothing, not even a folder.  It builds for that folder, and so
# should be the last to build.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
at="$work/my attn"
fail() { echo "test-install: $*"; exit 1; }

make install PREFIX="$at" DESTDIR= >"$work/said"
tail -n 9 "$work/said"
for place in "$at/bin/attn-cli" "$at/lib: libattn.so" "$at/share/attn-cli/models"; do
    grep -qF -- "$place" "$work/said" || fail "does not say $place"
done
"$at/bin/attn-cli" --version
twice=$("$at/bin/attn-cli" models --format json | jq -r '.[].where' | sort | uniq -d | grep -v 'built in' || true)
[ -z "$twice" ] || fail "lists models that are $twice beside those built in"
# Python's links are as documents write them: [text](target).
python3 -B - "$at/share/doc/attn-cli" <<'P'
import os, re, sys
top, dead, links = sys.argv[1], [], 0
for folder, _, files in os.walk(top):
    for name in (f for f in files if f.endswith(".md")):
        path = os.path.join(folder, name)
        for target in re.findall(r"\]\(([^)]*)\)", open(path, encoding="utf-8").read()):
            if "://" in target or target.startswith("#"):
                continue
            links += 1
            if not os.path.exists(os.path.join(folder, target.split("#")[0])):
                dead.append(f"{os.path.relpath(path, top)}: {target}")
print(f"test-install: {links} links of installed documents, {len(dead)} dead", *dead, sep="\n  ")
sys.exit(bool(dead) or not links)
P
if command -v fish >/dev/null; then
    offered=$(XDG_DATA_DIRS="$at/share" PATH="$at/bin:$PATH" fish -c 'complete -C "attn-cli heads --rep"')
    [[ $offered == *--repeat* ]] || fail "fish completes nothing"
fi
make uninstall PREFIX="$at" >"$work/said"
[ "$(wc -l <"$work/said")" -le 3 ] || fail "uninstall says $(wc -l <"$work/said") lines"
[ ! -e "$at" ] || fail "uninstall left $(find "$at")"
echo "test-install: passed"
