"""pdf_text.py [-v] FILE - the texts of a PDF that attn-cli wrote, one string per line, as a reader copies them.

With -v each has before it the size of its letters, as their matrix says it, and their number.  A font that is not
embedded, or a glyph without a character, is an error."""
import re
import sys

verbose = sys.argv[1] == "-v"
data = open(sys.argv[-1], "rb").read()
places = {int(m[1]): m.end() for m in re.finditer(rb"(?:^|\n)(\d+) 0 obj\n", data)}


def dictionary(n):
    end = min(i for i in (data.find(b"stream\n", places[n]), data.find(b"endobj", places[n])) if i >= 0)
    return data[places[n]:end].decode("latin-1")


def stream(n):
    head = dictionary(n)
    at = places[n] + len(head) + len("stream\n")
    return data[at:at + int(re.search(r"/Length (\d+)", head)[1])]


def link(n, name):
    found = re.search(rf"/{name}\[?\s*(\d+) 0 R", dictionary(n))
    assert found, f"object {n} has no {name}"
    return int(found[1])


def font(n):
    facts = link(link(n, "DescendantFonts"), "FontDescriptor")
    assert stream(link(facts, "FontFile2"))[:4] == b"\0\1\0\0", "not a TrueType font"
    pairs = re.findall(r"<(\w{4})><(\w+)>", stream(link(n, "ToUnicode")).decode().split("endcodespacerange")[1])
    return {int(code, 16): bytes.fromhex(text).decode("utf-16-be") for code, text in pairs}


# Pages carry their resources, or their parent does.
whole = data.decode("latin-1")
fonts = {}
for used in re.findall(r"/Font<<(.*?)>>", whole):
    fonts.update({name: font(int(n)) for name, n in re.findall(r"/(F\d) (\d+) 0 R", used)})
for n in sorted(int(m) for m in re.findall(r"/Contents (\d+) 0 R", whole)):
    at = None
    for m in re.finditer(r"ActualText<FEFF(\w+)>|(EMC)|/(F\d) 1 Tf ([-\d.]+) ([-\d.]+) [^<]*<(\w+)> Tj",
                         stream(n).decode()):
        if m[1]:
            at = bytes.fromhex(m[1]).decode("utf-16-be")
        elif m[2]:
            print(at)
            at = None
        elif at is None:
            text = "".join(fonts[m[3]][int(m[6][i:i + 4], 16)] for i in range(0, len(m[6]), 4))
            print(f"{max(abs(float(m[4])), abs(float(m[5]))):.3f} {len(text)} {text}" if verbose else text)
