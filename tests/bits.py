#!/usr/bin/env python3
"""bits.py HERE FOREIGN [PART]: whether a build for another processor computes the bits of this machine's.

Asks both programs the same of every model of the repository, every recorded checkpoint, those in $ATTN_SHARED, too, and
every kind of attention; trains twenty steps; and compares what was written, byte for byte: with fused multiply-adds
(ATTN_SIMD=avx2 and avx512 here, the widest there) and without (ATTN_SIMD=generic on both).  Prints a digest for each
model.  PART: only models or kinds whose name contains it.
"""
import concurrent.futures, hashlib, os, re, subprocess, sys, tempfile

REPO = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
SHARED = os.environ.get("ATTN_SHARED", "")
IDS = "--ids 3,1,4,1,5"
KINDS = ["full", "causal", "causal-renorm", "window:3", "strided:2,3", "random:2,2,7", "linear", "block:2"]
# What says which processor it was, and what a clock measured.
VARIES = re.compile(rb'"(cpu|seconds|threads|tokens_per_second|peak_bytes)": ?("[^"]*"|[0-9.e+-]+)')
RUN = [f"run {IDS} --show '*' --format npz -o a.npz", f"run {IDS} --show '*' --format json -o a.json",
       f"run {IDS} --show '*' --format tidy -o a.csv", f"score {IDS} --format json",
       f"generate {IDS} -n 5 --temperature 1 --seed 4 --format json", f"lens {IDS} --format json",
       "heads --repeat 4 --format json", f"run {IDS} --gradient loss --show '*' --format npz -o d.npz",
       "batch --show '*' -f in.ndjson --format npz -o batch --summary batch.csv"]
# Processors with AVX-512 may have instructions for bf16; others compute in float32 what was rounded.
ROUNDED = [f"run {IDS} --compute bf16 --show '*' --format npz -o b.npz"]
RECORDS = '{"ids":[1,2,3]}\n{"ids":[3,1,4,1,5]}\n'
TRAIN = ("train -f {repo}/data/small-world.txt -o m --vocab-size 300 --n-layer 2 --n-head 2 --d-model 32 --n-ctx 32 "
         "--steps 20 ")
TRAININGS = ["", "--dropout 0.1 --mlp swiglu --norm rmsnorm --position rope"]


def models():
    tops = [os.path.join(REPO, "models"), os.path.join(REPO, "tests", "golden", "checkpoints")]
    tops += [os.path.join(SHARED, "golden", f"checkpoints{n}") for n in ("", "2", "3") if SHARED]
    found = {}
    for top in tops:
        for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
            if os.path.exists(os.path.join(top, name, "config.json")):
                found[name] = os.path.join(top, name)
    for top in (os.path.join(REPO, "tests", "golden", "gguf"), os.path.join(SHARED, "golden", "gguf")):
        for folder, _, files in sorted(os.walk(top)):
            for name in sorted(files):
                if name.endswith(".gguf") and "malformed" not in folder and "vocab" not in name:
                    found["gguf/" + os.path.basename(folder)] = os.path.join(folder, name)
    top = os.path.join(REPO, "tests", "golden", "student")      # what courses write: a file, or several in a directory
    for name in sorted(os.listdir(top)):
        files = sorted(set(os.listdir(os.path.join(top, name))) - {"expected"})
        found["course/" + name] = os.path.join(top, name, files[0] if len(files) == 1 else "")
    return found


def cases():
    for name, path in models().items():
        yield name, [f"{line} -m '{path}'" for line in RUN]
    path = models()["gpt2-a"]
    for kind in KINDS:
        yield "attention " + kind, [f"{line} -m '{path}' --attention {kind}" for line in (RUN[0], RUN[3], RUN[7])]
    for more in TRAININGS:
        yield f"training {more}".strip(), [TRAIN.format(repo=REPO) + more]
    yield "bf16", [f"{line} -m '{path}'" for line in ROUNDED]


def digest(program, simd, lines):
    """Of every file that the commands write, and of what they say: what a model cannot do must be refused in
    the same words."""
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "in.ndjson"), "w") as f:
            f.write(RECORDS)
        env = dict(os.environ, LC_ALL="C.UTF-8", **({"ATTN_SIMD": simd} if simd else {}))
        parts = {}
        for line in lines:
            done = subprocess.run(["bash", "-c", f"'{os.path.realpath(program)}' {line} -q -t 1"], cwd=where, env=env,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=1800)
            parts["said by " + line] = VARIES.sub(b"", done.stdout + done.stderr) + b"%d" % done.returncode
            if done.returncode:
                parts["refused"] = done.stderr
        for folder, _, files in os.walk(where):
            for file in files:
                with open(os.path.join(folder, file), "rb") as f:
                    parts[file] = VARIES.sub(b"", f.read())
        return {k: hashlib.sha256(v).hexdigest() for k, v in sorted(parts.items())}, parts.get("refused")


def compare(here, foreign, lines):
    sets = ["avx2"] if lines[0].startswith(ROUNDED[0]) else ["avx2", "avx512"]
    fused = [digest(here, simd, lines) for simd in sets] + [digest(foreign, "", lines)]
    plain = [digest(here, "generic", lines), digest(foreign, "generic", lines)]
    bad = [k for runs in (fused, plain) for k in runs[0][0] if any(r[0].get(k) != runs[0][0][k] for r in runs)]
    whole = hashlib.sha256("".join(f"{k}{v}" for k, v in fused[0][0].items()).encode()).hexdigest()
    return whole, bad, fused[0][1], len(fused[0][0])


def main():
    here, foreign = sys.argv[1:3]
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    chosen = [(name, lines) for name, lines in cases() if part in name]
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda c: compare(here, foreign, c[1]), chosen)
        for (name, _), (whole, bad, refused, n) in zip(chosen, results):
            differ += bool(bad)
            print(f"{whole} {n:3} {name}", *(f"  differs: {k}" for k in bad),
                  *([f"  refused: {refused!r:.200}"] if refused else []),
                  sep="\n", flush=True)
    print(f"bits: {len(chosen)} cases, {differ} differ")
    return differ > 0 or not chosen


if __name__ == "__main__":
    sys.exit(main())
