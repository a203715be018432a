"""format.py PROGRAM README COMMAND... - whether our own format is what models/README.md says it is.

keys             the table of keys: no key more or less than `init` writes; types and defaults as the reader has them
tensors DIR...   the table of tensors: no name more or less than these models have, and shapes as the table works them
                 out; the first gets an unembed.bias, which init does not draw
run DIR TEXT     what `run` says of a one-head model without norms and MLP is what plain Python makes of its files"""
import json
import math
import re
import struct
import subprocess
import sys
from pathlib import Path

# What the reader expects, in its own words.
SIZES = {"whole number from 1": "a whole number from 1 to 2147483647",
         "whole number from 0": "a whole number from 0 to 2147483647",
         "whole number from 0, or null": "a whole number from 0 to 2147483647",
         "number from 0": "a finite number that is not negative",
         "number above 0": "a finite number that is not negative",
         "text": "a string", "text or null": "a text or null", "an object": "an object",
         "true or false": "true or false"}
SMALLEST = {"model_type": "attn-decoder", "vocab_size": 3, "n_ctx": 8, "n_layer": 1, "n_head": 2, "d_model": 6}
# Keys that are written only where they have not their default.
RARE = {"eos_token_id": 1, "norm": "rmsnorm", "norm_weight": False, "norm_embed": True, "final_norm": False}
bad = []


def check(right, *words):
    if not right:
        bad.append(" ".join(map(str, words)))


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def table(first):
    """The rows of the table of README whose first heading this is."""
    rows = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", README, re.M)[1]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()]


def save(config, folder):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text('{"a": 0, "b": 1, "c": 2}')
    return str(folder)


def written(config):
    """The whole configuration that init makes of these keys."""
    at = save(config, Path("from"))
    said = program("init", "-q", "-o", "to", "--config", f"{at}/config.json", "--vocab", f"{at}/vocab.json")
    check(not said.returncode, config, said.stderr)
    return json.loads(Path("to/config.json").read_text())


def check_type(name, kind):
    part, _, key = name.rpartition(".")
    wrong = {part: {key: [0]}} if part else {key: [0]}
    said = program("info", "-m", "./" + save({**SMALLEST, **wrong}, Path("wrong"))).stderr
    expected = SIZES.get(kind, kind.replace("`", '"'))
    check(f'"{name}" is an array, expected {expected}' in said, name, "is", kind, "and the reader says:", said.strip())


def check_required(name):
    rest = {k: v for k, v in SMALLEST.items() if k != name}
    said = program("info", "-m", "./" + save(rest, Path("less"))).stderr
    check(f'there is no "{name}"' in said, name, "is required, and without it:", said.strip())


def keys():
    rows = table("key")
    has = written({**SMALLEST, **RARE})
    flat = {*has, *(f"tokenizer.{key}" for key in has["tokenizer"])}
    names = [row[0].strip("`") for row in rows]
    check(sorted(names) == sorted(flat), "only one of table and config.json has, or one has twice:", set(names) ^ flat)
    has = written(SMALLEST)
    for name, kind, default, _ in zip(names, *zip(*(row[1:] for row in rows))):
        check_type(name, kind)
        part, _, key = name.rpartition(".")
        if default == "required":
            check_required(name)
        elif kind == "an object":
            check(isinstance(has[name], dict), name)
        else:
            is_now = (has[part] if part else has).get(key)
            is_now = not RARE[key] if isinstance(RARE.get(key), bool) and is_now is None else is_now
            said = default.strip("`") if default.count("`") == 2 else default.replace("`", "")
            if said in ("true", "false", "null") or said.startswith('"'):
                wanted = json.loads(said)
            else:
                wanted = said if isinstance(is_now, str) else eval(said, {}, has)
            same = wanted == is_now and isinstance(wanted, bool) == isinstance(is_now, bool)
            check(same, name, "is by default", is_now, "and not", wanted)
    return len(rows)


