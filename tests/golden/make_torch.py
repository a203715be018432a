#!/usr/bin/env python3
"""Makes ../corpus/torch: files of torch.save, and files that only claim to be some.

    make_torch.py [OUTPUT_DIRECTORY]          default: ../corpus/torch beside the script

The y_ files are PyTorch's own (Debian: python3-torch) but for y_untyped.bin, which PyTorch 1.13 cannot write; the n_
files are put together here, instruction by instruction."""
import collections
import io
import os
import struct
import sys
import zipfile

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                                         "corpus", "torch")


def put(name, data):
    with open(os.path.join(OUT, name + ".bin"), "wb") as f:
        f.write(data)


# ---- what PyTorch writes: test_torch.c knows these numbers ----

def written():
    import torch

    table = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    both = torch.arange(10, 18, dtype=torch.float16)
    d = collections.OrderedDict()
    d["table"] = table                                      # 0 1 2 / 3 4 5
    d["turned"] = table.t()                                 # 0 3 / 1 4 / 2 5 in the same storage
    d["same"] = table
    d["left"], d["right"] = both[:4], both[4:]              # 10 11 12 13, 14 15 16 17
    d["columns"] = both.reshape(2, 4)[:, 1:3]               # 11 12 / 15 16
    d["brain"] = torch.tensor([1.0, -2.5], dtype=torch.bfloat16)
    d["mask"] = torch.tensor([[True, False]])
    d["one"] = torch.tensor(-7, dtype=torch.int64)
    d["none"] = torch.empty((0, 3), dtype=torch.float64)
    d["learned"] = torch.nn.Parameter(torch.tensor([0.5, 0.25]))
    d._metadata = collections.OrderedDict({"": {"version": 1}})
    for name, how in (("y_zip", {}), ("y_protocol4", {"pickle_protocol": 4}),
                      ("y_legacy", {"_use_new_zipfile_serialization": False})):
        torch.save(d, os.path.join(OUT, name + ".bin"), **how)
    torch.save({}, os.path.join(OUT, "y_nothing.bin"))
    torch.save(torch.nn.Linear(1, 1), os.path.join(OUT, "n_module.bin"))


# ---- instructions ----

def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return b"X" + struct.pack("<I", len(s)) + s


def number(n):
    if 0 <= n < 256:
        return b"K" + bytes([n])
    raw = n.to_bytes(8, "little", signed=True)
    return b"\x8a\x08" + raw


def named(module, name):
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


def several(*parts):
    return b"(" + b"".join(parts) + b"t"


def storage(kind="FloatStorage", key="0", elements=4, more=b"", module="torch"):
    return several(text("storage"), named(module, kind), text(key), text("cpu"), number(elements), more) + b"Q"


def tensor(stored=None, offset=0, shape=(2, 2), stride=(2, 1), more=b"", function="_rebuild_tensor_v2"):
    return (named("torch._utils", function) + several(
        storage() if stored is None else stored, number(offset), several(*map(number, shape)),
        several(*map(number, stride)), b"\x89",
        named("collections", "OrderedDict") + b")R", more) + b"R")


def dictionary(*pairs):
    return b"}(" + b"".join((text(k) if isinstance(k, str) else k) + v for k, v in pairs) + b"u"


def program(body):
    return b"\x80\x02" + body + b"."


FOUR = struct.pack("<4f", 1, 2, 3, 4)


def archive(pickle, members=(("data/0", FOUR),), pack=zipfile.ZIP_STORED, first=(("data.pkl", None),)):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", pack) as z:
        for name, data in list(first) + list(members):
            z.writestr(zipfile.ZipInfo("archive/" + name, (1980, 1, 1, 0, 0, 0)),
                       pickle if data is None else data, pack)
    return out.getvalue()


def saved(name, *values, **how):
    put(name, archive(program(dictionary(*values)), **how))


def broken(name, body):
    put(name, archive(body))


