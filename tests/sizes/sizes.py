"""sizes.py BINARY - twice as many things take about twice as many steps.

Each row makes an input of n small things, the worst that its reader can be given, and runs a command on it.  What is
counted is neither seconds nor instructions but steps (steps.c), which are the same on any machine and under any load:
a loop over all things inside a loop over all things makes four times as many of twice the things.  The largest inputs
have about a megabyte."""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

MOST = 2.6                              # sorting and hash tables that grow take somewhat more than twice the steps
TEXT = "'Life is short'"
CONFIG = {"model_type": "attn-decoder", "vocab_size": 6, "n_ctx": 64, "n_layer": 1, "n_head": 1, "n_kv_head": 1,
          "d_model": 3, "d_head": 2,
          "d_value": 4, "d_mlp": 0, "position": "none", "norm": "none", "norm_eps": 1e-5, "mlp": "none",
          "mask": "causal", "scale": "sqrt",
          "residual": False, "output_projection": False, "bias": False, "tied": True, "unembed": False}
LETTERS = {"a": 0, "b": 1, " ": 2, "\u0120": 3, "0": 4, "\u00c3": 5, "\u00a9": 6}


def put(name, what):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as f:
        f.write(what if isinstance(what, bytes) else (what if isinstance(what, str) else json.dumps(what)).encode())


def array(name):
    return {"name": name, "shape": [1, 1], "data": [[0]]}


def document(n, name="n%d"):
    put("d.json", {"activations": [array(name % i) for i in range(n)]})


def tidy(n):
    put("d.csv",
        "name,layer,head,row,col,row_token,col_token,value\n" + "".join(f"n{i},,,0,0,a,b,1\n" for i in range(n)))


def npy(shape=(1, 1)):
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * 4 * shape[0] * shape[1]


