"""test_module.py - the module of data/python over a libattn.so (ATTN_LIBRARY), beside the program (ATTN_CLI).

What it computes is compared, bit for bit, with what the program writes; struct layouts with what a compiler makes of
the headers, where there is one.
"""
import ctypes
import gc
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if "ATTN_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "data/python"))

import numpy as np  # noqa: E402

import attn  # noqa: E402
from attn import _library  # noqa: E402

TEXT = "Tom and Lily went to the park. Tom gave the ball to"
CLI = os.environ.get("ATTN_CLI", "attn-cli")


def program(*words):
    return subprocess.run([CLI, *words], check=True, capture_output=True).stdout


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Structs(Scratch):
    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc")
    def test_each_has_the_layout_of_the_headers(self):
        lines = ["#include <attn_ask.h>", "#include <attn_tools.h>"]
        for name, struct in _library.STRUCTS.items():
            lines.append(f'_Static_assert(sizeof(struct {name}) == {ctypes.sizeof(struct)}, "{name}");')
            for member, *_ in struct._fields_:
                at = getattr(struct, member).offset
                lines.append(f'_Static_assert(offsetof(struct {name}, {member.rstrip("_")}) == {at}, '
                             f'"{name}.{member}");')
        source = self.folder / "layout.c"
        source.write_text("\n".join(lines) + "\n")
        done = subprocess.run(["gcc", "-std=c11", "-I", ROOT / "lib", "-fsyntax-only", source],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def fails_to_import(self, library):
        code = "import sys; sys.path.insert(0, sys.argv[1]); import attn"
        done = subprocess.run([sys.executable, "-B", "-c", code, str(Path(attn.__file__).parents[1])], text=True,
                              capture_output=True, env={**os.environ, "ATTN_LIBRARY": str(library)})
        self.assertNotEqual(done.returncode, 0)
        return done.stderr.strip().splitlines()[-1]

    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc")
    def test_a_library_of_another_version_is_refused(self):
        functions = [name for name in (*_library.FAIL, *_library.OTHERS) if name not in ("attn_version", "attn_sizeof")]
        source, library = self.folder / "other.c", self.folder / "other.so"
        text = "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
        text += 'const char *attn_version(void) { return "9.9"; }\n'
        source.write_text(text + "unsigned long attn_sizeof(const char *name) { return name[0] == 'a' ? 520 : 0; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", library, source], check=True)
        why = self.fails_to_import(library)
        self.assertIn("is version 9.9, whose struct attn_err has 520 bytes, expected 516", why)
        source.write_text('const char *attn_version(void) { return "0.0"; }\n')
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.assertIn("has no function attn_model_open_with: it is older than this module",
                      self.fails_to_import(library))

    def test_a_library_for_another_machine_is_refused(self):
        library = self.folder / "libattn.so"
        data = bytearray(Path(_library.find()).read_bytes())
        data[18] = 0xb7 if data[18] != 0xb7 else 0x3e           # e_machine: of the other one of x86-64 and AArch64
        library.write_bytes(data)
        self.assertRegex(self.fails_to_import(library),
                         "cannot load its library: .* one kind of processor, and this is Linux")
        self.assertIn("cannot load its library", self.fails_to_import(self.folder / "nowhere.so"))