def add_zeros(folder, name, n):
    """Puts one more tensor into a model."""
    path = Path(folder, "model.safetensors")
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, rest = json.loads(data[8:8 + size]), data[8 + size:]
    header[name] = {"dtype": "F32", "shape": [n], "data_offsets": [len(rest), len(rest) + 4 * n]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + rest + bytes(4 * n))


def tensors(*folders):
    add_zeros(folders[0], "unembed.bias", json.loads(Path(folders[0], "config.json").read_text())["vocab_size"])
    rows = {row[0].strip("`"): row[1] for row in table("tensor")}
    seen = set()
    for folder in folders:
        config = json.loads(Path(folder, "config.json").read_text())
        for t in json.loads(program("info", "-m", folder, "--format", "json").stdout)["tensors"]:
            name = re.sub(r"\.\d+\.", ".N.", t["name"])
            seen.add(name)
            check(name in rows, folder, "has", name, "and the table has not")
            sizes = rows.get(name, "[]").strip("[]").replace("`", "").split(", ")
            wanted = [eval(size, {}, config) for size in sizes if size]
            check(wanted == t["shape"], folder, t["name"], "is", t["shape"], "and in the table", wanted)
    check(seen == set(rows), "no model has", sorted(set(rows) - seen))
    return len(rows)


def times(rows, matrix):
    """Each row times a matrix [in, out]."""
    return [[sum(x * matrix[i][j] for i, x in enumerate(row)) for j in range(len(matrix[0]))] for row in rows]


def matrices(path):
    data = Path(path).read_bytes()
    n = struct.unpack("<Q", data[:8])[0]
    for name, t in json.loads(data[8:8 + n]).items():
        (height, width), at = t["shape"], 8 + n + t["data_offsets"][0]
        yield name, [list(struct.unpack_from(f"<{width}f", data, at + 4 * width * i)) for i in range(height)]


def run(folder, text):
    w = dict(matrices(f"{folder}/model.safetensors"))
    ids = json.loads(Path(folder, "vocab.json").read_text())
    x = [w["embed.weight"][ids[word]] for word in text.split()]
    q, k, v = (times(x, w[f"blocks.0.attn.{part}.weight"]) for part in "qkv")
    pattern = []
    for i, row in enumerate(q):
        scores = [sum(a * b for a, b in zip(row, key)) / math.sqrt(len(row)) for key in k[:i + 1]]
        exps = [math.exp(score) for score in scores]
        pattern.append([e / sum(exps) for e in exps] + [0.0] * (len(q) - i - 1))
    context = times(pattern, v)
    out = times(context, w["blocks.0.attn.o.weight"])
    after = [[a + b for a, b in zip(*rows)] for rows in zip(x, out)]
    want = {"blocks.0.attn.q": [q], "blocks.0.attn.k": [k], "blocks.0.attn.v": [v], "blocks.0.attn.pattern": [pattern],
            "blocks.0.attn.context": context, "blocks.0.attn.out": out, "blocks.0.resid_post": after,
            "logits": times(after, w["unembed.weight"])}
    said = program("run", "-m", f"./{folder}", "-s", text, "--show", ",".join(want), "--format", "json")
    got = {a["name"]: a["data"] for a in json.loads(said.stdout)["activations"]}
    check(got.keys() == want.keys(), "run shows", *got)
    for name in want.keys() & got.keys():
        check(near(want[name], got[name]), name, "is", got[name], "and not", want[name])
    return len(want)


def near(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(near, a, b))
    return abs(a - b) < 1e-6 * (1 + abs(a))


PROGRAM, README = sys.argv[1], Path(sys.argv[2]).read_text()
count = {"keys": keys, "tensors": tensors, "run": run}[sys.argv[3]](*sys.argv[4:])
print("\n".join(bad), end="\n" if bad else "")
print(count, "agree" if not bad else "were looked at")
sys.exit(bool(bad) or not count)
