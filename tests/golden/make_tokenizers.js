// make_tokenizers.js - tokenizers of words, and one with patterns of its own: their files and vectors by
// the reference library.
//
//     npm install tokenizers@0.23.2 && node tests/golden/make_tokenizers.js       (from the repository root)
//
// Their texts are those of added-tokens and o200k-like, and their vocabularies are made of these texts.
"use strict";
const fs = require("fs"), { Tokenizer } = require("tokenizers");
const root = "tests/golden/tokenizers";
const texts = [...new Set(["added-tokens", "o200k-like"].flatMap((name) =>
    fs.readFileSync(`${root}/${name}/vectors.jsonl`, "utf8")
    .trim().split("\n").map((line) => JSON.parse(line).text)))].filter((text) => text && !text.includes("\0"));

/* Pieces of all texts by the normalizer and pre-tokenizer of a file, the most frequent first. */
function pieces(parts) {
    const t = Tokenizer.fromString(JSON.stringify({ ...parts,
                                                    model: { type: "WordLevel", vocab: { x: 0 }, unk_token: "x" } }));
    const normal = t.getNormalizer(), pre = t.getPreTokenizer(), count = new Map();
    for (const text of texts)
        for (const [piece] of pre.preTokenizeString(normal ? normal.normalizeString(text) : text))
            count.set(piece, (count.get(piece) || 0) + 1);
    return [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

const ids = (tokens) => Object.fromEntries([...new Set(tokens)].map((token, id) => [token, id]));
const special = (id, content) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false,
                                    special: true });
const around = (before, after) => ({ type: "TemplateProcessing",
    single: [{ SpecialToken: { id: before[0], type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } },
             { SpecialToken: { id: after[0], type_id: 0 } }],
    pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: Object.fromEntries([before, after].map(([id, n]) => [id, { id, ids: [n], tokens: [id] }])) });
const empty = { version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null,
                pre_tokenizer: null, post_processor: null,
    decoder: null };

function wordLevel() {
    const normalizers = [{ type: "NFD" }, { type: "Lowercase" }, { type: "StripAccents" }];
    const parts = { ...empty, normalizer: { type: "Sequence", normalizers },
        pre_tokenizer: { type: "Whitespace" },
        added_tokens: [special(0, "[UNK]"), special(1, "[SOS]"), special(2, "[EOS]")],
        post_processor: around(["[SOS]", 1], ["[EOS]", 2]) };
    const words = pieces(parts).slice(0, 400).map(([piece]) => piece);
    return { ...parts,
             model: { type: "WordLevel", vocab: ids(["[UNK]", "[SOS]", "[EOS]", ...words]), unk_token: "[UNK]" } };
}

/* Characters, alone and within words, and frequent beginnings and ends. */
function wordPiece() {
    const parts = { ...empty, normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true,
                                            strip_accents: null, lowercase: true },
        pre_tokenizer: { type: "BertPreTokenizer" }, decoder: { type: "WordPiece", prefix: "##", cleanup: true },
        added_tokens: [special(0, "[UNK]"), special(1, "[CLS]"), special(2, "[SEP]")],
        post_processor: around(["[CLS]", 1], ["[SEP]", 2]) };
    const found = pieces(parts), tokens = ["[UNK]", "[CLS]", "[SEP]"], parted = new Map();
    for (const [piece, n] of found) {
        const chars = [...piece];
        for (let i = 1; i < chars.length; i++)
            for (const part of [chars.slice(0, i).join(""), "##" + chars.slice(i).join("")])
                parted.set(part, (parted.get(part) || 0) + n);
        if (n > 1)
            tokens.push(chars[0], ...chars.slice(1).map((c) => "##" + c));
    }
    const often = [...parted].filter(([, n]) => n > 8).map(([part]) => part).sort();
    return { ...parts, model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##",
                                max_input_chars_per_word: 24,
        vocab: ids([...tokens, ...often, ...found.slice(0, 200).map(([piece]) => piece)]) } };
}

/* Trained in the plain way: the most frequent pair becomes a token, again and again. */
function wordEnds() {
    const end = "</w>", parts = { ...empty, normalizer: { type: "BertNormalizer", clean_text: true,
                                                          handle_chinese_chars: true, strip_accents: true,
        lowercase: true }, pre_tokenizer: { type: "BertPreTokenizer" }, decoder: { type: "BPEDecoder", suffix: end } };
    const words = pieces(parts).filter(([, n]) => n > 1).map(([piece, n]) =>
        ({ n, parts: [...piece].map((c, i, all) => i + 1 < all.length ? c : c + end) }));
    const tokens = ["<unk>", ...words.flatMap((w) => w.parts)], merges = [];
    while (merges.length < 300) {
        const count = new Map();
        for (const w of words)
            for (let i = 0; i + 1 < w.parts.length; i++) {
                const pair = w.parts[i] + "\0" + w.parts[i + 1];
                count.set(pair, (count.get(pair) || 0) + w.n);
            }
        if (!count.size)
            break;
        const best = [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0][0].split("\0");
        merges.push(best);
        tokens.push(best.join(""));
        for (const w of words)
            for (let i = 0; i + 1 < w.parts.length; i++)
                if (w.parts[i] === best[0] && w.parts[i + 1] === best[1])
                    w.parts.splice(i, 2, best.join(""));
    }
    return { ...parts, model: { type: "BPE", dropout: null, unk_token: "<unk>", continuing_subword_prefix: null,
                                end_of_word_suffix: end, fuse_unk: false,
        byte_fallback: false, ignore_merges: false, vocab: ids(tokens), merges } };
}

/* Words in which Han stands apart, digits in threes from the right, and a normalizer with patterns. */
function patterns() {
    const parts = JSON.parse(fs.readFileSync(`${root}/o200k-like/tokenizer.json`, "utf8"));
    const split = (Regex) => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false });
    const head = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]",
        tail = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]";
    const ends = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    parts.normalizer = { type: "Sequence",
                         normalizers: [{ type: "Replace", pattern: { Regex: "\\r\\n?" }, content: "\n" },
        { type: "Replace", pattern: { Regex: "[[:cntrl:]&&[^\\n\\t]]+|(?<=\\S)\\x{200B}" }, content: "" }] };
    parts.pre_tokenizer.pretokenizers.splice(0, 1, split("[\\p{Han}]+|" + head + "*" + tail + "+" + ends + "|" +
        head + "+" + tail + "*" + ends +
        "|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"), split("(?=(\\d{3})+(?!\\d))"));
    return parts;
}

async function main() {
    for (const [name, parts] of Object.entries({ "word-level": wordLevel(), "word-piece": wordPiece(),
                                                 "word-ends": wordEnds(), patterns: patterns() })) {
        const json = JSON.stringify(parts), t = Tokenizer.fromString(json), lines = [];
        for (const text of texts)
            for (const bos of parts.post_processor && parts.post_processor.single ? [true, false] : [false]) {
                const found = (await t.encode(text, null, { addSpecialTokens: bos })).getIds();
                lines.push(JSON.stringify({ text, ids: found, add_bos: bos, special: true,
                                            decoded: await t.decode(found, false) }));
            }
        fs.mkdirSync(`${root}/${name}`, { recursive: true });
        fs.writeFileSync(`${root}/${name}/tokenizer.json`, json);
        fs.writeFileSync(`${root}/${name}/vectors.jsonl`, lines.join("\n") + "\n");
    }
}

main();
