#!/usr/bin/env python3
"""same.py OLD NEW [PART]: whether two builds of attn-cli print the same bytes.

Runs every command in every format over the models of the repository, over recorded checkpoints (in $ATTN_SHARED, if it
is there) and over the hostile files of tests/corpus, with one binary and with the other, and compares standard output,
messages, exit status and every file that was written.  PART: only command lines that contain it.

A change that is to keep every byte is run against the commit before it; every line printed is a difference.
"""
import concurrent.futures, hashlib, itertools, json, os, re, subprocess, sys, tempfile

REPO = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
SHARED = os.path.realpath(os.environ.get("ATTN_SHARED", os.path.join(REPO, "..", "shared")))
TEXT = "'Life is short, eat dessert first'"
KINDS = ["full", "causal", "causal-renorm", "window:3", "strided:2,3", "random:2,2,7", "linear", "block:2"]
STREAMS = ["text", "json", "csv", "tidy", "npy", "npz", "png", "svg", "html", "term"]
TABLES = ["text", "json", "csv", "tidy", "md", "svg"]
# Times differ from run to run, and the commit from build to build.
VARIES = re.compile(rb'"seconds":[0-9.e-]+|[0-9.]+ (?:ms|us|s)\b|[0-9.]+ tokens/s|[0-9a-f]{12}(?:\.dirty)?(?=["\n<])')


def folders(top):
    found = [os.path.join(top, name) for name in sorted(os.listdir(top))] if os.path.isdir(top) else []
    return [f for f in found if os.path.isfile(os.path.join(f, "config.json"))]


def commands():
    """Those that both programs have."""
    said = [json.loads(subprocess.run([p, "help", "--json"], capture_output=True, text=True).stdout)
            for p in sys.argv[1:3]]
    new, old = ([c["name"] for c in s["commands"]] for s in reversed(said))
    return [c for c in new if c in old]


def families():
    """Those that both programs can make."""
    said = [subprocess.run([p, "init", "--family", "?"], capture_output=True, text=True).stderr for p in sys.argv[1:3]]
    new, old = (re.search(r"\(([^)]*)\)", s)[1].split(", ") for s in reversed(said))
    return [f for f in new if f in old]


def model_lines(path):
    """What is asked of each model; $m names it."""
    tokenizer = any(os.path.exists(os.path.join(path, f)) for f in ("vocab.json", "tokenizer.json"))
    ours = path.startswith(os.path.join(REPO, "models"))
    words = {"stacked": "'The cat sees the moth'", "tiny": "'Lily lost her red ball'"}
    text = words.get(os.path.basename(path), TEXT)
    texts = ["--ids 3,1,4,1,5"] + (["-s " + text] if tokenizer and ours else [])
    yield "info -m $m"
    yield "info -m $m --format json --digest full"
    yield "info -m $m --check"
    for s in texts:
        for f in STREAMS:
            yield f"run -m $m {s} --show '*' --format {f} -o out"
        for kind in KINDS:
            yield f"run -m $m {s} --show '*' --attention {kind} --format tidy -o out.csv"
        for more in ("--scale none", "--scale 0.3 --layer 0 --head 0", "--dropout 0.2 --seed 3", "--compute bf16",
                     "-t 1", "-t 3"):
            yield f"run -m $m {s} --show '*' {more} --format npz -o out.npz"
        for cross in ("--cross-ids 2,0,1",) + (("--cross " + text,) if "-s" in s else ()):
            yield f"run -m $m {s} {cross} --show '*' --format json -o out.json"
            yield f"explain -m $m {s} {cross}"
        for f in ("text", "json"):
            yield f"score -m $m {s} --format {f}"
            yield f"generate -m $m {s} -n 5 --format {f}"
            yield f"generate -m $m {s} -n 5 --temperature 1 --seed 4 --format {f}"
        for f in ("text", "md", "html"):
            yield f"explain -m $m {s} --format {f} --all"
        for kind in KINDS:
            yield f"explain -m $m {s} --attention {kind} --query 2"
        for f in ("png", "svg", "html", "json", "term"):
            yield f"variants -m $m {s} --format {f} -o out.x"
        for f in TABLES:
            yield f"heads -m $m {s} --format {f} -o out.x"
            yield f"lens -m $m {s} --format {f} -o out.x"
            yield f"attribute -m $m {s} --target 2 --foil 1 --format {f} -o out.x"
    pair = "patch -m $m --ids 3,1,4 --from-ids 3,2,4"
    for f in TABLES:
        yield f"{pair} --what context --over layer,head --metric kl --format {f} -o out.x"
    yield f"{pair} --what resid_pre --over layer,pos --metric loss --method ig:4"
    yield "heads -m $m --repeat 4 --seed 3 --format json"
    yield "run -m $m --ids 3,1,4 --edit 'L0H0 = 0' --ablate L0H0 --metric kl --metric loss --format json"
    yield "run -m $m --ids 3,1,4 --gradient loss --format npz -o out.npz"
    yield "convert -m $m -o out; attn-cli info -m ./out"
    yield "convert -m $m -o out --type bf16"
    if tokenizer:
        for f in ("text", "json", "ids"):
            yield f"tokenize -m $m -s {text} --format {f}"
        yield "tokenize -m $m --decode --ids 1,2,0"
    yield (r"""printf '{"ids":[1,2,3]}\n{"ids":[3,1]}\n{"ids":[99999999]}\n' >in.ndjson; """
           "attn-cli batch -m $m -f in.ndjson --show '*' -o out")
    for f in ("tidy", "summary", "csv", "npy", "npz", "svg"):
        yield (r"""printf '{"ids":[1,2,3]}\n{"ids":[3,1,2]}\n' >in.ndjson; """
               f"attn-cli batch -m $m -f in.ndjson --format {f} -o out --summary s.csv")
    yield (r"""printf '{"ids":[1,2,3]}\n{"ids":[3,1,2]}\n' >in.ndjson; """
           "for i in 0 1; do attn-cli batch -m $m -f in.ndjson --format npy -o $i --shard $i/2 --summary $i.csv; done; "
           "attn-cli merge 0 1 -o all --summary all.csv")
    yield ("run -m $m --ids 3,1,4 --show '*' --format npz -o a.npz; "
           "attn-cli run -m $m --ids 3,1,2 --show '*' --format npy -o b; "
           "attn-cli diff a.npz b --all; attn-cli diff a.npz b --format json; "
           "attn-cli plot b -o p.svg; attn-cli plot a.npz --show '*' -o p.html")


