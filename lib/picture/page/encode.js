"use strict";
/* A text to ids, as the program's tokenizer does it (text/words.c, encode.c, bpe.c), from its description
 * (text/describe_text.h): by words or characters, or by byte-pair encoding with rules or with scores.
 *
 *     const coder = new Coder(json.tokenizer, json.before, json.after);
 *     coder.encode("a text")              // [{ id, text, label, start, end }, ...], places in bytes; throws an Error
 *
 * What the page does not do is said in coder.why; null: it does all. */

const utf8 = new TextEncoder(), fromUtf8 = new TextDecoder();

/* White space and other classes are the program's, not the browser's. */
function patternOf(json, pattern) {
    const fold = (text) => text.replace(/[a-z]/g, (c) => c === "s" ? "[sS\u017f]" : `[${c}${c.toUpperCase()}]`);
    const classes = (text) => text.replace(/\\p\{(\w+)\}/g, (_, name) => json[name]).replace(/\\s/g, json.spaces);
    let out = "", rest = pattern.replace(/\(\?i:([^)]*)\)/g, (_, inside) => `(?:${fold(inside)})`);
    while (rest) {                      /* brackets are copied with classes inside, classes alone get brackets */
        const [part] = /^(?:\[(?:\\.|[^\]\\])*\]|\\S|\\p\{\w+\}|\\.|[^[\\]+)/.exec(rest);
        out += part === "\\S" ? `[^${json.spaces}]` : part[0] === "[" ? classes(part) : /^\\[ps]/.test(part) ? `[${classes(part)}]` : part;
        rest = rest.slice(part.length);
    }
    return new RegExp(out, "gu");
}

class Coder {
    constructor(json, before = [], after = []) {
        Object.assign(this, { json, before, after, why: json?.by ? null : json?.why ?? "there is no tokenizer" });
        if (!json)
            return;
        this.idAt = (rank) => json.ids ? json.ids[rank] : rank;
        this.rankOf = new Map(json.texts.map((_, rank) => [this.idAt(rank), rank]));
        this.composes = !this.why && [...json.normal ?? [], ...json.pre ?? []].some((step) => step.kind === "nfc");
        this.scratch = json.spaces && new RegExp(`[${json.spaces}]`, "u");
        if (json.by === "word")
            this.words = new Map(json.texts.map((text, rank) => [text, this.idAt(rank)]));
        else if (json.by === "bpe")
            this.startBpe();
    }

    startBpe() {
        const { json } = this;
        this.rules = new Map();
        for (let i = 0; i < (json.merges?.length ?? 0); i += 3)
            this.rules.set(json.merges[i] * 4194304 + json.merges[i + 1], { rank: i, id: json.merges[i + 2] });
        this.spelled = new Map(json.raw?.map((raw, rank) => [raw, this.idAt(rank)]) ?? []);
        this.known = new Map();
        for (const step of json.pre)
            if (step.kind === "cut")
                step.regex = patternOf(json, step.pattern);
    }

    /* The token of an id, as the page shows it; its text is null where the model has more ids than the tokenizer. */
    token(id, start = 0, end = 0) {
        const rank = this.rankOf?.get(id);
        const token = { id, text: rank === undefined ? null : this.json.texts[rank], start, end };
        if (rank !== undefined && this.json.labels[rank] !== undefined)
            token.label = this.json.labels[rank];
        return token;
    }

    encode(text) {
        if (this.why)
            throw new Error(tr("This page does not turn a text into this model’s tokens: %s", this.why));
        const whole = text.replace(/\p{Cs}/gu, "\uFFFD"), bytes = utf8.encode(whole).length;
        const found = this.json.by === "word" ? this.byWords(whole) : whole ? this.byPieces(whole) : [];
        const around = (ids, at) => whole ? ids.map((id) => this.token(id, at, at)) : [];
        return [...around(this.before, 0), ...found.map((f) => this.token(f.id, f.start, f.end)), ...around(this.after, bytes)];
    }

    /* ---- by words ---- */

