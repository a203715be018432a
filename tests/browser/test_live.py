"""Tests the page of --live in a real browser: it computes the bits that the program computes, and does what one asks of it.

`test_live.py times` prints how long a keystroke takes."""
import base64
import csv
import glob
import io
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest

from driver import Browser
from fixtures import CLI, LILY, Fixtures

SHARED = os.environ.get("ATTN_SHARED", "")
KINDS = ["full", "causal", "causal-renorm", "window:3", "strided:2,3", "random:2,2,7", "linear", "block:4"]
IDS = ",".join(str((7 * i + 3) % 11) for i in range(13))
GENERIC = {**os.environ, "ATTN_SIMD": "generic"}
# Every activation of a pass over the page's own ids, in the order of the program's arrays, as base64.
ALL = """const s = live.session, pass = new Pass(s.w, page.queries.map((t) => t.id), { kind: s.kindOf(s.begun) }), out = {};
finishAll(pass.run());
for (const [name, a] of pass.acts) {
    const [act, layer] = name.split("@"), heads = { "attn.q": s.w.n.H, "attn.k": s.w.n.Hkv, "attn.v": s.w.n.Hkv }[act], T = pass.T;
    let { data } = a;
    if (heads) {
        const width = a.cols / heads;
        data = Float32Array.from({ length: data.length }, (_, i) => {
            const h = Math.floor(i / (T * width)), t = Math.floor(i / width) % T;
            return a.data[t * a.cols + h * width + i % width];
        });
    }
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192)
        text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    out[layer === "-1" ? act : `blocks.${layer}.${act}`] = btoa(text);
}
return out;"""
RIGHT = ["L2H0-1[pos=-1] *= 0.5", "L0.pattern = uniform", "L0H1.scores[key=0] = -inf", "L2.attn.q[head=1] += noise(0.1,7)",
         'L1.mlp.out -= mean(text("Tom saw"))', 'L3.resid_post[pos=-1] = text("Tom saw")', "L1.attn.k -= proj(ids(5,6,7,8,9))",
         "L4N3,7-9 = 0", 'blocks.*.attn.out[pos=" her"] *= 2', "logits[col=5] += 3", "dots[key=1] += 1"]
WRONG = ["L9H0 = 0", "L1H2 =", "L1H2", "H2 = 0", "L0.foo = 1", "L0H9 = 0", "pattern[pos=99] = 0", "L0.out = 0", "L1 = 2", "L0H1[key=2] = 0",
         "L0H1 = noise(1)", "L0H1 *= uniform", "L0.mlp.post[head=1] = 0", "pos_embed = 0", "norms = 1", "L0H1 = 3 4", "l0h1 = 0",
         "embed[pos=\"zebra\"] = 0", "L0H1[pos=1][key=2] = 0", "L0.embed = 0", "L0.H1 = 0",
         # the nearest name, and words that others use
         "L0.attn = 1", "L0.mlp = 1", "L0.contxt = 0", "L0.PATTERN = 0", "L0.hidden = 0", "blocks.1.patern = 0", "attn.out.x = 0", "L0.z = 0",
         "__proto__ = 0", "L0.constructor = 0", "Attention=0", "L3H1.Attn.Pattern = 1", "L0.mpl.out=0", "rseid_post=0", "norm_fianl=0", "unembed=0", "L0." + "a" * 80 + " = 0",
         # the nearest token
         "L0H0[pos=\"Her\"] = 0", "L0H0[pos=\"her\"] = 0", "L0H0[pos=\"日本\"] = 0", "L0H0[pos=\" lily\"] = 0",
         # in their canonical form
         "0.9=0", "L0,9H1,2[ pos = 1,key=2 ]=0", "L0H9*=1e-7", "L0H9 = 123456789012345678", "L0H9=1e21*ids(1)", "L9H0 -= 2*mean( ids( 1 , 2 ) )",
         "L0H9[pos=\"a\\u0007b\\\"c\"] = 0", "L0H9[pos=\"" + "x日" * 60 + "\"] = 0",
         # sources
         "L0H1 = ids(99999)", "L0H1 = text(\"\")", "L0H1 = mean(ids(1)", "L0H1 = mean(ids(1", "L0H1 = mean(foo)", "L0H1 -= proj(foo)", "L0H1=texts(x)",
         "L0H1 = tezt(\"a\")", "L0H1=text(abc)", "L0H1[pos=1] = ids(1,2)", "L0H1[pos=-1] = ids(1,2)", "L0H1[pos=3-4] = ids(1,2)",
         "L0.pattern[pos=4]=ids(1,2)", "L0H1 = ids(" + ",".join(["5000"] * 40) + ")", "L0H1[pos=\"abc] = 0", "L0H1 = text(\"a\\ud800\")",
         "L0H1 = text(\"a\\u0000\")", "L0H1[pos=\"日本\\x\"] = 0", "L0H1 = \"" + "y" * 90]
NEXT = "[...$('{}').children].map((e) => [e.children[0].textContent, e.children[1].textContent])"


def setUpModule():
    global fixtures, browser
    fixtures = Fixtures()
    browser = Browser()


def tearDownModule():
    browser.close()
    fixtures.remove()


def checkpoints(pattern, least):
    """Ours, and those beside the repository; `least` of ours are there."""
    own = glob.glob("tests/golden/" + pattern)
    assert len(own) >= least, f"{len(own)} of {least}: {pattern}"
    return sorted(own) + (sorted(glob.glob(SHARED + "/golden/" + pattern)) if SHARED else [])


