"""Models, and what they answer."""
import ctypes
import html
import io
import json
import os
import tempfile
import warnings
from collections import namedtuple
from collections.abc import Mapping
from ctypes import POINTER, byref, c_double, c_int32, c_size_t, c_void_p

import numpy as np

from ._library import (C, DumpArray, EncodeOpts, Error, Handle, Info, Lacking, Likely, NoMemory, Question, Sampling,
                       Tokens, UsageError, as_bytes, as_ids, as_number, as_path, as_utf8, ask, floats, free, list_of,
                       text_at)
from ._observe import observers

#: A token: `text` is what it stands for, `raw` its spelling in the vocabulary, start and end its bytes in the text.
Token = namedtuple("Token", "id text raw start end")
BOS = {"auto": 0, True: 1, False: 2}


def models():
    """Names of the models that are built in."""
    names, pointer, i = [], C.attn_model_builtin(), 0
    while pointer[i]:
        names.append(pointer[i].decode())
        i += 1
    return names


def open(name=None, **plan):
    """Opens a model: a directory or file (with a slash), or a name, which is looked for as attn-cli does; None is the
    default.  What else is given, such as threads=2, holds for all that is asked of it."""
    return Model(name, **plan)


def load(path):
    """Activations that a run wrote: a directory or .npz, .npy, .json, .csv, .safetensors, by whatever program."""
    return Run(Handle("attn_dump_free", "attn_dump_open", as_path(path)))


# ---- how things are shown --------------------------------------------------------------------


