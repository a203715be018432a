"use strict";
/* The language of --edit, "L1H2[pos=-1] *= 0.5", read with its messages: ask/edit.h has the grammar, ask/edit_parse.c and
 * ask/edit_value.c read it there.  Files, and the other text `from`, a page does not have.
 *
 *     parseEdit(text)                     // { text, place, op, value }; throws an Error */

const A_VALUE = "a value: a number, -inf, uniform, from, FILE.npy, FILE.npz:NAME, text(\"...\"), ids(1,2), mean(...), " +
    "noise(SIGMA,SEED) or NUMBER* and one of them";
const A_SOURCE = "from, FILE.npy, FILE.npz:NAME, text(\"...\") or ids(1,2), and no factor";

/* ---- reading ---- */

class EditReader {
    constructor(text) {
        Object.assign(this, { text, at: 0, end: text.length });
    }

    get next() { return this.at < this.end ? this.text[this.at] : ""; }
    get after() { return this.at + 1 < this.end ? this.text[this.at + 1] : ""; }
    get star() { return this.next === "*" && this.after !== "="; }
    get digit() { return /[0-9]/.test(this.next); }

    expected(at, what) {
        const place = `--edit '${shownText(this.text)}', column ${Array.from(this.text.slice(0, Math.min(at, this.end))).length + 1}`;
        if (at >= this.end)
            return new Error(`${place}: it ends, expected ${what}`);
        const [found] = /^[A-Za-z0-9_.]{1,32}/.exec(this.text.slice(at)) ?? Array.from(this.text.slice(at));
        return new Error(`${place}: found '${found}', expected ${what}`);
    }

    blanks() {
        while (this.next === " " || this.next === "\t")
            this.at++;
    }

    take(word) {
        const there = this.text.startsWith(word, this.at) && this.at + word.length <= this.end;
        this.at += there ? word.length : 0;
        return there;
    }

    whole() {
        const start = this.at;
        while (this.digit)
            this.at++;
        if (this.at === start)
            throw this.expected(start, "a whole number");
        const n = Number(this.text.slice(start, this.at));
        if (n > LARGEST)
            throw this.expected(start, "a number up to 2147483647");
        return n;
    }