def numbers(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def array(path):
    with open(path, "rb") as f:
        raw = f.read()
    return raw[10 + struct.unpack_from("<H", raw, 8)[0]:]


def same_bits(a, b):
    """NaN's payload apart."""
    return a == b or (len(a) == len(b) and all(a[i:i + 4] == b[i:i + 4] or all(map(math.isnan, numbers(a[i:i + 4]) + numbers(b[i:i + 4])))
                                               for i in range(0, len(a), 4)))


def renderer_bytes():
    """What the browser's renderers have in memory."""
    total = 0
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                if b"--type=renderer" not in f.read():
                    continue
            with open(path.replace("cmdline", "statm"), encoding="ascii") as f:
                total += int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return total


class Live(unittest.TestCase):
    def setUp(self):
        self.page = ""
        browser.resize(1280, 1400)
        browser.theme("light")

    def tearDown(self):
        self.assertEqual(browser.errors(), [])          # violations of the page's policy are among them
        self.assertEqual({re.sub("#.*", "", url) for url in browser.requests()} - {"file://" + self.page}, set())

    def open(self, name, *args, at="", ready=True):
        self.page = fixtures.path(name + ".html")
        subprocess.run([CLI, "run", "-q", *args, "--live", "-o", self.page], check=True, env=GENERIC)
        browser.open(self.page + at)
        if ready:
            self.assertTrue(browser.until("live.ready"), browser.value("$('live-says').textContent"))

    def ask(self, **what):
        browser.run("window.answered = false; ask(arguments[0]).then(() => { window.answered = true; })", what)
        self.assertTrue(browser.until("window.answered"))
        return browser.value("[$('live-says').className, $('live-says').textContent]")

    def type(self, text):
        browser.run("$('live-text').value = arguments[0]; $('live-text').dispatchEvent(new Event('input'))", text)
        self.assertTrue(browser.until("live.answer.asked.text === live.asked.text && $('live-text').value === live.asked.text && live.answer.tokens.length"))

    def said(self, *args):
        return subprocess.run([CLI, "run", *args], check=True, capture_output=True, env=GENERIC).stdout.decode()

    def compare(self):
        """The likeliest tokens before and after, and KL, of the command that the page gives."""
        browser.click("#live-more summary") if not browser.value("$('live-more').open") else None
        browser.run("$('live-command').click()")
        command = browser.value("$('live-out').textContent")
        out = subprocess.run(["bash", "-c", command.replace("attn-cli", CLI, 1) + " --show tokens --format json"], check=True, capture_output=True,
                             env=GENERIC).stdout
        return json.loads(out)["compare"]

    def check_compare(self):
        compare = self.compare()
        for side, key in [("live-before", "before"), ("live-after", "after")]:
            shown = browser.value(NEXT.format(side))
            self.assertEqual([p for _, p in shown], [f"{100 * t['probability']:.2f} %" for t in compare[key]])
        self.assertAlmostEqual(browser.value("live.answer.kl"), compare["kl"], delta=1e-9)     # sums in another order

    # ---- bits

    def check_bits(self, name, model, *args, converted=None):
        """converted: the model that has the page's weights, where these are rounded."""
        self.open("bits", "-m", model, *args)
        out, args = fixtures.path("bits-" + name.replace(".", "-")), ["-m", converted or model, *args]       # a folder has no ending
        subprocess.run([CLI, "run", *args, "--show", "*", "--format", "npy", "-o", out], check=True, env=GENERIC, capture_output=True)
        computed = browser.run(ALL)
        files = [f for f in os.listdir(out) if f.endswith(".npy") and f != "tokens.npy"]
        self.assertGreater(len(files), 8)
        for file in files:
            self.assertTrue(same_bits(base64.b64decode(computed[file[:-4]]), array(os.path.join(out, file))), f"{args}: {file[:-4]}")

    def test_every_family_has_the_programs_bits(self):
        for path in checkpoints("checkpoints*/*/config.json", 34):
            with self.subTest(path):
                self.check_bits(path.replace("/", "-"), os.path.dirname(path), "--ids", IDS)

    def test_gguf_has_the_bits_of_the_converted_model(self):
        for path in checkpoints("gguf/*/model.gguf", 3):
            with self.subTest(path):
                converted = fixtures.path("converted" + re.sub("[/.]", "-", path))
                fixtures.cli("convert", "-m", path, "-o", converted)
                self.check_bits(path.replace("/", "-"), path, "--ids", IDS, converted=converted)
                blocks, note = browser.value("[live.session.w.blocks, $('live-note').textContent]")
                self.assertEqual(bool(blocks), bool(re.search("q[0-9]_|iq|types", path)))
                self.assertEqual(bool(note), bool(blocks))
                self.ask(off=["0,1"])
                compare = self.compare()
                self.assertTrue(browser.value("$('live-out').textContent").startswith(f"attn-cli run -m {path} --ids "))
                if not blocks:
                    self.assertAlmostEqual(browser.value("live.answer.kl"), compare["kl"], delta=1e-9)     # sums in another order
                if blocks:
                    self.assertIn(f"stores weights as {blocks}. This page computes with them rounded to float16", note)

    def test_a_tokenizer_by_characters(self):
        text, vocab, model = fixtures.path("names.txt"), fixtures.path("chars.json"), fixtures.path("chars")
        with open(text, "w", encoding="utf-8") as f:
            f.write("Émile\nor anna")
        rule = ["--chars", "--lowercase", "--drop", "!"]
        fixtures.cli("vocab", "-f", text, *rule, "-o", vocab)
        fixtures.cli("init", "-o", model, "--vocab", vocab, *rule, "--n-layer", "1", "--n-head", "2", "--d-model", "8", "--mlp", "relu2",
                     "--d-mlp", "16")
        typed = "Ann! \n  élan"
        self.open("chars", "-m", model, "-s", "mer")
        self.assertEqual(self.ask(text=typed)[0], "")
        said = json.loads(self.said("-m", model, "-s", typed, "--show", "tokens", "--format", "json"))
        self.assertEqual(browser.value("live.answer.tokens.map((t) => t.id)"), said["ids"] if "ids" in said else [t["id"] for t in said["tokens"]])
        self.assertIn("unknown character “x” at byte 2", self.ask(text="anx")[1])
        self.check_bits("chars", model, "--ids", "1,2,3,4,1,2")

    def test_texts_become_the_ids_of_their_tokenizers(self):
        """Of the vectors that the tokenizers' own programs made; what the page does not do, it says."""
        done = 0
        for path in checkpoints("tokenizers/*/vectors.jsonl", 17):
            with self.subTest(path), open(path, encoding="utf-8") as f:
                every = list(map(json.loads, f))
                vectors = [v for v in every if not v.get("add_bos") and not v.get("special")]
                model = fixtures.path("of" + path.replace("/", "-"))
                fixtures.cli("init", "-o", model, "--family", "gpt2", "--n-layer", "1", "--n-head", "2", "--d-model", "4", "--n-ctx", "64",
                             "--vocab-size", str(1 + max(i for v in every for i in v["ids"] + [10])))
                for name in set(os.listdir(os.path.dirname(path))) - {"SOURCE.md", "vectors.jsonl"}:
                    shutil.copy(os.path.join(os.path.dirname(path), name), model)
                self.open("tokens", "-m", model, "--ids", "1,2")
                got = browser.run("""const coder = new Coder(live.session.json.tokenizer), ids = (text) => coder.encode(text).map((t) => t.id);
                    return arguments[0].map((text) => { try { return ids(text); } catch (e) { return e.message; } });""", [v["text"] for v in vectors])
                for vector, ids in zip(vectors, got):
                    if isinstance(ids, list):
                        self.assertEqual(ids, vector["ids"], vector["text"])
                        done += 1
                    else:
                        self.assertTrue(browser.value("live.session.coder.why") or
                                        "their normal form (NFC)" in ids and
                                        re.search("[\u0300-\u036f]|[^\u0000-\u024f\u4e00-\u9fff]", vector["text"]), (ids, vector))
        self.assertGreater(done, 900)

    def test_a_normal_form_is_said(self):
        model = fixtures.path("composes")
        fixtures.cli("init", "-o", model, "--family", "gpt2", "--n-layer", "1", "--n-head", "2", "--d-model", "8", "--n-ctx", "64", "--vocab-size", "1200")
        shutil.copy("tests/golden/tokenizers/qwen-like/tokenizer.json", model)
        self.open("composes", "-m", model, "-s", "a naïve text")
        self.assertIn("its normal form (NFC)", browser.value("$('live-note').textContent"))
        for text in ["an élan", "注意力机制：它看哪里？", "ひらがな カタカナ 한국어", "Ελλάδα кириллица"]:
            self.assertEqual(self.ask(text=text), ["", browser.value("$('live-says').textContent")])
            told = json.loads(self.said("-m", model, "-s", text, "--show", "tokens", "--format", "json"))["tokens"]
            self.assertEqual(browser.value("live.answer.tokens.map((t) => [t.id, t.start, t.end])"), [[t["id"], t["start"], t["end"]] for t in told])
        for text in ["e\u0301lan", "か\u3099", "\u1100\u1161", "\uf900"]:           # as they are they are no normal form
            self.assertIn("their normal form (NFC)", self.ask(text=text)[1])

    def test_no_two_scripts_share_a_name(self):
        self.open("names", "-m", "life", "-s", "Life is short")
        names = browser.run("""return [...document.scripts].flatMap((s) => [...s.textContent.matchAll(/^(?:async )?(?:function\\*?|class) +([\\w$]+)/gm)])
            .map((m) => m[1]);""")
        self.assertGreater(len(names), 200)
        self.assertEqual([n for n in set(names) if names.count(n) > 1], [])

    def test_every_built_in_model_has_the_programs_bits(self):
        for model, ids in [("life", "0,4,5,1,2,3"), ("life-4-heads", "0,4,5,1"), ("life-full", "5,4,3"), ("journey", "0,1,2,3,4,5"),
                           ("journey-causal", "5,3,1"), ("journey-multi-head", "2,0,4"), ("stacked", "3,10,6,2,9"), ("induction", "3,10,6,3"),
                           ("tiny", "300,12,8000,45,300,12,77,1,2")]:
            with self.subTest(model):
                self.check_bits(model, model, "--ids", ids)

    def test_every_kind_of_attention_has_the_programs_bits(self):
        ids = ",".join(str((7 * i + 3) % 11) for i in range(21))
        for model in ["stacked", "tests/golden/checkpoints/bloom-a", "tests/golden/checkpoints/gemma2-a"]:
            for kind in KINDS:
                with self.subTest(model + " " + kind):
                    self.check_bits(model.replace("/", "-") + kind, model, "--ids", ids, "--attention", kind)
        self.check_bits("dropped", "stacked", "--ids", ids, "--dropout", "0.3", "--seed", "7", "--scale", "0.25")

    def test_new_rows_alone_have_the_same_bits(self):
        self.open("rows", "-m", "tiny", "-s", LILY)
        self.assertEqual(browser.run("""const s = live.session, ids = page.queries.map((t) => t.id), keep = (act) => act !== "attn.dots";
            const run = (ids, before) => finishAll(new Pass(s.w, ids, { keep, before }).run()), whole = run(ids), half = run(ids.slice(0, 5));
            const more = run(ids, half), bits = (a) => new Uint32Array(a.data.buffer, a.data.byteOffset, a.data.length);
            const differ = [...whole.acts.keys()].filter((name) => {
                const [x, y] = [bits(whole.acts.get(name)), bits(more.acts.get(name))];
                return x.length !== y.length || x.some((b, i) => b !== y[i]);
            });
            return [more.first, differ];"""), [5, []])

    # ---- what one does

    def test_typing_shows_what_the_command_shows(self):
        self.open("type", "-m", "tiny", "-s", "Lily lost her red ball")
        self.type("Tom saw a big dog in the")
        text = json.loads(self.said("-m", "tiny", "-s", "Tom saw a big dog in the", "--show", "pattern,logits", "--format", "json"))
        self.assertEqual(browser.value("page.queries.map((t) => t.id)"), text["ids"] if "ids" in text else [t["id"] for t in text["tokens"]])
        rows = fixtures.path("typed")
        subprocess.run([CLI, "run", "-m", "tiny", "-s", "Tom saw a big dog in the", "--show", "pattern", "--format", "npy", "-o", rows], check=True,
                       env=GENERIC, capture_output=True)
        for layer in range(6):
            raw = numbers(array(os.path.join(rows, f"blocks.{layer}.attn.pattern.npy")))
            shown = browser.run(f"return [0, 1, 2, 3].flatMap((h) => [...sheetAt('attn.pattern', {layer}).matrix(h).data])")
            self.assertEqual(tuple(shown), raw)
        self.assertEqual(browser.value("$('sentence').textContent"), "Tom saw a big dog in the")
        self.assertIn("7 tokens", browser.value("$('about').textContent"))

    def test_the_line_above_what_comes_next_is_of_what_is_shown(self):
        said = "[$('next-after').textContent, page.queries.at(-1).text]"
        self.open("after", "-m", "tiny", "-s", LILY)
        first = browser.value("$('next-after').textContent")
        self.assertEqual(first, "After “·ball” the model expects")
        self.type("Lily lost her red")
        self.assertEqual(browser.value(said), ["After “·red” the model expects", " red"])
        self.ask(edits="L0H1 = 0")
        self.assertRegex(browser.value("$('next-after').textContent"), r"^What the model expects, as it is and with the changes\. KL.*nats\.$")
        self.ask(edits="")
        self.assertEqual(browser.value(said), ["After “·red” the model expects", " red"])
        self.ask(off=["1,1"])
        browser.run("location.hash = '#text=Tom%20saw'")                # a link says all that is asked
        self.assertTrue(browser.until("live.answer.asked.text === 'Tom saw'"))
        self.assertEqual(browser.value("[live.asked.off, $('next-after').textContent]"), [[], "After “·saw” the model expects"])

    def test_what_is_read_and_where_it_comes_from_have_the_same_digits(self):
        self.open("digits", "-m", "tiny", "-s", LILY, at="#layer=1&head=3")
        for text in [None, "Lily lost her red ball. She"]:
            if text:
                self.type(text)
            for r, c in [(4, 2), (5, 0), (5, 4)]:
                browser.run(f"heat.point({r}, {c}); heat.onPick({r})")
                read = browser.value("$('value').querySelector('b').textContent")
                self.assertLessEqual(len(re.sub(r"e.*|^0\.0*|[.−]", "", read)), 6)
                title, *_, last = browser.value("[...$('derivation').querySelectorAll('p')].filter((p) => !p.children.length || p.children[0].tagName === 'B').map((p) => p.textContent)")
                self.assertTrue(title.endswith(": " + read), title)
                self.assertTrue(last.endswith("= " + read), last)

    def test_heads_are_switched_off_and_on(self):
        self.open("off", "-m", "tiny", "-s", LILY, at="#layer=3&head=0")
        browser.click("#live-head")
        self.assertTrue(browser.until("live.answer.edited"))
        self.check_compare()
        self.assertEqual(browser.value("$('live-head').textContent"), "Switch head 0 of layer 3 on")
        browser.click("#live-layer")
        self.assertTrue(browser.until("live.answer.asked.off.length === 4"))
        self.check_compare()
        browser.click("#live-clicks")
        browser.click("#heads button[aria-label^='layer 1, head 2']")
        self.assertTrue(browser.until("live.asked.off.includes('1,2') && state.layer === 1"))
        browser.click("#live-all")
        self.assertTrue(browser.until("!live.answer.edited && $('live-both').hidden"))

    def test_edits_are_those_of_the_command(self):
        self.open("edits", "-m", "tiny", "-s", LILY)
        for edits in ["L2H0-1[pos=-1] *= 0.5", "L0.pattern = uniform", "L0H1.scores[key=0] = -inf", "L2.attn.q[head=1] += noise(0.1,7)",
                      "L1.mlp.out -= mean(text(\"Tom saw a dog\"))", "L3.resid_post[pos=-1] = text(\"Tom saw a big dog\")",
                      "L1.attn.k -= proj(ids(5,6,7,8,9,10,11,12,13,14,15,16,17,18))", "L4N3,7-9 = 0\nblocks.*.attn.out[pos=\" her\"] *= 2",
                      "logits[col=5] += 3", "dots[key=1] += 1"]:
            with self.subTest(edits):
                self.assertEqual(self.ask(edits=edits)[0], "", edits)
                self.check_compare()

    def check_edits(self, edits):
        """Each is done, or refused with the sentence of the command."""
        for edit in edits:
            with self.subTest(edit):
                said = subprocess.run([CLI, "run", "-m", "tiny", "-s", LILY, "--show", "tokens", "--edit", edit.strip()], capture_output=True)
                got = self.ask(edits=edit)
                if not re.search("a page reads none|this page has no other text", got[1]):      # files, and --from
                    first = said.stderr.decode().split("\n")[0].removeprefix("attn-cli run: ")
                    self.assertEqual(got if said.returncode else got[:1], ["wrong", first] if said.returncode else [""])

    def test_wrong_edits_say_what_the_command_says(self):
        self.open("wrong", "-m", "tiny", "-s", LILY)
        self.check_edits(WRONG)
        self.assertIn("a page reads none", self.ask(edits="L0H1 = vector.npy")[1])
        self.assertIn("no other text", self.ask(edits="L0H1 = from")[1])
        self.assertEqual(self.ask(edits="")[0], "")

    def test_slips_of_the_hand_are_read_as_the_command_reads_them(self):
        """Edits with a letter or two left out, put in or swapped."""
        self.open("slips", "-m", "tiny", "-s", LILY)
        hand, edits = random.Random(1), []
        while len(edits) < 120:
            edit = list(hand.choice(RIGHT))
            for _ in range(hand.randint(1, 2)):
                at = hand.randrange(1, len(edit))
                edit[at - 1:at + 1] = hand.choice([edit[at:at + 1], edit[at - 1:at + 1][::-1],
                                                   edit[at - 1:at + 1] + [hand.choice('abLHN0129.,[]()="*-+ _?')]])
            edits.append("".join(edit))
        self.check_edits([e for e in edits if e.strip()[:1] not in ("", "#")])

    def test_a_weight_is_explained_and_changed(self):
        self.open("weight", "-m", "tiny", "-s", LILY, at="#layer=1&head=3")
        browser.run("heat.point(4, 2); heat.onPick(4)")
        self.assertIn("q·k = ", browser.value("$('derivation').textContent"))
        browser.run("$('live-weight').value = 0.6; $('live-set').click()")
        self.assertTrue(browser.until("live.answer.edited"))
        row = browser.value("[...sheetAt('attn.pattern', 1).matrix(3).data.subarray(4 * page.queries.length, 4 * page.queries.length + 5)]")
        self.assertAlmostEqual(row[2], 0.6, delta=1e-7)         # to float32
        self.assertIn("what is done to weights afterwards makes it 0.6", browser.value("$('derivation').textContent"))
        self.assertAlmostEqual(sum(row), 1, delta=1e-6)
        self.check_compare()

    def test_tokens_are_appended_and_written(self):
        self.open("write", "-m", "tiny", "-s", "Tom and Lily went to the park. Tom gave the ball to")
        first = browser.value("page.next[0].text")
        browser.click("#next-list li button")
        self.assertTrue(browser.until("live.answer.asked.text.endsWith(arguments[0])".replace("arguments[0]", json.dumps(first))))
        for temperature, seed in [("0", "0"), ("0.8", "7")]:
            self.ask(text="Once upon a time")
            browser.run("$('live-count').value = 8; $('live-temperature').value = arguments[0]; $('live-seed').value = arguments[1]; write()", temperature, seed)
            self.assertTrue(browser.until("!live.writing && live.answer.tokens.length > 5"))
            written = subprocess.run([CLI, "generate", "-m", "tiny", "-s", "Once upon a time", "-n", "8", "--temperature", temperature, "--seed", seed],
                                     check=True, capture_output=True, env=GENERIC).stdout.decode()
            self.assertEqual(browser.value("live.asked.text"), written.rstrip("\n"))

    def test_kinds_and_scales(self):
        self.open("kinds", "-m", "stacked", "-s", "Who turned off the lamp?")
        for attention, scale in [("window:2", ""), ("full", "none"), ("model", "0.5")]:
            self.assertEqual(self.ask(attention=attention, scale=scale)[0], "")
            browser.run("$('live-command').click()")
            command = browser.value("$('live-out').textContent")
            out = fixtures.path("kind" + attention.replace(":", "") + scale)
            subprocess.run(["bash", "-c", command.replace("attn-cli", CLI, 1) + f" --show pattern --format npy -o {out}"], check=True, env=GENERIC,
                           capture_output=True)
            raw = numbers(array(os.path.join(out, "blocks.1.attn.pattern.npy")))
            self.assertEqual(tuple(browser.value("[0, 1, 2, 3].flatMap((h) => [...sheetAt('attn.pattern', 1).matrix(h).data])")), raw)
        self.assertEqual(self.ask(attention="windy")[0], "wrong")

    def test_a_pinned_sentence_stands_beside_this_one(self):
        self.open("pin", "-m", "tiny", "-s", "Lily lost her red ball")
        browser.click("#live-pin")
        self.type("Lily lost her big ball")
        differ = browser.value("[...pinnedMaps.minus.shade.m.data]")
        self.assertEqual(len(differ), 25)
        self.assertEqual(differ[:15], [0] * 15)         # what comes before the changed word is the same
        self.assertTrue(any(differ[15:]))
        browser.click("#live-pin")
        self.assertTrue(browser.value("$('pinned').hidden"))

    def test_a_link_keeps_what_was_asked(self):
        self.open("link", "-m", "tiny", "-s", "Lily lost her red ball")
        self.ask(text="Tom saw a dog & a cat", off=["3,0", "1,2"], edits="L0.mlp.out *= 0.5", attention="window:4")
        browser.run("$('live-link').click()")
        link, shown = browser.value("[$('live-out').textContent, page.next.map((t) => [t.id, t.p])]")
        browser.post("/url", url="about:blank")
        browser.open(link.removeprefix("file://"))
        self.assertTrue(browser.until("live.ready && live.answer?.edited"))
        self.assertEqual(browser.value("page.next.map((t) => [t.id, t.p])"), shown)
        self.assertEqual(sorted(browser.value("live.asked.off")), ["1,2", "3,0"])

    def test_the_lens_follows_when_its_tab_is_open(self):
        self.open("lens", "-m", "tiny", "-s", "Lily lost her red ball", "--show", "pattern,lens", at="#tab=lens")
        self.type("Tom saw a big dog")
        self.assertTrue(browser.until("live.lensOf === live.answer"))
        last = browser.value("page.lens.at(-1).at.at(-1).map((t) => [t.id, t.p])")
        self.assertEqual(last, browser.value("page.next.map((t) => [t.id, t.p])"))
        self.assertEqual(browser.value("$('lens-body').querySelectorAll('thead th').length"), 6)
        browser.click("#tab-attention")             # and comes when it is opened after another text was typed
        self.type("Tom saw")
        browser.click("#tab-lens")
        self.assertTrue(browser.until("live.lensOf === live.answer"))
        self.assertEqual(browser.value("$('lens-body').querySelectorAll('thead th').length"), 3)
        self.assertEqual(browser.value("page.lens.at(-1).at.at(-1).map((t) => [t.id, t.p])"), browser.value("page.next.map((t) => [t.id, t.p])"))
        self.assertTrue(browser.value("$('live-progress').hidden"))
        browser.run("change({ palette: 'magma' })")
        self.assertEqual(browser.value("$('lens-body').querySelectorAll('thead th').length"), 3)

    def test_the_ranking_follows(self):
        self.open("ranking", "-m", "tiny", "-s", "Lily lost her red ball")
        text = "Tom saw Lily and Lily saw Tom and Tom ran"
        self.type(text)
        for off in [[], ["1,1", "2,3"]]:
            self.ask(off=off)
            edits = [arg for key in off for arg in ("--edit", f"L{key.replace(',', 'H')} = 0")]
            rows = csv.DictReader(io.StringIO(subprocess.run([CLI, "heads", "-m", "tiny", "-s", text, *edits, "--format", "csv"], check=True,
                                                             capture_output=True, env=GENERIC).stdout.decode()))
            want = {(int(row["layer"]), int(row["head"])): row for row in rows}
            got = browser.value("ranking.ranks.map((r) => [r.layer, r.head, r.shares, SHARES[r.most]?.name ?? null])")
            self.assertEqual(len(got), 24)
            for layer, head, shares, most in got:
                row = want[layer, head]
                for name, share in zip(browser.value("SHARES.map((s) => s.name)"), shares):
                    self.assertAlmostEqual(share, float(row[name]), delta=1e-12)       # other orders of double additions
                self.assertEqual(most, row["label"] or None)
            self.assertFalse(browser.value("$('ranking').hidden"))
            self.assertEqual(browser.value("$('ranking-body').querySelectorAll('tbody tr').length"), 24)
        self.ask(off=[], edits="L0.pattern -= 1")                       # no shares of anything
        self.assertTrue(browser.value("$('ranking').hidden"))
        self.ask(text="Lily", edits="")
        self.assertFalse(browser.value("$('ranking').hidden"))

    def test_how_much_each_head_matters(self):
        self.open("matter", "-m", "tiny", "-s", "Lily lost her red ball")
        text = "Tom and Lily went to the park. Tom gave the ball to"
        for off in [[], ["3,0"]]:
            self.ask(text=text, off=off)
            self.assertEqual(browser.value("document.querySelectorAll('.kl').length"), 0)
            browser.click("#live-each")
            self.assertTrue(any(browser.until("Boolean(matters())") for _ in range(5)))
            edits = [arg for key in off for arg in ("--edit", f"L{key.replace(',', 'H')} = 0")]
            rows = csv.DictReader(io.StringIO(self.said("-m", "tiny", "-s", text, *edits, "--ablations", "--format", "csv")))
            want = {f"{row['layer']},{row['head']}": float(row["kl"]) for row in rows}
            got = dict(browser.value("[...live.matter.kl]"))
            self.assertEqual(set(got), set(want) - set(off))
            for key, kl in got.items():
                self.assertAlmostEqual(kl, want[key], delta=1e-6 + 1e-4 * want[key])       # sums of float32 logits in another order
            worst = max(got, key=got.get)
            self.assertIn("({})".format("L" + worst.replace(",", "H")), browser.value("$('live-matter').textContent"))
            self.assertEqual(browser.value("document.querySelectorAll('.kl').length"), len(got))
            self.assertEqual(browser.value("[...$('live-most').querySelectorAll('span')].map((e) => e.textContent)"),
                             ["L" + key.replace(",", "H") for key in sorted(got, key=got.get, reverse=True)[:6]])
            self.assertIn("KL ", browser.value(f"overview.buttons.get('{worst}').ariaLabel"))

    def test_what_a_head_does_is_said_where_it_stands(self):
        self.open("here", "-m", "tiny", "-s", LILY, at="#layer=2&head=1")
        self.assertEqual(browser.value("[$('live-here').textContent, $('live-here-says').textContent, $('live-head').textContent]"),
                         ["Switch it off", "", "Switch head 1 of layer 2 off"])
        browser.click("#live-here")
        self.assertTrue(browser.until("live.answer.edited"))
        compare = self.compare()
        said = browser.value("$('live-here-says').textContent")
        for side, word in [("after", "Next: "), ("before", "as the model is ")]:
            best = compare[side][0]
            self.assertIn(f"{word}“{best['text'].replace(' ', '·')}” {100 * best['probability']:.2f} %", said)
        self.assertEqual(browser.value("[$('live-here').textContent, $('live-here').ariaPressed]"), ["Switch it on", "true"])
        browser.click("#live-here")
        self.assertTrue(browser.until("!live.answer.edited && $('live-here-says').textContent === ''"))

    def test_what_is_known_without_heads_goes_with_the_first_text(self):
        self.open("both", "-m", "tiny", "-s", "Lily lost her red ball", "--ablations", "--show", "pattern")
        self.assertEqual(browser.value("[$('without-line').offsetHeight, $('without-hint').hidden, document.querySelectorAll('.kl').length]"), [0, False, 24])
        self.type("Tom saw a dog")
        self.assertEqual(browser.value("[$('without-hint').hidden, document.querySelectorAll('.kl').length]"), [True, 0])
        browser.click("#live-each")
        self.assertTrue(any(browser.until("Boolean(matters())") for _ in range(5)))
        self.assertEqual(browser.value("document.querySelectorAll('.kl').length"), 24)

    def test_heads_that_differ_from_a_pinned_sentence(self):
        self.open("differ", "-m", "tiny", "-s", "Lily lost her red ball")
        browser.click("#live-pin")
        self.type("Lily lost her big ball")
        most = {}
        for name, text in [("a", "Lily lost her red ball"), ("b", "Lily lost her big ball")]:
            out = fixtures.path("differ-" + name)
            subprocess.run([CLI, "run", "-m", "tiny", "-s", text, "--show", "pattern", "--format", "npy", "-o", out], check=True, env=GENERIC, capture_output=True)
            for layer in range(6):
                most[name, layer] = numbers(array(os.path.join(out, f"blocks.{layer}.attn.pattern.npy")))
        want = sorted(((max(abs(x - y) for x, y in zip(most["a", l][25 * h:25 * h + 25], most["b", l][25 * h:25 * h + 25])), f"L{l}H{h}")
                       for l in range(6) for h in range(4)), reverse=True)
        shown = browser.value("[...$('differing-list').querySelectorAll('button')].map((b) => [b.children[0].textContent, b.children[1].textContent])")
        self.assertEqual([name for name, _ in shown], [name for _, name in want[:6]])
        self.assertAlmostEqual(float(shown[0][1]), want[0][0], delta=6e-4)
        browser.click("#differing-list li:nth-child(2) button")
        self.assertEqual(browser.value("`L${state.layer}H${state.head}`"), want[1][1])

    # ---- bad input

    def test_what_cannot_be_is_a_sentence(self):
        self.open("bad", "-m", "life", "-s", "Life is short")
        self.assertEqual(self.ask(text="Life is blue")[0], "wrong")
        self.assertIn("unknown word “blue”", browser.value("$('live-says').textContent"))
        self.assertEqual(browser.value("page.queries.length"), 3)       # what was there stays
        self.assertIn("There is no text", self.ask(text="  ")[1])
        self.assertEqual(self.ask(text="eat dessert first")[0], "")
        self.open("long", "-m", "tiny", "-s", "Lily lost her red ball")
        self.assertIn("the model reads 256 at most", self.ask(text="Lily " * 300)[1])
        self.assertEqual(self.ask(text="Lily lost 日本語 \u202e")[0], "")
        browser.run("window.answered = false; ask({ text: 'Lily \\ud800' }).then(() => { window.answered = true; })")
        self.assertTrue(browser.until("window.answered && live.answer.tokens.length > 1"))

    def test_without_decompression_the_page_shows_and_says_so(self):
        self.open("plain", "-m", "life", "-s", "Life is short")
        browser.devtools("Page.enable")
        script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")["identifier"]
        browser.open(self.page)
        self.assertTrue(browser.until("$('live-says').className === 'wrong'"))
        self.assertIn("DecompressionStream", browser.value("$('live-says').textContent"))
        self.assertTrue(browser.value("$('live-controls').disabled && $('matrix').querySelector('canvas').width === 3"))
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def test_ids_alone(self):
        self.open("ids", "-m", "tests/golden/checkpoints/gpt2-a", "--ids", "1,2,3")
        self.assertEqual(self.ask(text="4,5,6,7")[0], "")
        self.assertEqual(browser.value("page.queries.length"), 4)
        self.assertIn("is no id", self.ask(text="4,x")[1])
        self.assertIn("The model has ids 0 to", self.ask(text="4,99999")[1])

    def test_a_page_that_cannot_compute_offers_nothing_to_compute(self):
        """Its tokenizer has special tokens alone, which nobody can type."""
        words, folder = ["Life", "is"], fixtures.path("special")
        vocab = fixtures.path("special.json")
        with open(vocab, "w") as f:
            json.dump({w: i for i, w in enumerate(words)}, f)
        subprocess.run([CLI, "init", "-q", "-o", folder, "--family", "gpt2", "--vocab", vocab, "--n-layer", "1", "--n-head", "2",
                        "--d-model", "8", "--n-ctx", "8"], check=True, capture_output=True)
        absent = dict.fromkeys(["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"])
        added = [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                 for i, w in enumerate(words)]
        bpe = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
               "fuse_unk": False, "byte_fallback": False, "vocab": {w: i for i, w in enumerate(words)}, "merges": []}
        with open(os.path.join(folder, "tokenizer.json"), "w") as f:
            json.dump({"version": "1.0", **absent, "added_tokens": added, "model": bpe}, f)
        self.open("special", "-m", folder, "-s", "Lifeis", "--special", ready=False)
        self.assertTrue(browser.until("$('live-says').className === 'wrong'"))
        self.assertEqual(browser.value("[...document.querySelectorAll('#live-controls, #live-each, #live-here')].map((e) => e.disabled)"), [True, True, True])

    def test_a_model_that_is_too_large_is_refused(self):
        path = fixtures.path("large")
        fixtures.cli("init", "-o", path, "--family", "gpt2", "--n-layer", "2", "--n-head", "4", "--d-model", "1024", "--n-ctx", "16", "--vocab-size", "300")
        said = subprocess.run([CLI, "run", "-m", path, "--ids", "1,2", "--live", "-o", fixtures.path("large.html")], capture_output=True)
        self.assertEqual(said.returncode, 2)
        self.assertIn("more than 64 MB of weights", said.stderr.decode())
        self.assertFalse(os.path.exists(fixtures.path("large.html")))

    def test_what_no_page_computes_is_refused(self):
        for args, why in [(["--cross", "eat dessert"], "--live with --cross"), (["--gradient", "loss"], "--live"), (["--compute", "bf16"], "--compute bf16"),
                          (["--format", "json"], "only --format html"), (["--metric", "loss"], "only --format html"), (["--dry-run"], "--live")]:
            out = [] if "--format" in args or "--metric" in args or "--dry-run" in args else ["-o", fixtures.path("never.html")]
            said = subprocess.run([CLI, "run", "-m", "tiny", "-s", LILY, "--live", *args, *out], capture_output=True)
            self.assertEqual(said.returncode, 2, args)
            self.assertIn(why, said.stderr.decode())
            self.assertFalse(os.path.exists(fixtures.path("never.html")))

    # ---- everyone

    def test_keyboard_alone(self):
        self.open("keys", "-m", "tiny", "-s", "Lily lost her")
        browser.run("$('live-text').focus(); $('live-text').setSelectionRange(99, 99)")
        browser.press(*" red")
        self.assertTrue(browser.until("live.answer.tokens.length === 4"))
        browser.press("Tab")
        self.assertEqual(browser.value("document.activeElement.id"), "live-head")
        browser.press("Enter")
        self.assertTrue(browser.until("live.answer.edited"))
        self.assertEqual(browser.value("[...document.querySelectorAll('#live button, #live input, #live textarea')].filter((e) => "
                                       "!(e.labels?.length || e.ariaLabel || e.textContent.trim())).map((e) => e.id)"), [])
        self.assertEqual(browser.value("$('live-says').getAttribute('role')"), "status")

    def test_a_finger_on_a_phone(self):
        browser.resize(390, 800)
        browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            self.open("phone", "-m", "tiny", "-s", "Lily lost her red ball")
            for theme in ["light", "dark"]:
                browser.theme(theme)
                self.assertLessEqual(browser.value("document.documentElement.scrollWidth"), 390)
            browser.run("$('live-head').scrollIntoView({ block: 'center' })")
            box = browser.run("return $('live-head').getBoundingClientRect().toJSON()")
            at = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]
            browser.devtools("Input.dispatchTouchEvent", type="touchStart", touchPoints=at)
            browser.devtools("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.assertTrue(browser.until("live.answer.edited"))
        finally:
            browser.devtools("Emulation.setTouchEmulationEnabled", enabled=False)

    def test_memory_is_stable(self):
        self.open("memory", "-m", "tiny", "-s", "Lily lost her red ball")
        def keystrokes(n):
            for i in range(n):
                self.type("Lily lost her red ball in the park. " + "Tom saw a dog and a cat"[:i % 24])
            for _ in range(2):
                browser.devtools("HeapProfiler.collectGarbage")
                time.sleep(0.5)
            return renderer_bytes()
        before = keystrokes(60)
        after = keystrokes(300)
        self.assertLess(after, before + 24e6)           # one answer of this length takes some 3 MB

    def test_nothing_stays_english(self):
        """But what is wrong with an edit, which says what the command says."""
        self.open("zh", "-m", "tiny", "-s", LILY, "--show", "pattern,context,lens", "--lang", "zh")
        found, names = set(), {"pos"}

        def look():
            found.update(fixtures.english(browser, names))

        look()
        self.ask(off=["1,0", "1,1", "1,2", "1,3"])
        browser.run("change({ layer: 1, head: 2 })")
        look()
        self.ask(off=[], edits="L0H1 *= 0.5")
        browser.run("heat.point(3, 1); heat.onPick(3)")
        look()
        browser.run("heat.point(1, 3); heat.onPick(1)")
        look()
        browser.run("pin()")
        self.ask(text="Lily saw a dog")
        look()
        browser.run("tryEach().then(() => { window.tried = true; })")
        self.assertTrue(browser.until("window.tried"))
        look()
        browser.run("change({ tab: 'lens' })")
        self.assertTrue(browser.until("live.lensOf === live.answer"))
        look()
        self.assertEqual(self.ask(text=""), ["wrong", "没有文本：请输入几个词"])
        self.ask(text="Lily saw")
        self.ask(attention="linear")
        browser.run("change({ tab: 'attention' }); heat.point(1, 0); heat.onPick(1)")
        look()
        self.assertEqual(found, set())
        self.assertEqual(self.ask(edits="L9H0 = 0")[0], "wrong")
        self.assertIn("layer 9 is not there", browser.value("$('live-says').textContent"))
        self.open("zh-words", "-m", "life", "-s", "Life is short", "--lang", "zh")
        self.assertEqual(self.ask(text="Life was short"), ["wrong", "文本第 5 字节处有不认识的词“was”：模型有 6 个词：“Life” “dessert” “eat” “first” “is” “short”"])

    def test_other_pages_are_as_they_were(self):
        self.open("life", "-s", "Life is short", "-m", "life")
        with open(self.page, encoding="utf-8") as f:
            live = f.read()
        fixtures.cli("run", "-m", "life", "-s", "Life is short", "-o", self.page)
        with open(self.page, encoding="utf-8") as f:
            plain = f.read()
        self.assertTrue("class Pass" in live and 'id="packed"' in live)
        self.assertFalse("class Pass" in plain or 'id="packed"' in plain)


def times():
    """Prints how long one keystroke takes, in the page: the whole text anew, one word appended, and with a head off."""
    setUpModule()
    try:
        big = fixtures.path("big")
        fixtures.cli("init", "-o", big, "--family", "gpt2", "--n-layer", "8", "--n-head", "6", "--d-model", "288", "--n-ctx", "128", "--vocab-size", "300")
        for model in ["tiny", big]:
            page = fixtures.path("times.html")
            subprocess.run([CLI, "run", "-m", model, "--ids", "1,2,3", "--live", "-o", page], check=True)
            browser.open(page)
            browser.until("live.ready")
            for n in [8, 16, 64]:
                print(os.path.basename(model), n, "tokens:", browser.run("""const s = live.session, ids = Array.from({ length: arguments[0] }, (_, i) => 7 * i % 290);
                    const time = (f) => { const all = []; for (let i = 0; i < 4; i++) { const t = performance.now(); f(i); all.push(performance.now() - t); }
                                          return Math.min(...all).toFixed(1) + " ms"; };
                    const pass = (ids, o) => finishAll(new Pass(s.w, ids, { keep: s.keep, ...o }).run()), asked = { ...s.begun, text: ids.join(",") };
                    const before = pass(ids.slice(0, -1), {});
                    return `one run ${time(() => pass(ids, {}))}, one token more ${time(() => pass(ids, { before }))}, before and after without a head ` +
                        time((i) => { s.last = {}; finishAll(s.answer({ ...asked, off: [`0,${i % 4}`] })); });""", n))
    finally:
        tearDownModule()


if __name__ == "__main__":
    if sys.argv[1:] == ["times"]:
        times()
    else:
        unittest.main(verbosity=1)
