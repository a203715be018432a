"""The library as ctypes sees it: where it is, its structs and functions, its errors as exceptions, who frees what.

Structs are declared here by hand.  attn_sizeof tells how large each is in the library that was loaded, so that a module
and a library that do not belong together are refused before anything is called.
"""
import ctypes
import operator
import os
import platform
import sys
import weakref
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32,
                    c_size_t, c_ubyte, c_uint, c_uint64, c_void_p)
from pathlib import Path

# ---- errors ----------------------------------------------------------------------------------


class Error(Exception):
    """What the library refuses or cannot do; `kind` is one word for it."""
    kind = "error"


class FileError(Error, OSError):
    """A file cannot be read or written."""
    kind = "io"


class FormatError(Error, ValueError):
    """What is in a file or a text is not what it should be."""
    kind = "format"


class UsageError(Error, ValueError):
    """What was asked for makes no sense, alone or for this model."""
    kind = "usage"


class NoMemory(Error, MemoryError):
    """There is not enough memory for it."""
    kind = "memory"


KINDS = {1: FileError, 2: FormatError, 3: UsageError, 4: NoMemory}

# ---- structs ---------------------------------------------------------------------------------


class Err(Structure):
    _fields_ = [("code", c_int), ("msg", c_char * 512)]


class Info(Structure):
    _fields_ = [(name, c_char_p) for name in "name path family position norm mlp mask scale".split()] + \
        [(name, c_bool) for name in "residual output_projection tied unembed".split()] + \
        [(name, c_size_t) for name in "L d H Hkv dh dv m V n_ctx".split()] + \
        [("parallel", c_bool), ("rotary", c_size_t), ("window", c_size_t), ("local", c_size_t), ("norm_eps", c_double),
         ("rope_theta", c_double), ("tensors", c_size_t), ("parameters", c_uint64), ("bytes", c_uint64),
         ("reserved", c_uint64 * 4)]


class Lacking(Structure):
    _fields_ = [("as_", c_char_p), ("vocab", c_char_p), ("reserved", c_uint64 * 6)]