    /* A string in quotes: where JSON would not read on is said. */
    string() {
        const rest = this.text.slice(this.at, this.end);
        const [good] = /^(?:"(?:[^"\\\0-\x1F]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..)*)?/.exec(rest);
        if (rest[good.length] !== "\"" || !good)
            throw this.expected(this.at + good.length, "a text in double quotes, with the escapes of JSON");
        const text = JSON.parse(good + "\"");
        if (text.includes("\0"))
            throw this.expected(this.at, "a text without \\u0000");
        this.at += good.length + 1;
        return text;
    }

    /* One item of a list; rows: of positions or keys, which have more ways to say where. */
    index(rows) {
        const { at } = this;
        if (this.star) {
            this.at++;
            return { form: "all" };
        }
        if (this.digit) {
            const lo = this.whole();
            if (this.next !== "-" || this.after === "=")
                return { form: "range", lo, hi: lo };
            this.at++;
            const hi = this.whole();
            if (hi < lo)
                throw this.expected(at, "an ascending range such as 2-4");
            return { form: "range", lo, hi };
        }
        if (rows && this.next === "\"")
            return { form: "token", token: this.string() };
        if (rows && this.next === "-" && /[0-9]/.test(this.after)) {
            this.at++;
            const lo = this.whole();
            if (lo === 0)
                throw this.expected(this.at - 1, "-1 for the last, -2 for the one before it");
            return { form: "back", lo };
        }
        for (const word of rows ? ["prompt", "new"] : [])
            if (this.take(word))
                return { form: word };
        throw this.expected(at, rows ? "3, 0,2-4, -1 for the last, \"token\", prompt, new or *" : "3, 0,2-4 or *");
    }

    /* The layers, heads or neurons of L<n>H<m>: a comma continues the list, but not before 1.2, a place. */
    list() {
        const out = [this.index(false)];
        while (this.next === ",") {
            const rest = this.text.slice(this.at + 1, this.end);
            if (!/^(?:[0-9]+(?!\.[0-9]|[0-9])|\*(?!=))/.test(rest))
                break;
            this.at++;
            out.push(this.index(false));
        }
        return out;
    }

    name() {
        const start = this.at;
        while (/[A-Za-z0-9_.?]/.test(this.next) || this.star)
            this.at++;
        if (this.next === "*" && (this.at === start || this.text[this.at - 1] === "."))
            throw this.expected(this.at, "a name: with a blank, * = 0, the * is all names");
        if (this.at === start)
            throw this.expected(start, "a place, as in L1H2, L0.mlp.out, pattern or blocks.*.attn.out");
        return this.text.slice(start, this.at);
    }

    place() {
        const p = { layered: false, layers: null, heads: null, neurons: null, name: null, by: {} };
        if (this.digit) {
            p.layered = true;
            p.layers = [this.one()];
            if (!this.take("."))
                throw this.expected(this.at, "a place, as in 1.2 or L1H2: head 2 of layer 1");
            p.heads = [this.one()];
            if (this.next === "." || (this.next === "-" && this.after !== "="))
                throw this.expected(this.at, "the end of 1.2; with a part or a list it is L1H2.pattern or L1H2-3");
        } else if (this.next === "L" && /[0-9*]/.test(this.after)) {
            this.layered(p);
        } else {
            p.name = this.name();
        }
        this.blanks();
        p.selectors = this.take("[");
        if (!p.selectors)
            return p;
        do {
            this.blanks();
            this.selector(p);
            this.blanks();
        } while (this.take(","));
        if (!this.take("]"))
            throw this.expected(this.at, "] or a comma");
        return p;
    }

    one() {
        const lo = this.whole();
        return { form: "range", lo, hi: lo };
    }

    layered(p) {
        p.layered = true;
        this.at++;
        p.layers = this.list();
        for (const [letter, key, noun] of [["H", "heads", "head"], ["N", "neurons", "neuron"]]) {
            if (p.heads || p.neurons || !this.take(letter))
                continue;
            if (this.next === "*" && this.after === "=")
                throw this.expected(this.at, `a ${noun}: with a blank, ${letter}* = 0, the * is all ${noun}s`);
            p[key] = this.list();
        }
        if (!p.heads && !p.neurons && this.next !== ".")
            throw this.expected(this.at, "H and a head, N and a neuron or . and a part, as in L1H2, L1N5, L1.mlp.out");
        if (p.neurons || this.next !== ".")
            return;
        this.at++;
        p.name = this.name();
    }

    selectorAt(at) {
        const [, word] = /^(head|pos|key|col)[ \t]*=/.exec(this.text.slice(at, this.end)) ?? [];
        return word;
    }

    selector(p) {
        const word = this.selectorAt(this.at), rows = word === "pos" || word === "key";
        if (!word)
            throw this.expected(this.at, "head=, pos=, key= or col=");
        if (p.by[word])
            throw this.expected(this.at, "each selector once: a comma continues its list");
        this.take(word);
        this.blanks();
        this.at++;
        p.by[word] = [];
        for (;;) {
            this.blanks();
            p.by[word].push(this.index(rows));
            this.blanks();
            if (this.next !== "," || this.selectorAt(this.at + 1 + /^[ \t]*/.exec(this.text.slice(this.at + 1))[0].length))
                return;
            this.at++;
        }
    }

    op(place) {
        this.blanks();
        for (const op of ["=", "+=", "-=", "*="])
            if (this.take(op))
                return op;
        throw this.expected(this.at, this.next === "[" ? "=, +=, -= or *=: all selectors stand in one pair of brackets, as in [pos=1,key=0]"
            : place.selectors ? "=, +=, -= or *=" : "=, +=, -=, *= or a selector such as [pos=-1]");
    }

    /* ---- values ---- */

    /* A number that ends before a blank, a comma, a bracket, * or the end; null: there is none. */
    numberAt() {
        const [text] = /^[-+.0-9eE]+(?=[ \t,)*]|$)/.exec(this.text.slice(this.at, this.end)) ?? [];
        return text && /^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(text) ? text : null;
    }

    number(what) {
        const text = this.numberAt();
        if (text === null)
            throw this.expected(this.at, what);
        if (!Number.isFinite(fround(Number(text))))
            throw this.expected(this.at, "a number that a float32 can hold");
        this.at += text.length;
        return Number(text);
    }

    closing() {
        this.blanks();
        if (!this.take(")"))
            throw this.expected(this.at, ")");
    }

    value(op) {
        this.blanks();
        this.end = this.at + this.text.slice(this.at).replace(/[ \t\r]+$/, "").length;
        let v = { form: "number", number: 1 };
        if (op === "*=") {
            v.number = this.number("a number: *= takes nothing else");
        } else if (this.text.slice(this.at, this.end) === "-inf") {
            if (op === "-=")
                throw this.expected(this.at, "a number: without -inf there would be inf, which no softmax takes");
            this.at = this.end;
            v.number = -Infinity;
        } else if (this.numberAt() !== null) {
            v.number = this.number(A_VALUE);
            this.blanks();
            if (this.take("*")) {
                this.blanks();
                v = { ...this.scaled(false), number: v.number };
            }
        } else if (this.at < this.end) {
            v = { ...this.scaled(op === "-="), number: 1 };
        } else {
            throw this.expected(this.end, A_VALUE);
        }
        if (this.at !== this.end)
            throw this.expected(this.at, "the end of the edit");
        return v;
    }

    /* What may stand behind NUMBER*. */
    scaled(subtracts) {
        const start = this.at;
        if (this.text.slice(this.at, this.end) === "uniform") {
            this.at = this.end;
            return { form: "uniform" };
        }
        if (this.take("noise("))
            return this.noise();
        for (const form of ["mean", "proj"])
            if (this.take(form + "(")) {
                if (form === "proj" && !subtracts)
                    throw this.expected(start, "-= before proj(...), and no factor");
                return this.wrapped(form);
            }
        return { form: "source", of: this.source(this.end, "") };
    }

    /* mean(SOURCE) and proj(SOURCE), behind the bracket. */
    wrapped(form) {
        this.blanks();
        if (this.end <= this.at || this.text[this.end - 1] !== ")")
            throw this.expected(this.end, ")");
        const inside = this.text.slice(this.at, this.end - 1).replace(/[ \t]+$/, "");
        const of = this.source(this.at + inside.length, form);
        this.closing();
        return { form, of };
    }

    noise() {
        this.blanks();
        const start = this.at, sigma = this.number("SIGMA, a number, as in noise(0.1,7)");
        if (sigma < 0)
            throw this.expected(start, "a standard deviation, which is not below 0, as in noise(0.1,7)");
        this.blanks();
        if (!this.take(","))
            throw this.expected(this.at, "a comma and a seed, as in noise(0.1,7)");
        this.blanks();
        const from = this.at;
        while (this.digit)
            this.at++;
        const seed = this.text.slice(from, this.at);
        if (!seed || BigInt(seed) > WORD)
            throw this.expected(from, "a seed, a whole number below 2^64");
        this.closing();
        return { form: "noise", sigma, seed: BigInt(seed) };
    }

    /* A source that ends at `end`, in a mean, a proj or neither ("").  Files are refused. */
    source(end, wrapped) {
        const start = this.at, rest = this.text.slice(start, end);
        if (rest === "from")
            throw new Error(`edit '${this.text}': this page has no other text, which from means: take text("...") or ids(...)`);
        if (this.take("ids(")) {
            const ids = [];
            do {
                this.blanks();
                ids.push(this.whole());
                this.blanks();
            } while (this.take(","));
            this.closing();
            return { ids };
        }
        if (this.take("text(")) {
            this.blanks();
            const text = this.string();
            this.closing();
            return { text };
        }
        if (rest.startsWith("texts(") && wrapped !== "mean")
            throw this.expected(start, "one text: the records of a file are a source inside mean(...)");
        if (rest[0] === "\"")
            this.string();
        if (/^texts\(.*\)$|.\.npy"?$|.\.npz"?(?::.+)?$/.test(rest))
            throw new Error(`edit '${this.text}': it takes numbers from a file, and a page reads none: the command line does, as ` +
                "in attn-cli run --edit, and text(\"...\") and ids(...) work here");
        throw this.expected(start, wrapped ? A_SOURCE : A_VALUE);
    }
}

function parseEdit(text) {
    const r = new EditReader(text);
    r.blanks();
    const place = r.place(), op = r.op(place);
    const edit = { place, op, value: r.value(op) };
    return { ...edit, text: spelledEdit(edit) };
}
