#!/bin/bash
# documents.sh FILE.md... - runs every command line of the documents, and compares what it prints with what they
# say it prints.
#
# A block is lines indented by four spaces.  In it, a line that begins with "$ " is a command and what follows is its
# output, in which "..." stands for any lines; in a block whose first line begins with attn-cli, every line is a
# command.  Commands in `backquotes` are run, too.  C programs in ```c blocks are compiled and run; the block after one
# is their output.  A program in a ```python block begins with "# NAME.py - " and is saved under that name, for the
# commands to run.  $A is the binary; libattn.a lies beside it.  Everything happens in a new directory, where gpt2 and
# other stand-ins for the reader's own files are made first.
set -uo pipefail
library=$(dirname "$A")/libattn.a
libs='-lxsmm -lxsmmnoblas -l:libutf8proc.a -lcjson -lpng -lpthread -lrt -ldl -lm'
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$A" "$work/bin/attn-cli"
# The first on the path may be a script that takes ten times as long to start.
[ ! -x /usr/bin/python3 ] || ln -s /usr/bin/python3 "$work/bin/python3"
export PATH=$work/bin:$PATH ATTN_MODEL= NO_COLOR=1
unset ATTN_MODEL
bad=0 ran=0

# What a port with a mistake would have saved: the option that makes the mistake, then file and names.
made_by_a_port()
{
    attn-cli run -q -m ./model -s "The cat sees the moth" --show '*' "$1" "$2" -o mistake.npz
    python3 "$root/tests/support/port.py" mistake.npz "$3" "$4"
    rm mistake.npz
}

