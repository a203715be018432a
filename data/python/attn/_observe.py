"""Functions of Python as observers of a run."""
import ctypes
import inspect
from collections import namedtuple

import numpy as np

from ._library import C, Handle, Observer, UsageError, as_bytes

WATCH, EDIT, WHOLE, DERIVE = 1, 2, 4, 16

#: What an observer is told of an array: its name, its layer (None outside of the blocks), which sentence, and where it
#: begins in a text that is read in several passes.
At = namedtuple("At", "name layer sentence head row")


def band(probe, address):
    """The numbers of a band, as a view of the library's memory, valid during the call."""
    p = probe.contents
    size = (p.heads - 1) * p.ld_head + (p.rows - 1) * p.ld + p.cols
    flat = np.frombuffer((ctypes.c_float * size).from_address(address), dtype=np.float32)
    shape, strides = (p.heads, p.rows, p.cols), (4 * p.ld_head, 4 * p.ld, 4)
    view = np.lib.stride_tricks.as_strided(flat, shape, strides)
    return view if p.ndim == 3 else view[0]


def at(probe):
    p = probe.contents
    return At(p.name.decode(), None if p.layer < 0 else p.layer, p.seq, p.head0, p.row0)


def takes_place(function):
    """Whether a function wants to know where an array is from: it is f(array) or f(array, at)."""
    try:
        return len([p for p in inspect.signature(function).parameters.values()
                    if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]) > 1
    except (TypeError, ValueError):     # one of C's
        return False


class Observing:
    """One function that watches or edits what a list of names selects.  It gets arrays of its own, which it may keep:
    the library's are gone when it returns.  What an editing function leaves in its array, or returns, flows on."""

    def __init__(self, model, names, function, edits, raised):
        if not callable(function):
            raise TypeError(f"{names}: expected a function, found {type(function).__name__}")
        self.select = Handle("attn_select_free", "attn_select_new", model, None, as_bytes(names, "names"), None, None)
        self.function, self.raised, self.flags = function, raised, EDIT if edits else WATCH
        self.place = takes_place(function)
        self.struct = Observer(wants=Observer.WANTS(self.wants))
        if edits:
            self.struct.edit = Observer.EDIT(self.edit)
        else:
            self.struct.watch = Observer.WATCH(self.watch)

    def wants(self, _, act, layer):
        return self.flags | WHOLE | DERIVE if C.attn_select_wants(self.select, act, layer) else 0

    def call(self, array, probe):
        return self.function(array, at(probe)) if self.place else self.function(array)

    def fail(self, why, err):
        """The run ends; the exception waits until C has returned."""
        self.raised.append(why)
        err.contents.code, err.contents.msg = 3, b"an observer of Python raised an exception"
        return 3

    def watch(self, _, probe, err):
        try:
            self.call(band(probe, probe.contents.data).copy(), probe)
            return 0
        except BaseException as why:
            return self.fail(why, err)

    def edit(self, _, probe, data, err):
        try:
            numbers = band(probe, data)
            own = numbers.copy()
            result = self.call(own, probe)
            if result is not None and np.shape(result) not in (own.shape, ()):
                raise UsageError(f"{at(probe).name}: an editing function returned an array of shape "
                                 f"{np.shape(result)}, expected {own.shape}")
            numbers[...] = own if result is None else result
            return 0
        except BaseException as why:
            return self.fail(why, err)


def observers(model, watch, edit):
    """Of {names: function} or [(names, function)]; and the list in which exceptions are kept."""
    raised, made = [], []
    for functions, edits in ((edit, True), (watch, False)):
        pairs = functions.items() if hasattr(functions, "items") else functions or ()
        made += [Observing(model, names, function, edits, raised) for names, function in pairs]
    return made, raised
