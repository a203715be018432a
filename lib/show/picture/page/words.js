"use strict";
/* Tokens as people read them, and words made of several tokens. */

/* What is invisible would fool the reader: it shows as a sign or as its number. */
function numbered(c) {
    const code = c.codePointAt(0), hex = code.toString(16).toUpperCase();
    return code < 0x80 ? "\\x" + hex.padStart(2, "0") : "\\u{" + hex + "}";
}

function visible(text) {
    const signs = { " ": "·", "\n": "↵", "\t": "→" };
    return text.replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => signs[c] ?? numbered(c));
}

/* A sentence as it is, but for what would turn round the words that follow, or is a control character. */
function upright(text) {
    return text.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]|(?![\t\n\r])\p{Cc}/gu, numbered);
}

/* A text that is no UTF-8 comes with a label that spells its bytes. */
function tokenLabel(token) {
    return token.text === null ? String(token.id) : token.label ?? visible(token.text);
}

/* White space between two tokens parts words: at the end of the one, the start of the other, or as
 * bytes of the text that belong to neither (a tokenizer of words).  A space that is a token of its own goes
 * with what follows, as it does when it is a part of that.  Tokens that stand for no bytes (a beginning mark) are
 * words of their own. */
function partsWord(a, b, placed) {
    if (placed && (a.start === a.end || b.start === b.end || b.start > a.end))
        return true;
    return (/\s$/u.test(a.text) && a.text !== " ") || /^\s/u.test(b.text);
}

/* Characters that are written without spaces and mean something each: Chinese ones and kana. */
const ALONE = /[\u3005-\u3007\u3040-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9D\u{20000}-\u{3FFFF}]/u;

/* Whether a character ends at byte `at` of the text and the one before or after it stands alone. */
function partsCharacters(bytes, at) {
    if (!bytes || at === 0 || at >= bytes.length || (bytes[at] & 0xC0) === 0x80)
        return false;
    let from = at - 1, to = at + 1;
    while (from > 0 && (bytes[from] & 0xC0) === 0x80)
        from--;
    while (to < bytes.length && (bytes[to] & 0xC0) === 0x80)
        to++;
    return ALONE.test(new TextDecoder().decode(bytes.slice(from, to)));
}

/* Groups of neighbouring tokens: { label, first, last }.  Where neither places nor white space are known,
 * each token is a word. */
function wordsOf(tokens, text) {
    const placed = tokens.some((t) => t.end > 0), spaced = tokens.some((t) => /\s/u.test(t.text ?? ""));
    const bytes = !placed || text === null || text.includes("\uFFFD") ? null : new TextEncoder().encode(text);
    const words = [];
    tokens.forEach((token, i) => {
        if (i === 0 || !(placed || spaced) || partsWord(tokens[i - 1], token, placed) ||
            (tokens[i - 1].text !== " " && partsCharacters(bytes, token.start)))
            words.push({ first: i, last: i });
        words[words.length - 1].last = i;
    });
    for (const word of words)
        word.label = wordLabel(tokens.slice(word.first, word.last + 1), bytes);
    return words;
}

/* Bytes of the text rather than the tokens' own, which may be halves of a character. */
function wordLabel(tokens, bytes) {
    const first = tokens[0], last = tokens[tokens.length - 1];
    if (tokens.length === 1 || !bytes)
        return tokens.map(tokenLabel).join("").replace(/^·+(?=.)/u, "");
    return visible(new TextDecoder().decode(bytes.slice(first.start, last.end)).trim());
}

/* Weights between words: what a word gives another is summed over the other's tokens and is the mean
 * over its own, so that rows still sum to 1. */
function mergeWords(m, queries, keys) {
    const longest = Math.max(...keys.map((k) => k.last - k.first + 1));
    const merged = new Matrix(queries.length, keys.length, m.mask && new Uint8Array(queries.length * keys.length), m.error * longest);
    queries.forEach((query, r) => keys.forEach((key, c) => {
        let sum = 0, seen = false;
        for (let i = query.first; i <= query.last; i++)
            for (let j = key.first; j <= key.last; j++) {
                sum += m.at(i, j);
                seen ||= !m.hidden(i, j);
            }
        merged.data[r * keys.length + c] = sum / (query.last - query.first + 1);
        if (!seen)
            merged.mask[r * keys.length + c] = 1;
    }));
    return merged;
}
