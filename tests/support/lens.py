"""lens.py MODEL IDS OUT.npz|OUT.safetensors [none|scale|bias|mask=NUMBER] - what TransformerLens's cache holds of a
model that it prepared as it does by default: gain and shift of norms are in the weights that read them, what is written
to the stream and the output layer are less their means, the biases of values are in that of the output.  Plain Python,
in double precision, from weights in float32.

The last argument plants a mistake in the last layer: scores that are not divided, a bias of the output that is left
out; or it hides keys with a number instead of -inf."""
import json
import math
import struct
import sys

import port


def tensors(path):
    with open(path + "/model.safetensors", "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(size)), f.read()
    out = {}
    for name, t in header.items():
        if name == "__metadata__" or t["dtype"] == "BOOL":
            continue
        raw = data[slice(*t["data_offsets"])]
        if t["dtype"] == "BF16":
            raw = b"".join(b"\0\0" + raw[i:i + 2] for i in range(0, len(raw), 2))
        form = {"F32": "f", "F16": "e", "BF16": "f"}[t["dtype"]]
        x = list(struct.unpack(f"<{len(raw) // struct.calcsize(form)}{form}", raw))
        rows = t["shape"][0] if len(t["shape"]) == 2 else None
        out[name] = [x[i * t["shape"][1]:(i + 1) * t["shape"][1]] for i in range(rows)] if rows else x
    return out


def flip(w):
    return [list(x) for x in zip(*w)]


def zeros(n):
    return [0.0] * n


def gpt2(w, c, layer):
    p, d = f"h.{layer}." if f"h.{layer}.ln_1.weight" in w else f"transformer.h.{layer}.", c["n_embd"]
    qkv, bias = w[p + "attn.c_attn.weight"], w[p + "attn.c_attn.bias"]
    part = [([row[i * d:(i + 1) * d] for row in qkv], bias[i * d:(i + 1) * d]) for i in range(3)]
    return {"norm1": (w[p + "ln_1.weight"], w[p + "ln_1.bias"]), "norm2": (w[p + "ln_2.weight"], w[p + "ln_2.bias"]),
            "q": part[0], "k": part[1], "v": part[2], "o": (w[p + "attn.c_proj.weight"], w[p + "attn.c_proj.bias"]),
            "in": (w[p + "mlp.c_fc.weight"], w[p + "mlp.c_fc.bias"]),
            "out": (w[p + "mlp.c_proj.weight"], w[p + "mlp.c_proj.bias"])}


def neox(w, c, layer):
    p, heads = f"gpt_neox.layers.{layer}.", c["num_attention_heads"]
    fused, bias, dh = w[p + "attention.query_key_value.weight"], w[p + "attention.query_key_value.bias"], c[
        "hidden_size"] // heads
    rows = [[h * 3 * dh + i * dh + j for h in range(heads) for j in range(dh)] for i in range(3)]
    part = [(flip([fused[r] for r in of]), [bias[r] for r in of]) for of in rows]

    def dense(name):
        return flip(w[p + name + ".weight"]), w[p + name + ".bias"]
    return {"norm1": (w[p + "input_layernorm.weight"], w[p + "input_layernorm.bias"]),
            "norm2": (w[p + "post_attention_layernorm.weight"], w[p + "post_attention_layernorm.bias"]),
            "q": part[0], "k": part[1], "v": part[2], "o": dense("attention.dense"), "in": dense("mlp.dense_h_to_4h"),
            "out": dense("mlp.dense_4h_to_h")}


def llama(w, c, layer):
    p = f"model.layers.{layer}."

    def dense(name):
        rows = w[p + name + ".weight"]
        return flip(rows), w.get(p + name + ".bias", zeros(len(rows)))
    return {"norm1": (w[p + "input_layernorm.weight"], zeros(c["hidden_size"])),
            "norm2": (w[p + "post_attention_layernorm.weight"], zeros(c["hidden_size"])),
            "q": dense("self_attn.q_proj"), "k": dense("self_attn.k_proj"), "v": dense("self_attn.v_proj"),
            "o": dense("self_attn.o_proj"), "in": dense("mlp.up_proj"), "gate": dense("mlp.gate_proj"),
            "out": dense("mlp.down_proj")}


def neo(w, c, layer):
    p = f"transformer.h.{layer}."

    def dense(name):
        rows = w[p + name + ".weight"]
        return flip(rows), w.get(p + name + ".bias", zeros(len(rows)))
    return {"norm1": (w[p + "ln_1.weight"], w[p + "ln_1.bias"]), "norm2": (w[p + "ln_2.weight"], w[p + "ln_2.bias"]),
            "q": dense("attn.attention.q_proj"), "k": dense("attn.attention.k_proj"),
            "v": dense("attn.attention.v_proj"),
            "o": dense("attn.attention.out_proj"), "in": dense("mlp.c_fc"), "out": dense("mlp.c_proj")}


def model_of(path):
    with open(path + "/config.json") as f:
        c = json.load(f)
    w, kind = tensors(path), c["model_type"]
    m = {"rms": False, "parallel": False, "rotary": 0, "scale": True, "window": lambda layer: None}
    if kind == "gpt2":
        pre = "" if "wte.weight" in w else "transformer."
        m.update(block=gpt2, L=c["n_layer"], H=c["n_head"], Hkv=c["n_head"], eps=c["layer_norm_epsilon"], bend="new",
                 embed=w[pre + "wte.weight"], pos=w[pre + "wpe.weight"],
                 final=(w[pre + "ln_f.weight"], w[pre + "ln_f.bias"]), unembed=flip(w[pre + "wte.weight"]))
    elif kind == "gpt_neo":
        kinds = c["attention_layers"]
        m.update(block=neo, L=c["num_layers"], H=c["num_heads"], Hkv=c["num_heads"],
                 eps=c["layer_norm_epsilon"], bend="new",
                 embed=w["transformer.wte.weight"], pos=w["transformer.wpe.weight"], scale=False,
                 window=lambda layer: c["window_size"] if kinds[layer] == "local" else None,
                 final=(w["transformer.ln_f.weight"], w["transformer.ln_f.bias"]),
                 unembed=flip(w.get("lm_head.weight", w["transformer.wte.weight"])))
    elif kind == "gpt_neox":
        dh = c["hidden_size"] // c["num_attention_heads"]
        m.update(block=neox, L=c["num_hidden_layers"], H=c["num_attention_heads"], Hkv=c["num_attention_heads"],
                 eps=c["layer_norm_eps"], bend="erf", embed=w["gpt_neox.embed_in.weight"], pos=None,
                 parallel=c["use_parallel_residual"], rotary=int(dh * c["rotary_pct"]), theta=c["rotary_emb_base"],
                 final=(w["gpt_neox.final_layer_norm.weight"], w["gpt_neox.final_layer_norm.bias"]),
                 unembed=flip(w["embed_out.weight"]))
    else:
        tied = c["tie_word_embeddings"]
        m.update(block=llama, L=c["num_hidden_layers"], H=c["num_attention_heads"], Hkv=c["num_key_value_heads"],
                 eps=c["rms_norm_eps"], bend="silu", rms=True, embed=w["model.embed_tokens.weight"], pos=None,
                 rotary=c["hidden_size"] // c["num_attention_heads"], theta=c["rope_theta"],
                 final=(w["model.norm.weight"], zeros(c["hidden_size"])),
                 unembed=flip(w["model.embed_tokens.weight" if tied else "lm_head.weight"]))
    m["blocks"] = [m["block"](w, c, layer) for layer in range(m["L"])]
    return m


# ---- how weights are prepared ----

def less_mean(x):
    mean = sum(x) / len(x)
    return [v - mean for v in x]


def fold(norm, part, centre):
    """The weight after a norm, with the norm's gain and shift; its columns less their mean, since what it
    reads has none."""
    (gain, shift), (w, bias) = norm, part
    bias = [b + sum(s * row[j] for s, row in zip(shift, w)) for j, b in enumerate(bias)]
    w = [[g * x for x in row] for g, row in zip(gain, w)]
    return (flip([less_mean(column) for column in flip(w)]) if centre else w), bias


def prepare(m):
    layers = not m["rms"]
    if layers:
        m["embed"] = [less_mean(row) for row in m["embed"]]
        m["pos"] = m["pos"] and [less_mean(row) for row in m["pos"]]
    for b in m["blocks"]:
        for name in ("q", "k", "v"):
            b[name] = fold(b["norm1"], b[name], layers)
        for name in ("in", "gate"):
            if name in b:
                b[name] = fold(b["norm2"], b[name], layers)
        (w, bias), (values, moved) = b["o"], b["v"]
        dh, group = len(w) // m["H"], m["H"] // m["Hkv"]
        of_row = [moved[i // dh // group * dh + i % dh] for i in range(len(w))]
        b["o"] = w, [x + sum(v * row[j] for v, row in zip(of_row, w)) for j, x in enumerate(bias)]
        b["v"] = values, zeros(len(moved))
        for name in ("o", "out"):
            w, bias = b[name]
            if layers:
                b[name] = [less_mean(row) for row in w], less_mean(bias)
    w, bias = fold(m["final"], (m["unembed"], zeros(len(m["unembed"][0]))), layers)
    m["unembed"] = [less_mean(row) for row in w], less_mean(bias)


# ---- the run ----

def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def rounded(part):
    return [[single(x) for x in row] for row in part[0]], [single(x) for x in part[1]]


def multiply(x, part):
    columns, bias = flip(part[0]), part[1]
    return [[sum(a * b for a, b in zip(row, column)) + s for column, s in zip(columns, bias)] for row in x]


def add(x, y):
    return [[a + b for a, b in zip(*rows)] for rows in zip(x, y)]


def normalise(m, x):
    rows = x if m["rms"] else [less_mean(row) for row in x]
    scale = [math.sqrt(sum(v * v for v in row) / len(row) + m["eps"]) for row in rows]
    return [[s] for s in scale], [[v / s for v in row] for row, s in zip(rows, scale)]


def rotate(m, x):
    """Of one head: rotate-half on its first numbers."""
    r = m["rotary"]
    out = [list(row) for row in x]
    for t, row in enumerate(x):
        for i in range(r // 2):
            angle = t * m["theta"] ** (-2 * i / r)
            c, s = math.cos(angle), math.sin(angle)
            out[t][i], out[t][i + r // 2] = row[i] * c - row[i + r // 2] * s, row[i + r // 2] * c + row[i] * s
    return out


def heads_of(x, dh):
    return [[row[h * dh:(h + 1) * dh] for row in x] for h in range(len(x[0]) // dh)]


def softmax(row):
    most = max(row)
    e = [math.exp(v - most) for v in row]
    return [v / sum(e) for v in e]


def bend(kind, x):
    if kind == "silu":
        return x / (1 + math.exp(-x))
    return x * (1 + (math.erf(x / math.sqrt(2)) if kind == "erf"
                     else math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))) / 2


def attend(m, cache, layer, b, x, mistake):
    p, H = f"blocks.{layer}.attn.", m["H"]
    dh, last = len(b["o"][0]) // H, layer == m["L"] - 1
    q, k, v = (heads_of(multiply(x, b[name]), dh) for name in ("q", "k", "v"))
    for name, heads in (("hook_q", q), ("hook_k", k), ("hook_v", v)):
        cache[p + name] = heads_within(heads)
    if m["rotary"]:
        q, k = [rotate(m, h) for h in q], [rotate(m, h) for h in k]
        cache[p + "hook_rot_q"], cache[p + "hook_rot_k"] = heads_within(q), heads_within(k)
    hidden = float(mistake[5:]) if mistake.startswith("mask=") else -math.inf
    scale = math.sqrt(dh) if m["scale"] and not (mistake == "scale" and last) else 1
    reach = m["window"](layer) or len(x)
    scores = [[[sum(a * c for a, c in zip(row, key)) / scale if 0 <= t - j < reach else hidden
                for j, key in enumerate(k[h * len(k) // H])]
               for t, row in enumerate(q[h])] for h in range(H)]
    pattern = [[softmax(row) for row in head] for head in scores]
    z = [[[sum(w * value[j] for w, value in zip(row, v[h * len(v) // H])) for j in range(dh)] for row in pattern[h]]
         for h in range(H)]
    cache[p + "hook_attn_scores"], cache[p + "hook_pattern"], cache[p + "hook_z"] = scores, pattern, heads_within(z)
    w, bias = b["o"]
    return multiply([[n for h in range(H) for n in z[h][t]] for t in range(len(x))],
                    (w, zeros(len(bias)) if mistake == "bias" and last else bias))


def heads_within(x):
    return [list(rows) for rows in zip(*x)]


def feed(m, cache, layer, b, x):
    p = f"blocks.{layer}.mlp."
    pre = multiply(x, b["gate" if "gate" in b else "in"])
    post = [[bend(m["bend"], v) for v in row] for row in pre]
    cache[p + "hook_pre"] = pre
    if "gate" in b:
        linear = multiply(x, b["in"])
        cache[p + "hook_pre_linear"] = linear
        post = [[u * v for u, v in zip(*rows)] for rows in zip(post, linear)]
    cache[p + "hook_post"] = post
    return multiply(post, b["out"])


def run(m, ids, mistake):
    cache, x = {}, [m["embed"][i] for i in ids]
    cache["hook_embed"] = x
    if m["pos"]:
        cache["hook_pos_embed"] = m["pos"][:len(ids)]
        x = add(x, cache["hook_pos_embed"])
    for layer, b in enumerate(m["blocks"]):
        p = f"blocks.{layer}."
        cache[p + "hook_resid_pre"] = x
        cache[p + "ln1.hook_scale"], cache[p + "ln1.hook_normalized"] = normalise(m, x)
        out = attend(m, cache, layer, b, cache[p + "ln1.hook_normalized"], mistake)
        cache[p + "hook_attn_out"] = out
        mid = add(x, out)
        if not m["parallel"]:
            cache[p + "hook_resid_mid"] = mid
        cache[p + "ln2.hook_scale"], cache[p + "ln2.hook_normalized"] = normalise(m, x if m["parallel"] else mid)
        cache[p + "hook_mlp_out"] = feed(m, cache, layer, b, cache[p + "ln2.hook_normalized"])
        x = add(mid, cache[p + "hook_mlp_out"])
        cache[p + "hook_resid_post"] = x
    cache["ln_final.hook_scale"], cache["ln_final.hook_normalized"] = normalise(m, x)
    cache["logits"] = multiply(cache["ln_final.hook_normalized"], m["unembed"])
    return cache


def flat(x):
    return [v for part in x for v in flat(part)] if isinstance(x[0], list) else x


def shape(x):
    return [len(x)] + (shape(x[0]) if isinstance(x[0], list) else [])


def main(path, ids, out, mistake="none"):
    m = model_of(path)
    prepare(m)
    m["embed"], m["unembed"] = rounded((m["embed"], []))[0], rounded(m["unembed"])
    m["pos"] = m["pos"] and rounded((m["pos"], []))[0]
    for b in m["blocks"]:
        b.update({name: rounded(b[name]) for name in b if name[:4] != "norm"})
    cache = run(m, [int(i) for i in ids.split(",")], mistake)
    port.save(out, [(name, [1, *shape(x)], struct.pack(f"<{len(flat(x))}f", *flat(x))) for name, x in cache.items()])


if __name__ == "__main__":
    main(*sys.argv[1:])
