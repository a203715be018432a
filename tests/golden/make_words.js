// make_words.js - what the page's own script makes of tokens: words, their labels, and merged weights;
// written to words.json.
//
//     node tests/golden/make_words.js > tests/golden/words.json
//
// A token is its bytes in hexadecimal, or null for an id alone, and where it comes from in the text; a text is null
// where it is not known.  Labels are compared only where "labels" is true: a page and a terminal show some
// invisible characters differently.
"use strict";
const fs = require("fs"), vm = require("vm"), path = require("path");
const page = (name) => fs.readFileSync(path.join(__dirname, "../../lib/picture/page", name), "utf8");
const context = vm.createContext({ TextEncoder, TextDecoder, Uint8Array, Float64Array, Math, Number, String, Array });
vm.runInContext(`class Matrix {
    constructor(rows, cols) { this.rows = rows; this.cols = cols; this.data = new Float64Array(rows * cols); }
    at(r, c) { return this.data[r * this.cols + c]; }
}`, context);
vm.runInContext(page("words.js"), context);

const hex = (s) => Buffer.from(s, "latin1").toString("hex"), utf8 = (s) => Buffer.from(s, "utf8");

/* Pieces of a text, one after the other; each is a string, or bytes. */
function cut(text, pieces, labels = true) {
    let at = 0;
    const tokens = pieces.map((piece) => {
        const bytes = Buffer.isBuffer(piece) ? piece : utf8(piece), start = at;
        at += bytes.length;
        return { bytes: bytes.toString("hex"), start, end: at };
    });
    return { text, tokens, labels };
}

const bare = (pieces, labels = true) => ({ text: null, labels, tokens: pieces.map((p) => ({
    bytes: p === null ? null : (Buffer.isBuffer(p) ? p : utf8(p)).toString("hex"), start: 0, end: 0 })) });

const cases = {
    "byte-level": cut("Lily unbelievably lost, it's 1,234.",
                      ["Lily", " un", "be", "liev", "ably", " lost", ",", " it", "'s", " ", "1", ",", "234", "."]),
    "sentencepiece": cut("hello brave world", ["hel", "lo", " bra", "ve", " world"]),
    "a beginning mark": { text: "a bc", labels: true,
                          tokens: [{ bytes: hex("<s>"), start: 0, end: 0 }, { bytes: hex("a"), start: 0, end: 1 },
        { bytes: hex(" b"), start: 1, end: 3 }, { bytes: hex("c"), start: 3, end: 4 },
        { bytes: hex("</s>"), start: 4, end: 4 }] },
    "a space of its own": cut("one  two three", ["one", " ", " ", "two", " ", "th", "ree"]),
    "lines and tabs": cut("a\nb\tc d", ["a", "\n", "b", "\t", "c", " d"]),
    "halves of characters": cut("né 日本 語", ["n", Buffer.from([0xc3]), Buffer.from([0xa9]), Buffer.from([0x20, 0xe6]),
                                            Buffer.from([0x97, 0xa5]), "本",
        " ", Buffer.from([0xe8, 0xaa]), Buffer.from([0x9e])]),
    "characters of their own": cut("I say 我爱NLP, 猫の耳。ok", ["I", " say", " ", Buffer.from([0xe6]),
                                                           Buffer.from([0x88, 0x91]), "爱", "NL", "P", ",",
        " 猫", "の耳", "。", "o", "k"]),
    "spaces of all kinds": cut("a\u00a0b\u3000c\u2009d\ufeffe\u0085f g",
                               ["a", "\u00a0b", "\u3000", "c", "\u2009d", "\ufeffe", "\u0085f", " g"], false),
    "a tokenizer of words": { text: "Life is short, eat", labels: true,
                              tokens: [[0, 4], [5, 7], [8, 13], [15, 18]].map(([start, end]) =>
        ({ bytes: hex("Life is short, eat".slice(start, end)), start, end })) },
    "a text with a character that replaces": cut("a\ufffd b c", ["a", "\ufffd", " b", " c"]),
    "names without places": bare(["the", " c", "at", " sat"]),
    "names without places and spaces": bare(["the", "c", "at"]),
    "ids beside names": bare(["the", null, " cat", null]),
    "one token": cut(" x", [" x"]),
    "only spaces": cut("   ", ["   "]),
    "punctuation": cut("\"Stop!\" (she said) -- e.g. co-op",
                       ["\"", "Stop", "!\"", " (", "she", " said", ")", " --", " e", ".g", ".", " co", "-", "op"]),
    "emoji": cut("hi 👩‍👧 you",
                 ["hi", Buffer.from([0x20, 0xf0, 0x9f]), Buffer.from([0x91, 0xa9]), "‍", "👧", " you"], false),
};

let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

const out = Object.entries(cases).map(([name, c]) => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const tokens = c.tokens.map((t, i) => ({ ...t, id: i, text: t.bytes === null ? null :
                                             decoder.decode(Buffer.from(t.bytes, "hex")) }));
    context.tokens = tokens;
    context.text = c.text;
    const words = vm.runInContext("wordsOf(tokens, text)", context), n = tokens.length;
    context.m = { at: (r, q) => context.x[r * n + q], causal: false, error: 0 };
    context.x = Array.from({ length: n * n }, () => Math.fround(random()));
    context.words = words;
    const merged = vm.runInContext("mergeWords(m, words, words)", context);
    return { name, text: c.text, labels: c.labels, tokens: c.tokens, first: words.map((w) => w.first),
             label: words.map((w) => w.label),
             weights: context.x, merged: Array.from(merged.data) };
});
process.stdout.write(JSON.stringify({ cases: out }).replace(/\},\{"name"/g, "},\n{\"name\"") + "\n");
