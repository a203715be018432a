"""Writes the corpus of TrueType fonts, which have letters of a few points: make_fonts.py tests/corpus"""
import os
import struct
import sys

EM = 1000


def flags_and_points(points):
    """Points as (x, y, on): every distance takes two bytes."""
    at, xs, ys = (0, 0), b"", b""
    for x, y, _ in points:
        xs += struct.pack(">h", x - at[0])
        ys += struct.pack(">h", y - at[1])
        at = (x, y)
    return bytes(1 if on else 0 for _, _, on in points) + xs + ys


def simple(curves, instructions=b""):
    points = [p for c in curves for p in c]
    ends, n = b"", -1
    for c in curves:
        n += len(c)
        ends += struct.pack(">H", n)
    box = [min(p[0] for p in points), min(p[1] for p in points), max(p[0] for p in points), max(p[1] for p in points)]
    return struct.pack(">hhhhh", len(curves), *box) + ends + struct.pack(">H", len(instructions)) + instructions + \
        flags_and_points(points)


def square(x, y, side, hole=False):
    p = [(x, y, 1), (x, y + side, 1), (x + side, y + side, 1), (x + side, y, 1)]
    return p[::-1] if hole else p


def composed(*parts):
    """Parts as (glyph, a, b) or (glyph, a, b, more flags, more bytes)."""
    out = struct.pack(">hhhhh", -1, 0, 0, EM, EM)
    for i, part in enumerate(parts):
        glyph, a, b = part[:3]
        flags, more = part[3:] if len(part) > 3 else (2, b"")
        flags |= 1 | (0x20 if i + 1 < len(parts) else 0)
        out += struct.pack(">HHhh", flags, glyph, a, b) + more
    return out


ring = [(500, 0, 0), (1000, 0, 0), (1000, 500, 0), (1000, 1000, 0), (500, 1000, 0), (0, 1000, 0),
        (0, 500, 0), (0, 0, 0)]
GLYPHS = [
    simple([square(100, 0, 700), square(200, 100, 500, True)]),         # what is missing: a frame
    b"",                                                                # space
    simple([square(0, 0, 500)], b"\x01\x02\x03"),                       # A
    simple([[(0, 0, 1), (250, 500, 0), (500, 0, 1)]]),                  # B: a bend
    composed((2, 100, 100), (3, 0, 500)),                               # C: A and B
    composed((2, 0, 0), (3, 1, 0, 0, b"")),                             # D: point 0 of B lies on point 1 of A
    composed((2, 0, 0, 2 | 8, struct.pack(">h", 0x2000))),              # E: A at half its size
    composed((4, 0, 0), (6, 500, 0, 2 | 0x80, struct.pack(">hhhh", 0, 0x4000, -0x4000, 0))),    # F: C, and E turned
    simple([ring]),                                                     # O: only points that bend
]
LETTERS = {32: 1, 65: 2, 66: 3, 67: 4, 68: 5, 69: 6, 70: 7, 79: 8}


def cmap4(letters):
    codes = sorted(letters) + [0xFFFF]
    ids = [letters.get(c, 0) for c in codes]
    n = len(codes)
    body = struct.pack(">HHHH", 2 * n, 0, 0,
                       0) + struct.pack(f">{n}H", *codes) + b"\0\0" + struct.pack(f">{n}H", *codes)
    body += struct.pack(f">{n}H", *((g - c) & 0xFFFF for g, c in zip(ids, codes))) + bytes(2 * n)
    return struct.pack(">HHH", 4, len(body) + 6, 0) + body


def cmap12(letters):
    groups = b"".join(struct.pack(">III", c, c, g) for c, g in sorted(letters.items()))
    return struct.pack(">HHIII", 12, 0, 16 + len(groups), 0, len(letters)) + groups


def cmap(table, platform=3, encoding=1):
    return struct.pack(">HHHHI", 0, 1, platform, encoding, 12) + table


