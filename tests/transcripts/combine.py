#!/usr/bin/env python3
"""combine.py NAME N SEED - draws N command lines that combine options at random, of one of the subjects below.

Other tests ask about one thing each; what goes wrong between two options is only seen where both are given.
combined/NAME-*.txt have the checksum of what each line prints.  To have more of them, for an option that is new:

    tests/transcripts/combine.py ask 20 3 >>tests/transcripts/combined/ask-0.txt && make transcripts

and leave out what is refused like another line is.
"""
import random
import re
import sys

texts = {                                       # models that read words, each with texts of theirs
    "tiny": ["Lily lost her red ball, so she was sad", "Once upon a time", "Lily lost her big ball",
             "<b>& \"é\" 東</b>"],
    "life": ["Life is short, eat dessert first", "Life is short", "dessert", "eat dessert"],
    "models/stacked": ["The cat sees the moth", "The cat sees", "the zebra sleeps", "The cat sees the cat and the cat"],
    "models/life-4-heads": ["Life is short, eat dessert first", "short Life"],
    "models/journey-multi-head": ["Your journey starts with one step"],
}
checkpoints = """bloom-a falcon-alibi-a falcon-new-a gemma2-a gemma3-a gpt2-a gpt2-b gpt2-d gptj-a granite-a llama-f
    llama-yarn-a neo-h neox-i olmo2-a opt-post-a phi-a phi3-longrope-a qwen2-j smollm3-a starcoder2-a""".split()
ids = ["5,1,2,9,5,1", "3,14,15,9,2,6,5", "7", "1,2,3,4,5,6,7,8,9,10", "40,41,40,41"]
kinds = ["full", "causal-renorm", "window:2", "strided:2,3", "random:2,1,3", "linear", "block:2"]
formats = ["text", "screen", "json", "tidy", "term", "svg", "pdf", "html", "csv -o $D/o", "npy -o $D/o", "npz -o $D/o"]
names = ["pattern", "context", "scores", "dots", "q,k,v", "resid_pre,resid_post", "resid_mid", "attn.out,mlp.out",
         "norm1,norm2", "pre,post",
         "linear", "logits", "norm_final", "embed,pos_embed", "tokens", "'*'", "result", "norms", "rollout", "lens",
         "'blocks.1.*'",
         "pattern,tokens", "context,pattern"]
edits = ["L1H0 = 0", "L0.mlp.out *= 0.5", "L1.resid_post[pos=-1] = 0.25", "L*H1.pattern[pos=1] = uniform",
         "L1.resid_pre += noise(0.5,7)",
         "L0H0.pattern[key=0] = 0", "L0.scores[pos=-1,key=0] = -inf", "L1H1 = mean(from)", "L0.attn.out = from",
         "embed[col=1] += 0.5",
         "L1.resid_mid -= proj(from)", "L0.v = 2*from", "L1N3 = 1", "L0-1H* *= -1", "norm_final *= 1.5",
         "logits[col=2] = 9",
         "L0.q[head=1] += 0.3", "L1.k *= 0.7", "L1.norm1 += 0.1", "pattern[pos=-1] = uniform", "L0.post[pos=0] = 0"]
places = ["L1H0", "0.1,1.1", "L0.mlp.out", "'L*H1[pos=1]'", "L0-1.resid_post", "'L1.v,L0.attn.out[pos=-1]'"]
ranges = {"--layer": ["0", "1", "0-1", "0,2"], "--head": ["0", "1", "0-1", "1,3"]}


def pick(xs):
    return r.choice(xs)


def some(table, n):
    """Some of the options of a table, each with one of its values."""
    return " ".join(f"{k} {pick(v)}".strip() for k, v in r.sample(sorted(table.items()), n))


def input_of(model=None):
    """A model and a text of it, or ids."""
    if not model and r.random() < 0.4:
        return f"-m tests/golden/checkpoints/{pick(checkpoints)} --ids {pick(ids)}"
    model = model or pick(list(texts))
    return f"-m {model} -s '{pick(texts[model])}'"


def predicting():
    """Of models that say what comes next."""
    return input_of(pick(["", "tiny", "models/stacked"]))


def pair():
    """A model and two texts of as many tokens."""
    return pick(["-m models/stacked -s 'The cat sees' --from 'The moth sees'",
                 "-m tiny -s 'Lily lost her red ball' --from 'Lily lost her big ball'",
                 "-m models/stacked -s 'The cat sees the moth' --from 'The zebra sees the cat'",
                 f"-m tests/golden/checkpoints/{pick(checkpoints)} --ids 5,1,2,9 --from-ids 5,3,2,8"])


