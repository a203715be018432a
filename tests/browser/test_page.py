"""Tests the page of --format html in a real browser: its numbers, its controls, and that it makes no requests."""
import base64
import csv
import io
import json
import os
import random
import re
import subprocess
import time
import unittest
import xml.etree.ElementTree
import zlib

from driver import Browser
from fixtures import EVIL, LAMP, LIFE, LILY, PROSE, Fixtures, f32

CELL = """const [r, c] = arguments; heat.host.scrollIntoView({ block: "center" });
const box = heat.plane.getBoundingClientRect();
return [box.x + heat.left + (c + 0.5) * heat.cell, box.y + heat.top + (r + 0.5) * heat.high];"""
WEIGHTS = "[...lines.sides[{}].children].map((e) => e.querySelector('b')?.textContent ?? '')"
NAMELESS = """return [...document.querySelectorAll("button, select, input, [role=img], [tabindex='0']")].filter((e) =>
!(e.labels?.length || e.ariaLabel || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 80));"""
CONTRAST = """const linear = (x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
const luminance = (rgb) => rgb.map((x) => linear(x / 255))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
return arguments[0].map(([a, b]) => { const [x, y] = [a, b].map((n) => luminance(themeColour(n))).sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); });"""


def setUpModule():
    global fixtures, browser
    fixtures = Fixtures()
    browser = Browser()


def tearDownModule():
    browser.close()
    fixtures.remove()


def shown(text):
    """The number that the page shows, and the error bound that it states."""
    number, _, error = text.replace("−", "-").replace("∞", "inf").partition("±")
    return float(number.split()[-1]), float(error) if error else 0.0


def six(number):
    """As a page prints it: six of the seven digits that a float32 has."""
    return float(f"{number:.6g}")


