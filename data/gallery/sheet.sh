#!/bin/sh
# sheet.sh BINARY DIR - draws the contact sheet DIR/sheet.html: every format, lengths of text, one head to 144 of them,
# three scripts, column, page and slide, light and dark, to be looked at.  It is no part of the repository.  SVG and the
# page need a browser, PDF is drawn by pdftoppm where that is installed.
set -e
export LC_ALL=C.UTF-8
to=$2/sheet
mkdir -p "$to"
cli=$(realpath "$1")
short='Lily lost her red ball, she cried'
middle='Lily lost her red ball, so she was sad. Tom gave the ball to Lily and she was happy'
story='Once upon a time, there was a little girl named Lily. She loved to play outside in the park with her big red '
story="${story}ball. "
mixed='我 爱 自然 语言 处理 ， love models ½ α Привет'

# Random weights, large enough for patterns that differ.
draw='embed:randn q:normal(0,0.6) k:normal(0,0.6) v:linear o:linear norm1:ones norm_final:ones'
common='--residual true --norm rmsnorm --output-projection true'
"$cli" vocab -q -s "$mixed" -o "$to/vocab.json"
"$cli" init -q -o "$to/words" --vocab "$to/vocab.json" --n-layer 2 --n-head 4 --d-model 32 $common --draw "$draw"
"$cli" init -q -o "$to/large" --vocab-size 999 --n-ctx 256 --n-layer 12 --n-head 12 --d-model 96 $common --draw "$draw"

page=$to.html
cat >"$page" <<'END'
<!DOCTYPE html><meta charset="utf-8"><title>Contact sheet</title><style>
body{font:14px sans-serif;background:#ddd}
figure{display:inline-block;vertical-align:top;margin:6px}
img{max-width:900px;background:#fff}
pre{display:inline-block;margin:0;padding:8px;font:13px/16px "DejaVu Sans Mono",monospace}
.light{background:#fff;color:#222}.dark{background:#101216;color:#ddd}
</style>
END
show() { printf '<figure><figcaption>%s</figcaption>%s</figure>\n' "$1" "$2" >>"$page"; }
heading() { printf '<h2>%s</h2>\n' "$1" >>"$page"; }

# sheet NAME COMMAND...: as PNG, SVG and PDF.
sheet() {
    name=$1
    shift
    for format in png svg pdf; do
        "$cli" "$@" -q -o "$to/$name.$format"
    done
    show "$name.png" "<img src='sheet/$name.png'>"
    show "$name.svg" "<img src='sheet/$name.svg'>"
    ! command -v pdftoppm >/dev/null || {
        pdftoppm -r 110 -png -singlefile "$to/$name.pdf" "$to/$name.pdf"
        show "$name.pdf" "<img src='sheet/$name.pdf.png'>"
    }
}

# terminal NAME COMMAND...: with colours on a light and a dark ground, and without.
terminal() {
    name=$1
    shift
    command -v script >/dev/null || return 0
    line="'$cli'"
    for word; do
        line="$line '$word'"
    done
    for ground in light dark; do
        number=0
        [ $ground = dark ] || number=15
        COLORFGBG="0;$number" COLORTERM=truecolor TERM=xterm script -qec "stty cols 100; $line --no-pager" \
            /dev/null </dev/null |
            sed -f "$(dirname "$0")/terminal.sed" >"$to/$name"
        show "$name, $ground ground" "<pre class='$ground'>$(cat "$to/$name")</pre>"
    done
    show "$name, without colours" "<pre class='light'>$("$cli" "$@" | sed 's/&/\&amp;/g; s/</\&lt;/g')</pre>"
}

heading 'One head, a layer: 8, 20, 64, 216 tokens'
sheet one-8 run -s "$short" --layer 3 --head 0
sheet layer-8 run -s "$short" --layer 3
sheet layer-20 run -s "$middle" --layer 3
sheet layer-64 run -s "$story$story" --layer 3
sheet one-216 run -s "$story$story$story$story$story$story$story" --layer 3 --head 2
sheet layer-216 run -s "$story$story$story$story$story$story$story" --layer 3
heading 'All heads: 6 x 4, 12 x 12'
sheet all run -s "$short"
sheet grid-64 run -m "$to/large" --ids "$(seq -s, 64)" --figure grid
sheet column-64 run -m "$to/large" --ids "$(seq -s, 64)" --figure grid --width 85mm
sheet page-24 run -m "$to/large" --ids "$(seq -s, 24)" --width 170mm
heading 'Scripts'
sheet chinese run -m "$to/words" -s '我 爱 自然 语言 处理' --layer 0
sheet mixed run -m "$to/words" -s "$mixed" --layer 0
heading 'Column, page, slide'
sheet column run -s "$short" --layer 3 --width 85mm --annotate
sheet page run -s "$middle" --layer 3 --width 170mm
sheet slide run -s "$middle" --layer 3 --width 254mm --font-size 11
sheet dark run -s "$middle" --layer 3 --palette viridis
heading 'Lines, words, vectors'
sheet lines run -s "$middle" --layer 3 --figure lines
sheet lines-column run -s "$short" --layer 3 --figure lines --width 85mm
sheet words run -s "$middle" --layer 3 --figure words --query sad
sheet words-chinese run -m "$to/words" -s '我 爱 自然 语言 处理' --layer 0 --figure words
sheet vectors run -m life -s 'Life is short, eat dessert first' --figure vectors
sheet vectors-principal run -s "$middle" --figure vectors --show resid_post --layer 3
sheet vectors-column run -m "$to/words" -s '我 爱 自然 语言 处理' --figure vectors --width 85mm
heading 'Answers'
sheet scores run -s "$short" --layer 3 --show scores
sheet heads heads -m tiny --repeat 24
sheet heads-column heads -m tiny --repeat 24 --width 85mm
sheet lens lens -s 'Lily lost her red'
sheet patch patch -s 'Tom and Lily went to the park. Tom gave the ball to' \
    --from 'Tom and Lily went to the park. Lily gave the ball to' --what context --over layer,head \
    --metric 'logit(" Lily")-logit(" Tom")'
sheet attribute attribute -s 'Lily lost her red' --target ' ball' --foil ' dress' --top 16
sheet variants variants -m life -s 'Life is short, eat dessert first'
heading 'Terminal'
terminal map run -s "$short" --layer 3 --head 0,2 --format term
terminal signs run -s "$short" --layer 2 --head 0,1 --show scores --format term
terminal many run -s "$story$story" --layer 3 --head 2 --format term
terminal sentence run -s "$middle" --layer 3 --figure words --query sad --format term
terminal vectors run -m life -s 'Life is short, eat dessert first' --figure vectors --format term
printf 'drew %s\n' "$page"