def hostile_lines():
    """Each file of the corpora, where the command that reads it would find it."""
    corpus = os.path.join(REPO, "tests", "corpus")
    homes = {"config": "life:config.json", "vocab": "life:vocab.json", "merges": "tiny:merges.txt",
             "safetensors": "life:model.safetensors"}
    dumps = {"npy": "x.npy", "npz": "x.npz", "csv": "x.csv", "tidy": "x.csv", "document": "x.json"}
    for folder in sorted(name for name in os.listdir(corpus) if os.path.isdir(os.path.join(corpus, name))):
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            file = f"repo/tests/corpus/{folder}/{name}"
            if folder in homes:
                model, at = homes[folder].split(":")
                yield (f"cp -r repo/models/{model} m; cp '{file}' m/{at}; attn-cli run -m ./m -s {TEXT}; "
                       f"attn-cli tokenize -m ./m -s {TEXT}; attn-cli info -m ./m")
            elif folder == "tokenizer_json":
                yield f"mkdir m; cp '{file}' m/tokenizer.json; attn-cli tokenize -m ./m -s {TEXT} --format json"
            elif folder in dumps:
                yield (f"cp '{file}' {dumps[folder]}; attn-cli plot {dumps[folder]} -o p.svg; "
                       f"attn-cli diff {dumps[folder]} {dumps[folder]} --format json")
            elif folder == "records":
                for f in ("text", "ndjson", "csv", "tsv"):
                    yield f"batch -m life -f '{file}' --input {f} --format summary"
            elif folder == "sidecar":
                yield (f"printf 'Life is\\n' >s.txt; attn-cli batch -m life -f s.txt -o out; cp '{file}' out.json; "
                       "attn-cli merge out -o all; attn-cli batch -m life -f s.txt -o out --resume")
            else:
                yield f"run -f '{file}' -m tiny --show tokens; attn-cli tokenize -f '{file}' -m tiny --format json"
    malformed = os.path.join(SHARED, "golden", "malformed")
    for name in sorted(os.listdir(malformed)) if os.path.isdir(malformed) else []:
        yield (f"run -m shared/golden/malformed/{name} --ids 0,1; "
               f"attn-cli info --check -m shared/golden/malformed/{name}")