    lower(c) {
        const code = c.codePointAt(0), row = this.json.lower?.find(([first, last]) => first <= code && code <= last);
        return row ? String.fromCodePoint(code + row[2]) : c;
    }

    byWords(text) {
        const { chars } = this.json, dropped = new Set(this.json.drop), found = [];
        let word = "", start = 0, end = 0, at = 0;
        const flush = () => {
            if (word)
                found.push({ id: this.wordId(word, start), start, end });
            word = "";
        };
        for (const c of text) {
            const size = utf8.encode(c).length;
            if (!chars && this.scratch.test(c) && !dropped.has(c)) {
                flush();
            } else if (!dropped.has(c)) {
                if (!word)
                    start = at;
                word += this.lower(c);
                end = at + size;
                if (chars)
                    flush();
            }
            at += size;
        }
        flush();
        return found;
    }

    wordId(word, at) {
        const id = this.words.get(word) ?? this.json.unknown;
        if (id < 0) {
            const { chars, texts: { length: n } } = this.json, some = this.json.texts.slice(0, 10).map((w) => `“${w}”`).join(" ");
            const known = !chars ? tr("the model has %s words", n) : tr("the model has %s tokens", n), first = n > 10 ? tr(", the first") : "";
            throw new Error((chars ? tr("unknown character “%s” at byte %s of the text", word, at)
                : tr("unknown word “%s” at byte %s of the text", word, at)) + tr(": ") + known + first + tr(": ") + some);
        }
        return id;
    }

    /* ---- by pieces: a list of pieces { s, at }, where at[i] is the byte of the text at which character i begins ---- */

    byPieces(text) {
        const at = [], found = [];
        let byte = 0;
        for (const c of text) {
            for (let i = 0; i < c.length; i++)
                at.push(byte);
            byte += utf8.encode(c).length;
        }
        at.push(byte);
        this.around(0, { s: text, at }, found, (piece) => {
            for (const step of this.json.normal)
                piece = normalise(piece, step, false);
            this.around(1, piece, found, (part) => this.cut(part, 0, found));
        });
        return found;
    }

    /* Added tokens are found first, the longest of those that match. */
    around(pass, piece, found, encode) {
        const added = this.json.added.filter((t) => t.pass === pass).sort((a, b) => b.text.length - a.text.length);
        let done = 0;
        for (let i = 0; i < piece.s.length && added.length;) {
            const hit = added.find((t) => piece.s.startsWith(t.text, i));
            if (hit) {
                if (i > done)
                    encode(part(piece, done, i));
                found.push({ id: hit.id, start: piece.at[i], end: piece.at[i + hit.text.length] });
                done = i + hit.text.length;
            }
            i = hit ? done : i + 1;
        }
        if (done < piece.s.length)
            encode(part(piece, done, piece.s.length));
    }

    cut(piece, k, found) {
        const step = this.json.pre[k];
        if (!piece.s)
            return;
        if (!step)
            this.merge(piece, found);
        else if (step.kind !== "cut")
            this.cut(normalise(piece, step, piece.at[0] === 0), k + 1, found);
        else
            for (const [from, to] of stretches(piece.s, step.regex))
                this.cut(part(piece, from, to), k + 1, found);
    }

    /* ---- byte-pair encoding of one piece ---- */

    merge(piece, found) {
        const kept = this.known.get(piece.s), tokens = kept ?? this.mergeParts(piece.s);
        if (!kept && this.known.size < 20000)
            this.known.set(piece.s, tokens);
        const bytes = utf8.encode(piece.s), place = placesOf(piece);
        let at = 0;
        for (const { id, len } of tokens) {
            const start = place[at], end = at + len >= bytes.length ? piece.at[piece.s.length] : place[at + len];
            if (id >= 0)
                found.push({ id, start, end: Math.max(start, end) });
            at += len;
        }
    }

