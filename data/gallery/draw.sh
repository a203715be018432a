#!/bin/sh
# draw.sh BINARY DIR - draws the pictures of the documents.  That of the page needs chromium and is left as it is without it.
set -e
to=$(dirname "$0")
life='Life is short, eat dessert first'
"$1" run -m life -s "$life" -o "$to/life.png"
"$1" run -m life -s "$life" -o "$to/life.svg"
"$1" run -s "Lily lost her red ball, so she was sad" --layer 2 -o "$to/tiny.png"
"$1" run -m models/stacked -s "The cat sees the moth" -o "$to/stacked.png"
"$1" variants -m life -s "$life" -o "$to/kinds.png"
"$1" run -m models/stacked -s "The cat sees the moth" -o "$2/page.html"
! command -v chromium >/dev/null || chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1000 \
    --screenshot="$to/page.png" "file://$(realpath "$2")/page.html#layer=1&head=2" 2>/dev/null