def npz(n):
    with zipfile.ZipFile("d.npz", "w") as z:
        for i in range(n // 4):
            z.writestr(f"n{i}.npy", npy())


def folder(n):
    for i in range(n // 10):
        put(f"d/n{i}.npy", npy())


def listed(n):
    put("d/n7.npy", npy())
    line = '\n{"file":"n%d.npy","name":"n%d","sha256":"' + "0" * 64 + '","bytes":132}'
    put("d/manifest.json",
        '{"tool":"attn-cli",\n"command":"run",\n"files":[' + ",".join(line % (i, i) for i in range(n)) + "\n]}\n")


def heads(n):
    for i in range(n // 20):
        put(f"d/blocks.0.attn.q.head{i}.csv", "token,0\na,1\n")


def safetensors(n):
    tensors = {f"t{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(n)}
    header = json.dumps(tensors).encode()
    put("m/model.safetensors", struct.pack("<Q", len(header)) + header + b"\0" * 4 * n)
    put("m/config.json", CONFIG)
    put("m/vocab.json", {w: i for i, w in enumerate("abcdef")})


def index(n):
    safetensors(1)
    os.rename("m/model.safetensors", "m/x.safetensors")
    put("m/model.safetensors.index.json", {"weight_map": {f"t{i}": "x.safetensors" for i in range(n)}})
    put("m/config.json",
        {"model_type": "gpt2", "n_layer": 1, "n_head": 1, "n_embd": 2, "vocab_size": 7, "n_positions": 9})


def tokenizer(n, vocab=None, merges=(), added=()):
    vocab = vocab or LETTERS
    put("m/tokenizer.json",
        {"added_tokens": list(added), "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
                             "decoder": {"type": "ByteLevel"},
                             "model": {"type": "BPE", "vocab": vocab, "merges": list(merges)}})


def words(n):
    safetensors(1)
    put("m/vocab.json", {f"w{i}": i for i in range(n)})
    put("m/config.json", dict(CONFIG, vocab_size=n))


def long_merges(n):
    vocab = dict(LETTERS, **{"a" * k: 6 + k for k in range(2, n // 40)})
    tokenizer(n, vocab, ["a " + "a" * k for k in range(1, n // 40 - 1)])


def many_vocab(n):
    tokenizer(n, dict(LETTERS, **{f"a{i}": 7 + i for i in range(n)}))


def added(n, text="x%d"):
    tokenizer(n, LETTERS, (),
              [{"id": 10 + i, "content": text % i if "%" in text else text * (i + 1)} for i in range(n)])


def text_of(what):
    def make(n):
        tokenizer(n)
        put("t.txt", what * n)
    return make


def text_with_added(n):
    added(1000, "aa%d")
    put("t.txt", "a" * n)


def layers(n):
    shapes = {"embed.weight": [6, 3]}
    for i in range(n // 20):
        shapes.update({f"blocks.{i}.attn.{part}.weight": [3, 3 if part == "v" else 2] for part in "qkv"})
    tensors, at = {}, 0
    for name, (rows, cols) in shapes.items():
        tensors[name] = {"dtype": "F32", "shape": [rows, cols], "data_offsets": [at, at + 4 * rows * cols]}
        at += 4 * rows * cols
    header = json.dumps(tensors).encode()
    put("m/model.safetensors", struct.pack("<Q", len(header)) + header + b"\0" * at)
    put("m/config.json", dict(CONFIG, d_value=3, n_layer=n // 20))
    put("m/vocab.json", {w: i for i, w in enumerate("abcdef")})


def lines(what):
    return lambda n: put("r.txt", what * n)


def spec(what):
    def make(n):
        put("args", ",".join([what] * (n // 4)))
    return make


def sidecar(n):
    put("s.txt", "Life is\n")
    subprocess.run([os.environ["A"], "batch", "-q", "-m", "life", "-f", "s.txt", "-o", "o.nd"], check=True)
    put("o.nd.json",
        open("o.nd.json").read().replace('"options":{', '"options":{' + "".join(f'"o{i}":"",' for i in range(n))))


def config(n):
    safetensors(1)
    put("m/config.json", dict(CONFIG, **{f"k{i}": 0 for i in range(n)}))


def vocabulary(n):
    put("t.txt", " ".join(f"w{i}" for i in range(n)))


ROWS = [
    ("arrays of a document, compared", document, "$A diff d.json d.json"),
    ("arrays of a document, drawn", document, "$A plot d.json --format term"),
    ("layers of a document, on a page", lambda n: document(n, "blocks.%d.attn.pattern"), "$A plot d.json -o d.html"),
    ("rows of a tidy table", tidy, "$A diff d.csv d.csv"),
    ("members of an archive", npz, "$A diff d.npz d.npz"),
    ("files of a directory", folder, "$A diff d d"),
    ("heads in files of their own", heads, "$A diff d d"),
    ("files in a manifest, read", listed, "$A diff d d"),
    ("files in a manifest, replaced", listed, "$A run -m life -s Life --format npy -o d"),
    ("columns of a CSV", lambda n: put("d.csv", ",".join("1" * n) + "\n"), "$A diff d.csv d.csv"),
    ("rows of a CSV", lambda n: put("d.csv", "1\n" * n), "$A diff d.csv d.csv"),
    ("quotes of a CSV", lambda n: put("d.csv", 'token,0\n"' + '""' * n + '",1\n'), "$A diff d.csv d.csv"),
    ("tensors of a header", safetensors, "$A run -m ./m -s a"),
    ("layers of a model", layers, "$A info -m ./m"),
    ("tensors of an index", index, "$A info -m ./m"),
    ("keys of a config", config, "$A info -m ./m"),
    ("words of a vocabulary, one misspelt", words, "$A tokenize -m ./m -s w0x"),
    ("tokens of a tokenizer", many_vocab, "$A tokenize -m ./m -s aab"),
    ("merges that build on each other", long_merges,
     "head -c $n /dev/zero | tr '\\0' a | $A tokenize -m ./m -f - --whole --format ids"),
    ("added tokens", added, "$A tokenize -m ./m -s aab"),
    ("added tokens, each the beginning of the next", lambda n: added(math.isqrt(12 * n), "q"),
     "$A tokenize -m ./m -s aab"),
    ("a text without a space", text_of("a"), "$A tokenize -m ./m -f t.txt --whole --format ids"),
    ("a text of spaces", text_of(" "), "$A tokenize -m ./m -f t.txt --whole --format ids"),
    ("a text of digits", text_of("0"), "$A tokenize -m ./m -f t.txt --whole --format ids"),
    ("a text of accents", text_of("\u00e9"), "$A tokenize -m ./m -f t.txt --whole --format ids"),
    ("a text that nearly has added tokens", text_with_added, "$A tokenize -m ./m -f t.txt --whole --format ids"),
    ("records", lines("Life\n"), "$A batch -q -m life -f r.txt --format summary"),
    ("records with an unknown word", lines("Lyfe\n"), "$A batch -q -m life -f r.txt --format summary"),
    ("blank records", lines("\n"), "$A batch -q -m life -f r.txt --format summary"),
    ("records that are no JSON", lines("{\n"), "$A batch -q -m life -f r.txt --input ndjson --format summary"),
    ("one record with an open quote", lambda n: put("r.txt", 'text\n"' + "a\n" * n),
     "$A batch -q -m life -f r.txt --input csv --format summary"),
    ("layers that are asked for", spec("0"), "$A run -m life -s Life --layer $(cat args)"),
    ("names that are asked for", spec("pattern"), "$A run -m life -s Life --show $(cat args)"),
    ("options of a sidecar", sidecar, "$A merge o.nd -o all"),
    ("words to learn a vocabulary from", vocabulary, "$A vocab -f t.txt -o v.json"),
    ("text to learn tokens from", vocabulary, "$A vocab -f t.txt --bpe --size 1000 -o v"),
]


def steps(make, line, n):
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        make(n)
        done = subprocess.run(["taskset", "-c", "0", "bash", "-c", line], env=dict(os.environ, STEPS="steps", n=str(n)),
                              stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)
        with open("steps") as f:
            count = int(f.read())
        os.chdir("/")
        return count, done.returncode, done.stderr.decode(errors="replace").strip()


def main():
    os.environ["A"] = os.path.realpath(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    n, slow, small = 10000, 0, 0
    print(f"{'':46}{'n':>12}{'2 n':>12}  ratio")
    for name, make, line in ROWS:
        if part not in name:
            continue
        (few, _, _), (many, status, said) = steps(make, line, n), steps(make, line, 2 * n)
        verdict = "  too many" if many > MOST * few else ""
        slow += bool(verdict)
        small += few < n // 100
        print(f"{name:46}{few:12}{many:12}{many / few:7.2f}{verdict}  ({status}{': ' + said[:60] if said else ''})",
              flush=True)
    print(f"{slow} of {len(ROWS)} readers take more than {MOST} times the steps for twice the things")
    return slow > 0 or small > 0


if __name__ == "__main__":
    sys.exit(main())