def edited():
    return pick([f"--edit '{pick(edits)}'"] * 3 + [f"--edit '{pick(edits)}' --edit '{pick(edits)}'",
                                                   f"--ablate {pick(places)}", f"--patch {pick(places)}",
                                                   f"--patch {pick(places)} --patch-from 'mean(ids(4,5,6))'"])


how = {"--attention": kinds, "--scale": ["none", "0.3", "sqrt"], "--dropout": ["0.5 --seed 2", "0.1"],
       "--bos": ["yes", "no"], "-t": ["2"], "--compute": ["bf16"],
       "--labels": ["none"], "--special": [""]}
drawn = {"--color-scale": ["log", "row"], "--palette": ["magma", "cividis", "gray", "balance"], "--cell": ["3", "20"],
         "--columns": ["1", "3"],
         "--title": ["'A title'", "''"], "--annotate": [""], "--width": ["85mm", "3in"], "--font-size": ["5", "12"]}


def a_run():
    shown = some({"--show": names, **ranges}, r.randint(0, 3))
    more = some({**how, "--precision": ["0", "2", "7"], "--words": [""], "--hide-first": [""], "--csv-safe": [""],
                 "--no-compare": [""]},
                r.randint(0, 2))
    cross = pick([""] * 6 + ["--cross-ids 1,2,3"])
    f = pick(formats)
    rest = " && cat $(find $D/o -type f | sort)" if "$D" in f else ""
    edit = f"{edited()} --from-ids 2,3,4" if r.random() < 0.25 else ""
    return f"$A run {input_of()} {shown} {more} {cross} {edit} --format {f}{rest}"


def a_picture():
    command = pick(["run", "run", "run", "heads", "lens", "batch"])
    f = pick(["svg", "pdf", "term", "html"])
    options = some({**drawn, "--hide-first": [""]}, r.randint(1, 4))
    if command == "run":
        return f"$A run {input_of()} {some({'--show': names, **ranges}, r.randint(0, 2))} {options} --format {f}"
    if command == "batch":
        return ("printf 'The cat\\nthe moth\\n' >$D/s.txt; $A batch -q -m models/stacked -f $D/s.txt --layer 1 "
                f"{options} --format {pick(['svg', 'pdf'])} -o $D/o && cat $D/o/*/*")
    f = {"lens": {"term": "svg", "pdf": "html"}}.get(command, {}).get(f, f)
    return f"$A {command} {input_of()} {options.replace('--hide-first', '')} --format {f}"


def an_answer():
    edit = f"{edited()} --from-ids 2,3,4" if r.random() < 0.2 else ""
    return pick([
        lambda: f"$A heads "
        f"{pick([input_of(), '-m induction --repeat 9', '-m models/stacked --repeat 4 --samples 2 --seed 3'])} "
                + some({"--by": ["previous", "self", "first", "duplicate", "induction", "entropy", "spread",
                                 "distance"], "--top": ["1", "3"],
                        "--copying": [""], "--format": ["text", "csv", "json"], **ranges, "--attention": kinds},
                        r.randint(1, 3)) + " " + edit,
        lambda: f"$A lens {predicting()} " +
        some({"--target": ["1", "3"], "--top": ["2", "4"], "--points": ["all", "resid_post"],
                "--format": ["text", "json", "csv", "tidy"], "--attention": kinds, "--scale": ["none"]},
                r.randint(1, 3)) + " " + edit,
        lambda: f"$A attribute {predicting()} --target {pick('1234')} " +
        some({"--foil": ["0", "5"], "--pos": ["0", "-1", "1"], "--neurons": ["2", "9"],
                "--top": ["1", "5"], "--format": ["text", "json", "csv", "tidy"], "--attention": kinds},
                r.randint(0, 3)) + " " + edit,
        lambda: f"$A patch {pair()} --what "
        f"{pick(['resid_pre', 'resid_post', 'context', 'mlp.out', 'attn.out', 'v', 'k', 'q', 'embed', 'pattern'])} "
                f"--over {pick(['layer', 'layer,pos', 'layer,head', 'layer,head,pos', 'pos'])} --metric "
                + pick(["loss", "kl", "'logit(3)'", "'logit(3)-logit(1)'", "'prob(2,pos=1)'", "'logprob(4)'",
                        "'rank(2)'"]) + " "
                + some({"--method": ["gradient", "ig:3", "exact"],
                        "--format": ["text", "json", "csv", "tidy", "term", "svg"], "--precision": ["1", "6"],
                        "--attention": kinds, "--edit": ["'L0.mlp.out *= 0.5'"]}, r.randint(0, 2)),
        lambda: f"$A run {predicting()} --gradient "
        f"{pick(['loss', chr(39) + 'logit(3)-0.5*logit(1,pos=0)' + chr(39), chr(39) + 'logprob(2)' + chr(39)])} "
                + some({"--show": ["'*'", "context", "embed", "pattern,scores", "q,k,v", "resid_pre", "mlp.out,post",
                                   "norm1,norm_final"], "--times": [""],
                        "--format": ["json", "tidy", "term"], **ranges, "--attention": kinds, "--scale": ["0.5"],
                        "--dropout": ["0.3 --seed 1"]},
                       r.randint(1, 3)) + " " + edit,
        lambda: f"$A run {input_of()} {edited()} {edited()} --from-ids 2,3,4 " +
        some({"--dry-run": [""], "--show": ["logits", "pattern", "tokens"],
                "--format": ["json", "tidy", "text", "screen"], "--ablate": ["L1H0", "0.1", "L0.mlp.out"]},
                r.randint(0, 2)),
    ])()