def other_lines():
    for c in commands():
        yield f"help {c}"
        yield f"{c} --no-such-option"
        yield f"{c} -m ./nothing"
    for what in ("", "--man", "--completion bash", "--completion zsh", "--completion fish"):
        yield f"help {what}"
    for family in families():
        small = "--n-layer 2 --n-head 2 --d-model 16 --vocab-size 50 --n-ctx 32" if family == "gpt2" else ""
        yield f"init --family {family} -o m {small}"
    yield ("vocab -f repo/data/language.txt -o vocab.json; "
           "attn-cli init --vocab vocab.json --n-layer 2 --n-head 2 --d-model 12 --seed 7 -o m")
    yield "vocab -f repo/data/language.txt --bpe 300 -o m"
    yield ("train -f repo/data/small-world.txt -o m --vocab-size 300 --n-layer 1 --n-head 2 --d-model 16 --n-ctx 16 "
           "--steps 6 --eval-every 3 --watch 'the cat'; attn-cli plot m/watch -o p.svg")
    for more in ("", " --kind causal --explain --query 1", " --v '1 2 3; 4 5 6' --format csv -o out.x"):
        yield f"attend --q '1 0; 0 1' --k '1 1; 0 2'{more}"
    yield "attend --x '1 0; 1 1; 0 2' --names 'a b c' --cosines x"
    yield "models; attn-cli models --format json"
    yield "lesson life; attn-cli lesson life --format html -o a.html"
    for line in ("run", "run -s ''", "run -s x --show nonsense", "run -s Life -m life --layer 9", "frobnicate",
                 "--version", "run -s Life --ids 1", "diff a b",
                 "plot repo/README.md", "merge", "merge a b -o c", "generate -m life -s Life",
                 "score -m journey -s Your", "tokenize -s ''", "run -m life -s 'Life is nice'"):
        yield line


def run(binary, line, model):
    with tempfile.TemporaryDirectory() as top:
        os.symlink(REPO, os.path.join(top, "repo"))
        os.symlink(SHARED, os.path.join(top, "shared"))
        os.symlink(os.path.realpath(binary), os.path.join(top, "attn-cli"))
        where = os.path.join(top, "here")
        os.mkdir(where)
        for name in ("repo", "shared"):
            os.symlink(os.path.join(top, name), os.path.join(where, name))
        env = dict(os.environ, PATH=top + ":" + os.environ["PATH"], m=model, LC_ALL="C.UTF-8")
        line = line if "attn-cli " in line.split(";")[0] or line.startswith(
            ("cp ", "mkdir ", "printf ")) else "attn-cli " + line
        done = subprocess.run(["bash", "-c", line], cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=600)
        seen = {"status": done.returncode, "output": VARIES.sub(b"", done.stdout),
                "messages": VARIES.sub(b"", done.stderr)}
        for folder, _, files in os.walk(where):
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    seen[os.path.relpath(path, where)] = hashlib.sha256(VARIES.sub(b"", f.read())).hexdigest()
        return {k: v.replace(top.encode(), b"TOP") if isinstance(v, bytes) else v for k, v in seen.items()}


def compare(old, new, line, model):
    a, b = run(old, line, model), run(new, line, model)
    different = [k for k in sorted(set(a) | set(b)) if a.get(k) != b.get(k)]
    report = []
    for k in different:
        x, y = a.get(k), b.get(k)
        if isinstance(x, bytes) and isinstance(y, bytes):
            pairs = itertools.zip_longest(x.splitlines(), y.splitlines())
            x, y = next(((p, q) for p, q in pairs if p != q), (x, y))
        report.append(f"  {k}: {x!r:.200}\n  {' ' * len(k)}  {y!r:.200}")
    return report


def main():
    old, new = sys.argv[1:3]
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    models = folders(os.path.join(REPO, "models")) + folders(os.path.join(SHARED, "golden", "checkpoints"))
    cases = [(line, "repo/models/" + os.path.basename(m) if m.startswith(REPO)
              else "shared/golden/checkpoints/" + os.path.basename(m))
             for m in models for line in model_lines(m)]
    cases += [(line, "life") for line in itertools.chain(hostile_lines(), other_lines())]
    cases = [(line, model) for line, model in cases if part in line]
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (line, model), report in zip(cases, pool.map(lambda c: compare(old, new, *c), cases)):
            if report:
                differ += 1
                print(f"{line}   (m={model})", *report, sep="\n", flush=True)
    print(f"{len(cases)} command lines, {differ} differ")
    return differ > 0 or not cases


if __name__ == "__main__":
    sys.exit(main())