class Page(unittest.TestCase):
    def setUp(self):
        browser.resize(1280, 1400)
        browser.theme("light")

    def tearDown(self):
        """After each test: no errors in the console, and no request but for the page itself."""
        self.assertEqual(browser.errors(), [])
        self.assertEqual({re.sub("#.*", "", url) for url in browser.requests()} - {"file://" + self.page}, set())

    def open(self, name, *args, at=""):
        self.page = fixtures.page(name, *args)
        browser.open(self.page + at)

    def hover(self, r, c):
        browser.move(*browser.run(CELL, r, c))
        return browser.value("$('value').textContent")

    def head(self):
        return browser.value("[state.layer, state.head, $('head-title').textContent]")

    # ---- numbers

    def test_each_cell_says_the_number_of_the_csv(self):
        self.open("life", "-s", LIFE)
        rows = fixtures.matrices("-s", LIFE)["blocks.0.attn.pattern.head0"]
        for r, (label, *numbers) in enumerate(rows):
            for c, x in enumerate(numbers):
                text = self.hover(r, c)
                self.assertTrue(text.startswith(f"{label} ({r}) → {rows[c][0]} ({c}): "), text)
                if c > r:
                    self.assertTrue(text.endswith("hidden by the mask"), text)
                else:
                    self.assertEqual(shown(text)[0], six(x))

    def test_16_bits_keep_to_the_error_they_state(self):
        args = ["-m", fixtures.wide(), "-s", PROSE]
        self.open("wide", *args, at="#layer=7&head=11")
        rows = fixtures.matrices(*args)["blocks.7.attn.pattern.head11"]
        self.assertEqual(browser.value("page.sheets[0].type"), "u16")
        random.seed(1)
        for _ in range(40):
            r = random.randrange(len(rows))
            c = random.randrange(r + 1)
            x, error = shown(self.hover(r, c))
            self.assertTrue(0 < error < 1e-5)
            self.assertLessEqual(abs(x - rows[r][1 + c]), error)

    def test_what_was_deflated_is_inflated(self):
        self.open("life", "-s", LIFE)
        random.seed(2)
        for data in [b"", b"a", bytes(70000), bytes(random.randrange(256) for _ in range(70000)),
                     bytes(min(255, int(random.expovariate(0.1))) for _ in range(50000)), b"abcabcabd" * 5000]:
            for level, strategy in [(0, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_DEFAULT_STRATEGY), (6, zlib.Z_RLE),
                                    (6, zlib.Z_FIXED), (6, zlib.Z_HUFFMAN_ONLY)]:
                packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
                packed = packer.compress(data) + packer.flush()
                got = browser.run("""const bytes = inflate(bytesOf(arguments[0]), arguments[1]);
                    let text = ""; for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
                    return btoa(text);""", base64.b64encode(packed).decode(), len(data))
                self.assertEqual(base64.b64decode(got), data)

    def test_a_large_page_is_small_and_soon_there(self):
        """144 heads of 250 tokens: drawn in slices, and within the error that is stated."""
        text = ("Attention reads a sentence token by token, and each head looks somewhere else. " * 4)[:279]
        args = ["-m", fixtures.wide(256), "-s", text, "--scale", "60"]
        self.open("large", *args, at="#layer=3&head=4")
        self.assertEqual(browser.value("page.sheets[0].count * page.sheets.filter((s) => s.keys).length"), 144)
        self.assertGreaterEqual(browser.value("page.queries.length"), 249)
        self.assertLess(os.path.getsize(self.page), 6e6)
        self.assertTrue(browser.until("later.jobs.size === 0"))
        self.assertTrue(browser.value("""[...overview.buttons].every(([key, b]) => {
            const [layer, head] = key.split(",").map(Number), canvas = b.firstChild, small = thumbOf({ sheet: sheetAt(state.kind, layer), head });
            const shown = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            const shade = new Shade(small, { ...how, skip: 0 });
            return shown.length === small.data.length && shown.every((p, i) => p === shade.pixel(Math.floor(i / small.cols), i % small.cols));
        })"""))
        self.assertTrue(browser.value("""headsIn(state.kind).slice(0, 20).every(({ sheet, head }) => {
            const small = thumbOf({ sheet, head }), m = matrixOf(sheet, head), step = Math.ceil(m.rows / THUMB);
            return small.data.every((x, i) => {
                let best = -Infinity;
                for (let r = Math.floor(i / small.cols) * step, end = Math.min(r + step, m.rows); r < end; r++)
                    for (let c = i % small.cols * step, last = Math.min(c + step, m.cols); c < last; c++)
                        best = m.hidden(r, c) ? best : Math.max(best, m.at(r, c));
                return x === best;
            });
        })"""))
        rows = fixtures.matrices(*args, "--layer", "3", "--head", "4", "--show",
                                 "pattern")["blocks.3.attn.pattern.head4"]
        random.seed(1)
        for _ in range(20):
            r = random.randrange(len(rows))
            c = random.randrange(r + 1)
            x, error = shown(browser.run("return describeCell(...arguments)", r,
                                         c) + f" ± {browser.value('heat.shade.m.error')}")
            self.assertTrue(0 < error < 4e-5)
            self.assertLessEqual(abs(x - rows[r][1 + c]), error * 1.02)        # it is shown to a fiftieth of that
        self.assertEqual(browser.value("page.sheets.filter((s) => s.keys).every((s) => s.heads.every((h, i) => [0, "
                                       "1].every((skip) => "
                                       "Math.abs(s.extent(i, skip).top - extent(s.matrix(i), skip).top) <= s.error)))"),
                                       True)

    def test_vectors_are_those_of_the_csv(self):
        args = ["-m", "models/stacked", "-s", LAMP]
        self.open("stacked", *args, at="#layer=1&head=2")
        rows = fixtures.matrices(*args)["blocks.1.attn.context"]
        columns = browser.value("vector.colLabels.map(Number)")
        self.assertEqual(columns, [8, 9, 10, 11])   # the columns of head 2
        for r, row in enumerate(rows):
            for c, column in enumerate(columns):
                browser.run("vector.point(arguments[0], arguments[1])", r, c)
                self.assertEqual(shown(browser.value("$('vector-value').textContent"))[0], six(row[1 + column]))

    def test_one_text_looking_at_another(self):
        args = ["-s", "Life is", "--cross", "eat dessert first"]
        self.open("cross", *args, "--show", "pattern,k,q")
        rows = fixtures.matrices(*args)["blocks.0.attn.pattern.head0"]
        self.assertEqual(browser.value("[heat.rowLabels, heat.colLabels]"),
                         [["Life", "is"], ["eat", "dessert", "first"]])
        for r, row in enumerate(rows):
            for c in range(3):
                self.assertEqual(shown(self.hover(r, c))[0], six(row[1 + c]))
        for kind, labels in [("attn.k", ["eat", "dessert", "first"]), ("attn.q", ["Life", "is"])]:
            browser.run("change({ vectorKind: arguments[0] })", kind)
            self.assertEqual(browser.value("vector.rowLabels"), labels)
        self.assertIn("eat dessert first", browser.value("$('about').textContent"))

    def test_next_tokens_are_those_of_the_text(self):
        args = ["-m", "models/stacked", "-s", LAMP]
        self.open("stacked", *args)
        likely = fixtures.cli("run", *args, "--format", "text").decode().partition("likeliest next tokens")[2]
        listed = browser.value("[...$('next-list').children].map((e) => [e.firstChild.textContent, "
                               "e.lastChild.textContent])")
        self.assertEqual(len(listed), 5)
        for token, share in listed:
            found = re.search(rf"^ *([0-9.]+) +\d+ +{re.escape(token)}$", likely, re.M)
            self.assertIsNotNone(found, token)
            self.assertAlmostEqual(float(found.group(1)), float(share[:-2]) / 100, delta=1e-4)

    def test_without_a_head(self):
        self.open("ablated", "-s", LILY, "-m", "tiny", "--ablations", "--show", "pattern", at="#layer=2&head=0")
        next_of = "[...$(arguments[0]).children].map((e) => [e.firstChild.textContent, e.lastChild.textContent])"
        with_all = browser.run("return " + next_of, "next-list")
        self.assertTrue(browser.value("$('next-both').hidden && $('without-says').textContent === ''"))
        browser.click("#without")
        for head in range(2):               # goes on as one moves from head to head
            compare = json.loads(fixtures.cli("run", "-s", LILY, "-m", "tiny", "--show", "tokens", "--format", "json",
                                              "--ablate", f"L2H{head}"))["compare"]
            after = [[t["text"].replace(" ", "·"), f"{100 * t['probability']:.2f} %"] for t in compare["after"]]
            self.assertEqual(browser.run("return " + next_of, "next-without-list"), after)
            self.assertEqual(browser.run("return " + next_of, "next-before-list"), with_all)
            self.assertEqual(browser.value("[$('without').ariaPressed, $('next-list').hidden]"), ["true", True])
            for place in ["without-says", "next-after"]:
                kl = re.search(r"KL(?:\(with \|\| without\):)? ([0-9.e-]+) nats",
                               browser.value(f"$('{place}').textContent"))
                self.assertAlmostEqual(float(kl.group(1)) / compare["kl"], 1, delta=0.005)      # three digits are shown
            browser.click("#head-up")
        browser.click("#without")
        self.assertEqual(browser.run("return " + next_of, "next-list"), with_all)
        self.assertEqual(browser.value("[$('next-list').hidden, $('next-both').hidden]"), [False, True])

    def test_how_much_heads_matter_at_a_glance(self):
        self.open("ablated", "-s", LILY, "-m", "tiny", "--ablations", "--show", "pattern", "--head", "1-3")
        kls = {(w["layer"], w["head"]): w["kl"] for w in browser.value("page.without")}
        bars = browser.value("[...overview.buttons].map(([k, b]) => [k, b.lastChild.style.getPropertyValue('--share'), "
                             "b.ariaLabel])")
        self.assertEqual(len(bars), 18)
        for place, share, label in bars:
            kl = kls[tuple(int(x) for x in place.split(","))]
            self.assertAlmostEqual(float(share[:-1]), 100 * kl / max(kls.values()), delta=1e-3)
            self.assertIn(": KL ", label)
        browser.click("#ranking thead th:last-child button")
        self.assertEqual(browser.value("ranking.sorted.map((r) => [r.layer, r.head])"),
                         [list(k) for k, _ in sorted(kls.items(), key=lambda item: -item[1])])

    def test_the_ranking_has_the_numbers_of_the_command(self):
        fixtures.wide()
        for args in [["-m", "tiny", "-s", LILY], ["-m", fixtures.path("wide"), "-s", PROSE],
                     ["-m", "tiny", "-s", LILY, "--attention", "window:3", "--layer", "1-2"]]:
            self.open("ranked", *args, "--show", "pattern")
            table = csv.DictReader(io.StringIO(fixtures.cli("heads", *args, "--format", "csv").decode()))
            want = {(int(row["layer"]), int(row["head"])): row for row in table}
            got = browser.value("ranking.ranks.map((r) => [r.layer, r.head, r.shares, "
                                "r.most < 0 ? null : SHARES[r.most].name])")
            names = browser.value("SHARES.map((s) => s.name)")
            self.assertEqual(len(got), len(want))
            for layer, head, shares, most in got:
                row = want[layer, head]
                for name, share in zip(names, shares):
                    self.assertEqual(share, float(row[name]) if row[name] else None)
                self.assertEqual(most, row["label"] or None)

    def test_the_ranking_sorts_and_leads_to_heads(self):
        self.open("ranked", "-m", "tiny", "-s", LILY, "--show", "pattern,scores")
        order = "ranking.sorted.map((r) => [r.layer, r.head])"
        sorts = "[...$('ranking-body').querySelectorAll('th[scope=col]')].map((e) => e.ariaSort)"
        shown = browser.value("[...$('ranking-body').querySelectorAll('tbody a')].map((e) => e.textContent)")
        self.assertEqual(shown, [f"L{layer}H{head}" for layer, head in browser.value(order)])
        # those without a role are last
        largest = browser.value("ranking.sorted.map((r) => r.shares[r.most] ?? 0)")
        self.assertEqual(largest, sorted(largest, reverse=True))
        self.assertTrue(largest[0] > 0 and largest[-1] == 0)
        browser.click("#ranking thead th:nth-child(3) button")
        previous = browser.value("ranking.sorted.map((r) => r.shares[0])")
        self.assertEqual(previous, sorted(previous, reverse=True))
        self.assertEqual(browser.value(sorts)[:4], ["none", "none", "descending", "none"])
        self.assertEqual(browser.value("document.activeElement.textContent"), "prev")
        browser.press("Enter")
        self.assertEqual(browser.value("ranking.sorted.map((r) => r.shares[0])"), sorted(previous))
        self.assertEqual(browser.value(sorts)[2], "ascending")
        browser.click("#ranking thead th:first-child button")
        self.assertEqual(browser.value(order), sorted(browser.value(order)))
        browser.click("#ranking tbody tr:nth-child(7) a")
        self.assertEqual(self.head()[:2], [1, 2])
        self.assertEqual(browser.value("[...document.querySelectorAll('#ranking [aria-current=true]')].map((e) => "
                                       "e.textContent)"), ["L1H2"])
        browser.run("location.hash = '#layer=3&head=1'")
        self.assertTrue(browser.until("state.layer === 3 && state.head === 1"))

    def test_what_is_no_attention_has_no_ranking(self):
        dump = fixtures.path("ranked.npz")
        fixtures.cli("run", "-m", "tiny", "-s", LILY, "-o", dump)
        pages = [["run", "-m", "tiny", "-s", LILY, "--gradient", "loss", "--show", "pattern"],      # derivatives
                 # no pattern; one head
                 ["run", "-m", "tiny", "-s", LILY, "--show", "scores"], ["run", "-s", LIFE],
                 # another text; no tokens
                 ["run", "-m", "tiny", "-s", "Lily lost", "--cross", "her ball"], ["plot", dump]]
        for i, args in enumerate(pages):
            self.page = fixtures.path(f"unranked{i}.html")
            fixtures.cli(*args, "-o", self.page)
            browser.open(self.page)
            self.assertTrue(browser.value("$('ranking').hidden"), args)

    def test_the_lens_is_a_tab(self):
        self.open("lens", "-m", "tiny", "-s", LILY, "--show", "pattern,lens")
        lens = json.loads(fixtures.cli("lens", "-m", "tiny", "-s", LILY, "--format", "json"))
        rows = [r for r in lens["rows"] if r["point"].endswith("resid_post")]
        self.assertEqual(browser.value("[$('attention').hidden, $('lens').hidden]"), [False, True])
        browser.click("#tab-lens")
        self.assertEqual(browser.value("[$('attention').hidden, $('lens').hidden, location.hash]"),
                         [True, False, "#layer=2&head=3&tab=lens"])         # the most telling head
        cells = browser.value("[...$('lens-body').querySelectorAll('td')].map((e) => e.textContent)")
        self.assertEqual(cells, [r["top"][0]["text"].replace(" ", "·").replace("\n", "↵") for r in rows])
        n = len(lens["tokens"])
        # it opens with what comes next
        self.assertEqual(browser.value("$('lens-value').textContent").split(":")[0],
                         f"After “{lens['tokens'][-1]['text'].replace(' ', '·')}” ({n - 1}), "
                         f"layer {len(rows) // n - 1}")
        follows = [r["pos"] + 1 < n and r["top"][0]["id"] == lens["tokens"][r["pos"] + 1]["id"] for r in rows]
        self.assertEqual(browser.value("[...$('lens-body').querySelectorAll('td')].map((e) => e.matches('.right'))"),
                         follows)
        browser.point(f"#lens-body tbody tr:nth-child(2) td:nth-child({3 + 1})")        # after the heading of the row
        self.assertTrue(browser.value("$('lens-value').textContent").startswith("After “·her” (2), layer 1: "))
        listed = browser.value("[...$('lens-list').children].map((e) => e.lastChild.textContent)")
        self.assertEqual(listed, [f"{100 * t['probability']:.2f} %" for t in rows[n + 2]["top"]])
        browser.click("#lens-body tbody tr:nth-child(2) td:nth-child(4)")
        browser.press("Down", "Right", "Right")
        self.assertTrue(browser.value("$('lens-value').textContent")
                        .startswith(f"After “{browser.value('tokenLabel(page.queries[4])')}” (4), layer 2: "))
        self.assertEqual(browser.value("$('lens-body').querySelectorAll('td[tabindex=\"0\"]').length"), 1)
        self.assertEqual(browser.value("$('lens-body').querySelector('td[tabindex=\"0\"]') === document.activeElement"),
                         True)
        browser.press("Down", shift=True)                           # moves no head that is out of sight
        self.assertEqual(browser.value("state.layer"), 2)
        browser.run("$('tab-lens').focus()")
        browser.press("Left")
        self.assertEqual(browser.value("[document.activeElement.id, $('lens').hidden]"), ["tab-attention", True])
        self.open("lens", "-m", "tiny", "-s", LILY, "--show", "pattern,lens", at="#layer=1&tab=lens")
        self.assertEqual(browser.value("[state.layer, $('lens').hidden]"), [1, False])
        self.open("lens", "-m", "tiny", "-s", LILY, "--show", "lens")               # there is nothing else
        self.assertEqual(browser.value("[$('attention').hidden, $('lens').hidden]"), [True, False])

    def test_a_page_says_how_its_run_was_edited(self):
        self.open("edited", "-m", "tiny", "-s", LILY, "--edit", "L0H1=0", "--edit",
                  'L1.resid_post += 2*mean(text("<b>, and lost her"))')
        self.assertEqual(browser.value("$('edits').textContent"),
                         'Edited: L0H1 = 0 · L1.resid_post += 2*mean(text("<b>, and lost her"))')
        self.open("life", "-s", LIFE)
        self.assertTrue(browser.value("$('edits').hidden"))

    def test_words_are_sums_over_keys_and_means_over_queries(self):
        args = ["-m", fixtures.path("wide"), "-s", PROSE]
        fixtures.wide()
        self.open("wide", *args, at="#layer=2&head=3")
        rows = fixtures.matrices(*args)["blocks.2.attn.pattern.head3"]
        tokens = json.loads(fixtures.cli("run", *args, "--format", "json", "--show", "tokens"))["tokens"]
        browser.click("#merge")
        found = list(re.finditer(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", PROSE))     # a Chinese character is a word
        words = [m[0] for m in found]
        self.assertEqual(browser.value("heat.rowLabels"), words)
        ends = [len(PROSE[:m.end()].encode()) for m in found]
        word = [next(i for i, end in enumerate(ends) if t["end"] <= end) for t in tokens]
        for q, k in [(0, 0), (3, 1), (5, 5), (len(words) - 1, 0), (len(words) - 1, 7)]:
            queries = [i for i, w in enumerate(word) if w == q]
            want = sum(rows[i][1 + j] for i in queries for j, w in enumerate(word) if w == k) / len(queries)
            x, error = shown(self.hover(q, k)) if k <= q else (0, 0)
            self.assertLessEqual(abs(x - want), error + 1e-6)       # float32 rounding of the sums
        self.assertTrue(browser.value("""Array.from({ length: heat.rows }, (_, r) => Array.from({ length: heat.cols },
            (_, c) => heat.shade.m.at(r, c)).reduce((a, b) => a + b)).every((sum) => Math.abs(sum - 1) < 1e-3)"""))

    # ---- controls

    def test_keyboard_moves_between_heads(self):
        self.open("stacked", "-m", "models/stacked", "-s", LAMP)
        browser.click("#heads button[aria-label='layer 0, head 1']")
        self.assertEqual(self.head(), [0, 1, "Attention pattern, layer 0, head 1"])
        browser.press("Right")
        browser.press("Down")
        self.assertEqual(self.head()[:2], [1, 2])
        self.assertEqual(browser.value("document.activeElement.ariaLabel"), "layer 1, head 2")
        self.assertEqual(browser.value("location.hash"), "#layer=1&head=2")
        browser.press("Left", "Left", "Left", "Left")               # stays at the edge
        self.assertEqual(self.head()[:2], [1, 0])
        browser.run("document.activeElement.blur()")
        browser.press("Down", "Right", shift=True)
        self.assertEqual(self.head()[:2], [2, 1])
        rows = fixtures.matrices("-m", "models/stacked", "-s", LAMP)["blocks.2.attn.pattern.head1"]
        self.assertEqual(shown(self.hover(4, 0))[0], six(rows[4][1]))

    def test_selectors_and_buttons(self):
        self.open("stacked", "-m", "models/stacked", "-s", LAMP, "--show", "pattern,scores,dots,q,k,v,context,logits",
                  at="#layer=0&head=0")
        browser.click("#layer-up")
        browser.click("#head-up")
        browser.click("#head-up")
        self.assertEqual(self.head()[:2], [1, 2])
        browser.run("$('head-number').focus()")
        browser.press("3")                                          # a select gets the key that is typed
        self.assertEqual(self.head()[:2], [1, 3])
        for kind in ["attn.dots", "attn.scores", "attn.pattern"]:
            browser.run("$('kind').value = arguments[0]; $('kind').dispatchEvent(new Event('change'))", kind)
            self.assertEqual(self.head()[:2], [1, 3])
        for kind in browser.value("[...$('vector-kind').options].map((o) => o.value)"):
            browser.run("$('vector-kind').value = arguments[0]; $('vector-kind').dispatchEvent(new Event('change'))",
                        kind)
            self.assertGreater(browser.value("vector.cols"), 0)
        browser.run("$('layer').value = '2'; $('layer').dispatchEvent(new Event('change'))")
        self.assertEqual(self.head()[0], 2)

    def test_kinds_of_attention_side_by_side(self):
        self.page = fixtures.path("kinds.html")
        fixtures.cli("variants", "-s", LIFE, "-o", self.page)
        browser.open(self.page)
        names = browser.value("[...$('heads').children].map((e) => e.firstChild.textContent)")
        self.assertEqual(names[:4] + names[7:], ["model", "full", "causal", "causal-renorm", "linear", "block:2"])
        self.assertEqual(browser.value("[...$('layer').options].map((e) => e.textContent)"), names)
        browser.run("$('heads').children[1].lastChild.click()")
        self.assertEqual(browser.value("$('head-title').textContent"), "Attention pattern of layer 0, head 0, full")
        browser.run("document.activeElement.blur()")
        browser.press("Right", shift=True)
        self.assertTrue(browser.value("$('head-title').textContent").endswith(", causal"))

    def test_cells_by_keyboard(self):
        self.open("life", "-s", LIFE)
        browser.run("$('matrix').focus()")
        browser.press("Right", "Down", "Down", "Right")
        self.assertTrue(browser.value("$('value').textContent").startswith("short (2) → is (1)"))
        browser.press("Enter")
        self.assertEqual(browser.value("[state.query, lines.kept]"), [2, [0, 2]])
        browser.press("Escape")
        self.assertEqual(browser.value("[state.query, lines.kept]"), [-1, None])

    def test_lines_of_the_token_under_the_pointer(self):
        self.open("life", "-s", LIFE)
        self.assertEqual(browser.value("lines.all.children.length"), 21)        # six tokens, causal
        browser.point("#pairs ol:first-child li:nth-child(3)")
        self.assertEqual(browser.value(WEIGHTS.format(1)), ["0.386", "0.121", "0.492", "", "", ""])
        self.assertEqual(browser.value("lines.some.children.length"), 3)
        browser.point("#pairs ol:last-child li:nth-child(1)")
        self.assertEqual(browser.value(WEIGHTS.format(0)), ["1.000", "0.053", "0.386", "0.223", "0.154", "0.197"])
        browser.point("h1")
        self.assertEqual(browser.value("lines.some.children.length"), 0)

    def test_scales_and_the_first_token(self):
        self.open("life", "-s", LIFE)
        pixels = "[0, 1, 2, 3, 4, 5].flatMap((r) => [0, 1, 2, 3, 4, 5].map((c) => heat.shade.pixel(r, c))).join()"
        seen = set()
        for scale in ["linear", "log", "row"]:
            browser.run("$('scale').value = arguments[0]; $('scale').dispatchEvent(new Event('change'))", scale)
            seen.add(browser.value(pixels))
        self.assertEqual(len(seen), 3)
        browser.click("#hide-first")
        self.assertEqual(browser.value("[0, 1, 2, 3, 4, 5].map((r) => heat.shade.pixel(r, 0))"), [0] * 6)
        self.assertIn("no row was renormalised", browser.value("$('note').textContent"))
        self.assertAlmostEqual(browser.value("heat.shade.top"), 0.9468, delta=1e-4)
        self.assertAlmostEqual(shown(self.hover(2, 1))[0], 0.1214, delta=1e-4)

    def test_the_look_that_was_asked_for(self):
        self.open("life", "-s", LIFE, "--palette", "magma", "--color-scale", "log", "--hide-first")
        self.assertEqual(browser.value("[state.palette, state.scale, state.hideFirst]"), ["magma", "log", True])

    def test_a_light_ground_and_square_roots_of_many_keys(self):
        self.open("few", "-m", "tiny", "-s", LILY, at="#layer=2&head=3")
        corner = "[heat.shade.pixel(12, 0), heat.shade.pixel(0, 5), heat.shade.pixel(0, 0)].map((p) => p && cssColour(p))"
        self.assertEqual(browser.value("[how.scale, state.scale, state.palette, $('root').ariaPressed]"),
                         ["linear", "auto", "paper", "false"])
        # hidden: white, as the page is; then the darkest of the figures' blues
        self.assertEqual(browser.value(corner)[1:], [0, "#08285a"])
        self.assertGreater(int(browser.value(corner)[0][1:3], 16), 0xf0)
        self.assertIn("linear", browser.value("$('legend').textContent"))
        steps = browser.value("heat.inside.querySelector('.edge').getAttribute('d').split('v').length - 1")
        self.assertEqual(steps, browser.value("heat.rows - 1"))
        linear = browser.value("heat.shade.size(5, 0)")
        browser.click("#root")
        self.assertEqual(browser.value("[how.scale, $('scale').value, $('root').ariaPressed]"),
                         ["sqrt", "sqrt", "true"])
        self.assertAlmostEqual(browser.value("heat.shade.size(5, 0)"), linear ** 0.5, delta=1e-12)
        browser.click("#root")
        self.assertEqual(browser.value("how.scale"), "linear")
        many = " ".join([LIFE] * 5)
        self.open("many", "-s", many)
        self.assertEqual(browser.value("[how.scale, $('root').ariaPressed, $('scale').value]"),
                         ["sqrt", "true", "auto"])
        self.open("scores", "-s", many, "--show", "scores")             # of both signs
        self.assertEqual(browser.value("[how.scale, how.signed]"), ["linear", True])
        self.open("asked", "-s", many, "--color-scale", "linear", "--palette", "viridis")
        self.assertEqual(browser.value("[how.scale, state.palette]"), ["linear", "viridis"])
        self.open("dark", "-m", "tiny", "-s", LILY)
        browser.theme("dark")
        self.assertTrue(browser.until("document.documentElement.dataset.theme === 'dark'"))
        self.assertLess(browser.value("heat.shade.ramp[0] & 255"), browser.value("heat.shade.ramp.at(-1) & 255"))

    def test_lines_of_all_heads_of_a_layer(self):
        self.open("lines", "-m", "tiny", "-s", LILY, "--show", "pattern", at="#layer=2&head=3")
        one = browser.value("lines.all.children.length")
        browser.click("#all-lines")
        colours = browser.value("[...new Set([...lines.all.children].map((e) => e.getAttribute('stroke')))]")
        self.assertEqual(sorted(colours), sorted("#" + c for c in ["1f77b4", "ff7f0e", "2ca02c", "d62728"]))
        self.assertGreater(browser.value("lines.all.children.length"), one)
        self.assertEqual(browser.value("[...$('line-heads').children].map((e) => [e.textContent, e.ariaPressed])"),
                         [[f"H{h}", "true"] for h in range(4)])
        rows = [fixtures.matrices("-m", "tiny", "-s", LILY, "--layer", "2", "--show",
                                  "pattern")[f"blocks.2.attn.pattern.head{h}"] for h in range(4)]
        browser.point("#pairs ol:first-child li:nth-child(9)")
        for c, text in enumerate(browser.value(WEIGHTS.format(1))[:9]):
            most = max(range(4), key=lambda h: rows[h][8][1 + c])
            weight, head = text.split()
            self.assertEqual(head, f"H{most}")
            # of three decimals, or one digit
            self.assertAlmostEqual(float(weight), rows[most][8][1 + c], delta=6e-4)
        browser.click("#line-heads button:nth-child(4)")
        self.assertEqual(browser.value("[document.activeElement.textContent, document.activeElement.ariaPressed]"),
                         ["H3", "false"])
        self.assertNotIn("#d62728", browser.value("[...lines.all.children].map((e) => e.getAttribute('stroke'))"))
        for nth in (1, 2, 3):
            browser.click(f"#line-heads button:nth-child({nth})")
        self.assertEqual(browser.value("lines.shades.length"), 1)       # the last one stays
        browser.click("#layer-up")
        self.assertEqual(browser.value("[state.allLines, lines.shades[0].name]"), [True, "H2"])
        browser.click("#all-lines")
        self.assertEqual(browser.value("[lines.shades[0].name ?? null, $('line-heads').children.length]"), [None, 0])
        self.open("alone", "-s", LIFE)
        self.assertTrue(browser.value("$('together').hidden"))

    def test_where_all_heads_look_from_one_token(self):
        self.open("looks", "-m", "tiny", "-s", LILY, "--show", "pattern", at="#layer=0&head=0")
        self.assertTrue(browser.value("$('looks').hidden"))
        browser.click("#pairs ol:first-child li:nth-child(12)")
        matrices = fixtures.matrices("-m", "tiny", "-s", LILY, "--show", "pattern")
        found = []
        for name, rows in matrices.items():
            layer, head = re.match(r"blocks.(\d+).attn.pattern.head(\d+)", name).groups()
            weights = rows[11][1:]
            found.append((max(weights), f"L{layer}H{head}", weights.index(max(weights))))
        found.sort(reverse=True)
        shown = browser.value("[...$('looks-list').querySelectorAll('button')].map((b) => [b.children[0].textContent, "
                              "b.textContent, b.children[1].textContent])")
        self.assertEqual([s[0] for s in shown], [f[1] for f in found[:8]])
        for (_, text, weight), (most, _, key) in zip(shown, found):
            self.assertIn(f"({key})", text)
            self.assertAlmostEqual(float(weight), most, delta=6e-4)
        browser.click("#looks-list li:nth-child(2) button")
        self.assertEqual("L{}H{}".format(*self.head()[:2]), found[1][1])
        self.assertEqual(browser.value("[state.query, "
                                       "$('looks-list').querySelector('[aria-current=true]').children[0].textContent]"),
                         [11, found[1][1]])
        browser.run("pickQuery(11)")
        self.assertTrue(browser.value("$('looks').hidden"))

    def test_a_weight_is_explained_as_far_as_it_is_known(self):
        text = "$('derivation').textContent"
        self.open("known", "-m", "tiny", "-s", LILY, "--show", "pattern,q,k,dots,scores", at="#layer=2&head=3")
        self.assertTrue(browser.value("$('derivation').hidden"))
        browser.run(CELL, 5, 2)
        browser.move(*browser.run(CELL, 5, 2), click=True)
        said = browser.value(text)
        files = fixtures.matrices("-m", "tiny", "-s", LILY, "--layer", "2", "--head", "3", "--show",
                                  "pattern,dots,scores")
        value = {kind: files[f"blocks.2.attn.{kind}.head3"][5] for kind in ["pattern", "dots", "scores"]}
        number = lambda x: browser.run("return numberText(Math.fround(arguments[0]), 0)", x)
        for part in [f"(2): {number(value['pattern'][3])}", f"(32 terms) = {number(value['dots'][3])}",
                     f"score = {number(value['dots'][3])} × 0.176777 = {number(value['scores'][3])}",
                     "over the 6 keys seen", f"= {number(value['pattern'][3])}"]:
            self.assertIn(part, said)
        e, total = map(float, re.search(r"seen: ([\d.e+-]+) / ([\d.e+-]+) =", said).groups())
        self.assertAlmostEqual(e / total, value["pattern"][3], delta=1e-3)
        browser.press("Escape") if browser.run("$('matrix').focus()") is None else None
        self.assertTrue(browser.value("$('derivation').hidden"))
        browser.run("heat.point(2, 5); heat.onPick(2)")
        self.assertIn("does not see this key", browser.value(text))
        self.open("little", "-m", "tiny", "-s", LILY, "--show", "pattern", at="#layer=2&head=3")
        browser.run("heat.point(5, 2); heat.onPick(5)")
        self.assertIn("run --show pattern,q,k,dots,scores", browser.value(text))
        self.open("alibi", "-m", "tests/golden/checkpoints/bloom-a", "--ids", "1,2,3,4,5", "--show",
                  "pattern,dots,scores")
        browser.run("heat.point(4, 1); heat.onPick(4)")
        self.assertIn("by scaling and what is added to it", browser.value(text))

    # ---- to take along

    def figure(self, script):
        return browser.post("/execute/async", script="const done = arguments[0]; (async () => { " + script +
                            " })().then(done, (e) => done(String(e)));", args=[])

    def test_a_head_is_copied(self):
        browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.open("copied", "-m", "tiny", "-s", LILY, at="#layer=2&head=3")
        rows = fixtures.cli("run", "-m", "tiny", "-s", LILY, "--layer", "2", "--head", "3", "--show", "pattern",
                            "--format", "csv").decode()
        for ending, said in [("csv", "CSV"), ("svg", "SVG")]:
            browser.click("#copy-" + ending)
            self.assertTrue(browser.until(f"$('copy-says').textContent === 'The {said} is on the clipboard.'"),
                            browser.value("$('copy-says').textContent"))
            copied = self.figure("return navigator.clipboard.readText();")
            if ending == "csv":
                want, got = [list(csv.reader(io.StringIO(t))) for t in (rows, copied)]
                self.assertEqual([r[0] for r in got], [r[0] for r in want])
                self.assertEqual(got[0], want[0])
                self.assertEqual([[f32(float(x)) for x in r[1:]] for r in got[1:]],
                                 [[f32(float(x)) for x in r[1:]] for r in want[1:]])
            else:
                drawing = xml.etree.ElementTree.fromstring(copied)
                texts = [e.text for e in drawing.iter("{http://www.w3.org/2000/svg}text")]
                for label in ["Attention pattern, layer 2, head 3", "Lily", "·park"]:
                    self.assertIn(label, texts)
                n = browser.value("heat.rows")
                cells = [e for e in drawing.iter("{http://www.w3.org/2000/svg}rect")
                         if e.get("width") == str(browser.value("heat.cell"))]
                self.assertEqual(len(cells), n * (n + 1) // 2)
                self.assertEqual({e.get("fill") for e in cells},
                                 set(browser.value("Array.from({ length: heat.rows * heat.cols }, (_, i) => "
                    "heat.shade.pixel(Math.floor(i / heat.cols), i % heat.cols)).filter(Boolean).map(cssColour)")))
        browser.click("#copy-png")
        self.assertTrue(browser.until("$('copy-says').textContent === 'The PNG is on the clipboard.'"))
        size, dot = self.figure("""const [item] = await navigator.clipboard.read(), image = await createImageBitmap(await item.getType("image/png"));
            const canvas = document.createElement("canvas"), context = canvas.getContext("2d"); Object.assign(canvas, { width: image.width, height: image.height });
            context.drawImage(image, 0, 0);
            const [x, y] = [MARGIN + heat.left + 0.2 * heat.cell, MARGIN + 2 * TITLE + heat.top + 0.2 * heat.high];
            return [[image.width, image.height], cssColour(new Uint32Array(context.getImageData(x * SHARPER, y * SHARPER, 1, 1).data.buffer)[0])];""")
        self.assertEqual([size, dot], [browser.value("[figureOfHead()].map((f) => [Math.ceil(f.width * SHARPER), "
                                                     "Math.ceil(f.height * SHARPER)])[0]"), "#08285a"])

    def test_a_large_head_is_copied_as_an_image(self):
        self.open("image", "-m", fixtures.wide(), "-s", PROSE + PROSE[:20])
        drawing = xml.etree.ElementTree.fromstring(browser.value("svgText(figureOfHead())"))
        self.assertEqual(len(list(drawing.iter("{http://www.w3.org/2000/svg}image"))), 1)
        self.assertLess(len(list(drawing.iter())), 2000)

    def test_without_a_clipboard_a_file_is_saved(self):
        self.open("saved", "-s", LIFE)
        browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=fixtures.dir)
        browser.run("Object.defineProperty(navigator, 'clipboard', { value: undefined }); $('copy-csv').click()")
        path = fixtures.path("Attention-pattern-layer-0-head-0.csv")
        self.assertTrue(
            browser.until("$('copy-says').textContent === 'Saved as Attention-pattern-layer-0-head-0.csv.'"))
        self.assertTrue(browser.until("true") and any(os.path.exists(path) or time.sleep(0.05) for _ in range(100)))
        self.assertEqual([u for u in browser.requests() if not u.startswith(("file:", "blob:"))], [])

    # ---- screens, themes, print

    def test_no_horizontal_scroll_on_a_phone(self):
        browser.resize(390, 844)
        for name, args in {"life": ["-s", LIFE], "stacked": ["-m", "models/stacked", "-s", LAMP, "--show", "*"],
                           "wide": ["-m", fixtures.wide(), "-s", PROSE],
                           "asked": ["-m", "tiny", "-s", LILY, "--show", "pattern,lens", "--ablations"],
                           "evil": ["-m", fixtures.evil(), "-s", " ".join(EVIL)]}.items():
            with self.subTest(name):
                self.open(name, *args)
                self.assertEqual(browser.value("document.documentElement.scrollWidth"), 390)
                if name == "asked":
                    browser.run("$('without').click()")
                    self.assertEqual(browser.value("document.documentElement.scrollWidth"), 390)
                    browser.run("$('tab-lens').click()")
                    self.assertEqual(browser.value("document.documentElement.scrollWidth"), 390)
                browser.run("if (!$('merge').disabled) $('merge').click(); $('table').open = true;")
                self.assertEqual(browser.value("document.documentElement.scrollWidth"), 390)

    def test_light_and_dark_can_be_read(self):
        pairs = [["ink", "paper"], ["ink", "panel"], ["ink", "field"], ["ink", "bar"], ["soft", "paper"],
                 ["soft", "panel"],
                 ["on-accent", "accent"], ["accent", "panel"], ["accent", "field"]]
        self.open("life", "-s", LIFE)
        for theme in ["light", "dark"]:
            browser.theme(theme)
            self.assertTrue(browser.until(f"document.documentElement.dataset.theme === '{theme}'"))
            for pair, ratio in zip(pairs, browser.run(CONTRAST, pairs)):
                self.assertGreaterEqual(ratio, 4.5, f"{pair} in the {theme} theme")
        browser.click("#theme")
        # whatever the system's theme is
        self.assertEqual(browser.value("document.documentElement.dataset.theme"), "light")

    def test_everything_has_a_name(self):
        for args in [["-s", LIFE], ["-m", "models/stacked", "-s", LAMP],
                     ["-m", "tiny", "-s", LILY, "--show", "pattern,lens", "--ablations"]]:
            self.open("named", *args)
            self.assertEqual(browser.run(NAMELESS), [])

    def test_opens_at_the_most_telling_head(self):
        for args in [["-m", "tiny", "-s", LILY], ["-m", "stacked", "-s", LAMP]]:
            self.open("telling", *args)
            rows = list(csv.DictReader(io.StringIO(fixtures.cli("heads", *args, "--format", "csv").decode())))
            named = [row for row in rows if row["label"]]
            most = max(named, key=lambda row: float(row[row["label"]])) if named else \
                next(row for row in rows if row["layer"] == rows[-1]["layer"])
            self.assertEqual(self.head()[:2], [int(most["layer"]), int(most["head"])])
        self.open("asked", "-m", "tiny", "-s", LILY, at="#layer=0&head=1")
        self.assertEqual(self.head()[:2], [0, 1])

    def test_from_the_heads_to_the_head_by_one_key(self):
        self.open("tab", "-m", "tiny", "-s", LILY)
        browser.run("overview.buttons.get(state.layer + ',' + state.head).focus()")
        browser.press("Tab")
        self.assertEqual(browser.value("document.activeElement.id"), "matrix")
        left, top, right, below = browser.value("""['overview', 'ranking', 'head', 'lines'].map((id) => $(id).getBoundingClientRect())
            .flatMap((box, i) => i < 2 ? [] : [box.left - $('overview').getBoundingClientRect().right, box.top]).map(Math.round)""")
        self.assertEqual([left > 0, right > 0, top < below], [True, True, True])
        self.assertTrue(browser.value("$('ranking').getBoundingClientRect().top - "
                                      "$('overview').getBoundingClientRect().bottom < 20"))

    def test_heads_say_their_names_once(self):
        self.open("names", "-m", "tiny", "-s", LILY, "--ablations")
        self.assertEqual(browser.value("[...$('heads').querySelectorAll('button')].filter((b) => b.title || "
                                       "!b.ariaLabel).length"), 0)
        browser.point("#heads button[aria-label^='layer 1, head 2']")
        self.assertTrue(browser.until("!tip.hidden && tip.textContent.startsWith('layer 1, head 2: KL ')"))

    def test_a_long_token_leaves_room_for_lines(self):
        vocab, long = fixtures.write("long.json",
                                     json.dumps({"a": 0, "Donaudampfschifffahrt" * 6: 1})), "Donaudampfschifffahrt" * 6
        model = fixtures.path("longword")
        fixtures.cli("init", "-o", model, "--vocab", vocab, "--n-layer", "1", "--n-head", "2", "--d-model", "8")
        for width in [1280, 390]:
            browser.resize(width, 800)
            self.open("long", "-m", model, "-s", f"a {long} a")
            self.assertGreater(browser.value("lines.width / lines.host.clientWidth"), 0.27)
            self.assertEqual(browser.value("document.documentElement.scrollWidth"), width)

    def test_prints_whole(self):
        self.open("print", "-m", "tiny", "-s", LILY, at="#layer=2&head=3")
        browser.run("heat.resize(3)")                               # what is scrolled on a screen cannot be on paper
        before = browser.value("[heat.width, vector.width, heat.cell]")
        browser.run("layOutFor(true)")
        self.assertEqual(browser.value("[heat, vector].filter((v) => v.width > 680 || v.host.scrollWidth > "
                                       "v.host.clientWidth).length"), 0)
        self.assertEqual(browser.value("[$('pairs'), $('heads'), "
                                       "$('ranking-body')].filter((e) => e.scrollWidth > 680).length"), 0)
        browser.run("layOutFor(false)")
        self.assertTrue(browser.until(f"JSON.stringify([heat.width, vector.width, "
                                      f"heat.cell]) === '{json.dumps(before, separators=(',', ':'))}'"))
        for size in [[8.27, 11.69], [8.5, 11]]:
            paper = base64.b64decode(browser.devtools("Page.printToPDF", paperWidth=size[0],
                                                      paperHeight=size[1])["data"])
            with open(fixtures.path("paper.pdf"), "wb") as f:
                f.write(paper)
            text = subprocess.run(["pdftotext", fixtures.path("paper.pdf"), "-"], capture_output=True,
                                  check=True).stdout.decode()
            for number in range(96, 128):
                self.assertIn(str(number), re.sub(r"\s", "", text))

    def test_prints(self):
        browser.theme("dark")
        self.open("stacked", "-m", "models/stacked", "-s", LAMP)
        self.assertTrue(browser.devtools("Page.printToPDF")["data"].startswith("JVBERi"))
        self.assertEqual(browser.value("document.documentElement.dataset.theme"), "dark")       # as before

    # ---- what it must not do

    def test_markup_in_tokens_is_text(self):
        self.open("evil", "-m", fixtures.evil(), "-s", " ".join(EVIL), "--show", "pattern,lens", "--ablations",
                  "--edit", f"L0H1[pos={json.dumps(EVIL[0])}] = 0")
        browser.run("$('table').open = true; $('without').click()")
        self.assertIn(EVIL[0], browser.value("$('edits').textContent"))
        shown = browser.value("[...$('next-without-list').children].map((e) => e.firstChild.textContent)")
        self.assertTrue(set(shown) < {word.replace("\u202e", "\\u{202E}") for word in EVIL}, shown)
        browser.run("$('tab-lens').click()")
        cells = browser.value("[...$('lens-body').querySelectorAll('td')].map((e) => e.textContent)")
        browser.run("$('tab-attention').click()")
        self.assertEqual(len(cells), len(EVIL))
        self.assertTrue(set(cells) <= {word.replace("\u202e", "\\u{202E}") for word in EVIL}, cells)
        self.assertEqual(browser.value("document.querySelectorAll('img').length"), 0)
        self.assertIsNone(browser.value("window.hit ?? null"))
        self.assertEqual(browser.value("$('sentence').textContent"), " ".join(EVIL).replace("\u202e", "\\u{202E}"))
        self.assertEqual(browser.value("document.title"), "Attention: " + " ".join(EVIL))
        labels = [word.replace("\u202e", "\\u{202E}") for word in EVIL]
        self.assertEqual(browser.value("heat.rowLabels"), labels)
        self.assertTrue(self.hover(1, 0).startswith(f"{labels[1]} (1) → {labels[0]} (0): "))
        self.assertTrue(browser.value("[...document.scripts].every((s) => s.parentNode === document.body)"))

    def test_a_script_that_got_in_would_not_run(self):
        self.open("life", "-s", LIFE)
        browser.run("""const s = document.createElement("script"); s.textContent = "window.hit = 1"; document.body.append(s);
            document.body.insertAdjacentHTML("beforeend",
                "<img src='https://example.org/x.png' onerror='window.hit = 2'>");""")
        self.assertIsNone(browser.value("window.hit ?? null"))
        browser.until("document.images.length === 1 && document.images[0].complete")
        refused = browser.errors()
        self.assertTrue(refused and all("Content Security Policy" in e for e in refused), refused)
        browser.requests()                                          # drops them: tried, but refused by the policy

    def test_saved_matrices(self):
        dump = fixtures.path("dump.npz")
        fixtures.cli("run", "-m", "models/stacked", "-s", LAMP, "-o", dump)
        self.page = fixtures.path("plot.html")
        fixtures.cli("plot", dump, "--show", "*", "--head", "1,3", "-o", self.page)
        browser.open(self.page + "#layer=2&head=3")
        rows = fixtures.matrices("-m", "models/stacked", "-s", LAMP)["blocks.2.attn.pattern.head3"]
        self.assertEqual(shown(self.hover(4, 1))[0], six(rows[4][2]))
        self.assertEqual(browser.value("heat.rowLabels"), ["who", "turned", "off", "the", "lamp"])
        self.assertFalse(browser.value("$('merge').disabled"))

    def test_a_matrix_without_tokens(self):
        fixtures.cli("run", "-m", "models/stacked", "-s", LAMP, "--show", "pattern", "--format", "npy", "-o",
                     fixtures.path("dump"))
        self.page = fixtures.path("plot.html")
        fixtures.cli("plot", fixtures.path("dump/blocks.2.attn.pattern.npy"), "-o", self.page)
        browser.open(self.page)
        self.assertEqual(browser.value("heat.rowLabels"), ["0", "1", "2", "3", "4"])
        self.assertTrue(browser.value("$('merge').disabled"))

    def plain(self, name, *args):
        """A page of another command than run: what it says, and whether it draws lines from token to token."""
        self.page = fixtures.path(name + ".html")
        fixtures.cli(*args, "-o", self.page)
        browser.open(self.page)
        return browser.value("[$('about').textContent, heat.rowAxis, heat.colAxis, $('value').textContent, "
                             "$('lines').hidden]")

    def test_rows_that_are_no_tokens(self):
        red, big = "Lily lost her red ball", "Lily lost her big ball"
        says = "Point at a cell: rows are layers, columns heads."
        patch = ["patch", "-m", "tiny", "-s", red, "--from", big, "--metric", 'logprob(".")', "--what",
                 "context", "--over"]
        self.assertEqual(self.plain("patch", *patch, "layer,head"), ["tiny · 1 matrix", "layers", "heads", says, True])
        self.assertTrue(self.hover(1, 2).startswith("L1 (1), H2 (2): "))
        browser.run("heat.onPick(5)")                               # a row that no list of tokens has
        self.assertEqual(self.plain("all", *patch, "layer,head,pos")[:3], ["tiny · 6 matrices", "heads", "positions"])
        self.assertEqual(browser.value("$('overview-title').textContent"), "All matrices")
        self.assertEqual(self.plain("heads", "heads", "-m", "tiny", "-s", red)[1:], ["layers", "heads", says, True])
        self.assertIn("previous", browser.value("$('heads').textContent"))
        numbers = fixtures.write("plain.csv", "1,2,3\n4,5,6\n")
        self.assertEqual(self.plain("numbers", "plot", numbers)[1:],
                         ["rows", "columns", "Point at a cell.", True])

    def test_what_is_no_number(self):
        self.page = fixtures.path("nan.html")
        fixtures.cli("plot", fixtures.write("nan.csv", "token,a,b\na,1,nan\nb,-inf,0.25\n"), "-o", self.page)
        browser.open(self.page)
        self.assertTrue(self.hover(0, 1).endswith(": nan"))
        self.assertTrue(self.hover(1, 0).endswith(": −∞"))
        self.assertEqual(browser.value("[heat.shade.pixel(0, 1) === heat.shade.none, heat.shade.pixel(1, 0)]"),
                         [True, 0])
        self.assertIn("1 not a number", browser.value("$('legend').textContent"))
        self.assertIn("1 of −∞, left blank", browser.value("$('legend').textContent"))

    def test_numbers_fit_into_their_cells(self):
        wide = "[...heat.inside.querySelectorAll('text')].filter((e) => e.getBBox().width > heat.cell - 2).length"
        texts = "[...heat.inside.querySelectorAll('text')].map((e) => e.textContent)"
        for name, numbers, expected in [
                ("tiny", ["4.25e-6", "9.2e-6", "0", "-1e-9"], ["4.25e−6", "9.20e−6", "0", "−1.00e−9"]),
                ("large", ["-13.505", "22.566", "300.25", "-0.00001"], ["−13.5050", "22.5660", "300.2500", "0.0000"]),
                ("huge", ["3e38", "-1e-30", "1", "inf"], ["3.0e+38", "−1.0e−30", "1.0e+0", "∞"])]:
            self.plain(name, "plot", fixtures.write(name + ".csv", "{},{}\n{},{}\n".format(*numbers)))
            self.assertEqual(browser.value(wide), 0)
            self.assertEqual(browser.value(texts), expected)
            self.assertEqual(browser.errors(), [])

    def test_labels_stay_in_sight(self):
        self.open("long", "-s", " ".join([LIFE] * 9), "--show", "pattern")
        browser.run("heat.resize(8); $('matrix').scrollTop = 700; $('matrix').scrollLeft = 600")
        seen = "const box = $('matrix').getBoundingClientRect(); return Object.values(heat.bands).map((b) => {{ const e = " \
               "b.querySelector('rect').getBoundingClientRect(); return [e.left - box.left, e.top - box.top]; }}).map((p) => p[{}])"
        browser.until("heat.bands.corner.getAttribute('transform') === 'translate(600,700)'")
        self.assertEqual([browser.run(seen.format(i)) for i in (0, 1)], [[-600, 0, 0], [0, -700, 0]])
        self.assertEqual(browser.value("heat.cellAt({ clientX: $('matrix').getBoundingClientRect().x + 5, "
                                       "clientY: 400 })"), [-1, -1])
        self.assertTrue(browser.value("heat.point(40, 40), heat.reveal(), "
                                      "document.querySelectorAll('.pointed').length === 4"))

    def test_lines_have_the_colour_of_their_sign(self):
        self.open("dots", "-s", LIFE, "--show", "dots,pattern", at="#layer=0&head=0&kind=attn.dots")
        strokes = "[...lines.all.children].map((e) => e.getAttribute('stroke'))"
        signs = "[0, 1, 2, 3, 4, 5].flatMap((r) => lines.linesOf(r).map(([, c]) => lines.m.at(r, c) < 0))"
        both = dict(zip(browser.value(signs), browser.value(strokes)))
        self.assertEqual([both[sign] for sign in browser.value(signs)], browser.value(strokes))
        self.assertEqual(len(set(both.values())), 2)

    def test_an_address_leads_back(self):
        self.open("kinds", "-m", "models/stacked", "-s", LAMP, "--show", "pattern,scores",
                  at="#layer=1&head=2&kind=attn.scores")
        self.assertEqual(browser.value("[state.kind, state.layer, state.head]"), ["attn.scores", 1, 2])
        browser.run("pickQuery(3)")
        browser.run("$('kind').value = 'attn.pattern'; $('kind').dispatchEvent(new Event('change'))")
        self.assertEqual(browser.value("[state.query, location.hash]"), [3, "#layer=1&head=2"])
        browser.run("location.hash = '#head'")                      # the link past the controls
        browser.run("$('head-up').focus(); $('head-up').click()")
        self.assertEqual(browser.value("[state.layer, state.head, document.activeElement.id]"), [1, 3, "head-number"])

    def test_parts_of_a_character_are_told_apart(self):
        self.open("bytes", "-m", fixtures.wide(), "-s", "日", "--layer", "0")
        self.assertEqual(browser.value("heat.rowLabels"), ["日·1/3", "日·2/3", "日·3/3"])

    def test_predictions_that_are_no_numbers(self):
        model = fixtures.path("nan")
        fixtures.cli("init", "-o", model, "--vocab", "data/life-vocab.json", "--n-layer", "1", "--n-head", "2",
                     "--d-model", "4",
                     "--d-head", "2", "--d-value", "2", "--unembed", "true", "--draw",
                     "embed:normal(0,1e10) q:normal(0,1e10) k:normal(0,1e10) v:rand")
        self.open("nan", "-m", model, "-s", "Life is short", "--ablations", "--show", "pattern,lens")
        browser.click("#without")
        self.assertIn("KL unknown, as a logit is not finite", browser.value("$('without-says').textContent"))
        row = "[...$('ranking-body').querySelector('tbody tr').cells].map((e) => e.textContent)"
        self.assertEqual(browser.value(row), ["L0H0"] + ["–"] * 7)
        browser.click("#tab-lens")
        self.assertTrue(browser.value("$('lens-value').textContent").endswith("nothing, as a logit is not finite"))

    def test_matrices_alone_and_vectors_alone(self):
        self.open("context", "-s", LIFE, "--show", "context,embed")
        self.assertTrue(browser.value("$('head').hidden && !$('vectors').hidden"))
        self.open("pattern", "-s", LIFE, "--show", "pattern")
        self.assertTrue(browser.value("$('vectors').hidden && !$('head').hidden"))
        self.open("ids", "-m", "models/stacked", "--ids", "5,1,2", "--labels", "none")
        self.assertEqual(browser.value("heat.rowLabels"), ["5", "1", "2"])
        self.open("names", "-m", "models/stacked", "--ids", "5,1,2")
        self.assertEqual(browser.value("heat.rowLabels"), ["goes", "and", "back"])

    # ---- another language

    def test_nothing_stays_english(self):
        """After each thing that one can do; an English page is told from it by the same means."""
        for lang in "zh", "en":
            args = ["-m", "tiny", "-s", LILY, "--show", "pattern,context,lens,q,k,dots,scores,embed", "--ablations",
                    "--edit", "L0H1 *= 0.5", "--lang", lang]
            self.open("lang-" + lang, *args)
            self.assertEqual(browser.value("document.documentElement.lang"), lang)
            names = set()
            found = fixtures.english(browser, names)
            for deed in ["change({ layer: 2, head: 1, without: true })", "$('table').open = true; drawTable()",
                         "change({ hideFirst: true, allLines: true })",
                         "change({ merge: true })", "change({ merge: false, scale: 'log' })",
                         "change({ scale: 'row' })", "change({ kind: 'attn.dots' })",
                         "change({ kind: 'attn.scores', scale: 'auto', hideFirst: false })",
                         "change({ vectorKind: 'embed' })", "change({ theme: 'dark' })",
                         "change({ kind: 'attn.pattern', theme: 'light' }); heat.point(5, 2); heat.onPick(5)",
                         "change({ tab: 'lens' }); lens.at(1, 2).focus()",
                         "change({ tab: 'attention' }); heat.point(2, 5); heat.onPick(2)", "vector.point(1, 1)",
                         "showTip(describeCell(2, 5) + describeCell(5, 2) + describeNumber(1, 2), 9, 9)"]:
                browser.run(deed)
                found |= fixtures.english(browser, names)
            if lang == "zh":
                self.assertEqual(found, set())
                self.assertEqual(browser.value("saveFile(new Blob(['']), 'svg')"),
                                 "已保存为 Attention-pattern-layer-2-head-1.svg。")
            else:
                self.assertGreater(len(found), 100)

    def test_a_history_in_chinese(self):
        model, self.page = fixtures.path("history"), fixtures.path("history.html")
        fixtures.cli("train", "-f", "cmd/README.md", "--vocab-size", "300", "--n-ctx", "32", "--n-layer", "1",
                     "--n-head", "2", "--d-model", "16", "--steps", "2",
                     "--batch", "2", "--seed", "7", "--watch-every", "1", "-s", "attention heads", "--show", "pattern",
                     "-q", "-o", model)
        fixtures.cli("plot", model + "/watch", "--lang", "zh", "-o", self.page)
        browser.open(self.page)
        browser.run("document.querySelector('canvas').dispatchEvent(new PointerEvent('pointermove'))")
        begun = "[document.title, play.textContent, document.querySelector('figcaption').textContent, at.ariaValueText]"
        self.assertEqual(browser.value(f"play.click() ?? {begun}"),         # before it moves on
                         [f"训练过程：{model}/watch", "停止", "层 0，头 0", "第 0 步"])
        self.assertIn("约 ", browser.value("says.textContent"))
        self.assertEqual(browser.value("[...document.querySelectorAll('h2, "
                                       ".legend span')].map((e) => e.textContent.trim())"),
                         ["注意力权重", "0", "1", "被掩码遮住"])
        swatch = "document.querySelector('.legend .swatch').getContext('2d').getImageData(0, 0, 1, 1).data.join()"
        corner = "document.querySelector('figure canvas').getContext('2d').getImageData(1, 0, 1, 1).data.join()"
        self.assertEqual(browser.value(swatch), browser.value(corner))


if __name__ == "__main__":
    unittest.main()