class Assumed(Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Token(Structure):
    _fields_ = [("id", c_int32), ("known", c_bool), ("named", c_bool), ("text", c_void_p), ("raw", c_void_p),
                ("text_len", c_size_t), ("raw_len", c_size_t), ("start", c_size_t), ("end", c_size_t),
                ("part", c_ubyte), ("parts", c_ubyte), ("whole", c_char * 6)]


class Tokens(Structure):
    _fields_ = [("n", c_size_t), ("tok", POINTER(Token))]


class EncodeOpts(Structure):
    _fields_ = [("special", c_bool), ("empty", c_bool), ("bos", c_int), ("reserved", c_uint64 * 2)]


class Probe(Structure):
    _fields_ = [("name", c_char_p), ("act", c_int), ("layer", c_int), ("seq", c_size_t), ("ndim", c_int),
                ("shape", c_size_t * 3), ("head0", c_size_t), ("heads", c_size_t), ("row0", c_size_t),
                ("rows", c_size_t), ("cols", c_size_t), ("ld_head", c_size_t), ("ld", c_size_t), ("data", c_void_p),
                ("f64", c_void_p)]


class Observer(Structure):
    WANTS = CFUNCTYPE(c_uint, c_void_p, c_int, c_int)
    EDIT = CFUNCTYPE(c_int, c_void_p, POINTER(Probe), c_void_p, POINTER(Err))
    WATCH = CFUNCTYPE(c_int, c_void_p, POINTER(Probe), POINTER(Err))
    _fields_ = [("wants", WANTS), ("edit", EDIT), ("watch", WATCH), ("self", c_void_p), ("overflow", c_void_p),
                ("reserved", c_uint64 * 2)]


class DumpArray(Structure):
    _fields_ = [("name", c_char_p), ("shape", c_size_t * 8), ("data", c_void_p), ("f64", c_void_p)]


class Likely(Structure):
    _fields_ = [("id", c_int32), ("p", c_double)]


class Sampling(Structure):
    _fields_ = [("temperature", c_double), ("top_p", c_double), ("top_k", c_size_t), ("seed", c_uint64)]


class Said(Structure):
    _fields_ = [("text", c_char_p), ("len", c_size_t), ("ids", POINTER(c_int32)), ("n", c_size_t)]


class Question(Structure):
    _fields_ = [("model", c_void_p), ("tokenizer", c_void_p), ("text", Said), ("from_", Said), ("cross", Said),
                ("encode", EncodeOpts), ("edits", POINTER(c_char_p)), ("plan", c_char_p),
                ("observers", POINTER(Observer)), ("n_observers", c_size_t), ("reserved", c_uint64 * 4)]


STRUCTS = {"attn_err": Err, "attn_info": Info, "attn_lacking": Lacking, "attn_assumed": Assumed,
           "attn_token": Token, "attn_tokens": Tokens,
           "attn_encode_opts": EncodeOpts, "attn_probe": Probe, "attn_observer": Observer,
           "attn_dump_array": DumpArray, "attn_likely": Likely, "attn_sampling": Sampling, "attn_input": Said,
           "attn_question": Question}

# ---- functions -------------------------------------------------------------------------------

P, PP, ERR, TEXT = c_void_p, POINTER(c_void_p), POINTER(Err), c_char_p
Q = POINTER(Question)
# Those that can fail return a code, and take `err` last, which `ask` adds.
FAIL = {
    "attn_model_open_with": [PP, TEXT, POINTER(Lacking)],
    "attn_model_digest": [P, c_bool, c_char_p],
    "attn_model_tokenizer": [PP, P],
    "attn_encode_with": [POINTER(POINTER(Tokens)), P, TEXT, c_size_t, POINTER(EncodeOpts)],
    "attn_decode": [PP, POINTER(c_size_t), P, POINTER(c_int32), c_size_t],
    "attn_select_new": [PP, P, P, TEXT, TEXT, TEXT],
    "attn_logits_top": [POINTER(Likely), POINTER(c_size_t), c_size_t, P, c_size_t],
    "attn_dump_open": [PP, TEXT],
    "attn_dump_draw": [P, POINTER(c_char_p), TEXT],
    "attn_ask_run": [PP, Q, TEXT],
    "attn_ask_metric": [POINTER(c_double), Q, TEXT],
    "attn_ask_score": [PP, POINTER(c_size_t), Q],
    "attn_ask_generate": [PP, POINTER(c_size_t), Q, c_size_t, POINTER(Sampling)],
    "attn_ask_write": [Q, TEXT, POINTER(c_char_p), TEXT],
}
OTHERS = {
    "attn_version": (TEXT, []), "attn_sizeof": (c_size_t, [TEXT]), "attn_cpu_target": (TEXT, []),
    "attn_model_builtin": (POINTER(TEXT), []), "attn_model_info": (None, [P, POINTER(Info)]),
    "attn_model_assumed": (POINTER(Assumed), [P, POINTER(c_size_t)]),
    "attn_model_warning": (TEXT, [P]), "attn_model_close": (None, [P]), "attn_tokenizer_close": (None, [P]),
    "attn_tokenizer_text": (P, [P, c_int32, POINTER(c_size_t)]), "attn_tokens_free": (None, [POINTER(Tokens)]),
    "attn_select_wants": (c_bool, [P, c_int, c_int]), "attn_select_free": (None, [P]),
    "attn_dump_array": (c_int, [P, c_size_t, POINTER(DumpArray)]), "attn_dump_free": (None, [P]),
    "attn_dump_find": (c_int, [P, TEXT, POINTER(DumpArray)]), "attn_dump_tokens": (c_size_t, [P]),
    "attn_dump_token": (P, [P, c_size_t, POINTER(c_int32), POINTER(c_size_t)]),
}


def find():
    """Beside this module in a wheel; else where the loader finds an installed one.  ATTN_LIBRARY names another."""
    beside = Path(__file__).parent / "native" / "libattn.so"
    return os.environ.get("ATTN_LIBRARY") or (str(beside) if beside.exists() else "libattn.so.0")


def load(path):
    try:
        library = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"attn: cannot load its library: {why}. It is made for Linux with glibc and one kind of "
                          f"processor, and this is {platform.system()} on {platform.machine()}: install the wheel for "
                          "it, or set ATTN_LIBRARY to the path of a libattn.so") from None
    try:
        for name, arguments in FAIL.items():
            getattr(library, name).restype = c_int
            getattr(library, name).argtypes = [*arguments, ERR]
        for name, (result, arguments) in OTHERS.items():
            getattr(library, name).restype = result
            getattr(library, name).argtypes = arguments
    except AttributeError:
        raise ImportError(f"attn: {path} has no function {name}: it is older than this module, expected the library of "
                          "the same release") from None
    for name, struct in STRUCTS.items():
        size = library.attn_sizeof(name.encode())
        if size != ctypes.sizeof(struct):
            raise ImportError(f"attn: {path} is version {library.attn_version().decode()}, whose struct {name} has "
                              f"{size} bytes, expected {ctypes.sizeof(struct)}: it does not belong to this module; "
                              "install the library of the same release")
    return library