    /* The tokens of a piece with the numbers of their bytes; id -1: dropped. */
    mergeParts(s) {
        const { json } = this, whole = json.whole_first ? this.spelled.get(json.chars ? s : spell(utf8.encode(s))) : undefined;
        if (whole !== undefined)
            return [{ id: whole, len: utf8.encode(s).length }];
        const parts = json.chars ? this.beginChars(s) : this.beginBytes(s), rules = [];
        const rate = (i) => { rules[i] = i >= 0 && i + 1 < parts.length ? this.ruleFor(parts[i], parts[i + 1]) : null; };
        parts.forEach((_, i) => rate(i));
        for (;;) {
            let best = -1;
            for (let i = 0; i + 1 < parts.length; i++)
                if (rules[i] && (best < 0 || rules[i].rank < rules[best].rank))
                    best = i;
            if (best < 0)
                break;
            const [a, b] = [parts[best], parts[best + 1]];
            parts.splice(best, 2, { id: rules[best].id, len: a.len + b.len, s: a.s + b.s });
            rules.splice(best + 1, 1);
            rate(best);
            if (best > 0)
                rate(best - 1);
        }
        return json.score ? this.scored(parts) : parts;
    }

    ruleFor(a, b) {
        const { json } = this;
        if (!json.score)
            return this.rules.get(a.id * 4194304 + b.id);
        const id = a.alone || b.alone ? undefined : this.spelled.get(a.s + b.s);
        if (id === undefined)
            return null;
        const rank = this.rankOf.get(id), type = json.type ? json.type[rank] : 1;
        return type === 1 || type === 4 ? { rank: -f32(json.score[rank]), id } : null;
    }

    beginBytes(s) {
        const { json } = this, parts = [], bytes = utf8.encode(s);
        let unknown = false, dropped = 0;
        bytes.forEach((byte, i) => {
            const id = json.byte[byte], fused = id < 0 && unknown && json.fuse, drop = id < 0 && json.unknown < 0;
            unknown = id < 0;
            if (drop && !json.drop)
                throw new Error(tr("the vocabulary has no token for the byte %s", "0x" + bytes[i].toString(16).toUpperCase().padStart(2, "0")));
            if (drop && !parts.length)
                dropped++;
            else if (fused || drop)
                parts[parts.length - 1].len++;
            else
                parts.push({ id: unknown ? json.unknown : id, len: 1 });
        });
        if (parts.length)
            parts[0].len += dropped;
        return parts.length ? parts : [{ id: -1, len: bytes.length }];
    }

    beginChars(s) {
        const { json } = this, parts = [];
        let waiting = null, dropped = 0;
        const flush = () => {
            if (waiting)
                parts.push(waiting);
            waiting = null;
        };
        for (const c of s) {
            const id = this.spelled.get(c) ?? -1, bytes = utf8.encode(c), len = bytes.length;
            if (id >= 0 || (json.score && json.type)) {
                flush();
                parts.push({ id, len, s: c });
            } else if (json.fallback && bytes.every((b) => json.byte[b] >= 0)) {
                for (const b of bytes)
                    parts.push({ id: json.byte[b], len: 1, s: "", alone: Boolean(json.score) });
            } else if (json.unknown >= 0) {
                if (waiting && json.fuse) {
                    waiting.len += len;
                } else {
                    flush();
                    waiting = { id: json.unknown, len, s: c };
                }
            } else if (parts.length) {
                parts[parts.length - 1].len += len;
            } else {
                dropped += len;
            }
        }
        flush();
        if (parts.length)
            parts[0].len += dropped;
        return parts.length ? parts : [{ id: -1, len: dropped }];
    }

    /* What is no token becomes its bytes, or an unknown one, which is one with an unknown one before it. */
    scored(parts) {
        const { json } = this, out = [];
        for (const p of parts) {
            if (p.alone || (p.id >= 0 && !(json.type && p.id === json.unknown))) {
                out.push({ id: p.id, len: p.len });
                continue;
            }
            const bytes = utf8.encode(p.s);
            if (json.fallback && bytes.every((b) => json.byte[b] >= 0))
                out.push(...Array.from(bytes, (b) => ({ id: json.byte[b], len: 1 })));
            else if (out.length && out.at(-1).id === json.unknown)
                out.at(-1).len += p.len;
            else
                out.push({ id: json.unknown, len: p.len });
        }
        return out;
    }
}

