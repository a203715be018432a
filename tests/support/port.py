"""port.py IN.npz OUT.npz|OUT.safetensors lens|own - the arrays of a run as another program would have saved them.

lens: with TransformerLens's names, heads within the tokens, a batch of one.  own: some, with names
that nobody knows."""
import ast
import json
import re
import struct
import sys
import zipfile

LENS = {
    "embed": "hook_embed", "pos_embed": "hook_pos_embed", "resid_pre": "hook_resid_pre", "norm1": "ln1.hook_normalized",
    "attn.q": "attn.hook_q", "attn.k": "attn.hook_k", "attn.v": "attn.hook_v", "attn.scores": "attn.hook_attn_scores",
    "attn.pattern": "attn.hook_pattern", "attn.context": "attn.hook_z", "attn.out": "hook_attn_out",
    "resid_mid": "hook_resid_mid", "norm2": "ln2.hook_normalized", "mlp.pre": "mlp.hook_pre",
    "mlp.post": "mlp.hook_post",
    "mlp.out": "hook_mlp_out", "resid_post": "hook_resid_post", "norm_final": "ln_final.hook_normalized"}
OWN = {"attn.pattern": "layer{}_att", "attn.context": "layer{}_mix", "resid_post": "layer{}_out", "logits": "head"}


def load(data):
    """The shape of a .npy file of version 1.0 and float32 numbers, and their bytes."""
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(ast.literal_eval(data[10:start].decode())["shape"]), data[start:]


def heads_within(shape, data):
    heads, tokens, width = shape
    row = 4 * width
    rows = (data[(h * tokens + t) * row:][:row] for t in range(tokens) for h in range(heads))
    return [tokens, heads, width], b"".join(rows)


def arrays(path, kind):
    names = LENS if kind == "lens" else OWN
    with zipfile.ZipFile(path) as archive:
        found = {m[:-4]: load(archive.read(m)) for m in archive.namelist() if not m.endswith("tokens.npy")}
    heads = next(shape[0] for name, (shape, _) in found.items() if name.endswith("pattern"))
    for name, (shape, data) in found.items():
        layer, tail = re.fullmatch(r"(?:blocks\.(\d+)\.)?(.*)", name).groups()
        if tail not in names:
            continue
        if tail in ("attn.q", "attn.k", "attn.v"):
            shape, data = heads_within(shape, data)
        if tail == "attn.context":
            shape = [shape[0], heads, shape[1] // heads]
        called = names[tail].format(
            layer) if kind == "own" else f"blocks.{layer}.{names[tail]}" if layer else names[tail]
        yield called, [1, *shape], data


def save_npz(path, out):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, shape, data in out:
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data)


def save_safetensors(path, out):
    header, at = {}, 0
    for name, shape, data in out:
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(data for _, _, data in out)


def save(path, out):
    (save_npz if path.endswith(".npz") else save_safetensors)(path, out)


if __name__ == "__main__":
    source, target, kind = sys.argv[1:]
    save(target, list(arrays(source, kind)))