class Runs(Scratch):
    def setUp(self):
        super().setUp()
        self.model = attn.open("tiny")

    def test_it_has_the_bits_of_the_program(self):
        program("run", "-m", "tiny", "-s", TEXT, "--show", "*", "--edit", "L3H0 = 0", "-o", str(self.folder / "a.npz"))
        run = self.model.run(TEXT, edits=["L3H0 = 0"])
        with np.load(self.folder / "a.npz") as archive:
            names = [name for name in archive.files if name != "tokens"]
            self.assertEqual(sorted(run), sorted(names))
            self.assertGreater(len(names), 50)
            for name in names:
                self.assertEqual(run[name].tobytes(), archive[name].tobytes(), name)
                self.assertEqual(run[name].shape, archive[name].shape, name)

    def test_arrays_are_the_library_s_own_and_read_only(self):
        run = self.model.run(TEXT)
        a, b = run["blocks.0.attn.pattern"], run["pattern", 0]
        self.assertEqual(a.ctypes.data, b.ctypes.data)
        with self.assertRaises(ValueError):
            a[0, 0, 0] = 1
        T = len(run.tokens)
        self.assertEqual(run["pattern"].shape, (self.model.info.L, self.model.info.H, T, T))
        np.testing.assert_allclose(a.sum(-1), 1, rtol=1e-6)     # a sum of a dozen float32 numbers
        with self.assertRaisesRegex(KeyError, "attn.out or mlp.out"):
            run["out", 0]
        with self.assertRaisesRegex(KeyError, "no such activation"):
            run["nonsense"]

    def test_ids_and_tokens(self):
        tokens = self.model.tokenize(TEXT)
        self.assertEqual("".join(t.text for t in tokens), TEXT)
        self.assertEqual(self.model.decode(t.id for t in tokens), TEXT)
        by_text, by_ids = self.model.run(TEXT, "logits"), self.model.run(ids=[t.id for t in tokens], show="logits")
        self.assertEqual(by_text["logits"].tobytes(), by_ids["logits"].tobytes())
        self.assertEqual(by_text.tokens, [t.text for t in tokens])
        self.assertEqual(by_text.ids, by_ids.ids)

    def test_settings_of_a_run(self):
        run = self.model.run(TEXT, "pattern", kind="strided:2,3", threads=1)
        program("run", "-m", "tiny", "-s", TEXT, "--show", "pattern", "--attention", "strided:2,3", "-o",
                str(self.folder / "a.npz"))
        with np.load(self.folder / "a.npz") as archive:
            for name in run:
                self.assertEqual(run[name].tobytes(), archive[name].tobytes())
        with attn_raises(self, attn.UsageError, "usage", "attention 'windw:4' is unknown"):
            self.model.run(TEXT, kind="windw:4")
        with attn_raises(self, attn.UsageError, "usage", "plan: threads=many, expected how many"):
            self.model.run(TEXT, threads="many")
        with self.assertRaisesRegex(TypeError, "unexpected argument 'colour'"):
            self.model.run(TEXT, colour=1)

    def test_what_a_file_does_not_say(self):
        lecture = str(ROOT / "tests/golden/student/lecture-a/model.pt")
        with self.assertWarnsRegex(UserWarning, "model.pt does not say scale: assumed scale=head"):
            self.assertEqual(attn.open(lecture).assumed, {"scale": "head"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            given = attn.open(lecture, as_="scale=width")
        self.assertEqual(given.assumed, {})
        self.assertAlmostEqual(float(given.info.scale), 32 ** -0.5)
        with self.assertRaisesRegex(attn.UsageError, "is built in, and says itself"):
            attn.open("tiny", as_="scale=head")

    def test_what_comes_next(self):
        (text, p), *_ = self.model.run(TEXT, "logits").next()
        (other, q), *_ = self.model.run(TEXT, "logits", edits=["L3H0 = 0"]).next()
        self.assertEqual((text, other), (" Lily", " Tom"))      # as lib/README.md has it
        self.assertEqual((f"{p:.3f}", f"{q:.3f}"), ("0.576", "0.497"))

    def test_the_order_of_closing_does_not_matter(self):
        run, lens = self.model.run(TEXT), self.model.lens(TEXT)
        array = run["blocks.0.attn.pattern"]
        before = array.copy()
        del self.model
        gc.collect()
        self.assertIn("<svg", lens.figure("svg"))               # which runs it once more
        self.assertEqual(run.next(1)[0][0], " Lily")
        del run, lens
        gc.collect()
        other = attn.open("tiny").run(TEXT * 3)                 # which would take the memory
        self.assertEqual(array.tobytes(), before.tobytes())
        self.assertGreater(len(other), 50)

    def test_activations_that_were_saved(self):
        program("run", "-m", "tiny", "-s", TEXT, "-o", str(self.folder / "a.npz"))
        saved, run = attn.load(self.folder / "a.npz"), self.model.run(TEXT, "pattern,context")
        for name in run:
            self.assertEqual(saved[name].tobytes(), run[name].tobytes())
        self.assertEqual(saved.tokens, run.tokens)
        with attn_raises(self, attn.FileError, "io", "nowhere.npz"):
            attn.load(self.folder / "nowhere.npz")


def attn_raises(test, kind, word, message):
    """An exception of this class, kind and text."""
    class Raises:
        def __enter__(self):
            return self

        def __exit__(self, type, value, trace):
            test.assertIsInstance(value, kind)
            test.assertEqual(value.kind, word)
            test.assertIn(message, str(value))
            return True
    return Raises()


class Observers(unittest.TestCase):
    def setUp(self):
        self.model = attn.open("tiny")

    def test_watching_sees_what_is_recorded(self):
        seen = {}
        run = self.model.run(TEXT, watch={"blocks.*.attn.pattern,logits": lambda x, at: seen.__setitem__(at.name, x)})
        self.assertEqual(sorted(seen),
                         sorted([*(f"blocks.{l}.attn.pattern" for l in range(self.model.info.L)), "logits"]))
        for name, array in seen.items():
            self.assertEqual(array.tobytes(), run[name].tobytes())

    def test_an_edit_in_place_or_by_what_is_returned(self):
        def drop(x, at):
            if at.layer == 3:
                x[:, :self.model.info.dv] = 0
        by_words = self.model.run(TEXT, edits=["L3H0 = 0"])
        by_hand = self.model.run(TEXT, edit={"context": drop})
        returned = self.model.run(TEXT, edit={"blocks.3.attn.context": lambda x: np.hstack([x[:, :0], np.zeros(
            (len(x), self.model.info.dv), x.dtype), x[:, self.model.info.dv:]])})
        for name in by_words:
            self.assertEqual(by_words[name].tobytes(), by_hand[name].tobytes(), name)
            self.assertEqual(by_words[name].tobytes(), returned[name].tobytes(), name)

    def test_exceptions_pass_through(self):
        class Odd(BaseException):
            pass

        def fail(x):
            raise Odd("no further")
        for how in ("watch", "edit"):
            with self.assertRaisesRegex(Odd, "no further"):
                self.model.run(TEXT, **{how: {"pattern": fail}})
        with self.assertRaisesRegex(attn.UsageError,
                                    r"returned an array of shape \(3,\), expected \(4, 13, 13\)|shape"):
            self.model.run(TEXT, edit={"pattern": lambda x: np.zeros(3)})
        self.assertEqual(len(self.model.run(TEXT, "logits")), 1)        # and nothing is left behind
        for ask in (lambda **o: self.model.metric(TEXT, "loss", **o), lambda **o: self.model.score(TEXT, **o),
                    lambda **o: self.model.generate(TEXT, 2, **o), lambda **o: self.model.lens(TEXT, **o),
                    lambda **o: self.model.attribute(TEXT, " Lily", **o)):
            with self.assertRaisesRegex(Odd, "no further"):
                ask(watch={"resid_post": fail})
        with self.assertRaisesRegex(TypeError, "expected a function"):
            self.model.run(TEXT, watch={"pattern": 3})
        with attn_raises(self, attn.UsageError, "usage", "unknown activation 'zebra'"):
            self.model.run(TEXT, watch={"zebra": fail})


class Answers(Scratch):
    def setUp(self):
        super().setUp()
        self.model = attn.open("tiny")

    def same(self, answer, *words):
        self.assertEqual(dict(answer), json.loads(program(*words, "--format", "json")))

    def test_they_are_those_of_the_commands(self):
        text = "Lily lost her red"
        self.same(self.model.lens(text, target=" ball", points="all"), "lens", "-m", "tiny", "-s", text, "--target",
                  " ball", "--points", "all")
        self.same(self.model.attribute(text, " ball", foil=" the", edits=["L0H1 = 0"]), "attribute", "-m", "tiny", "-s",
                  text, "--target", " ball", "--foil", " the", "--edit", "L0H1 = 0")
        self.same(self.model.heads(text, by="previous"), "heads", "-m", "tiny", "-s", text, "--by", "previous")
        self.same(attn.open("induction").heads(repeat=8, samples=2, seed=3, copying=True), "heads", "-m", "induction",
                  "--repeat", "8", "--samples", "2", "--seed", "3", "--copying")

    def test_patching(self):
        other = "Lily lost her big"
        patch = self.model.patch("Lily lost her red", other, what="resid_pre", over="layer,pos",
                                 metric='logit(" ball")')
        self.same(patch, "patch", "-m", "tiny", "-s", "Lily lost her red", "--from", other, "--what",
                  "resid_pre", "--over",
                  "layer,pos", "--metric", 'logit(" ball")')
        T = len(self.model.tokenize(other))
        self.assertEqual(patch.effect.shape, (self.model.info.L, T))
        self.assertAlmostEqual(patch.effect[0, -1], 1)          # the texts differ in their last token
        self.assertEqual(patch.effect[0, 0], 0)
        with attn_raises(self, attn.UsageError, "usage", "expected from, the other text"):
            self.model.patch("a", what="resid_pre", metric="loss")

    def test_numbers(self):
        score = self.model.score(TEXT)
        said = json.loads(program("score", "-m", "tiny", "-s", TEXT, "--format", "json"))
        self.assertEqual([None if np.isnan(x) else x for x in score.logprobs], [t["logprob"] for t in said["tokens"]])
        self.assertAlmostEqual(score.logprob, said["logprob"], 12)
        self.assertAlmostEqual(score.perplexity, said["perplexity"], 9)
        loss = self.model.metric(TEXT, "loss")
        self.assertAlmostEqual(loss, -score.logprob / (len(score.tokens) - 1), 6)       # of float32 logits either way
        self.assertEqual(self.model.metric(TEXT, "kl"), 0)
        self.assertGreater(self.model.metric(TEXT, "kl", edits="L3H0 = 0"), 0)

    def test_generation(self):
        for more, words in (({}, []), ({"edits": ["L3H0 = 0"]}, ["--edit", "L3H0 = 0"]),
                            ({"temperature": .8, "top_k": 9, "seed": 5},
                             "--temperature .8 --top-k 9 --seed 5".split())):
            made = self.model.generate(TEXT, 12, **more)
            said = json.loads(program("generate", "-m", "tiny", "-s", TEXT, "-n", "12", "--format", "json", *words))
            self.assertEqual(made.text, said["text"])
            self.assertEqual(made.ids, [t["id"] for t in said["tokens"]])
        self.assertEqual(str(made), made.text)

    def test_pictures(self):
        run = self.model.run(TEXT, "pattern")
        program("run", "-m", "tiny", "-s", TEXT, "--layer", "1", "--head", "0", "--figure", "lines", "-o",
                str(self.folder / "a.svg"))
        self.assertIn("<svg", run.figure(layer=1, head=[0], figure="lines", title="of heads"))
        self.assertTrue(run.figure("png", layer=1).startswith(b"\x89PNG"))
        run.save(self.folder / "run.pdf", layer=0)
        self.assertTrue((self.folder / "run.pdf").read_bytes().startswith(b"%PDF"))
        for page in (run, self.model.lens("Lily lost"), self.model.heads("Lily lost")):
            self.assertRegex(page._repr_html_(),
                             "^<iframe srcdoc=\"&lt;!DOCTYPE html&gt;|^<iframe srcdoc=\"&lt;!doctype html")
        self.assertRegex(self.model.attribute("Lily lost", " her")._repr_html_(), "^<pre>")
        with attn_raises(self, attn.UsageError, "usage", "plot: unknown option 'colour', expected one of format, show"):
            run.figure(colour=1)
        with attn_raises(self, attn.UsageError, "usage", "width: found wide, expected a width on paper"):
            run.figure(width="wide")

    def test_what_is_wrong_is_said(self):
        with attn_raises(self, attn.FileError, "io", "nowhere"):
            attn.open("./nowhere")
        with attn_raises(self, attn.FormatError, "format", "layer 9 is not there"):
            self.model.run(TEXT, edits=["L9H0 = 0"])
        with attn_raises(self, attn.FormatError, "format", "the text is empty"):
            self.model.run("")
        with attn_raises(self, attn.UsageError, "usage", "there is neither a text nor token ids"):
            self.model.run()
        with attn_raises(self, attn.UsageError, "usage", "a text and token ids are both given"):
            self.model.run("a", ids=[1])
        with attn_raises(self, attn.UsageError, "usage", "there is a NUL in it"):
            self.model.run(TEXT, edits=["L0H0\0 = 0"])
        with self.assertRaisesRegex(TypeError, "expected a str, found int"):
            self.model.run(3)
        self.assertTrue(issubclass(attn.FileError, OSError) and issubclass(attn.NoMemory, MemoryError))

    def test_numbers_that_C_does_not_hold(self):
        for ids in ([2**32 + 1], [-1], [2**31]):
            with attn_raises(self, attn.UsageError, "usage", f"ids: found {ids[0]}, expected 0 to 2147483647"):
                self.model.decode(ids)
            with attn_raises(self, attn.UsageError, "usage", "ids: found"):
                self.model.run(ids=ids)
        for ids in ([1.5], np.array([1.0, 2.0]), ["1"], [None]):
            for f in self.model.decode, lambda ids: self.model.run(ids=ids, show="logits"):
                with self.assertRaisesRegex(TypeError, "ids: expected a whole number, found"):
                    f(ids)
        self.assertEqual(self.model.decode(np.array([1, 2], dtype=np.uint8)), self.model.decode([1, 2]))
        for given in ({"n": -1}, {"n": 2**64 + 3}, {"top_k": -1}, {"seed": 2**64}):
            with attn_raises(self, attn.UsageError, "usage", f"{next(iter(given))}: found"):
                self.model.generate(TEXT, **{"n": 1, **given})
        with self.assertRaisesRegex(TypeError, "n: expected a whole number, found 1.5"):
            self.model.generate(TEXT, n=1.5)
        self.assertEqual(self.model.text_of(2**40), str(2**40))
        with attn_raises(self, attn.UsageError, "usage", "id: found -1"):
            self.model.text_of(-1)
        run = self.model.run(TEXT, "logits")
        with attn_raises(self, attn.UsageError, "usage", "k: found -1"):
            run.next(-1)
        self.assertEqual(len(run.next(2**40)), self.model.info.V)

    def test_names_of_files(self):
        run, odd = self.model.run(TEXT, "pattern"), os.fsencode(self.folder) + b"/\xff"
        run.save(odd + b".svg")
        self.assertTrue(os.path.exists(odd + b".svg"))
        with io.open(odd + b".npz", "wb") as file:
            np.savez(file, **{name: run[name] for name in run})
        self.assertEqual(list(attn.load(odd + b".npz")), list(run))
        self.assertEqual(list(attn.load(os.fsdecode(odd + b".npz"))), list(run))
        for f in (lambda: run.save(f"{self.folder}/a\0b.svg"), lambda: attn.load("a\0b"), lambda: attn.open("./a\0b")):
            with attn_raises(self, attn.UsageError, "usage", "there is a NUL in it"):
                f()
        self.assertFalse((self.folder / "a").exists())
        with attn_raises(self, attn.FileError, "io", "no/such/"):
            attn.open("./no/such/\udcfe")
        for f in (self.model.run, self.model.tokenize):
            with attn_raises(self, attn.UsageError, "usage", "text: character 1 is"):
                f("a\udcfe")

    def test_small_stacks(self):
        said = {}

        def ask(size):
            try:
                said[size] = self.model.run(TEXT, kind="causal").figure("pdf")[:4], len(self.model.heads(TEXT).rows)
            except attn.Error as why:
                said[size] = str(why)

        before = threading.stack_size()
        for kilobytes in (32, 64, 128, 256, 512):
            threading.stack_size(kilobytes << 10)
            thread = threading.Thread(target=ask, args=(kilobytes,))
            thread.start()
            thread.join()
        threading.stack_size(before)
        for kilobytes in (32, 64, 128):
            self.assertRegex(said[kilobytes], r"the stack of this thread has \d+ KB left, and the library needs 192 KB")
        for kilobytes in (256, 512):
            self.assertEqual(said[kilobytes], (b"%PDF", self.model.info.L * self.model.info.H))


class Notebooks(unittest.TestCase):
    def test_their_cells_run(self):
        for path in sorted((ROOT / "data/python").glob("*.ipynb")):
            book, names = json.loads(path.read_text()), {}
            self.assertEqual((book["nbformat"], path.name), (4, path.name))
            cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
            self.assertGreater(len(cells), 4)
            for cell in cells:
                self.assertLess(len(cell.splitlines()), 10, cell)
                exec(compile(cell, str(path), "exec"), names)


if __name__ == "__main__":
    unittest.main(verbosity=1)
