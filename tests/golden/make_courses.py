#!/usr/bin/env python3
"""Makes ../corpus/course: small files as courses write them, files that only claim to be some, and
vocabularies for them.

    make_courses.py [OUTPUT_DIRECTORY]        default: ../corpus/course beside the script

Needs Python alone; the pickles are put together instruction by instruction (make_torch.py)."""
import json
import os
import pickle
import struct
import sys

import make_torch as t

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                                         "corpus", "course")
D, M, V, CTX = 4, 8, 3, 5


def put(name, data):
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)


def floats(n, seed=0):
    return [((i * 7 + seed * 3) % 11 - 5) / 8 for i in range(n)]


def raw(n, seed=0):
    return struct.pack("<%df" % n, *floats(n, seed))


# ---- files of torch.save ----

GPT = [("wte.weight", (V, D)), ("wpe.weight", (CTX, D)), ("h.0.ln_1.weight", (D,)),
       ("h.0.attn.c_attn.weight", (3 * D, D)),
       ("h.0.attn.c_proj.weight", (D, D)), ("h.0.ln_2.weight", (D,)), ("h.0.mlp.c_fc.weight", (M, D)),
       ("h.0.mlp.c_proj.weight", (D, M)), ("ln_f.weight", (D,))]
GPT = [("transformer." + name, shape) for name, shape in GPT]
LECTURE = [("token_embedding_table.weight", (V, D)), ("position_embedding_table.weight", (CTX, D))]
LECTURE += [("blocks.0.sa.heads.%d.%s.weight" % (h, part), (D // 2, D)) for h in range(2)
            for part in ("key", "query", "value")]
LECTURE += [("blocks.0.sa.heads.0.tril", (CTX, CTX)), ("blocks.0.sa.proj.weight", (D, D)),
            ("blocks.0.sa.proj.bias", (D,)),
            ("blocks.0.ffwd.net.0.weight", (M, D)), ("blocks.0.ffwd.net.0.bias", (M,)),
            ("blocks.0.ffwd.net.2.weight", (D, M)),
            ("blocks.0.ffwd.net.2.bias", (D,))]
LECTURE += [(name + kind, (D,)) for name in ("blocks.0.ln1.", "blocks.0.ln2.", "ln_f.") for kind in ("weight", "bias")]
LECTURE += [("lm_head.weight", (V, D)), ("lm_head.bias", (V,))]
ARGS = dict(n_layer=1, n_head=2, n_embd=D, block_size=CTX, bias=False, vocab_size=V, dropout=0.0)


def value(x):
    if isinstance(x, dict):
        return t.dictionary(*((k, value(v)) for k, v in x.items()))
    if isinstance(x, list):
        return b"](" + b"".join(map(value, x)) + b"e"
    if isinstance(x, bool):
        return b"\x88" if x else b"\x89"
    if isinstance(x, float):
        return b"G" + struct.pack(">d", x)
    return b"N" if x is None else t.number(x) if isinstance(x, int) else t.text(x)


def count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def state(tensors, prefix="", same=()):
    """The dictionary and its storages; a name in `same` shares the storage of another."""
    pairs, members = [], []
    for i, (name, shape) in enumerate(tensors):
        stride = [count(shape[k + 1:]) for k in range(len(shape))]
        pairs.append((prefix + name,
                      t.tensor(t.storage(key=str(i), elements=count(shape)), shape=shape, stride=stride)))
        members.append(("data/%d" % i, raw(count(shape), i)))
    for name, other in same:
        i = [n for n, _ in tensors].index(other)
        shape = tensors[i][1]
        pairs.append((prefix + name,
                      t.tensor(t.storage(key=str(i), elements=count(shape)), shape=shape, stride=(shape[1], 1))))
    return t.dictionary(*pairs), members


def checkpoint(name, tensors, beside=None, key="model", prefix="", same=(), more=()):
    model, members = state(tensors, prefix, same)
    body = model if beside is None else t.dictionary((key, model), *((k, value(v)) for k, v in beside.items()), *more)
    put(name, t.archive(t.program(body), members))


def legacy():
    """The form before PyTorch 1.6: pickles in a row, then all storages, those of the optimizer, too,
    which nothing aligns."""
    model, members = state(GPT)
    storages = [(name[5:], data) for name, data in members] + [("9", t.FOUR)]
    body = t.dictionary(("model", model), ("model_args", value(ARGS)),
                        ("optimizer", t.dictionary(("step", t.tensor(t.storage(key="9"))))))
    system = t.dictionary(("protocol_version", b"M\xe9\x03"), ("little_endian", b"\x88"))
    keys = b"](" + b"".join(t.text(key) for key, _ in storages) + b"e"
    put("y_nanogpt_legacy.pt", b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03." +
        t.program(system) + t.program(body) + t.program(keys) +
        b"".join(struct.pack("<Q", len(data) // 4) + data for _, data in storages))


def torch_files():
    optimizer = ("optimizer", t.dictionary(("state", b"}"), ("step", t.tensor())))
    tied = [("lm_head.weight", "transformer.wte.weight")]
    untied = GPT + [("lm_head.weight", (V, D))]
    scalar = ("loss", t.named("numpy.core.multiarray", "scalar") + t.several(
        t.named("numpy", "dtype") + t.several(t.text("f8"), b"\x89", b"\x88") + b"R" + value([3]) + b"b",
        t.named("_codecs", "encode") + t.several(t.text("x"), t.text("latin1")) + b"R") + b"R")
    checkpoint("y_nanogpt.pt", GPT, {"model_args": ARGS, "iter_num": 3, "config": {"dataset": "x", "out": None}},
               prefix="_orig_mod.",
               same=tied, more=[optimizer, scalar])
    checkpoint("y_mingpt.pt", untied + [("transformer.h.0.attn.bias", (1, 1, CTX, CTX))],
               {"config": {"model_type": "gpt-micro"}},
               key="model_state_dict", prefix="module.")
    checkpoint("y_lecture.pt", LECTURE, {"stoi": {"a": 0, "b": 1, "c": 2}, "epoch": 3}, key="state_dict")
    checkpoint("y_lecture_chars.pt", LECTURE, {"chars": ["a", "b", "\u00e9"]}, key="model_state")
    turned = [(n, s[::-1] if "attn.c" in n or "mlp.c" in n else s) for n, s in GPT]
    biases = [("transformer.h.0." + n, (s,)) for n, s in
              (("ln_1.bias", D), ("ln_2.bias", D), ("attn.c_attn.bias", 3 * D), ("attn.c_proj.bias", D),
               ("mlp.c_fc.bias", M),
               ("mlp.c_proj.bias", D))] + [("transformer.ln_f.bias", (D,))]
    checkpoint("y_gpt2.pt", turned + biases, {"config": {"n_head": 2}})
    checkpoint("n_no_heads.pt", GPT)
    checkpoint("n_heads_no_divisor.pt", GPT, {"model_args": dict(ARGS, n_head=3)})
    checkpoint("n_heads_text.pt", GPT, {"model_args": dict(ARGS, n_head="two")})
    checkpoint("n_layers_differ.pt", GPT, {"model_args": dict(ARGS, n_layer=2)})
    checkpoint("n_width_differs.pt", GPT, {"model_args": dict(ARGS, n_embd=2 ** 40)})
    checkpoint("n_tokens_differ.pt", GPT, {"model_args": dict(ARGS, vocab_size=-3)})
    checkpoint("n_bias_missing.pt", GPT + biases[:3], {"model_args": ARGS})
    checkpoint("n_only_embeddings.pt", GPT[:2], {"model_args": ARGS})
    checkpoint("n_no_positions.pt", GPT[:1] + GPT[2:], {"model_args": ARGS})
    checkpoint("n_no_norm.pt", [x for x in GPT if "ln_1" not in x[0]], {"model_args": ARGS})
    checkpoint("n_flat.pt", [(n, (V * D,) if "wte" in n else s) for n, s in GPT], {"model_args": ARGS})
    checkpoint("n_turned_mlp.pt", [(n, s[::-1] if "c_proj" in n and "mlp" in n else s) for n, s in GPT],
               {"model_args": ARGS})
    checkpoint("n_further.pt", GPT + [("transformer.h.0.gate.weight", (D, D))], {"model_args": ARGS})
    checkpoint("n_without_prefix.pt", GPT + [("extra", (D,))], {"model_args": ARGS}, prefix="")
    checkpoint("n_long_prefix.pt", GPT, {"model_args": ARGS}, prefix="x" * 70)
    checkpoint("n_other.pt", [("model.embed_tokens.weight", (V, D))])
    checkpoint("n_bigram.pt", [("token_embedding_table.weight", (V, V))])
    checkpoint("n_lecture_one_head.pt",
               [x for x in LECTURE if ".heads." not in x[0]] + [("blocks.0.sa.key.weight", (D, D))])
    checkpoint("n_lecture_key_missing.pt", [x for x in LECTURE if x[0] != "blocks.0.sa.heads.1.value.weight"])
    checkpoint("n_lecture_narrow.pt", [(n, (1, D) if "heads.1.query" in n else s) for n, s in LECTURE])
    checkpoint("n_lecture_further.pt", LECTURE + [("blocks.0.extra.weight", (D,))])
    checkpoint("n_stoi_twice.pt", LECTURE, {"stoi": {"a": 0, "b": 0, "c": 2}})
    checkpoint("n_stoi_hole.pt", LECTURE, {"stoi": {"a": 0, "b": 1, "c": 3}})
    checkpoint("n_stoi_word.pt", LECTURE, {"stoi": {"a": 0, "bc": 1}})
    checkpoint("n_module.pt", GPT, {"args": 1}, more=[("who", t.named("argparse", "Namespace"))])
    checkpoint("n_llama2c.pt", [("tok_embeddings.weight", (V, D))])
    legacy()
    wide = t.tensor(t.storage(key="0", elements=V * D), shape=(2 ** 20, D), stride=(0, 1))
    put("n_overlap.pt", t.archive(t.program(t.dictionary(("transformer.wte.weight", wide))), [("data/0", raw(V * D))]))
    put("n_nothing.pt", t.archive(t.program(b"}"), []))


# ---- llama2.c, llm.c ----

def llama(version=1, d=D, m=M, layers=1, heads=2, kv=1, vocab=V, ctx=CTX, shared=1, cut=0, more=b"", number=None):
    e = kv * d // heads
    each = 2 * d + 2 * d * d + 2 * e * d + 3 * d * m
    n = layers * each + d + vocab * d * (1 if shared else 2) + (ctx * (d // heads) if version == 0 else 0)
    ints = struct.pack("<7i", d, m, layers, heads, kv, vocab if shared or version else -vocab, ctx)
    head = ints if version == 0 else struct.pack("<II", 0x616b3432,
                                                 version if number is None else number) + ints + bytes([shared])
    head += b"" if version == 0 else b"\0" * (256 - len(head))
    return (head + raw(n))[:None if not cut else -cut] + more


def llmc(version=3, padded=128, cut=0, **changed):
    h = dict(ctx=CTX, vocab=V, layers=1, heads=2, d=D)
    n = padded * D + CTX * D + 2 * D + 12 * D * D + 3 * D + D + 2 * D + 4 * D + D + 2 * D
    values = raw(n) if version == 3 else b"".join(struct.pack("<f", x)[2:] for x in floats(n))
    h.update(changed)
    head = struct.pack("<8i", 20240326, version, h["ctx"], h["vocab"], h["layers"], h["heads"], h["d"], padded)
    return (head + b"\0" * (1024 - len(head)) + values)[:None if not cut else -cut]


def bin_files():
    put("y_llama_old.bin", llama(0))
    put("y_llama_old_head.bin", llama(0, shared=0))
    put("y_llama.bin", llama())
    put("y_llama_head.bin", llama(shared=0))
    put("n_llama_cut.bin", llama(cut=1))
    put("n_llama_more.bin", llama(more=b"\0"))
    put("n_llama_short.bin", llama()[:40])
    put("n_llama_quantised.bin", llama(number=2))
    put("n_llama_version.bin", llama(number=7))
    whole = llama()
    for name, at, x in (("n_llama_width", 2, 0), ("n_llama_layers", 4, 0), ("n_llama_layers_huge", 4, 2 ** 31 - 1),
                        ("n_llama_heads", 5, 0),
                        ("n_llama_heads_odd", 5, 3), ("n_llama_groups", 6, -1), ("n_llama_tokens", 7, -3),
                        ("n_llama_huge", 3, 2 ** 31 - 1)):
        put(name + ".bin", whole[:4 * at] + struct.pack("<i", x) + whole[4 * at + 4:])
    huge = whole[:8] + struct.pack("<7i", 2 ** 30, 2 ** 31 - 1, 2 ** 31 - 1, 1, 1, 2 ** 31 - 1,
                                   2 ** 31 - 1) + whole[36:]
    put("n_llama_overflow.bin", huge)
    put("n_llama_odd_head.bin", llama(d=2, m=2, heads=2, kv=2))
    put("y_llmc.bin", llmc())
    put("y_llmc_bf16.bin", llmc(5))
    put("n_llmc_version.bin", llmc(1))
    put("n_llmc_cut.bin", llmc(cut=2))
    put("n_llmc_short.bin", llmc()[:100])
    put("n_llmc_padded.bin", llmc(vocab=129))
    put("n_llmc_heads.bin", llmc(heads=3))
    put("n_llmc_layers.bin", llmc(layers=2 ** 31 - 1))
    put("n_llmc_width.bin", llmc(d=-4))
    put("n_llmc_wide.bin", llmc(d=2 ** 30))


# ---- microgpt ----

def micro(metadata=None, **changed):
    rows = lambda o, i, seed: [floats(i, seed + r) for r in range(o)]
    w = {"wte": rows(V, D, 1), "wpe": rows(CTX, D, 2), "lm_head": rows(V, D, 3), "layer0.attn_wq": rows(D, D, 4),
         "layer0.attn_wk": rows(D, D, 5),
         "layer0.attn_wv": rows(D, D, 6), "layer0.attn_wo": rows(D, D, 7), "layer0.mlp_fc1": rows(M, D, 8),
         "layer0.mlp_fc2": rows(D, M, 9)}
    w.update(changed)
    m = {"uchars": ["a", "b"], "vocab_size": V, "n_embd": D, "n_layer": 1, "n_head": 2, "head_dim": 2,
         "block_size": CTX, "BOS": 2}
    m.update(metadata or {})
    return json.dumps({"metadata": {k: v for k, v in m.items() if v is not None},
                       "weights": {k: v for k, v in w.items() if v is not None}}).encode()


def micro_files():
    good = micro()
    put("y_micro.json", good)
    put("y_micro_weights_first.json", json.dumps(dict(reversed(json.loads(good).items())), indent=1).encode())
    put("y_micro_no_chars.json", micro({"uchars": None, "BOS": None}))
    put("n_micro_cut.json", good[:-20])
    put("n_micro_more.json", good + b"x")
    put("n_micro_no_heads.json", micro({"n_head": None}))
    put("n_micro_heads.json", micro({"n_head": 3}))
    put("n_micro_bos.json", micro({"BOS": 9}))
    put("n_micro_word.json", micro({"uchars": ["ab", "c"]}))
    put("n_micro_number.json", micro({"uchars": [1, 2]}))
    put("n_micro_no_wte.json", micro(wte=None))
    put("n_micro_no_fc1.json", micro(**{"layer0.mlp_fc1": None}))
    put("n_micro_no_q2.json", micro(**{"layer0.attn_wk": None}))
    put("n_micro_ragged.json", micro(wpe=[[1, 2, 3, 4], [1, 2, 3]]))
    put("n_micro_empty_row.json", micro(wpe=[[]]))
    put("n_micro_empty.json", micro(wpe=[]))
    put("n_micro_flat.json", micro(wpe=[1, 2, 3, 4]))
    put("n_micro_text.json", micro(wpe=[["a", 2, 3, 4]]))
    put("n_micro_wide.json", micro(wpe=[[1, 2, 3, 4, 5]]))
    put("n_micro_large.json", good.replace(b"0.5", b"1e99", 1))
    put("n_micro_further.json", micro(**{"layer0.gate": [[1]]}))
    put("n_micro_long_name.json", micro(**{"x" * 80: [[1]]}))
    put("n_micro_twice.json", good.replace(b'"lm_head"', b'"wte"'))
    put("n_micro_metadata_twice.json", good[:-1] + b', "metadata": {}}')
    put("n_micro_deep.json", b'{"layer0.attn_wq": ' + b"[" * 200 + b"]" * 200 + b"}")
    put("n_micro_list.json", b'{"weights": [1], "x": {"layer0.attn_wq": 1}}')


# ---- a directory of MLX, as an archive for the fuzz target of whole directories ----

def mlx():
    width, tensors = 32, {}
    for name, rows in [("embed_tokens", V)] + [("layers.0." + n, width) for n in
                       ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
                        "mlp.up_proj",
                        "mlp.down_proj")]:
        tensors["model." + name + ".weight"] = ("U32", [rows, width // 8], struct.pack("<%dI" % (rows * width // 8), *(
            (i * 2654435761) % 2 ** 32 for i in range(rows * width // 8))))
        for part in ("scales", "biases"):
            tensors["model." + name + "." + part] = ("F16", [rows, 1],
                                                     struct.pack("<%de" % rows, *floats(rows, len(part))))
    for name in ("layers.0.input_layernorm", "layers.0.post_attention_layernorm", "norm"):
        tensors["model." + name + ".weight"] = ("F32", [width], raw(width))
    header, data = {}, b""
    for name, (dtype, shape, numbers) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    rule = {"group_size": 32, "bits": 4, "model.norm": False}
    config = {"model_type": "llama", "vocab_size": V, "hidden_size": width, "intermediate_size": width,
              "num_hidden_layers": 1,
              "num_attention_heads": 2, "max_position_embeddings": 8, "tie_word_embeddings": True, "quantization": rule,
              "quantization_config": rule}
    files = {"config.json": json.dumps(config).encode(),
             "model.safetensors": struct.pack("<Q", len(text)) + text + data}
    with open(os.path.join(OUT, "..", "model", "y_mlx"), "wb") as f:
        f.write(b"".join(b"@@ %s %d\n%s\n" % (name.encode(), len(x), x) for name, x in files.items()))


# ---- vocabularies, as --vocab takes them ----

def vocabularies():
    stoi = {"a": 0, "b": 1, "\u00e9": 2}
    put("y_vocab_meta.pkl", pickle.dumps({"vocab_size": 3, "itos": {0: "a", 1: "b", 2: "\u00e9"}, "stoi": stoi}, 4))
    put("y_vocab_meta2.pkl", pickle.dumps({"stoi": stoi}, 2))
    put("y_vocab_ids.json", json.dumps(stoi).encode())
    put("y_vocab_list.json", b'["a", "b"]')
    put("n_vocab_call.pkl", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.")
    put("n_vocab_no_stoi.pkl", pickle.dumps({"itos": {0: "a"}}, 4))
    put("n_vocab_list.pkl", pickle.dumps(["a"], 4))
    put("n_vocab_numbers.pkl", pickle.dumps({"stoi": {"a": "x"}}, 4))
    put("n_vocab_ids.json", b'{"a": 0, "b": 1.5}')
    put("n_vocab_large.json", b'{"a": 0, "b": 1e300}')
    put("n_vocab_negative.json", b'{"a": -1}')
    put("n_vocab_empty_text.json", b'{"": 0}')
    put("n_vocab_text.json", b'"abc"')
    put("n_vocab_cut.json", b'{"a": 0')


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    torch_files()
    bin_files()
    micro_files()
    mlx()
    vocabularies()
