"""attn - run GPT-style decoders and see everything attention does.

    import attn
    m = attn.open("tiny")
    r = m.run("Tom gave the ball to Lily", edits=["L3H0 = 0"])
    r["blocks.0.attn.pattern"]          a NumPy array [heads, queries, keys]
    m.lens("Lily lost her red"), m.heads(), m.patch(...), m.score(...), m.generate(...)

What an edit, a metric or the name of an activation looks like is told by the program: `attn-cli help edits`.
"""
from ._library import Error, FileError, FormatError, NoMemory, UsageError, version as __version__
from ._model import Answer, Generation, Model, Run, Score, Token, load, models, open
from ._observe import At

__all__ = ["Answer", "At", "Error", "FileError", "FormatError", "Generation", "Model", "NoMemory", "Run", "Score",
           "Token", "UsageError", "load", "models", "open"]
