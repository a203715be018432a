"""Small .npy and .npz files for the readers of dumps, written by NumPy and then damaged.

    make_arrays.py              writes tests/corpus/npy and tests/corpus/npz, from the repository root

Made with Python 3.11.2 and NumPy 1.24.2.  Every y_ array is [[0, -1.5, inf], [0.25, 3, 65504]] of its type, unless
its name says otherwise; every archive but n_int_beside holds it as "embed" and [1, 2] as "logits"."""
import io
import os
import numpy
from numpy.lib import format

A = numpy.array([[0, -1.5, numpy.inf], [0.25, 3, 65504]])
out = {}


def npy(array, version=(1, 0)):
    f = io.BytesIO()
    format.write_array(f, numpy.asanyarray(array), version=version)
    return f.getvalue()


def header(text, data=b"", version=b"\x01\x00"):
    text = text.encode() + b"\n"
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text + data


def npz(save, **arrays):
    f = io.BytesIO()
    save(f, **arrays)
    return f.getvalue()


def dictionary(descr="'<f4'", order="False", shape="(2,)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


F4 = A.astype("<f4")
for name, dtype in (("f2", "<f2"), ("f4", "<f4"), ("f8", "<f8"), ("big_f2", ">f2"), ("big_f4", ">f4"),
                    ("big_f8", ">f8")):
    out["npy/y_%s.npy" % name] = npy(A.astype(dtype))
for name, version in (("v1", (1, 0)), ("v2", (2, 0)), ("v3", (3, 0))):
    out["npy/y_%s.npy" % name] = npy(F4, version)
out["npy/y_fortran.npy"] = npy(numpy.asfortranarray(F4))
out["npy/y_fortran_3.npy"] = npy(numpy.asfortranarray(numpy.arange(24, dtype="<f4").reshape(2, 3, 4)))
out["npy/y_scalar.npy"] = npy(numpy.float32(7))
out["npy/y_empty.npy"] = npy(numpy.zeros((0, 3), "<f4"))
out["npy/y_subnormal_f2.npy"] = npy(numpy.array([2.0 ** -24, -(2.0 ** -15), 2.0 ** -14], "<f2"))
out["npy/y_other_spelling.npy"] = header("""{"shape":(2,),"fortran_order":False,"descr":"=f4"}""", F4[0, :2].tobytes())
two = F4[0, :2].tobytes()
out["npy/n_magic.npy"] = b"\x93NUMPX" + npy(F4)[6:]
out["npy/n_nothing.npy"] = b""
out["npy/n_version.npy"] = b"\x93NUMPY\x04" + npy(F4)[7:]
out["npy/n_header_cut.npy"] = npy(F4)[:60]
out["npy/n_header_beyond.npy"] = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"
out["npy/n_data_cut.npy"] = npy(F4)[:-1]
out["npy/n_data_more.npy"] = npy(F4) + b"\0"
out["npy/n_int.npy"] = npy(numpy.arange(3))
out["npy/n_bool.npy"] = npy(numpy.array([True]))
out["npy/n_complex.npy"] = npy(numpy.array([1j], "<c8"))
out["npy/n_object.npy"] = header(dictionary(descr="'|O'"), b"\x80\x04]\x94.")
out["npy/n_struct.npy"] = npy(numpy.zeros(2, [("a", "<f4")]))
out["npy/n_void.npy"] = npy(numpy.zeros(2, "V2"))
out["npy/n_f16.npy"] = header(dictionary(descr="'<f16'"), two)
out["npy/n_no_shape.npy"] = header("{'descr': '<f4', 'fortran_order': False, }", two)
out["npy/n_shape_twice.npy"] = header("{'shape': (2,), 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", two)
out["npy/n_strange_key.npy"] = header("{'colour': 1}", two)
out["npy/n_shape_negative.npy"] = header(dictionary(shape="(-2,)"), two)
out["npy/n_shape_overflow.npy"] = header(dictionary(shape="(4294967296, 4294967296, 4)"), two)
out["npy/n_shape_huge.npy"] = header(dictionary(shape="(99999999999999999999,)"), two)
out["npy/n_shape_open.npy"] = header("{'shape': (2", two)
out["npy/n_shape_list.npy"] = header(dictionary(shape="[2]"), two)
out["npy/n_nine_axes.npy"] = header(dictionary(shape="(1, 1, 1, 1, 1, 1, 1, 1, 2)"), two)
out["npy/n_order.npy"] = header(dictionary(order="Maybe"), two)
out["npy/n_quote_open.npy"] = header("{'descr': '<f4", two)
out["npy/n_no_brace.npy"] = header("'descr'", two)

good = npz(numpy.savez, embed=F4, logits=numpy.array([1, 2], "<f4"))
end = len(good) - 22
start = int.from_bytes(good[end + 16:end + 20], "little")


def patched(at, data):
    return good[:at] + data + good[at + len(data):]


out["npz/y_savez.npz"] = good
out["npz/y_comment.npz"] = good[:-2] + b"\x05\x00hello"
out["npz/y_none.npz"] = npz(numpy.savez)
out["npz/n_compressed.npz"] = npz(numpy.savez_compressed, embed=numpy.zeros((9, 9), "<f4"))
out["npz/n_cut.npz"] = good[:-30]
out["npz/n_nothing.npz"] = b""
out["npz/n_start_beyond.npz"] = patched(end + 16, b"\xf0\xff\xff\x7f")
out["npz/n_list_cut.npz"] = patched(end + 12, b"\x10\x00\x00\x00")
out["npz/n_encrypted.npz"] = patched(start + 8, b"\x01\x00")
out["npz/n_crc.npz"] = patched(start + 16, b"\x00\x00\x00\x00")
out["npz/n_offset.npz"] = patched(start + 42, b"\x05\x00\x00\x00")
out["npz/n_size_beyond.npz"] = patched(start + 20, b"\xf0\xff\xff\x7f" * 2)
out["npz/n_two_sizes.npz"] = patched(start + 20, b"\x05\x00\x00\x00")
out["npz/n_name_beyond.npz"] = patched(start + 28, b"\xff\xff")
second = good.index(b"PK\x01\x02", start + 4)
first_entry = good[start:second]
out["npz/n_on_top.npz"] = good[:start] + first_entry * 20 + good[end:end + 8] + (20).to_bytes(2, "little") * 2 + \
    (20 * len(first_entry)).to_bytes(4, "little") + good[end + 16:]
out["npz/n_member_twice.npz"] = good[:start] + first_entry * 2 + good[end:end + 12] + \
    (2 * len(first_entry)).to_bytes(4, "little") + good[end + 16:]
f = io.BytesIO()
import zipfile
with zipfile.ZipFile(f, "w") as z:
    z.writestr("note.txt", "hello")
out["npz/n_no_array.npz"] = f.getvalue()
ids = numpy.arange(3)
out["npz/n_int_beside.npz"] = npz(numpy.savez, i=ids, words=numpy.array(["a"]), tokens=ids,
                                  x=numpy.array([1, 2, 3], "<f4"))

for path, data in out.items():
    path = os.path.join("tests/corpus", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