def tables(glyphs=GLYPHS, letters=None, long_loca=True, **other):
    loca, glyf = [0], b""
    for g in glyphs:
        glyf += g + bytes(-len(g) % 4)
        loca.append(len(glyf))
    n = len(glyphs)
    names = b"Plain-Test!"
    out = {
        "OS/2": struct.pack(">HhHHH", 4, 500, 400, 5, 0) + bytes(68),
        "cmap": cmap(cmap4(letters or LETTERS)),
        "glyf": glyf,
        "head": struct.pack(">IIIIHH16shhhhHHhhh", 0x10000, 0, 0, 0x5F0F3CF5, 0, EM, bytes(16), 0, 0, EM, EM, 0, 8, 2,
                            int(long_loca), 0),
        "hhea": struct.pack(">IhhhHhhh", 0x10000, 800, -200, 0, 1000, 0, 0, 0) + bytes(16) + struct.pack(">H", n),
        "hmtx": b"".join(struct.pack(">Hh", 600 + 10 * i, 0) for i in range(n)),
        "loca": b"".join(struct.pack(">I", x) if long_loca else struct.pack(">H", x // 2) for x in loca),
        "maxp": struct.pack(">IH", 0x10000, n) + bytes(26),
        "name": struct.pack(">HHHHHHHHH", 0, 1, 18, 1, 0, 0, 6, len(names), 0) + names,
    }
    out.update({{"os2": "OS/2"}.get(k, k): v for k, v in other.items()})
    return {k: v for k, v in out.items() if v is not None}


def font(kind=b"\0\1\0\0", at=0, **how):
    t = tables(**how)
    top, body = kind + struct.pack(">HHHH", len(t), 0, 0, 0), b""
    begins = at + 12 + 16 * len(t)
    for tag, data in sorted(t.items()):
        top += tag.encode() + struct.pack(">III", 0, begins + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    return top + body


def collection(n):
    top, fonts = 12 + 4 * n, b""
    begins = []
    for i in range(n):
        begins.append(top + len(fonts))
        fonts += font(at=begins[-1])
    return b"ttcf" + struct.pack(">II", 0x10000, n) + struct.pack(f">{n}I", *begins) + fonts


def with_glyph(glyph):
    return font(glyphs=GLYPHS[:2] + [glyph] + GLYPHS[3:])


def patched(tag, at, data):
    t = tables()[tag]
    return font(**{tag.replace("OS/2", "os2"): t[:at] + data + t[at + len(data):]})


A = GLYPHS[2]
deep = GLYPHS[:2] + [composed((i, 0, 0)) for i in range(3, 12)] + [A]
wide = GLYPHS[:2] + [composed(*[(3, 0, 0)] * 30), composed(*[(4, 0, 0)] * 30), A]
whole = font()
fonts = {
    "y_plain": whole, "y_short_loca": font(long_loca=False), "y_true": font(kind=b"true"),
    "y_all_planes": font(cmap=cmap(cmap12({**LETTERS, 0x1F600: 2}), 3, 10)),
    "y_unicode": font(cmap=cmap(cmap4(LETTERS), 0, 3)),
    "y_collection": collection(2), "y_no_name": font(name=None), "y_no_rights": font(os2=None),
    "n_nothing": b"", "n_text": b"This is not a font, but some text.", "n_cff": font(kind=b"OTTO"),
    "n_no_fonts": collection(0),
    "n_collection_cut": collection(1)[:14], "n_no_glyf": font(glyf=None), "n_no_cmap": font(cmap=None),
    "n_no_head": font(head=None), "n_cut": whole[:len(whole) // 2], "n_header_cut": whole[:20],
    "n_symbols": font(cmap=cmap(cmap4(LETTERS), 3, 0)), "n_format": font(cmap=cmap(struct.pack(">HHH", 6, 6, 0))),
    "n_not_embedded": patched("OS/2", 8, b"\0\2"), "n_units": patched("head", 18, b"\0\0"),
    "n_no_widths": patched("hhea", 34, b"\0\0"), "n_more_widths": patched("hhea", 34, b"\xff\xff"),
    "n_more_glyphs": patched("maxp", 4, b"\xff\xff"), "n_widths_cut": font(hmtx=b"\0\0\0\0"),
    "n_glyph_beyond": patched("loca", 12, b"\x7f\0\0\0"), "n_glyph_backwards": patched("loca", 12, b"\0\0\0\0"),
    "n_glyph_cut": with_glyph(A[:20]), "n_ends_cut": with_glyph(A[:12]),
    "n_curves_many": with_glyph(b"\x7f\xff" + A[2:]),
    "n_instructions_beyond": with_glyph(A[:12] + b"\xff\xff" + A[14:]),
    "n_component_cut": with_glyph(composed((3, 0, 0))[:14]),
    "n_component_itself": with_glyph(composed((2, 0, 0))), "n_deep": font(glyphs=deep), "n_wide": font(glyphs=wide),
    "n_joins_nothing": with_glyph(composed((3, 0, 0), (3, 9, 0, 0, b""))),
    "n_repeat_cut": with_glyph(A[:17] + b"\x08"),
}

for name, data in fonts.items():
    with open(os.path.join(sys.argv[1], "truetype",
                           name + (".ttc" if "collection" in name or name == "n_no_fonts" else ".ttf")), "wb") as f:
        f.write(data)