C = load(find())
free = ctypes.CDLL(None).free
free.restype, free.argtypes = None, [c_void_p]


def ask(name, *arguments, raised=None):
    """Calls a function that can fail.  `raised`: exceptions of observers, which go before what they led to."""
    err = Err()
    code = getattr(C, name)(*arguments, byref(err))
    if raised:
        raise raised[0]
    if code:
        raise KINDS.get(code, Error)(err.msg.decode("utf-8", "replace"))


class Handle:
    """Something of the library's that is freed when nobody refers to it any more, in whatever order that happens."""

    def __init__(self, free_with, make, *arguments, keep=(), raised=None):
        pointer = c_void_p()
        ask(make, byref(pointer), *arguments, raised=raised)
        self.pointer, self.keep = pointer, keep
        weakref.finalize(self, _let_go, free_with, pointer.value, keep)

    @property
    def _as_parameter_(self):
        return self.pointer


def _let_go(free_with, pointer, keep):
    getattr(C, free_with)(pointer)      # `keep` is let go of after it


def text_at(pointer, length):
    """The text of a token, which may be part of a character."""
    return ctypes.string_at(pointer, length).decode("utf-8", "replace") if pointer else None


# ctypes wraps numbers that C's types do not hold, and C ends a text at a NUL: both are looked at here.


def as_utf8(text, what):
    """Text whose length C is told, too."""
    if not isinstance(text, str):
        raise TypeError(f"{what}: expected a str, found {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as why:
        raise UsageError(f"{what}: character {why.start} is {text[why.start]!r}, which is no text") from None


def without_nul(data, what):
    if b"\0" in data:
        raise UsageError(f"{what}: there is a NUL in it")
    return data


def as_bytes(text, what):
    """Text for a C string."""
    return without_nul(as_utf8(text, what), what)


def as_path(path, what="path"):
    """The name of a file, whatever bytes are in it, for a C string."""
    return without_nul(os.fsencode(path), what)


def as_number(value, what, least=0, most=2**64 - 1):
    """A whole number for C."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: expected a whole number, found {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{what}: found {number}, expected {least} to {most}")
    return number


def as_ids(ids):
    """An array of token ids for C, and its length."""
    numbers = [as_number(i, "ids", 0, 2**31 - 1) for i in ids]
    return (c_int32 * max(len(numbers), 1))(*numbers), len(numbers)


def list_of(texts):
    """Texts for C, after the last one NULL."""
    return (c_char_p * (len(texts) + 1))(*texts, None)


def floats(address, count, keep):
    """A ctypes array over numbers of the library's, which keeps them alive."""
    array = (c_float * count).from_address(address)
    array.keep = keep
    return array


version = C.attn_version().decode()
python = ".".join(map(str, sys.version_info[:2]))
