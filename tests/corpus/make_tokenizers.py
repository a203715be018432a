"""Writes the corpora of tokenizer.model and tokenizer.bin: make_tokenizers.py tests/corpus"""
import os, struct, sys

def vi(n):
    out = b""
    while True:
        c, n = n & 127, n >> 7
        if not n:
            return out + bytes([c])
        out += bytes([c | 128])

def ld(f, b): return vi(f << 3 | 2) + vi(len(b)) + b
def num(f, n): return vi(f << 3) + vi(n)
def piece(s, score=0.0, t=None):
    s = s.encode() if isinstance(s, str) else s
    return ld(1, ld(1, s) + vi(2 << 3 | 5) + struct.pack("<f", score) + (num(3, t) if t else b""))

head = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3)
letters = b"".join(piece(c, -5.0 - i) for i, c in enumerate("▁ab"))
some = head + letters + piece("▁a", -1) + piece("ab", -2) + piece("▁ab", -3)
many = b"".join(piece("<0x%02X>" % i, 0, 6) for i in range(256))
bpe, unigram = num(3, 2), num(3, 1)
plain = num(4, 0)
def model(pieces, trainer=bpe, norm=plain, more=b""): return pieces + ld(2, trainer) + ld(3, norm) + more

charsmap = [0] * 512
charsmap[0] = 256 << 10
charsmap[256 ^ 0x41] = ((256 ^ 0x41 ^ 1) << 10) | 0x100 | 0x41
charsmap[1] = 0x80000000
table = struct.pack("<I", 2048) + struct.pack("<512I", *charsmap) + b"b\0"
charsmap[256 ^ 0x41] = (0x3FFFFF << 10) | 0x300 | 0x41
wild = struct.pack("<I", 2048) + struct.pack("<512I", *charsmap)

models = {
    "y_bpe": model(some), "y_unigram": model(some, unigram), "y_default_type": head + letters,
    "y_bytes": model(some + many, bpe + num(35, 1)), "y_unigram_bytes": model(some + many, unigram + num(35, 1)),
    "y_user": model(some + piece("ba", 0, 4)), "y_unigram_user": model(some + piece("ba", 0, 4), unigram),
    "y_unused": model(some + piece("▁aba", -0.5, 5) + piece("aba", -0.6, 5)),
    "y_minus_pad": model(some, bpe + num(43, (1 << 64) - 1)),
    "y_unknown_fields": model(some, bpe + vi(99 << 3 | 1) + b"12345678" + vi(98 << 3 | 5) + b"1234" + ld(97, b"x") +
                              num(96, 5), plain, ld(4, b"")),
    "y_table": model(some, bpe, ld(2, table)), "y_table_wild": model(some, bpe, ld(2, wild)),
    "y_suffix": model(some, bpe + num(24, 1)),
    "y_no_dummy": model(some, unigram, num(3, 0)), "y_no_escape": model(some + piece(" ", -3), bpe, num(5, 0)),
    "y_surface": model(some, bpe + ld(44, b"?")),
    "n_empty": b"", "n_text": b"hello, I am no model\n", "n_cut_piece": model(some)[:40],
    "n_cut_varint": head + b"\xff",
    "n_long_varint": head + b"\x0a" + b"\xff" * 11, "n_huge_count": head + b"\x0a" + vi(1 << 60) + b"x",
    "n_huge_length": vi(1 << 3 | 2) + vi((1 << 64) - 1),
    "n_wire": head + b"\x0b", "n_piece_no_message": vi(1 << 3) + b"\x01", "n_trainer_no_message": some + num(2, 1),
    "n_piece_inside": ld(1, b"\x0a\x7f"),
    "n_no_text": model(some + ld(1, b"")), "n_long_text": model(some + piece("x" * 4097)),
    "n_score_nan": model(some + piece("x", float("nan"))),
    "n_score_inf": model(some + piece("x", float("-inf"))), "n_type": model(some + piece("x", 0, 7)),
    "n_type_zero": model(some + ld(1, ld(1, b"x") + num(3, 0))),
    "n_byte_spelling": model(some + piece("<0xZZ>", 0, 6)), "n_no_unknown": model(letters),
    "n_two_unknown": model(some + piece("<u>", 0, 2)),
    "n_twice": model(some + piece("ab", -9)), "n_not_utf8": model(some + piece(b"\xff")),
    "n_nul": model(some + piece(b"a\0")),
    "n_missing_bytes": model(some, bpe + num(35, 1)), "n_bytes_unasked": model(some + many),
    "n_word": model(some, num(3, 3)), "n_char": model(some, num(3, 4)),
    "n_table_short": model(some, bpe, ld(2, b"\x04\0")),
    "n_table_size": model(some, bpe, ld(2, b"\xff\xff\xff\xff" + b"\0" * 16)),
    "n_denormalizer": model(some, bpe, plain, ld(5, ld(2, table))),
}

def tok(s, score=0.0):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<fI", score, len(s)) + s
begin = struct.pack("<I", 6) + tok("<unk>") + tok("\n<s>\n") + tok("\n</s>\n")
all_bytes = b"".join(tok("<0x%02X>" % i) for i in range(256))
bins = {
    "y_plain": begin + all_bytes + tok(" ", -3) + tok("a", -4) + tok("b", -5) + tok(" a", -1) + tok("ab", -1),
    "y_bytes": begin + all_bytes, "y_no_space": begin + all_bytes + tok("ab"),
    "n_empty": b"", "n_short": b"\1\2", "n_nothing": struct.pack("<I", 6), "n_cut_head": begin + b"\0\0\0\0\1",
    "n_cut": begin + tok("abc")[:-1],
    "n_huge": begin + struct.pack("<fI", 0, 0xFFFFFFFF) + b"x", "n_no_text": begin + tok(""),
    "n_long": begin + tok("x" * 4097),
    "n_score": begin + tok("a", float("nan")), "n_twice": begin + all_bytes + tok("a") + tok("a"),
    "n_not_utf8": begin + tok(b"\xc3"),
    "n_nul": begin + tok(b"a\0"), "n_no_bytes": begin + tok("a") + all_bytes, "n_few_bytes": begin + all_bytes[:-14],
}
for folder, files, ext in (("sentencepiece", models, "model"), ("llama2c", bins, "bin")):
    os.makedirs(os.path.join(sys.argv[1], folder), exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(sys.argv[1], folder, name + "." + ext), "wb") as f:
            f.write(data)