class Drawn:
    """Something that the library writes in its own formats.  `write(path, format, options)` does it."""

    def figure(self, format="svg", **options):
        """A picture or page, in memory: svg, html and other text as a str, png and pdf as bytes.  Options are those of
        the commands, as in layer=1, head="0,2", figure="lines", width="85mm"."""
        with tempfile.TemporaryDirectory(prefix="attn-") as folder:
            path = os.path.join(folder, "figure")
            self.write(path, format, options)
            with io.open(path, "rb") as file:
                data = file.read()
        return data if format in ("png", "pdf", "npy", "npz") else data.decode()

    def save(self, path, format=None, **options):
        """Writes it to a file; the ending of the path says in which format, unless `format` does."""
        name = os.fsdecode(path)
        self.write(name, format or os.path.splitext(name)[1].lstrip(".").lower() or None, options)

    def _repr_html_(self):
        page = html.escape(self.figure("html"), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'


def as_options(options):
    """{"color_scale": "log", "copying": True} as the library takes them."""
    words = []
    for name, value in options.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(as_bytes(name, "options"))
        elif value is not None and value is not False:
            if isinstance(value, (list, tuple, range)):
                value = ",".join(map(str, value))
            words.append(as_bytes(f"{name}={value}", name))
    return list_of(words)


# ---- runs ------------------------------------------------------------------------------------


class Run(Mapping, Drawn):
    """Activations by name.  r["blocks.0.attn.pattern"] is the library's own memory, which can only be read;
    r["pattern", 0] is the same; r["pattern"] has all layers in one array, a copy with one axis more."""

    def __init__(self, dump, model=None):
        self._dump, self._model = dump, model

    def _array(self, at, found):
        if found < 0:
            return None
        shape = tuple(at.shape[:found])
        count = int(np.prod(shape))
        array = np.frombuffer(floats(at.data, count, self._dump),
                              dtype=np.float32) if count else np.zeros(0, np.float32)
        array = array.reshape(shape)
        array.flags.writeable = False
        return array

    def _find(self, name):
        at = DumpArray()
        return self._array(at, C.attn_dump_find(self._dump, name.encode(), byref(at)))

    def _names(self, short, layer=None):
        """Names whose last components these are, in the order of the layers."""
        block = "blocks." if layer is None else f"blocks.{layer}."
        return [name for name in self if name.startswith(block) and name.endswith("." + short)
                or layer is None and name == short]

    def __getitem__(self, name):
        short, layer = name if isinstance(name, tuple) else (name, None)
        found = self._find(name) if layer is None else None
        if found is not None:
            return found
        names = self._names(short, layer)
        tails = {n.split(".", 2)[2] for n in names}
        if len(tails) > 1:
            raise KeyError(f"'{short}' could be {' or '.join(sorted(tails))}")
        if not names:
            raise KeyError(f"{name!r}: there is no such activation here; there are {', '.join(list(self)[:8])} ...")
        return self._find(names[0]) if layer is not None else np.stack([self._find(n) for n in names])

    def __iter__(self):
        at, i = DumpArray(), 0
        while C.attn_dump_array(self._dump, i, byref(at)) >= 0:
            yield at.name.decode()
            i += 1

    def __len__(self):
        return sum(1 for _ in self)

    def _token(self, i):
        number, length = c_int32(), c_size_t()
        text = text_at(C.attn_dump_token(self._dump, i, byref(number), byref(length)), length.value)
        return number.value, text

    @property
    def ids(self):
        return [self._token(i)[0] for i in range(C.attn_dump_tokens(self._dump))]

    @property
    def tokens(self):
        """Their texts, or where there are ids only, these."""
        pairs = [self._token(i) for i in range(C.attn_dump_tokens(self._dump))]
        return [str(number) if text is None else text for number, text in pairs]

    def next(self, k=5, pos=-1):
        """The likeliest next tokens after a position, with their probabilities."""
        logits = np.ascontiguousarray(self["logits"][pos])
        k, n = min(as_number(k, "k"), logits.size), c_size_t()
        best = (Likely * k)()
        ask("attn_logits_top", best, byref(n), k, logits.ctypes.data, logits.size)
        return [(self._model.text_of(x.id) if self._model else str(x.id), x.p) for x in best[:n.value]]

    def write(self, path, format, options):
        options = as_options(dict(options, format=format))
        ask("attn_dump_draw", self._dump, options, as_path(path))

    def __repr__(self):
        return f"<attn.Run of {len(self.tokens)} tokens: {len(self)} activations>"


# ---- other answers ---------------------------------------------------------------------------


class Answer(Mapping, Drawn):
    """The JSON document of a command; `rows` is its table.  table("entropy") is a column of it as an array."""

    def __init__(self, question, what, options):
        self._question, self._what, self._options = question, what, options
        self._document = json.loads(self.figure("json"))

    def __getitem__(self, key):
        return self._document[key]

    def __iter__(self):
        return iter(self._document)

    def __len__(self):
        return len(self._document)

    @property
    def rows(self):
        return self._document["rows"]

    def table(self, column):
        return np.array([row[column] for row in self.rows])

    def text(self):
        """As the command prints it."""
        return self.figure("text")

    def write(self, path, format, options):
        options = as_options({**self._options, **options, "format": format})
        ask("attn_ask_write", self._question.struct, self._what.encode(), options, as_path(path),
            raised=self._question.raised)

    def _repr_html_(self):
        if self._what == "attribute":   # which has no page
            return f"<pre>{html.escape(self.text())}</pre>"
        return super()._repr_html_()

    def __repr__(self):
        return f"<attn.Answer {self._what}: {', '.join(self)}>"


class Patched(Answer):
    """`effect` and `metric` have the axes of the grid."""

    @property
    def effect(self):
        return self._grid("effect")

    @property
    def metric(self):
        return self._grid("metric")

    def _grid(self, column):
        axes = [axis for axis in ("layer", "head", "pos") if axis in self.rows[0]]
        shape = [len({row[axis] for row in self.rows}) for axis in axes]
        values = [np.nan if row[column] is None else row[column] for row in self.rows]
        return np.array(values).reshape(shape)


class Score(namedtuple("Score", "tokens logprobs")):
    """The log-probability of each token given those before it; that of the first is NaN."""

    @property
    def logprob(self):
        return float(np.sum(self.logprobs[1:]))

    @property
    def perplexity(self):
        return float(np.exp(-np.mean(self.logprobs[1:]))) if len(self.logprobs) > 1 else float("nan")


class Generation(namedtuple("Generation", "prompt text ids")):
    """`text` continues `prompt`; `ids` are those of both."""

    def __str__(self):
        return self.text


# ---- what is asked ---------------------------------------------------------------------------


class Asked:
    """A question as C takes it, with all that it points to."""

    PLAN = "threads compute kind scale dropout seed".split()

    def __init__(self, model, text, ids, given):
        watch, edit = given.pop("watch", None), given.pop("edit", None)
        edits = given.pop("edits", None)
        edits = [edits] if isinstance(edits, str) else list(edits or ())
        plan = {**model.plan, **{name: given.pop(name) for name in self.PLAN if given.get(name) is not None}}
        self.model, self.tokenizer = model.handle, model.tokenizer_handle(needed=False)
        self.observers, self.raised = observers(model.handle, watch, edit)
        self.edits = list_of([as_bytes(e, "edits") for e in edits])
        self.array = (type(self.observers[0].struct) * len(self.observers))(*(o.struct for o in self.observers)) \
            if self.observers else None
        self.struct = Question(
            model=self.model.pointer, tokenizer=self.tokenizer and self.tokenizer.pointer, text=self.said(text, ids),
            from_=self.said(given.pop("from_", None), given.pop("from_ids", None)),
            cross=self.said(given.pop("cross", None), given.pop("cross_ids", None)), edits=self.edits,
            encode=EncodeOpts(special=bool(given.pop("special", False)), bos=self.bos(given.pop("bos", "auto"))),
            plan=as_bytes(",".join(f"{name}={value}" for name, value in plan.items()), "plan"), observers=self.array,
            n_observers=len(self.observers))

    @staticmethod
    def bos(value):
        if value not in BOS:
            raise UsageError(f"bos: found {value!r}, expected 'auto', True or False")
        return BOS[value]

    def said(self, text, ids):
        from ._library import Said
        said = Said()
        if text is not None and not isinstance(text, str):
            raise TypeError(f"text: expected a str, found {type(text).__name__}; token ids are given as ids=[...]")
        if text is not None:
            data = as_utf8(text, "text")
            said.text, said.len = data, len(data)
        if ids is not None:
            said.ids, said.n = as_ids(ids)
        return said


class Model:
    """An open model.  What a method is given besides the text: ids=[...] in its place; edits=["L3H0 = 0"]; from_="..."
    or from_ids=[...], the other text that `from` means in edits; cross="..."; watch= and edit={"pattern": function};
    threads, kind="window:4", scale, dropout, seed, compute; bos, special.  as_="scale=width" says what the file of a
    course does not, as attn-cli's --as; `assumed` is what nobody said."""

    def __init__(self, name=None, as_=None, **plan):
        unknown = set(plan) - set(Asked.PLAN)
        if unknown:
            raise TypeError(f"open() takes {', '.join(Asked.PLAN)}, not {unknown.pop()}")
        path = None if name is None else as_path(name, "name")
        given = Lacking(as_=None if as_ is None else as_bytes(as_, "as_"))
        self.handle = Handle("attn_model_close", "attn_model_open_with", path, byref(given))
        self.plan = {key: value for key, value in plan.items() if value is not None}
        self._tokenizer = None
        self.info = self._info()
        self.assumed = self._assumed()
        if self.assumed:
            said = ", ".join(f"{key}={value}" for key, value in self.assumed.items())
            warnings.warn(f"{name} does not say {', '.join(self.assumed)}: assumed {said} (as_= changes that)",
                          stacklevel=3)

    def _assumed(self):
        n = c_size_t()
        rows = C.attn_model_assumed(self.handle, byref(n))
        return {rows[i].key.decode(): rows[i].value.decode() for i in range(n.value)}

    def _info(self):
        info = Info()
        C.attn_model_info(self.handle, byref(info))
        fields = [name for name, *_ in Info._fields_ if name != "reserved"]
        values = [getattr(info, name) for name in fields]
        return namedtuple("Info", fields)(*(v.decode() if isinstance(v, bytes) else v for v in values))

    def tokenizer_handle(self, needed=True):
        """None where there is none and none is needed: ids take none."""
        if not self._tokenizer:
            try:
                self._tokenizer = Handle("attn_tokenizer_close", "attn_model_tokenizer", self.handle,
                                         keep=(self.handle,))
            except NoMemory:
                raise
            except Error:
                if needed:
                    raise
        return self._tokenizer

    # ---- text ----

    def tokenize(self, text, bos="auto", special=False):
        """Its tokens."""
        out, data = POINTER(Tokens)(), as_utf8(text, "text")
        options = EncodeOpts(special=special, bos=Asked.bos(bos))
        ask("attn_encode_with", byref(out), self.tokenizer_handle(), data, len(data), byref(options))
        try:
            return [Token(t.id, text_at(t.text, t.text_len), text_at(t.raw, t.raw_len), t.start, t.end)
                    for t in out.contents.tok[:out.contents.n]]
        finally:
            C.attn_tokens_free(out)

    def decode(self, ids):
        out, length = c_void_p(), c_size_t()
        ask("attn_decode", byref(out), byref(length), self.tokenizer_handle(), *as_ids(ids))
        try:
            return text_at(out.value, length.value)
        finally:
            free(out)

    def text_of(self, id):
        """The text of one token; where there is none, its number."""
        id = as_number(id, "id")
        tokenizer, length = self.tokenizer_handle(needed=False), c_size_t()
        text = id < 2**31 and tokenizer and text_at(C.attn_tokenizer_text(tokenizer, id, byref(length)), length.value)
        return text if isinstance(text, str) else str(id)

    # ---- questions ----

    def _ask(self, text, ids, given):
        given = dict(given)
        asked = Asked(self, text, ids, given)
        if given:
            raise TypeError(f"unexpected argument '{next(iter(given))}'")
        return asked

    def run(self, text=None, show="*", *, ids=None, **given):
        """Runs it and keeps activations: a list of names as --show takes them, "*" for all but what is derived."""
        asked = self._ask(text, ids, given)
        show = as_bytes(show if isinstance(show, str) else ",".join(show), "show")
        dump = Handle("attn_dump_free", "attn_ask_run", byref(asked.struct), show, keep=(self.handle,),
                      raised=asked.raised)
        return Run(dump, self)

    def metric(self, text, metric, *, ids=None, **given):
        """A number measured of its logits, as in 'logit(" Lily")-logit(" Tom")', loss or kl (from the run without
        edits)."""
        asked, value = self._ask(text, ids, given), c_double()
        ask("attn_ask_metric", byref(value), asked.struct, as_bytes(metric, "metric"), raised=asked.raised)
        return value.value

    def score(self, text=None, *, ids=None, **given):
        """How likely each token is given those before it."""
        asked, out, n = self._ask(text, ids, given), c_void_p(), c_size_t()
        ask("attn_ask_score", byref(out), byref(n), asked.struct, raised=asked.raised)
        try:
            values = np.array((c_double * n.value).from_address(out.value))
        finally:
            free(out)
        values[0] = np.nan
        tokens = [str(i) for i in ids] if ids is not None else [
            t.text for t in self.tokenize(text, given.get("bos", "auto"), given.get("special", False))]
        return Score(tokens, values)

    def generate(self, text=None, n=32, *, ids=None, temperature=0, top_k=0, top_p=1, seed=0, **given):
        """Continues it by at most n tokens; at temperature 0 by the likeliest."""
        sampling = Sampling(temperature, top_p, as_number(top_k, "top_k"), as_number(seed, "seed"))
        n, out, length = as_number(n, "n"), c_void_p(), c_size_t()
        asked = self._ask(text, ids, dict(given, seed=seed))
        ask("attn_ask_generate", byref(out), byref(length), asked.struct, n, byref(sampling), raised=asked.raised)
        try:
            all_ids = (c_int32 * length.value).from_address(out.value)[:]
        finally:
            free(out)
        if not self.tokenizer_handle(needed=False):
            return Generation(None, None, all_ids)
        before = len(ids) if ids is not None else len(
            self.tokenize(text, given.get("bos", "auto"), given.get("special", False)))
        prompt = self.decode(all_ids[:before])
        return Generation(prompt, self.decode(all_ids)[len(prompt):], all_ids)

    def _answer(self, what, text, ids, given, options, kind=Answer):
        own = {name: given.pop(name) for name in list(given) if name in options}
        return kind(self._ask(text, ids, given), what, own)

    PICTURE = ("figure query palette color_scale hide_first cell width font_size title columns font font_index "
               "annotate").split()

    def lens(self, text=None, *, ids=None, **given):
        """What it would predict at each layer: target=, top=, points="all"."""
        return self._answer("lens", text, ids, given, ["target", "top", "points", *self.PICTURE])

    def attribute(self, text=None, target=None, *, ids=None, **given):
        """What each part adds to the logit of `target`: foil=, pos=, neurons=, top=."""
        return self._answer("attribute", text, ids, dict(given, target=target),
                            ["target", "foil", "pos", "neurons", "top"])

    def heads(self, text=None, *, ids=None, **given):
        """Which head does what, in a text or, without one, in random tokens that repeat: by=, top=, copying=True,
        repeat=, samples=, seed=, layer=, head=."""
        return self._answer("heads", text, ids, given,
                            ["by", "top", "copying", "repeat", "samples", "seed", "layer", "head", *self.PICTURE])

    def patch(self, text=None, from_=None, what=None, over="layer,pos", metric=None, *, ids=None, **given):
        """What the metric becomes when pieces of `what` come from the run of the other text: method="gradient"."""
        own = dict(given, what=what, over=over if isinstance(over, str) else ",".join(over), metric=metric)
        return self._answer("patch", text, ids, dict(own, from_=from_),
                            ["what", "over", "metric", "method", "precision", *self.PICTURE], Patched)

    @property
    def digest(self):
        """Identifies its files."""
        out = ctypes.create_string_buffer(80)
        ask("attn_model_digest", self.handle, False, out)
        return out.value.decode()

    def __repr__(self):
        i = self.info
        return f"<attn.Model {i.name}: {i.family}, {i.L} layers, {i.H} heads, {i.parameters:,} parameters>"