# What the reader would have.
prepare()
{
    cd "$work" || exit
    for i in 1 2 3 4 5 6; do cat "$root/data/small-world.txt"; done >stories.txt
    printf 'Lily lost her ball.\nThe cat sees the moth.\nTom saw a dog.\nThe sun is warm.\nA bird sang.\n' \
        >sentences.txt
    head -n 1 sentences.txt >note.txt
    printf 'The cat\nThe dog\n' >s.txt
    printf 'n,text\n1,The cat\n2,The dog\n' >s.csv
    attn-cli run -q -s " sad" --show resid_post --layer 2 --format npy -o mood && cp mood/*.npy mood.npy
    cp sentences.txt text.txt
    cp sentences.txt paragraph.txt
    attn-cli init -o ./gpt2 --family gpt2 --n-layer 6 --n-head 2 --d-model 16 --vocab-size 4096 --n-ctx 256 2>/dev/null
    cp "$root"/models/tiny/{vocab.json,merges.txt} gpt2
    cp "$root/tests/golden/gguf/llama-spm-q8_0/model.gguf" .
    cp model.gguf model-Q4_K_M.gguf
    attn-cli convert -q -m ./model.gguf -o ./original --type f32
    cp -r "$root/models/stacked" model
    cp -r model port
    sed -i s/gelu_new/gelu/ port/config.json
    made_by_a_port --scale none lens.safetensors lens
    made_by_a_port --attention full theirs.npz own
    attn-cli run -q -m ./model -s "Hello there" --show q,k --format npy -o theirs
    ln -s "$root/models" "$root/data" .
    cp -r "$root/tests/golden/student/nanogpt-a" out-shakespeare-char
    cp "$root/tests/golden/student/mingpt-a/model.pt" out-shakespeare-char/meta.pkl .
    attn-cli run -m life -s "Life is short" --show '*' -o all.npz
    for i in 0 1 2 3; do attn-cli batch -q -f sentences.txt --shard $i/4 -o all.ndjson.$i; done
}

# Smaller than in the documents, where it would take minutes; and files made before are written again.
shorten()
{
    case $1 in *'--steps 5000'* | *'init -o '* | *'cli batch '*' -o '*) ;; *) printf '%s\n' "$1"; return;; esac
    sed -E -e 's/--steps 5000/--steps 2 --vocab-size 300 --n-ctx 16 --n-layer 1 --n-head 1 --d-model 16/' \
        -e '/--resume|--dry-run/!s/cli batch /cli batch --force /' \
        -e 's/(init -o \S+ --family \S+)/\1 --n-layer 1 --d-model 48/' <<<"$1"
}

# What a machine may lack, or other tests run: each with its reason.
skipped()
{
    case $1 in
    *'attn-cli bench'* | *bench-stages*) return 0;;             # measures for minutes; the suite bench runs every stage
    'producer |'*) return 0;;                                   # the reader's own program
    *'| jq'*) ! command -v jq >/dev/null;;
    *tinystories.txt*) return 0;;                               # hours, and a text that is not ours
    *'init -o models/'*) return 0;;                             # writes into the repository; the suite init compares
    *sbatch* | *mpirun* | *snakemake* | *parallel.sh* | make* | cc*) return 0;;     # make test-cluster; .ci/run
    *) return 1;;
    esac
}

# The commands of a file, NUL after each: the line, then what should come out, or nothing where the document
# does not say.
commands()
{
    awk '
        function flush() { if (cmd != "") printf "%s%c%s%c", cmd, 0, out, 0; cmd = out = "" }
        /^```[a-z]/ { flush(); code = 1; next }
        /^```/ { code = 0; next }
        code { next }
        /^    / {
            line = substr($0, 5)
            if (!inside) { inside = 1; list = line ~ /^attn-cli / }
            if (more) { cmd = cmd "\n" line; more = line ~ /\\$/; next }
            if (line ~ /^\$ /) { flush(); cmd = substr(line, 3); more = line ~ /\\$/; asked = 1; next }
            if (list && line ~ /^[a-z]/) { flush(); cmd = line; more = line ~ /\\$/; asked = 0; next }
            if (cmd != "" && asked) out = out line "\n"
            next
        }
        /^$/ && inside { if (cmd != "" && asked) out = out "\n"; next }
        {
            inside = more = 0; flush()
            text = $0
            while (match(text, /`attn-cli [^`]* -[^`]*`/)) {
                line = substr(text, RSTART + 1, RLENGTH - 2)
                gsub(/\\\|/, "|", line)                          # as tables spell it
                printf "%s%c%c", line, 0, 0
                text = substr(text, RSTART + RLENGTH)
            }
        }
        END { flush() }' "$1"
}

# Whether a text is another one in which a line "..." stands for any lines.
matches()
{
    awk -v want="$1" '
        { got[++n] = $0 }
        function fits(i, j) {
            while (i <= wants) {
                if (wanted[i] ~ /^ *\.\.\.$/) { for (; j <= n + 1; j++) if (fits(i + 1, j)) return 1; return 0 }
                if (j > n || !same(wanted[i], got[j])) return 0
                i++; j++
            }
            return j > n
        }
        # Within a line, too: "loss": 4.7505...
        function same(a, b,   piece, k, at) {
            if (a == b) return 1
            if (index(a, "...") == 0) return 0
            k = split(a, piece, /\.\.\./)
            for (at = 1; at <= k; at++) {
                p = index(b, piece[at])
                if (piece[at] != "" && (p == 0 || at == 1 && p != 1)) return 0
                if (piece[at] != "") b = substr(b, p + length(piece[at]))
            }
            return piece[k] == "" || b == ""
        }
        END {
            wants = split(want, wanted, "\n")
            while (wants && wanted[wants] == "") wants--
            while (n && got[n] == "") n--
            exit !fits(1, 1)
        }'
}

# $1: file, $2: command, $3: its output, if the document has it.
check()
{
    local said rc
    skipped "$2" && return
    ran=$((ran + 1))
    said=$(COLUMNS=100 bash -o pipefail -c "$(shorten "$2")" 2>"$work/err" </dev/null)
    rc=$?
    case $rc:$2 in
    0:* | 1:*'attn-cli diff'*) ;;
    # An error that is shown.
    2:*'attn-cli diff'*) [ -n "$3" ] || { echo "$1: $2: $(tail -n 3 "$work/err")"; bad=1; return; };;
    *) echo "$1: $2: ended with $rc: $(tail -n 3 "$work/err")"; bad=1; return;;
    esac
    if [ -n "${3//[[:space:]]/}" ] && [ "$said"$'\n' != "$3" ] && ! matches "$3" <<<"$said"; then
        printf '%s: %s: prints\n%s\nand not\n%s\n' "$1" "$2" "$said" "$3"
        bad=1
    fi
}

# What a program needs to link with the library of this build.
instrumented()
{
    local symbols
    symbols=$(nm "$library" 2>/dev/null)
    case $symbols in *__asan_*) echo -no-pie -fsanitize=address,undefined;; *__gcov_*) echo --coverage;; esac
}

# The C programs of a file, and what the block after each says they print.
programs()
{
    local file=$1 n said want
    awk -v to="$work/program" '/^```c/ {n++; f = to n ".c"; next} /^```/ {f = ""} f {print > f}' "$root/$file"
    for ((n = 1; ; n++)); do
        [ -e "$work/program$n.c" ] || break
        ran=$((ran + 1))
        gcc -std=c11 -Wall -Wextra -Werror -I"$root/lib" -o "$work/program" "$work/program$n.c" "$library" \
            $(instrumented) $libs || { bad=1; continue; }
        said=$("$work/program" 2>&1) || { echo "$file: program $n ends with $?: $said"; bad=1; }
        want=$(awk -v n=$n '/^```c/ {c++} /^```$/ && c == n {on = 1; next}
            on && /^    / {print substr($0, 5); seen = 1; next}
            on && seen {exit} ' "$root/$file")
        [ "$said" = "$want" ] || {
            printf '%s: program %d prints\n%s\nand not\n%s\n' "$file" $n "$said" "$want"
            bad=1
        }
        rm "$work/program$n.c"
    done
}

# Saves the Python programs of a file.
save_scripts()
{
    awk '/^```python/ {on = 1; next}
        /^```/ {on = 0; to = ""}
        on && !to && /^# [a-z_]+\.py - / {to = $2}
        on && to {print > to}' "$root/$1"
}

prepare
for file in "$@"; do
    save_scripts "$file"
    while IFS= read -r -d '' command && IFS= read -r -d '' output; do
        check "$file" "$command" "$output"
    done < <(commands "$root/$file")
    programs "$file"
done
echo "$ran commands"
[ $bad = 0 ] && [ $ran -gt 0 ]
