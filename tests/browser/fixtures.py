"""Models and pages for the tests, made by the program itself in a temporary directory."""
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

CLI = os.path.abspath(os.environ["ATTN_CLI"])
LIFE = "Life is short, eat dessert first"
LAMP = "Who turned off the lamp?"
LILY = "Lily lost her red ball in the park. Tom saw the red ball"
# Texts that a page must never take for markup.  Tokens contain no white space, and this markup needs none.
EVIL = ["<img/src=x/onerror=window.hit=1>", "</script><script>window.hit=1</script>", "<!--<script>", "\"'&amp;",
        "\u202eabc", "]]>{{data}}"]
PROSE = "Attention reads a naïve sentence: unbelievable words, 日本語 too, and then some more."     # 93 tokens

# Words of English that a page in another language has: names of formats, programs, options, keys, and of the field.
NAMES = set("attn cli SVG PNG CSV csv html NFC KL MLP logit logits softmax rollout JavaScript Enter Escape Shift "
            "format edit run show".split())
# All that people can read in a page, hidden parts, too, but for what is typed; and the words that are names,
# or of tokens.
READ = """const read = [...document.querySelectorAll("title, body *:not(script, style, noscript, textarea)")].flatMap((e) => [e.title, e.ariaLabel,
    e.placeholder, ...[...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data)]);
const tokens = [page.queries, page.next, ...(page.lens ?? []).flatMap(({ at }) => at), ...(page.without ?? []).map((w) => w.next)].flat();
return [read.filter(Boolean), [...Object.keys(page.palettes), ...page.sheets.map((s) => s.kind), page.model, page.text, ...tokens.map(tokenLabel),
    ...SHARES.map((s) => s.name)]];"""


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Fixtures:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="attn-browser-")

    def remove(self):
        shutil.rmtree(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def cli(self, *args):
        return subprocess.run([CLI, *args], check=True, capture_output=True,
                              env={**os.environ, "ATTN_MODEL": "life"}).stdout

    def page(self, name, *args):
        path = self.path(name + ".html")
        self.cli("run", *args, "--format", "html", "-o", path)
        return path

    def english(self, browser, names):
        """What can be read in the page and has words of English, but for names: those there are are added."""
        read, now = browser.run(READ)
        names |= NAMES.union(*(re.findall("[A-Za-z]+", name) for name in now))
        version = re.compile(r"\d+\.\d+\.\d+\+\w+(\.dirty)?")        # a commit may have letters side by side
        return {text.strip() for text in read if set(re.findall("[A-Za-z]{2,}", version.sub("", text))) - names}

    def matrices(self, *args):
        """The matrices by file name, as rows of labels and numbers from the CSV files."""
        out = tempfile.mkdtemp(dir=self.dir)
        self.cli("run", *args, "--format", "csv", "-o", out)
        found = {}
        for file in os.listdir(out):
            if file.endswith(".csv"):
                with open(os.path.join(out, file), newline="", encoding="utf-8") as f:
                    found[file[:-4]] = [row[:1] + [float(x) for x in row[1:]] for row in list(csv.reader(f))[1:]]
        return found

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def wide(self, n_ctx=128):
        """12 layers of 12 heads in GPT-2's shape, with a tokenizer of single bytes and three longer pieces."""
        name = "wide" if n_ctx == 128 else f"wide{n_ctx}"
        path = self.path(name)
        if os.path.exists(path):
            return path
        self.cli("init", "-o", path, "--family", "gpt2", "--n-layer", "12", "--n-head", "12", "--d-model", "96",
                 "--n-ctx", str(n_ctx),
                 "--vocab-size", "259", "--seed", "1")
        plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
        letters = {b: chr(b) for b in plain}
        letters.update({b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in letters)})
        tokens = [letters[b] for b in range(256)] + ["en", "Ġs", "er"]
        self.write(name + "/vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
        self.write(name + "/merges.txt", "#version: 0.2\ne n\nĠ s\ne r\n")
        return path

    def evil(self):
        """A model whose words are markup."""
        vocab = self.write("evil.json", json.dumps({word: i for i, word in enumerate(EVIL)}))
        path = self.path("evil")
        self.cli("init", "-o", path, "--vocab", vocab, "--n-layer", "1", "--n-head", "2", "--d-model", "8",
                 "--unembed", "true")
        return path
