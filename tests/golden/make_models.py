#!/usr/bin/python3
"""Recompute every activation of the models in models/ in double precision.

    make_models.py          from the repository root; writes tests/golden/models/NAME.json

Plain Python, written from the description of the format alone, so that it is independent of
the C code.  Needs no packages.  The weights are read from model.safetensors as they are stored;
tests/making/test_init.c checks how they were drawn.
"""
import json
import math
import os
import struct

SENTENCES = {
    "life": "Life is short, eat dessert first",
    "life-full": "Life is short, eat dessert first",
    "life-4-heads": "Life is short, eat dessert first",
    "journey": "Your journey starts with one step",
    "journey-causal": "Your journey starts with one step",
    "journey-multi-head": "Your journey starts with one step",
    "stacked": "The cat sees the moth, who turned to Mary?",
}
INF = float("inf")


def read_tensors(path):
    with open(path, "rb") as f:
        blob = f.read()
    size = struct.unpack_from("<Q", blob)[0]
    tensors = {}
    for name, t in json.loads(blob[8:8 + size]).items():
        if name == "__metadata__":
            continue
        assert t["dtype"] == "F32", name
        start, end = t["data_offsets"]
        flat = struct.unpack_from("<%df" % ((end - start) // 4), blob, 8 + size + start)
        cols = t["shape"][-1]
        rows = [list(flat[i:i + cols]) for i in range(0, len(flat), cols)]
        tensors[name] = rows if len(t["shape"]) == 2 else rows[0]
    return tensors


def encode(text, rule, vocab):
    words = "".join(c for c in text if c not in (rule["drop"] or "")).split()
    words = [w.lower() if rule["lowercase"] else w for w in words]
    return [vocab[w] if w in vocab else vocab[rule["unknown"]] for w in words]


def product(a, b):
    return [[math.fsum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def add(a, b):
    return [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]


def softmax(row):
    e = [math.exp(x - max(row)) for x in row]
    return [x / math.fsum(e) for x in e]


def columns(a, start, n):
    return [row[start:start + n] for row in a]


def layer_norm(row, w, b, eps):
    mean = math.fsum(row) / len(row)
    variance = math.fsum((x - mean) ** 2 for x in row) / len(row)
    return [(x - mean) / math.sqrt(variance + eps) * v + c for x, v, c in zip(row, w, b)]


def gelu_new(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Model:
    def __init__(self, directory):
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as f:
            self.c = json.load(f)
        with open(os.path.join(directory, "vocab.json"), encoding="utf-8") as f:
            self.vocab = json.load(f)
        self.t = read_tensors(os.path.join(directory, "model.safetensors"))
        self.seen = {}

    def tell(self, name, x):
        self.seen[name] = x
        return x

    def linear(self, x, name):
        y, bias = product(x, self.t[name + ".weight"]), self.t.get(name + ".bias")
        return [[v + b for v, b in zip(row, bias)] for row in y] if bias else y

    def norm(self, x, name, told):
        if self.c["norm"] == "none":
            return x
        assert self.c["norm"] == "layernorm"
        w, b = self.t[name + ".weight"], self.t[name + ".bias"]
        return self.tell(told, [layer_norm(row, w, b, self.c["norm_eps"]) for row in x])

    def attention(self, x, block):
        c, at = self.c, block + ".attn."
        H, K, dh, dv = c["n_head"], c["n_kv_head"], c["d_head"], c["d_value"]
        q, k, v = (self.linear(x, at + n) for n in "qkv")
        heads = {"q": [columns(q, h * dh, dh) for h in range(H)], "k": [columns(k, h * dh, dh) for h in range(K)],
                 "v": [columns(v, h * dv, dv) for h in range(K)], "dots": [], "scores": [], "pattern": []}
        context = [[] for _ in x]
        for h in range(H):
            kv = h * K // H
            dots = product(heads["q"][h], [list(col) for col in zip(*heads["k"][kv])])
            scale = 1 / math.sqrt(dh) if c["scale"] == "sqrt" else 1
            scores = [[s * scale if j <= i or c["mask"] == "none" else -INF for j, s in enumerate(row)]
                      for i, row in enumerate(dots)]
            pattern = [softmax(row) for row in scores]
            for name, value in (("dots", dots), ("scores", scores), ("pattern", pattern)):
                heads[name].append(value)
            context = [row + more for row, more in zip(context, product(pattern, heads["v"][kv]))]
        for name, value in heads.items():
            self.tell(at + name, value)
        self.tell(at + "context", context)
        return self.tell(at + "out", self.linear(context, at + "o")) if c["output_projection"] else context

    def mlp(self, x, block):
        assert self.c["mlp"] == "gelu_new"
        pre = self.tell(block + ".mlp.pre", self.linear(x, block + ".mlp.in"))
        post = self.tell(block + ".mlp.post", [[gelu_new(v) for v in row] for row in pre])
        return self.tell(block + ".mlp.out", self.linear(post, block + ".mlp.out"))

    def block(self, x, n):
        name, c = "blocks.%d" % n, self.c
        self.tell(name + ".resid_pre", x)
        branch = self.attention(self.norm(x, name + ".norm1", name + ".norm1"), name)
        x = add(x, branch) if c["residual"] else branch
        if c["mlp"] != "none":
            self.tell(name + ".resid_mid", x)
            branch = self.mlp(self.norm(x, name + ".norm2", name + ".norm2"), name)
            x = add(x, branch) if c["residual"] else branch
        return self.tell(name + ".resid_post", x)

    def run(self, ids):
        c, t = self.c, self.t
        x = self.tell("embed", [t["embed.weight"][i] for i in ids])
        if c["position"] == "learned":
            x = add(x, self.tell("pos_embed", t["pos_embed.weight"][:len(ids)]))
        for n in range(c["n_layer"]):
            x = self.block(x, n)
        if c["unembed"]:
            assert c["tied"]
            x = self.norm(x, "norm_final", "norm_final")
            self.tell("logits", product(x, [list(col) for col in zip(*t["embed.weight"])]))


def show(x, indent=1):
    if isinstance(x, list) and x and isinstance(x[0], list):
        return "[\n" + ",\n".join(" " * indent + show(v, indent + 1) for v in x) + "]"
    if isinstance(x, list):
        return "[" + ", ".join(show(v) for v in x) + "]"
    if isinstance(x, float):
        return '"-inf"' if x == -INF else "%.9g" % struct.unpack("f", struct.pack("f", x))[0]
    return json.dumps(x, ensure_ascii=False)


def main():
    os.makedirs("tests/golden/models", exist_ok=True)
    for name, text in SENTENCES.items():
        m = Model("models/" + name)
        ids = encode(text, m.c["tokenizer"], m.vocab)
        m.run(ids)
        body = ",\n".join('  "%s": %s' % (k, show(v, 3)) for k, v in m.seen.items())
        with open("tests/golden/models/%s.json" % name, "w", encoding="utf-8") as f:
            f.write('{\n "model": "%s",\n "text": %s,\n "ids": %s,\n "activations": {\n%s\n }\n}\n'
                    % (name, show(text), show(ids), body))


if __name__ == "__main__":
    main()