def a_text():
    model = "tests/golden/tokenizers/" + pick("added-tokens bloom-like deepseek-v3-like falcon-like gemma-like "
                                              "o200k-like qwen-like "
                                              "spm-bpe-metaspace spm-bpe-prepend spm-unigram-bytes".split())
    said = pick(["Hello world", " two  blanks ", "Hello <|endoftext|> 123 don't", "A-b_c. D?! e", "naïve Ä 東京 🙂",
                 "x=1;y=(2+3)", "<s>a</s> A", "ﬁ ½ é"])
    m = pick(list(texts))
    edit = edited() if r.random() < 0.2 else ""
    return pick([
        lambda: f"$A tokenize -m {pick([model] * 3 + ['tiny'])} -s \"{said}\" " +
        some({"--special": [""], "--format": ["json", "ids", "text"],
                "--bos": ["yes", "no"]}, r.randint(0, 3)),
        lambda: f"$A tokenize -m {model} --decode --ids {pick(['3,4,5,6', '0,1,2', '10,20,30,40', '7'])} " +
        pick(["", "--special"]),
        lambda: f"$A generate {predicting()} -n {pick('1359')} " +
        some({"--temperature": ["0.7", "2"], "--top-k": ["1", "5"], "--top-p": ["0.5", "0.9"],
                "--seed": ["1", "9"], "--format": ["json", "text"], "--stop": ["'a'", "' '"], "--attention": kinds},
                r.randint(0, 3)) + " " + edit,
        lambda: f"$A score {predicting()} " +
        some({"--stride": ["1", "3"], "--format": ["json", "text"], "--attention": kinds, "--bos": ["yes", "no"],
                "--scale": ["0.4"]}, r.randint(0, 2)) + " " + edit,
        lambda: f"$A vocab -s \"{said} the cat the cat\" " +
        some({"--drop": ["'.,'", "t"], "--lowercase": [""], "--unknown": ["'<unk>'"]}, r.randint(0, 3)),
        lambda: f"$A vocab -s \"{said} the cat, "
        f"the cat the cat\" --bpe --size {pick(['258', '260', '270'])} -o $D/v && cat $D/v/*",
        lambda: f"$A explain -m {m} -s '{pick(texts[m])}' " +
        some({"--layer": ["0"], "--head": ["0"], "--query": ["0", "1", "2"], "--key": ["0", "1"],
                "--format": ["text", "md", "html", "pdf"], "--precision": ["1", "6"], "--attention": kinds,
                "--scale": ["none", "2"],
                "--dropout": ["0.5 --seed 4"], "--blank": ["3", "9 --seed 3"]}, r.randint(1, 4)),
        lambda: f"$A variants {input_of()} -t 1 " +
        some({"--kinds": [f"'{pick(kinds)} {pick(kinds)}'"], "--layer": ["0"], "--head": ["0"],
                "--format": ["text", "json", "svg"], "--color-scale": ["log", "row"]}, r.randint(0, 3))
                + r""" | sed -E 's/ +(time|[0-9.]+ (ms|µs|s))$/  TIME/; s/("seconds":)[^,}]*/\1TIME/g'""",
        lambda: f"$A info -m {pick(list(texts) + ['tests/golden/checkpoints/' + c for c in checkpoints])} -t 1 "
                + some({"--format": ["json", "text"], "--check": [""]},
                       r.randint(0, 2)) + " | sed '/^processor/d; s/\"processor\":[^,]*,//'",
    ])()


