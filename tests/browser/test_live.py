"""Tests the page that computes in a real browser: it does what one asks of it, and shows what the program says.

That its engine computes the program's bits, of every family, kind and edit, is tested without a browser (tests/engine).
`test_live.py times [CLI ...]` prints how long keys take, in pages of these programs in turn."""
import base64
import csv
import glob
import io
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest

from driver import Browser
from fixtures import CLI, LILY, Fixtures

# Every activation of the text, in the order of the program's arrays, as base64.
ALL = """const s = live.session, question = { ...questionOf(live.asked), keep: s.activations.filter((a) => a.has && !a.derived).map((a) => a.name) };
return s.engine.ask(question).then(({ answer, arrays }) => Object.fromEntries(answer.sheets.map((sheet) => {
    const bytes = new Uint8Array(arrays[sheet.array].buffer);
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192)
        text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return [sheet.name, btoa(text)];
})));"""
WRONG = ["L9H0 = 0", "L1H2 =", "H2 = 0", "L0.foo = 1", "L0H1 = noise(1)", "L0.contxt = 0", "L0H0[pos=\"Her\"] = 0",
         "L0H9*=1e-7",
         "L0H1 = ids(99999)", "L0H1 = text(\"\")", "L0H1 = mean(foo)", "L0H1[pos=\"abc] = 0", "L0H1 = \"" + "y" * 90]
NEXT = "[...$('{}').children].map((e) => [e.children[0].textContent, e.children[1].textContent])"


def setUpModule():
    global fixtures, browser
    fixtures = Fixtures()
    browser = Browser()


def tearDownModule():
    browser.close()
    fixtures.remove()


