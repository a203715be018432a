#!/usr/bin/env python3
"""torch_save.py (FROM TO HOW)... - saves the model.safetensors of a directory again with PyTorch, beside copies of
its other files.

HOW is zip, legacy (the form before PyTorch 1.6), turned (matrices are transposed views), parts (two files
and an index)."""
import collections
import json
import os
import shutil
import sys

import torch

types = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "U8": torch.uint8, "BOOL": torch.bool}


def tensors(source, turned):
    with open(os.path.join(source, "model.safetensors"), "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = bytearray(f.read())
    header.pop("__metadata__", None)
    for name, t in header.items():
        begin, end = t["data_offsets"]
        whole = torch.frombuffer(data[begin:end], dtype=types[t["dtype"]]).reshape(t["shape"])
        yield name, whole.t().contiguous().t() if turned and whole.dim() == 2 else whole


def save(state, path, how):
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    torch.save(state, path, _use_new_zipfile_serialization=how != "legacy")


def convert(source, target, how):
    os.makedirs(target)
    for file in os.listdir(source):
        if os.path.isfile(os.path.join(source, file)) and not file.endswith(".safetensors"):
            shutil.copy(os.path.join(source, file), target)
    state = collections.OrderedDict(tensors(source, how == "turned"))
    if how != "parts":
        return save(state, os.path.join(target, "pytorch_model.bin"), how)
    files = ["pytorch_model-0000%d-of-00002.bin" % i for i in (1, 2)]
    where = {name: files[i % 2] for i, name in enumerate(state)}
    for file in files:
        save(collections.OrderedDict((n, t) for n, t in state.items() if where[n] == file),
             os.path.join(target, file), how)
    with open(os.path.join(target, "pytorch_model.bin.index.json"), "w") as f:
        json.dump({"metadata": {}, "weight_map": where}, f)


for i in range(1, len(sys.argv), 3):
    convert(*sys.argv[i:i + 3])