def a_file():
    m = pick(list(texts))
    run = f"$A run -q {input_of()} {some({'--show': names, **ranges}, r.randint(0, 2))}"
    ending = pick([".json", ".tidy", ".npz", "", "", ".csv"])
    kept = {".json": "--format json", ".tidy": "--format tidy", ".npz": "--format npz", "": "--format npy",
            ".csv": "--format csv"}[ending]
    path = "$D/x" + ("" if ending == ".csv" else ending)
    c = f"tests/golden/checkpoints/{pick(checkpoints)}"
    lines = r"printf '%s\n\n%s\n%s\n' >$D/s.txt " + " ".join(f"'{pick(texts[m])}'" for _ in range(3))
    return pick([
        lambda: f"{run} {kept} -o {path} && $A plot {path} " +
        some({**drawn, **ranges, "--show": ["pattern", "'*'", "context", "scores"],
                "--words": [""], "--format": ["term", "svg", "html", "pdf"]}, r.randint(0, 3)),
        lambda: f"{run} {kept} -o {path} && {run} {edited()} --from-ids 2,3,4 {kept} -o $D/y{path[4:]} && $A diff "
        f"$D/y{path[4:]} {path} "
                + some({"--atol": ["0.1"], "--rtol": ["0.5"], "--exact": [""], "--all": [""],
                        "--format": ["json", "text"]}, r.randint(0, 2)),
        lambda: f"{run} {kept} -o {path}; "
        f"{run} {pick(['--scale 0.5', '--attention full', '--attention window:2', '--dropout 0.5'])} {kept} -o "
        f"$D/y{path[4:]}; "
                f"$A diff $D/y{path[4:]} {path} " +
                some({"--all": [""], "--format": ["json", "text"], "--show": ["pattern"]}, r.randint(0, 1)),
        lambda: f"$A diff -m {c} --with {c} --ids {pick(ids)} " +
        some({"--ablate": ["L0H1", "L1.mlp.out"], "--show": names, **ranges,
                "--format": ["json", "text"], "--all": [""]}, r.randint(1, 3)),
        lambda: f"$A diff -m tests/golden/checkpoints/{pick(checkpoints)} --with {c} " +
        some({"--all": [""], "--format": ["json", "text"], "--atol": ["0.01"]},
                r.randint(0, 2)) + " | sed 's|/[^ \"]*/tests|tests|g'",
        lambda: f"{lines}; $A batch -q -m {m} -f $D/s.txt " +
        some({"--show": names, **ranges, "--format": ["ndjson", "tidy", "summary"],
                "--attention": kinds, "--edit": ["'L0H0 = 0'", "'L0.context *= 2'"], "--scale": ["none"],
                "--csv-safe": [""], "--shard": ["0/2", "1/2 --stride"]},
                r.randint(0, 3)),
        lambda: f"{lines}; $A batch -q -m {m} -f $D/s.txt {some({'--show': names, **ranges}, 1)} --format "
        f"{pick(['csv', 'npy', 'npz'])} -o $D/o && cat $(find $D/o -type f | sort)",
        lambda: f"{lines}; $A batch -q -m {m} -f $D/s.txt --summary $D/o.csv " +
        some({"--summary-form": ["tidy", "wide"], **ranges, "--attention": kinds,
                "--labels": ["none"]}, r.randint(0, 3)) + " && cat $D/o.csv",
        lambda: f"{lines}; for i in 0 1; do $A batch -q -m {m} -f $D/s.txt {some({'--show': names, **ranges}, 1)} "
        f"--shard $i/2 {pick(['', '--stride'])} "
                f"--format {pick(['ndjson', 'tidy', 'summary'])} -o $D/o$i; done; $A merge -q $D/o0 $D/o1",
        lambda: "$A init -q -o $D/i --n-layer 2 --n-head 2 --d-model 8 --vocab-size 9 --seed 3 " +
        some({"--n-ctx": ["7"], "--n-kv-head": ["1"], "--d-head": ["6"],
                "--d-value": ["3"], "--position": ["learned", "rope"], "--norm": ["layernorm", "rmsnorm"],
                "--mlp": ["gelu --d-mlp 12", "swiglu --d-mlp 12"],
                "--mask": ["none"], "--scale": ["none"], "--bias": ["true"], "--tied": ["true --unembed true"],
                "--dtype": ["F16", "BF16"], "--residual": ["true"]},
                r.randint(0, 4)) + " && cat $D/i/* && $A run -m $D/i --ids 1,2,3 --format json",
        lambda: f"$A init -q -o $D/i --family {pick(['gpt2', 'llama', 'gpt_neo', 'gpt_neox', 'qwen2'])} --n-layer 2 "
        f"--n-head 2 --d-model 8 --vocab-size 9 --n-ctx 7 "
                + some({"--dtype": ["F16", "BF16"], "--seed": ["5"]},
                       r.randint(0, 2)) + " && cat $D/i/* && $A run -m $D/i --ids 1,2,3 --format json",
        lambda: "$A train -q -t 1 -f data/life.txt -o $D/t --steps 4 --vocab-size 262 --n-ctx 8 --n-layer 1 --n-head 2 "
        "--d-model 8 --batch 2 --seed 3 "
                + some({"--norm": ["rmsnorm", "none"], "--mlp": ["swiglu", "none", "gelu"],
                        "--position": ["rope", "none"], "--bias": ["true"], "--tied": ["false"],
                        "--n-kv-head": ["1"], "--dropout": ["0.2"], "--accumulate": ["2"], "--warmup": ["2"],
                        "--weight-decay": ["0.5"], "--clip": ["0.1"],
                        "--lr-end": ["0.5"], "--beta1": ["0.5"], "--beta2": ["0.5"], "--eval-every": ["2"],
                        "--held-out": ["0", "30"], "--dtype": ["F16"]},
                       r.randint(1, 4)) + " && cut -d, -f1-7 $D/t/loss.csv && cksum <$D/t/model.safetensors",
        lambda: "$A train -q -t 1 -f data/life.txt -o $D/t --steps 4 --save-every 2 --n-ctx 8 --batch 2 --seed 3 "
                + pick(["--family gpt2 --n-layer 1 --n-head 2 --d-model 8 ",
                        "--family llama --n-layer 1 --n-head 2 --d-model 8 --vocab-size 262 ",
                        f"-m {pick(['life-4-heads', 'models/stacked'])} ",
                        "--vocab-size 262 --documents join --n-layer 1 --n-head 2 --d-model 8 "])
                + some({"--watch-every": ["2 -s 'Life is' --show pattern,context"], "--keep": ["best"],
                        "--lr": ["0.01"], "--also": ["data/chicken.txt"],
                        "--against": ["data/journey.txt --against-share 0.3"], "--also-share": ["0.5"]},
                        r.randint(0, 2))
                + " && cut -d, -f1-7 $D/t/loss.csv && cksum <$D/t/model.safetensors && ls $D/t && cat $D/t/train.json",
        lambda: f"{lines}; "
        f"$A batch -m {m} -f $D/s.txt {some({'--show': names, **ranges}, 1)} {pick(['--fail-fast', '--keep-going'])} "
                f"--format {pick(['ndjson', 'tidy', 'summary'])} -o $D/o; cat $D/o",
        lambda: f"$A generate {predicting()} -n 3 "
        f"{some({'--show': names, **ranges, '--attention': kinds}, r.randint(0, 2))} --format {pick(formats[2:8])} "
                "-o $D/g && cat $D/g",
        lambda: "printf '%s\\n' " + " ".join(f"'{pick(texts['tiny'])}'" for _ in range(3)) +
        " >$D/s.txt; $A heads -m tiny -f $D/s.txt "
                + some({"--by": ["entropy", "induction"], "--format": ["json", "csv", "text"], "--ablate": ["L0H1"],
                        "--bos": ["yes"], **ranges}, r.randint(0, 3)),
        lambda: f"$A convert -q -m {pick(['tiny', 'life', c])} -o $D/c && cat $D/c/*",
    ])()


subjects = {"run": a_run, "pictures": a_picture, "ask": an_answer, "texts": a_text, "files": a_file}
name, n = sys.argv[1], int(sys.argv[2])
r = random.Random(f"{name} {sys.argv[3]}")
lines = []
while len(lines) < n:
    line = re.sub(" +(?=-|&|;|$)", " ", subjects[name]()).strip()
    if line not in lines:
        lines.append(line)
for line in lines:
    print(f"$ {'rm -rf $D/*; ' if '$D' in line else ''}{{ {line}; }} | sum")