def numbers(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def array(path):
    with open(path, "rb") as f:
        raw = f.read()
    return raw[10 + struct.unpack_from("<H", raw, 8)[0]:]


def same_bits(a, b):
    """NaN's payload apart."""
    return a == b or (len(a) == len(b) and
                      all(a[i:i + 4] == b[i:i + 4] or all(map(math.isnan, numbers(a[i:i + 4]) + numbers(b[i:i + 4])))
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
        asked = {re.sub("#.*", "", url) for url in browser.requests()}
        # blob: its own worker
        self.assertEqual({url for url in asked if not url.startswith("blob:")} - {"file://" + self.page}, set())

    def open(self, name, *args, at="", ready=True):
        self.page = fixtures.path(name + ".html")
        subprocess.run([CLI, "page", "-q", *args, "-o", self.page], check=True)
        browser.open(self.page + at)
        if ready:
            self.assertTrue(any(browser.until("live.ready") for _ in range(5)),
                            browser.value("$('live-says').textContent"))
            browser.run("bits.own = true")              # on a busy machine, too

    def ask(self, **what):
        browser.run("window.answered = false; ask(arguments[0]).then(() => { window.answered = true; })", what)
        self.assertTrue(any(browser.until("window.answered") for _ in range(5)))
        return browser.value("[$('live-says').className, $('live-says').textContent]")

    def type(self, text):
        browser.run("$('live-text').value = arguments[0]; $('live-text').dispatchEvent(new Event('input'))", text)
        there = "live.answer.asked.text === live.asked.text && $('live-text').value === live.asked.text && live.answer.tokens.length"
        self.assertTrue(any(browser.until(there) for _ in range(5)), browser.value("$('live-says').textContent"))

    def said(self, *args):
        return subprocess.run([CLI, "run", *args], check=True, capture_output=True).stdout.decode()

    def compare(self):
        """The likeliest tokens before and after, and KL, of the command that the page gives."""
        browser.click("#live-more summary") if not browser.value("$('live-more').open") else None
        browser.run("$('live-command').click()")
        command = browser.value("$('live-out').textContent")
        out = subprocess.run(["bash", "-c", command.replace("attn-cli", CLI, 1) + " --show tokens --format json"],
                             check=True, capture_output=True).stdout
        return json.loads(out)["compare"]

    def check_compare(self):
        compare = self.compare()
        for side, key in [("live-before", "before"), ("live-after", "after")]:
            shown = browser.value(NEXT.format(side))
            self.assertEqual([p for _, p in shown], [f"{100 * t['probability']:.2f} %" for t in compare[key]])
        self.assertAlmostEqual(browser.value("live.answer.kl"), compare["kl"], delta=1e-9)     # sums in another order

    # ---- bits

    def check_bits(self, name, model, *args):
        self.open("bits", "-m", model, *args)
        out = fixtures.path("bits-" + name)
        subprocess.run([CLI, "run", "-m", model, *args, "--show", "*", "--format", "npy", "-o", out], check=True,
                       capture_output=True)
        computed = browser.run(ALL)
        self.assertGreater(len(computed), 8)
        for activation, bits in computed.items():
            self.assertTrue(same_bits(base64.b64decode(bits), array(os.path.join(out, activation + ".npy"))),
                            f"{args}: {activation}")

    def test_the_numbers_have_the_programs_bits(self):
        self.check_bits("tiny", "tiny", "-s", LILY)
        self.check_bits("kind", "stacked", "-s", "Who turned off the lamp?", "--attention", "window:2", "--dropout",
                        "0.3", "--seed", "7", "--scale", "0.25")

    def test_a_text_in_another_normal_form(self):
        model = fixtures.path("composes")
        fixtures.cli("init", "-o", model, "--family", "gpt2", "--n-layer", "1", "--n-head", "2", "--d-model", "8",
                     "--n-ctx", "64", "--vocab-size", "1200")
        shutil.copy("tests/golden/tokenizers/qwen-like/tokenizer.json", model)
        self.open("composes", "-m", model, "-s", "a naïve text")
        for text in ["an élan", "注意力机制：它看哪里？", "e\u0301lan", "か\u3099", "\u1100\u1161", "\uf900"]:
            self.assertEqual(self.ask(text=text)[0], "")
            told = json.loads(self.said("-m", model, "-s", text, "--show", "tokens", "--format", "json"))["tokens"]
            self.assertEqual(browser.value("live.answer.tokens.map((t) => [t.id, t.start, t.end])"),
                             [[t["id"], t["start"], t["end"]] for t in told])

    def test_no_two_scripts_share_a_name(self):
        self.open("names", "-m", "life", "-s", "Life is short")
        names = browser.run("""return [...document.scripts].flatMap((s) => [...s.textContent.matchAll(/^(?:async )?(?:function\\*?|class) +([\\w$]+)/gm)])
            .map((m) => m[1]);""")
        self.assertGreater(len(names), 150)
        self.assertEqual([n for n in set(names) if names.count(n) > 1], [])

    # ---- what one does

    def test_typing_shows_what_the_command_shows(self):
        self.open("type", "-m", "tiny", "-s", "Lily lost her red ball")
        self.type("Tom saw a big dog in the")
        text = json.loads(self.said("-m", "tiny", "-s", "Tom saw a big dog in the", "--show", "pattern,logits",
                                    "--format", "json"))
        self.assertEqual(browser.value("page.queries.map((t) => t.id)"),
                         text["ids"] if "ids" in text else [t["id"] for t in text["tokens"]])
        rows = fixtures.path("typed")
        subprocess.run([CLI, "run", "-m", "tiny", "-s", "Tom saw a big dog in the", "--show", "pattern", "--format",
                        "npy", "-o", rows], check=True,
                       capture_output=True)
        for layer in range(6):
            raw = numbers(array(os.path.join(rows, f"blocks.{layer}.attn.pattern.npy")))
            shown = browser.run(f"return [0, 1, 2, 3].flatMap((h) => [...sheetAt('attn.pattern', "
                                f"{layer}).matrix(h).data])")
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
        self.assertRegex(browser.value("$('next-after').textContent"),
                         r"^What the model expects, as it is and with the changes\. KL.*nats\.$")
        self.ask(edits="")
        self.assertEqual(browser.value(said), ["After “·red” the model expects", " red"])
        self.ask(off=["1,1"])
        browser.run("location.hash = '#text=Tom%20saw'")                # a link says all that is asked
        self.assertTrue(browser.until("live.answer.asked.text === 'Tom saw'"))
        self.assertEqual(browser.value("[live.asked.off, $('next-after').textContent]"),
                         [[], "After “·saw” the model expects"])

    def test_what_is_read_and_where_it_comes_from_have_the_same_digits(self):
        self.open("digits", "-m", "tiny", "-s", LILY, at="#layer=1&head=3")
        for text in [None, "Lily lost her red ball. She"]:
            if text:
                self.type(text)
            for r, c in [(4, 2), (5, 0), (5, 4)]:
                browser.run(f"heat.point({r}, {c}); heat.onPick({r})")
                self.assertTrue(browser.until("explainsNow()"))
                read = browser.value("$('value').querySelector('b').textContent")
                self.assertLessEqual(len(re.sub(r"e.*|^0\.0*|[.−]", "", read)), 6)
                title, *_, last = browser.value("[...$('derivation').querySelectorAll('p')].filter((p) "
                                                "=> !p.children.length || p.children[0].tagName === 'B').map((p) => "
                                                "p.textContent)")
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
        for edits in ["L2H0-1[pos=-1] *= 0.5", "L0.pattern = uniform", "L0H1.scores[key=0] = -inf",
                      "L2.attn.q[head=1] += noise(0.1,7)",
                      "L1.mlp.out -= mean(text(\"Tom saw a dog\"))",
                      "L3.resid_post[pos=-1] = text(\"Tom saw a big dog\")",
                      "L1.attn.k -= proj(ids(5,6,7,8,9,10,11,12,13,14,15,16,17,18))",
                      "L4N3,7-9 = 0\nblocks.*.attn.out[pos=\" her\"] *= 2",
                      "logits[col=5] += 3", "dots[key=1] += 1"]:
            with self.subTest(edits):
                self.assertEqual(self.ask(edits=edits)[0], "", edits)
                self.check_compare()

    def check_edits(self, edits):
        """Each is done, or refused with the sentence of the command."""
        for edit in edits:
            with self.subTest(edit):
                said = subprocess.run([CLI, "run", "-m", "tiny", "-s", LILY, "--show", "tokens", "--edit",
                                       edit.strip()], capture_output=True)
                got = self.ask(edits=edit)
                first = said.stderr.decode().split("\n")[0].removeprefix("attn-cli run: ")
                self.assertEqual(got if said.returncode else got[:1], ["wrong", first] if said.returncode else [""])

    def test_wrong_edits_say_what_the_command_says(self):
        self.open("wrong", "-m", "tiny", "-s", LILY)
        self.check_edits(WRONG)
        self.assertEqual(self.ask(edits="")[0], "")

    def test_a_weight_is_explained_and_changed(self):
        self.open("weight", "-m", "tiny", "-s", LILY, at="#layer=1&head=3")
        browser.run("heat.point(4, 2); heat.onPick(4)")
        self.assertTrue(browser.until("explainsNow()"))
        self.assertIn("q·k = ", browser.value("$('derivation').textContent"))
        browser.run("$('live-weight').value = 0.6; $('live-set').click()")
        self.assertTrue(browser.until("live.answer.edited"))
        self.assertTrue(browser.until("explainsNow()"))
        row = browser.value("[...sheetAt('attn.pattern', 1).matrix(3).data.subarray(4 * page.queries.length, "
                            "4 * page.queries.length + 5)]")
        self.assertAlmostEqual(row[2], 0.6, delta=1e-7)         # to float32
        self.assertIn("what is done to weights afterwards makes it 0.6", browser.value("$('derivation').textContent"))
        self.assertAlmostEqual(sum(row), 1, delta=1e-6)
        self.check_compare()

    def test_tokens_are_appended_and_written(self):
        self.open("write", "-m", "tiny", "-s", "Tom and Lily went to the park. Tom gave the ball to")
        first = browser.value("page.next[0].text")
        browser.click("#next-list li button")
        self.assertTrue(
            browser.until("live.answer.asked.text.endsWith(arguments[0])".replace("arguments[0]", json.dumps(first))))
        for temperature, seed in [("0", "0"), ("0.8", "7")]:
            self.ask(text="Once upon a time")
            browser.run("$('live-count').value = 8; $('live-temperature').value = arguments[0]; "
                        "$('live-seed').value = arguments[1]; write()", temperature, seed)
            self.assertTrue(browser.until("!live.writing && live.answer.tokens.length > 5"))
            written = subprocess.run([CLI, "generate", "-m", "tiny", "-s", "Once upon a time", "-n", "8",
                                      "--temperature", temperature, "--seed", seed],
                                     check=True, capture_output=True).stdout.decode()
            self.assertEqual(browser.value("live.asked.text"), written.rstrip("\n"))

    def test_kinds_and_scales(self):
        self.open("kinds", "-m", "stacked", "-s", "Who turned off the lamp?")
        for attention, scale in [("window:2", ""), ("full", "none"), ("model", "0.5")]:
            self.assertEqual(self.ask(attention=attention, scale=scale)[0], "")
            browser.run("$('live-command').click()")
            command = browser.value("$('live-out').textContent")
            out = fixtures.path("kind" + attention.replace(":", "") + scale)
            subprocess.run(["bash", "-c",
                            command.replace("attn-cli", CLI, 1) + f" --show pattern --format npy -o {out}"], check=True,
                           capture_output=True)
            raw = numbers(array(os.path.join(out, "blocks.1.attn.pattern.npy")))
            self.assertEqual(tuple(browser.value("[0, 1, 2, 3].flatMap((h) => [...sheetAt('attn.pattern', "
                                                 "1).matrix(h).data])")), raw)
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
        self.assertEqual(browser.value("page.lens.at(-1).at.at(-1).map((t) => [t.id, t.p])"),
                         browser.value("page.next.map((t) => [t.id, t.p])"))
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
            rows = csv.DictReader(io.StringIO(subprocess.run([CLI, "heads", "-m", "tiny", "-s", text, *edits,
                                                              "--format", "csv"], check=True,
                                                             capture_output=True).stdout.decode()))
            want = {(int(row["layer"]), int(row["head"])): row for row in rows}
            self.assertTrue(browser.until("live.ranked === live.answer"))
            got = browser.value("ranking.ranks.map((r) => [r.layer, r.head, r.shares, SHARES[r.most]?.name ?? null])")
            self.assertEqual(len(got), 24)
            for layer, head, shares, most in got:
                row = want[layer, head]
                for name, share in zip(browser.value("SHARES.map((s) => s.name)"), shares):
                    # other orders of double additions
                    self.assertAlmostEqual(share, float(row[name]), delta=1e-12)
                self.assertEqual(most, row["label"] or None)
            self.assertFalse(browser.value("$('ranking').hidden"))
            self.assertEqual(browser.value("$('ranking-body').querySelectorAll('tbody tr').length"), 24)
        self.ask(off=[], edits="L0.pattern -= 1")                       # no shares of anything
        self.assertTrue(browser.until("live.ranked === live.answer"))
        self.assertTrue(browser.value("$('ranking').hidden"))
        self.ask(text="Lily", edits="")
        self.assertTrue(browser.until("live.ranked === live.answer"))
        self.assertFalse(browser.value("$('ranking').hidden"))
        self.assertNotIn("punctuation", browser.value("SHARES.map((s) => s.name)"))
        text = "Lily lost her ball. Tom saw it, and ran."               # a column that the first text had not
        self.ask(text=text)
        self.assertTrue(browser.until("live.ranked === live.answer"))
        rows = csv.DictReader(io.StringIO(subprocess.run([CLI, "heads", "-m", "tiny", "-s", text, "--format", "csv"],
                                                         check=True,
                                                         capture_output=True).stdout.decode()))
        at = browser.value("SHARES.findIndex((s) => s.name === 'punctuation')")
        shown = browser.value("ranking.ranks.map((r) => r.shares)")
        for row, shares in zip(rows, shown):
            self.assertAlmostEqual(shares[at], float(row["punctuation"]), delta=1e-12)

    def test_how_much_each_head_matters(self):
        self.open("matter", "-m", "tiny", "-s", "Lily lost her red ball")
        text = "Tom and Lily went to the park. Tom gave the ball to"
        for off in [[], ["3,0"]]:
            self.ask(text=text, off=off)
            self.assertEqual(browser.value("document.querySelectorAll('.kl').length"), 0)
            browser.click("#live-each")
            self.assertTrue(any(browser.until("Boolean(matters())") for _ in range(5)))
            edits = [arg for key in off for arg in ("--edit", f"L{key.replace(',', 'H')} = 0")]
            rows = csv.DictReader(io.StringIO(self.said("-m", "tiny", "-s", text, *edits, "--ablations",
                                                        "--format", "csv")))
            want = {f"{row['layer']},{row['head']}": float(row["kl"]) for row in rows}
            got = dict(browser.value("[...live.matter.kl]"))
            self.assertEqual(set(got), set(want) - set(off))
            for key, kl in got.items():
                # sums of float32 logits in another order
                self.assertAlmostEqual(kl, want[key], delta=1e-6 + 1e-4 * want[key])
            worst = max(got, key=got.get)
            self.assertIn("({})".format("L" + worst.replace(",", "H")), browser.value("$('live-matter').textContent"))
            self.assertEqual(browser.value("document.querySelectorAll('.kl').length"), len(got))
            self.assertEqual(browser.value("[...$('live-most').querySelectorAll('span')].map((e) => e.textContent)"),
                             ["L" + key.replace(",", "H") for key in sorted(got, key=got.get, reverse=True)[:6]])
            self.assertIn("KL ", browser.value(f"overview.buttons.get('{worst}').ariaLabel"))

    def test_what_a_head_does_is_said_where_it_stands(self):
        self.open("here", "-m", "tiny", "-s", LILY, at="#layer=2&head=1")
        self.assertEqual(browser.value("[$('live-here').textContent, $('live-here-says').textContent, "
                                       "$('live-head').textContent]"),
                         ["Switch it off", "", "Switch head 1 of layer 2 off"])
        browser.click("#live-here")
        self.assertTrue(browser.until("live.answer.edited"))
        compare = self.compare()
        said = browser.value("$('live-here-says').textContent")
        for side, word in [("after", "Next: "), ("before", "as the model is ")]:
            best = compare[side][0]
            self.assertIn(f"{word}“{best['text'].replace(' ', '·')}” {100 * best['probability']:.2f} %", said)
        self.assertEqual(browser.value("[$('live-here').textContent, $('live-here').ariaPressed]"),
                         ["Switch it on", "true"])
        browser.click("#live-here")
        self.assertTrue(browser.until("!live.answer.edited && $('live-here-says').textContent === ''"))

    def test_what_is_known_without_heads_goes_with_the_first_text(self):
        self.open("both", "-m", "tiny", "-s", "Lily lost her red ball", "--ablations", "--show", "pattern")
        self.assertEqual(browser.value("[$('without-line').offsetHeight, $('without-hint').hidden, "
                                       "document.querySelectorAll('.kl').length]"), [0, False, 24])
        self.type("Tom saw a dog")
        self.assertEqual(browser.value("[$('without-hint').hidden, document.querySelectorAll('.kl').length]"),
                         [True, 0])
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
            subprocess.run([CLI, "run", "-m", "tiny", "-s", text, "--show", "pattern", "--format", "npy", "-o", out],
                           check=True, capture_output=True)
            for layer in range(6):
                most[name, layer] = numbers(array(os.path.join(out, f"blocks.{layer}.attn.pattern.npy")))
        want = sorted(((max(abs(x - y) for x, y in zip(most["a", l][25 * h:25 * h + 25],
                                                       most["b", l][25 * h:25 * h + 25])), f"L{l}H{h}")
                       for l in range(6) for h in range(4)), reverse=True)
        shown = browser.value("[...$('differing-list').querySelectorAll('button')].map((b) => "
                              "[b.children[0].textContent, b.children[1].textContent])")
        self.assertEqual([name for name, _ in shown], [name for _, name in want[:6]])
        self.assertAlmostEqual(float(shown[0][1]), want[0][0], delta=6e-4)
        browser.click("#differing-list li:nth-child(2) button")
        self.assertEqual(browser.value("`L${state.layer}H${state.head}`"), want[1][1])

    # ---- bad input

    def test_what_cannot_be_is_a_sentence(self):
        self.open("bad", "-m", "life", "-s", "Life is short")
        self.assertEqual(self.ask(text="Life is blue")[0], "wrong")
        self.assertIn("blue", browser.value("$('live-says').textContent"))
        self.assertEqual(browser.value("page.queries.length"), 3)       # what was there stays
        self.assertIn("There is no text", self.ask(text="  ")[1])
        self.assertEqual(self.ask(text="eat dessert first")[0], "")
        self.open("long", "-m", "tiny", "-s", "Lily lost her red ball")
        said = subprocess.run([CLI, "run", "-m", "tiny", "-s", "Lily " * 300],
                              capture_output=True).stderr.decode().split("\n")[0]
        self.assertEqual(self.ask(text="Lily " * 300)[1], said.removeprefix("attn-cli run: "))
        self.assertEqual(self.ask(text="Lily lost 日本語 \u202e")[0], "")
        browser.run("window.answered = false; ask({ text: 'Lily \\ud800' }).then(() => { window.answered = true; })")
        self.assertTrue(browser.until("window.answered && live.answer.tokens.length > 1"))

    def test_without_decompression_the_page_shows_and_says_so(self):
        self.open("plain", "-m", "life", "-s", "Life is short")
        browser.devtools("Page.enable")
        script = browser.devtools("Page.addScriptToEvaluateOnNewDocument",
                                  source="delete window.DecompressionStream")["identifier"]
        browser.open(self.page)
        self.assertTrue(browser.until("$('live-says').className === 'wrong'"))
        self.assertIn("DecompressionStream", browser.value("$('live-says').textContent"))
        self.assertTrue(browser.value("$('live-controls').disabled && $('matrix').querySelector('canvas').width === 3"))
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def test_ids_alone(self):
        self.open("ids", "-m", "tests/golden/checkpoints/gpt2-a", "--ids", "1,2,3")
        self.assertEqual(self.ask(text="4,5,6,7")[0], "")
        self.assertEqual(browser.value("page.queries.length"), 4)
        for ids in ["4,x", "4,99999"]:
            said = subprocess.run([CLI, "run", "-m", "tests/golden/checkpoints/gpt2-a", "--ids", ids],
                                  capture_output=True).stderr.decode()
            self.assertEqual(self.ask(text=ids), ["wrong", said.split("\n")[0].removeprefix("attn-cli run: ")])

    def test_a_page_that_cannot_compute_offers_nothing_to_compute(self):
        """Its tokenizer has special tokens alone, which nobody can type."""
        words, folder = ["Life", "is"], fixtures.path("special")
        vocab = fixtures.path("special.json")
        with open(vocab, "w") as f:
            json.dump({w: i for i, w in enumerate(words)}, f)
        subprocess.run([CLI, "init", "-q", "-o", folder, "--family", "gpt2", "--vocab", vocab, "--n-layer", "1",
                        "--n-head", "2",
                        "--d-model", "8", "--n-ctx", "8"], check=True, capture_output=True)
        absent = dict.fromkeys(["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"])
        added = [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                  "special": True}
                 for i, w in enumerate(words)]
        bpe = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
               "end_of_word_suffix": None,
               "fuse_unk": False, "byte_fallback": False, "vocab": {w: i for i, w in enumerate(words)}, "merges": []}
        with open(os.path.join(folder, "tokenizer.json"), "w") as f:
            json.dump({"version": "1.0", **absent, "added_tokens": added, "model": bpe}, f)
        self.open("special", "-m", folder, "-s", "Lifeis", "--special", ready=False)
        self.assertTrue(browser.until("$('live-says').className === 'wrong'"))
        self.assertEqual(browser.value("[...document.querySelectorAll('#live-controls, #live-each, "
                                       "#live-here')].map((e) => e.disabled)"), [True, True, True])

    def test_what_no_page_computes_is_shown_still(self):
        path = fixtures.path("large")
        fixtures.cli("init", "-o", path, "--family", "gpt2", "--n-layer", "2", "--n-head", "4", "--d-model", "1024",
                     "--n-ctx", "16", "--vocab-size", "300")
        for args, why in [(["-m", path, "--ids", "1,2"], "its model has more than 64 MB of weights"),
                          (["-m", "tiny", "-s", LILY, "--cross", "eat dessert"], "it shows two texts (--cross)"),
                          (["-m", "tiny", "-s", LILY, "--compute", "bf16"], "it computes in float32 (--compute)")]:
            out = fixtures.path("still.html")
            said = subprocess.run([CLI, "page", *args, "-o", out], capture_output=True)
            self.assertEqual(said.returncode, 0, args)
            self.assertIn(why, said.stderr.decode())
            with open(out) as f:
                self.assertNotIn('id="packed"', f.read())

    def patched(self, patch):
        """Opens the page with a worker in which this was run before."""
        browser.devtools("Page.enable")
        script = browser.devtools("Page.addScriptToEvaluateOnNewDocument",
                                  source="const B = Blob; window.Blob = class extends B { "
                                  f"constructor(parts, o) {{ super(o?.type === 'text/javascript' ? [{json.dumps(patch)}, ...parts] : parts, o); }} }};")["identifier"]
        browser.open(self.page)
        browser.until("live.ready || $('live-says').className === 'wrong'")
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def test_a_trap_is_a_sentence_and_the_page_goes_on(self):
        self.open("trap", "-m", "tiny", "-s", "Lily lost her red ball")
        self.patched("""const I = WebAssembly.Instance; let asked = 0;
            WebAssembly.Instance = function (...a) {
                const e = new I(...a).exports, break_ = (text) => { throw new WebAssembly.RuntimeError(text); };
                return { exports: { ...e, live_ask: (p, n) => new TextDecoder().decode(new Uint8Array(e.memory.buffer, p, n)).includes("zebra")
                    ? break_("unreachable") : e.live_ask(p, n) } };
            };""")
        self.assertEqual(self.ask(text="Lily saw"), ["", browser.value("$('live-says').textContent")])
        said = self.ask(text="Lily saw a zebra")
        self.assertEqual(said[0], "wrong")
        self.assertIn("broke off (unreachable)", said[1])
        self.assertEqual(browser.value("page.queries.length"), 2)       # what was there stays, and can be asked on
        browser.run("change({ layer: 1, head: 3 }); heat.point(1, 0); heat.onPick(1)")
        self.assertTrue(browser.until("explainsNow()"))
        self.assertEqual(self.ask(text="Lily saw a dog")[0], "")
        self.assertEqual(browser.value("page.queries.length"), 4)

    def test_a_browser_that_cannot_says_so(self):
        self.open("cannot", "-m", "life", "-s", "Life is short")
        for patch, says in [("WebAssembly.compile = () => Promise.reject();", "WebAssembly SIMD"),
                            ("delete self.DecompressionStream;", "does not start")]:
            self.patched(patch)
            self.assertEqual(browser.value("$('live-says').className"), "wrong")
            self.assertIn(says, browser.value("$('live-says').textContent"))
            self.assertTrue(
                browser.value("$('live-controls').disabled && $('matrix').querySelector('canvas').width === 3"))

    def test_an_engine_that_was_changed_is_not_run(self):
        self.open("changed", "-m", "life", "-s", "Life is short")
        with open(self.page, encoding="utf-8") as f:
            page = f.read()
        digest = re.search('ENGINE_DIGEST = "(.*?)"', page)[1]
        with open(self.page, "w", encoding="utf-8") as f:       # its policy refuses the script that says what may run
            f.write(page.replace(digest, "0" * 64))
        browser.open(self.page)
        self.assertTrue(browser.until("$('live-says').className === 'wrong'"))
        self.assertTrue(any("Content Security Policy" in e for e in browser.errors()))

    def test_bits_of_a_long_text(self):
        self.open("slow", "-m", "tiny", "-s", "Lily lost her red ball")
        browser.run("bits.own = false; bits.slow = 1000")       # as if each token took a second
        self.assertEqual(self.ask(text="Lily lost her red ball and")[0], "")
        self.assertEqual(browser.value("[live.answer.bits, $('live-bits').hidden]"), ["generic", False])
        self.assertIn("ATTN_SIMD=generic", browser.value("$('live-bits-says').textContent"))
        out = fixtures.path("slow")
        subprocess.run([CLI, "run", "-m", "tiny", "-s", "Lily lost her red ball and", "--show", "pattern", "--format",
                        "npy", "-o", out], check=True,
                       capture_output=True, env={**os.environ, "ATTN_SIMD": "generic"})
        shown = "[0, 1, 2, 3].flatMap((h) => [...sheetAt('attn.pattern', 5).matrix(h).data])"
        self.assertEqual(tuple(browser.value(shown)), numbers(array(os.path.join(out, "blocks.5.attn.pattern.npy"))))
        browser.click("#live-bits-own")
        self.assertTrue(browser.until("live.answer.bits === 'default' && $('live-bits-says').textContent === ''"))
        self.assertFalse(browser.value("$('live-bits').hidden"))

    def test_answers_of_commands_are_tables(self):
        self.open("asks", "-m", "tiny", "-s", "Tom and Lily went to the park. Tom gave the ball to")
        browser.run("$('live-more').open = $('live-attribute').open = $('live-patch').open = true; "
                    "$('live-attribute-target').value = ' Lily'; "
                    "$('live-attribute-compute').click()")
        self.assertTrue(any(browser.until("$('live-attribute-says').querySelector('table')") for _ in range(5)))
        want = json.loads(subprocess.run([CLI, "attribute", "-m", "tiny", "-s",
                                          "Tom and Lily went to the park. Tom gave the ball to", "--target", " Lily",
                                          "--format", "json"], check=True, capture_output=True).stdout)
        shown = browser.value("$('live-attribute-says').textContent")
        for key in want:
            self.assertIn(key, shown)
        browser.run("$('live-attribute-target').value = 'zebra stripes'; $('live-attribute-compute').click()")
        self.assertTrue(browser.until("$('live-attribute-says').querySelector('.wrong')"))
        self.assertIn("zebra", browser.value("$('live-attribute-says').textContent"))
        browser.run("$('live-patch-what').value = 'resid_pre'; $('live-patch-over').value = 'layer,pos'; "
                    "$('live-patch-metric').value = 'logit(13)'")
        browser.run("$('live-patch-other').value = 'Tom and Lily went to the park. Lily gave the ball to'; "
                    "$('live-patch-compute').click()")
        self.assertTrue(any(browser.until("$('live-patch-says').querySelector('table')") for _ in range(15)),
                        browser.value("$('live-patch-says').textContent"))

    # ---- everyone

    def test_keyboard_alone(self):
        self.open("keys", "-m", "tiny", "-s", "Lily lost her")
        browser.run("$('live-text').focus(); $('live-text').setSelectionRange(99, 99)")
        browser.press(*" red")
        self.assertTrue(browser.until("live.answer.tokens.length === 4"))
        browser.press("Tab", "Tab")                     # past the switch for the program's own digits
        self.assertEqual(browser.value("document.activeElement.id"), "live-head")
        browser.press("Enter")
        self.assertTrue(browser.until("live.answer.edited"))
        self.assertEqual(browser.value("[...document.querySelectorAll('#live button, #live input, "
                                       "#live textarea')].filter((e) => "
                                       "!(e.labels?.length || e.ariaLabel || e.textContent.trim())).map((e) => e.id)"),
                                       [])
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
        # of options
        found, names = set(), set("pos what over layer head target foil metric method precision neurons ATTN SIMD generic".split())

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
        self.assertEqual(self.ask(text=" "), ["wrong", "没有文本：请输入几个词"])

    def test_other_pages_are_as_they_were(self):
        self.open("life", "-s", "Life is short", "-m", "life")
        with open(self.page, encoding="utf-8") as f:
            live = f.read()
        fixtures.cli("run", "-m", "life", "-s", "Life is short", "-o", self.page)
        with open(self.page, encoding="utf-8") as f:
            plain = f.read()
        for part in ["class Engine", 'id="packed"', 'id="engine"', "'wasm-unsafe-eval'; worker-src blob:"]:
            self.assertTrue(part in live and part not in plain, part)


KEY = """const [first, ...texts] = arguments, all = [], turn = () => new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
});
return ask({ text: first }).then(async () => {
    for (const text of texts) {
        const from = performance.now();
        await ask({ text });
        const shown = performance.now();
        while (later.jobs.size)
            await turn();
        document.body.getBoundingClientRect();
        all.push([shown - from, performance.now() - from]);
    }
    return all;
});"""


def times(programs):
    """Prints how long a key takes, the last of a text and its first, until what one looks at is drawn and until all is:
    in pages of the programs in turn."""
    global fixtures
    fixtures, browsers = Fixtures(), [Browser() for _ in programs]
    try:
        big = fixtures.path("big")
        fixtures.cli("init", "-o", big, "--family", "gpt2", "--n-layer", "8", "--n-head", "6", "--d-model", "288",
                     "--n-ctx", "256", "--vocab-size", "300")
        for model in ["tiny", big]:
            for at, (program, browser) in enumerate(zip(programs, browsers)):
                page = fixtures.path(f"times-{at}.html")
                subprocess.run([program, "page", "-m", model, "--ids", "1,2,3", "-o", page], check=True,
                               capture_output=True)
                from_, _ = time.time(), browser.open(page)
                any(browser.until("live.ready") for _ in range(10))
                print(f"{os.path.basename(model)}, {program}: {os.path.getsize(page) / 1e6:.2f} MB, "
                      f"open after {time.time() - from_:.2f} s", flush=True)
            for n in [8, 16, 64, 250]:
                ids = lambda first, last: ",".join(map(str, [first] + [7 * i % 290 for i in range(n - 2)] + [last]))
                for name, texts in [("last", [ids(1, k) for k in range(10)]), ("first", [ids(k, 1) for k in range(4)])]:
                    taken = [[] for _ in programs]
                    for _ in range(6 if n < 250 else 2):
                        for all_, browser in zip(taken, browsers):
                            all_ += browser.run(KEY, *texts)
                    middle = lambda t, i: f"{sorted(x[i] for x in t)[len(t) // 2]:.1f}"
                    print(f"{os.path.basename(model)}, {n} tokens, the {name} changed:",
                          ", ".join(f"{middle(t, 0)} and {middle(t, 1)} ms" for t in taken), flush=True)
    finally:
        for browser in browsers:
            browser.close()
        fixtures.remove()


if __name__ == "__main__":
    if sys.argv[1:2] == ["times"]:
        times(sys.argv[2:] or [CLI])
    else:
        unittest.main(verbosity=1)