/* The matches of a pattern, and what is between them. */
function stretches(s, regex) {
    const found = [];
    let done = 0;
    for (const m of s.matchAll(regex)) {
        if (m.index > done)
            found.push([done, m.index]);
        done = m.index + m[0].length;
        found.push([m.index, done]);
    }
    return done < s.length ? [...found, [done, s.length]] : found;
}

const part = (piece, from, to) => ({ s: piece.s.slice(from, to), at: piece.at.slice(from, to + 1) });

/* Where each byte of a piece comes from. */
function placesOf(piece) {
    const place = [];
    let i = 0;
    for (const c of piece.s) {
        const n = utf8.encode(c).length, from = piece.at[i], span = piece.at[i + c.length] - from;
        for (let k = 0; k < n; k++)
            place.push(span === n ? from + k : from);
        i += c.length;
    }
    return place;
}

/* The letters by which a byte-level vocabulary spells bytes. */
const SPELLINGS = (() => {
    const plain = (b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    let next = 256;
    return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(plain(b) ? b : next++));
})();
const spell = (bytes) => Array.from(bytes, (b) => SPELLINGS[b]).join("");

/* Replaces what is at `from` to before `to`; what is put in has no place of its own. */
function replaceIn(piece, from, to, by) {
    const start = piece.at[from];
    return { s: piece.s.slice(0, from) + by + piece.s.slice(to),
             at: [...piece.at.slice(0, from), ...Array(by.length).fill(start), ...piece.at.slice(to)] };
}

/* One step of normalisation (text/normal.c, squeeze.c); first: the piece begins the whole text. */
function normalise(piece, step, first) {
    const all = (find, by) => {
        for (let i = piece.s.indexOf(find); i >= 0; i = piece.s.indexOf(find, i + by.length))
            piece = replaceIn(piece, i, i + find.length, by);
        return piece;
    };
    const front = (by) => { piece = replaceIn(piece, 0, 0, by); };
    if (step.kind === "nfc") {
        const [changed] = new RegExp(`[^${step.stays}]`, "u").exec(piece.s) ?? [];
        if (changed)
            throw new Error(tr("the tokenizer brings texts into their normal form (NFC), which may change “%s” or what stands " +
                "before it, and this page does not do that", visible(changed)));
    } else if (step.kind === "prepend") {
        if (piece.s)
            front(step.with);
    } else if (step.kind === "space-first") {
        if (piece.s && piece.s[0] !== " ")
            front(" ");
    } else if (step.kind === "replace") {
        all(step.find, step.with);
    } else if (step.kind === "metaspace") {
        const wanted = step.prepend === "always" || (step.prepend === "first" && first);
        if (wanted && piece.s && piece.s[0] !== " " && !piece.s.startsWith(step.with))
            front(step.with);
        all(" ", step.with);
    } else if (step.kind === "sentencepiece") {
        squeeze(step);
    } else {
        throw new Error(`the step ${step.kind} is not known to this page`);
    }
    return piece;

    function squeeze({ dummy, dummy_behind, squeeze: squeezes, escape }) {
        const space = escape ? "\u2581" : " ";
        for (let i = 0; squeezes && i < piece.s.length;)
            if (piece.s[i] === " " && (i === 0 || piece.s[i - 1] === " "))
                piece = replaceIn(piece, i, i + 1, "");
            else
                i++;
        if (!piece.s)
            return;
        if (dummy && !dummy_behind)
            front(" ");
        if (escape)
            all(" ", space);
        while (squeezes && piece.s.endsWith(space))
            piece = replaceIn(piece, piece.s.length - 1, piece.s.length, "");
        if (dummy && dummy_behind)
            piece = replaceIn(piece, piece.s.length, piece.s.length, space);
    }
}
