#!/bin/sh
# draw.sh BINARY DIR - draws the pictures of the documents.  That of the page needs chromium and is left as it
# is without it.
set -e
to=$(dirname "$0")
life='Life is short, eat dessert first'
"$1" run -m life -s "$life" -o "$to/life.png"
"$1" run -m life -s "$life" -o "$to/life.svg"
"$1" run -s "Lily lost her red ball, so she was sad" --layer 2 -o "$to/tiny.png"
"$1" run -m models/stacked -s "The cat sees the moth" -o "$to/stacked.png"
"$1" variants -m life -s "$life" -o "$to/kinds.png"
"$1" run -m models/stacked -s "The cat sees the moth" -o "$2/page.html"
# Pages that compute; they are large, and no part of the repository.
"$1" page -m life -s "$life" --show pattern,context,q,k,v -o "$to/live-life.html"
"$1" page -m induction -s "cat dog bird fish cat dog" -o "$to/live-induction.html"
"$1" page -m models/stacked -s "The cat sees the moth" -o "$to/live-stacked.html"
"$1" page -m tiny -s "Tom and Lily went to the park. Tom gave the ball to" --show pattern,lens \
    -o "$to/live-tiny.html"
! command -v chromium >/dev/null || chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1000 \
    --screenshot="$to/page.png" "file://$(realpath "$2")/page.html#layer=1&head=2" 2>/dev/null
! command -v chromium >/dev/null || chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1100 \
    --virtual-time-budget=20000 --screenshot="$to/live.png" \
    "file://$(realpath "$to")/live-tiny.html#layer=3&head=0&off=3,0" 2>/dev/null
