"""module.py KB - asks data/python's module in a thread with so much stack; 0: in the main thread.

Of fault.c's calls only those count that the library makes: Python's own are not ours to mend.
"""
import ctypes
import sys
import threading

import attn
from attn import _library as library

TEXT = "Tom and Lily went to the park"
STATUS = [1]


def counted(function, counts):
    def call(*arguments):
        counts(1)
        try:
            return function(*arguments)
        finally:
            counts(0)
    return call


def ask():
    m = attn.open("tiny", threads=1)
    run = m.run(TEXT, "pattern")
    run.save("out.svg")
    print(run.ids, float(run["blocks.0.attn.pattern"].sum()), len(run.figure("pdf")))
    print(m.heads(TEXT, layer=0).rows[0]["entropy"], m.generate(TEXT, n=2), m.decode(run.ids))


def tell():
    try:
        ask()
        STATUS[0] = 0
    except (attn.Error, MemoryError, OSError) as why:
        print(f"{type(why).__name__}: {why}", file=sys.stderr)


counts = getattr(ctypes.CDLL(None), "fault_counts", None)
for name in library.FAIL if counts else ():
    setattr(library.C, name, counted(getattr(library.C, name), counts))
kilobytes = int(sys.argv[1])
if kilobytes:
    threading.stack_size(kilobytes << 10)
    thread = threading.Thread(target=tell)
    thread.start()
    thread.join()
else:
    tell()
sys.exit(STATUS[0])