def refused():
    good = ("a", tensor())
    put("n_empty", b"")
    put("n_text", b"These are no weights.\n")
    put("n_cut", archive(program(dictionary(good)))[:-30])
    broken("n_system", program(named("os", "system") + several(text("echo")) + b"R"))
    broken("n_system_stacked", b"\x80\x04\x8c\x05posix\x8c\x06system\x93.")
    broken("n_eval", program(dictionary(("a", named("builtins", "eval") + several(text("1")) + b"R"))))
    broken("n_instruction", program(b"(" + text("ls") + b"ios\nsystem\n"))
    broken("n_new_object", program(named("collections", "OrderedDict") + b")\x81"))
    broken("n_attributes", program(dictionary(("a", tensor() + b"}b"))))
    broken("n_ordered_list", program(named("collections", "OrderedDict") + b"](](" + text("a") + b"K\x01eae\x85R"))
    broken("n_no_stop", program(dictionary(good))[:-1])
    broken("n_left_over", program(b"N" + dictionary(good)))
    broken("n_nothing_on_stack", program(b"\x85"))
    broken("n_no_mark", program(b"Nt"))
    broken("n_mark_gone", program(b"N(N\x86t"))
    broken("n_odd_dictionary", program(b"}(" + text("a") + b"u"))
    broken("n_not_a_list", program(b"NNa"))
    broken("n_text_long", program(b"X\xff\xff\xff\xff"))
    broken("n_text_longer", program(b"\x8d" + b"\xff" * 8))
    broken("n_memo_huge", program(b"Nr\xff\xff\xff\x7f"))
    broken("n_memo_unset", program(b"h\x07"))
    broken("n_call_number", program(b"K\x01)R"))
    broken("n_protocol", b"\x80\x09N.")
    broken("n_list", program(b"]"))
    broken("n_tensor_alone", program(tensor()))
    saved("n_nested", ("model", dictionary(good)))
    saved("n_number", good, ("epoch", number(3)))
    saved("n_name_number", (number(1), tensor()))
    saved("n_name_nul", ("a\0b", tensor()))
    saved("n_twice", good, good)
    saved("n_shape_huge", ("a", tensor(shape=(1 << 60, 1 << 60), stride=(1 << 60, 1))))
    saved("n_shape_beyond", ("a", tensor(shape=(2, 3), stride=(3, 1))))
    saved("n_offset_beyond", ("a", tensor(offset=1)))
    saved("n_offset_huge", ("a", tensor(offset=(1 << 63) - 1)))
    saved("n_offset_negative", ("a", tensor(offset=-1)))
    saved("n_stride_beyond", ("a", tensor(stride=(3, 1))))
    saved("n_stride_huge", ("a", tensor(stride=((1 << 63) - 1, 1))))
    saved("n_stride_negative", ("a", tensor(offset=3, stride=(-2, -1))))
    saved("n_expanded", ("a", tensor(shape=(1 << 50,), stride=(0,))))
    saved("n_nine_dims", ("a", tensor(shape=(1,) * 9, stride=(1,) * 9)))
    saved("n_dims_differ", ("a", tensor(stride=(1,))))
    saved("n_conjugated", ("a", tensor(more=dictionary(("conj", b"\x88")))))
    saved("n_no_storage", ("a", tensor(stored=number(1))))
    saved("n_storage_missing", ("a", tensor(stored=storage(key="1"))))
    saved("n_storage_huge", ("a", tensor(stored=storage(elements=1 << 60))))
    saved("n_storage_overflow", ("a", tensor(stored=storage(elements=1 << 62))))
    saved("n_storage_short", ("a", tensor(stored=storage(elements=5))))
    saved("n_storage_two_types", good, ("b", tensor(stored=storage(kind="HalfStorage", elements=8))))
    saved("n_storage_view", ("a", tensor(stored=storage(more=several(text("1"), number(0), number(4))))))
    saved("n_storage_unknown", ("a", tensor(stored=storage(kind="ComplexFloatStorage"))))
    saved("n_untyped", ("a", tensor(stored=storage(kind="UntypedStorage", elements=16))))
    saved("n_compressed", good, pack=zipfile.ZIP_DEFLATED)
    saved("n_big_endian", good, members=(("byteorder", b"big"), ("data/0", FOUR)))
    saved("n_no_pickle", good, first=())
    saved("n_two_pickles", good, first=(("data.pkl", None), ("data.pkl", None)))
    saved("n_member_twice", good, members=(("data/0", FOUR), ("data/0", FOUR)))
    put("y_untyped", archive(program(dictionary(("a", tensor(
        stored=storage(kind="UntypedStorage", elements=16, module="torch.storage"), more=named("torch", "float32"),
        function="_rebuild_tensor_v3"))))))


# ---- the older form ----

def legacy(little=b"\x88", keys=("0",), elements=4, data=FOUR, more=b"", tail=b""):
    system = dictionary(("protocol_version", b"M\xe9\x03"), ("little_endian", little))
    listed = b"](" + b"".join(map(text, keys)) + b"e"
    state = dictionary(("a", tensor(stored=storage(more=more or b"N"))))
    return (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03." + program(system) +
            program(state) +
            program(listed) + struct.pack("<Q", elements) + data + tail)


def refused_legacy():
    put("y_legacy_small", legacy())
    put("n_legacy_big_endian", legacy(little=b"\x89"))
    put("n_legacy_cut", legacy(data=FOUR[:9]))
    put("n_legacy_no_bytes", legacy(data=b"")[:-8])
    put("n_legacy_elements", legacy(elements=1 << 60))
    put("n_legacy_more", legacy(tail=b"\0"))
    put("n_legacy_unknown_key", legacy(keys=("0", "7")))
    put("n_legacy_key_missing", legacy(keys=(), elements=0, data=b"")[:-8])
    put("n_legacy_pickle_cut", legacy()[:40])
    put("n_legacy_view", legacy(more=several(text("1"), number(0), number(4))))


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    refused()
    refused_legacy()
    written()
