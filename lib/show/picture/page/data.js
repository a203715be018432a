"use strict";
/* What the page holds: parsed once, each matrix unpacked when it is first looked at.
 *
 * Numbers are little-endian float32, or codes for low + step * code, deflated, the upper bytes of all before the lower
 * ones.  Where the mask hides everything beyond the diagonal, and one value stands there ("beyond": "0" or "-inf"),
 * only the rest is stored: rows of 1, 2, 3... */

const SPECIAL = 65533, SPECIALS = [-Infinity, Infinity, NaN];   /* codes from 65533 on */

function bytesOf(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

/* 16-bit numbers, of which the upper bytes come first. */
function joinBytes(bytes) {
    const n = bytes.length / 2, joined = new Uint16Array(n);
    for (let i = 0; i < n; i++)
        joined[i] = bytes[i] << 8 | bytes[n + i];
    return joined;
}

/* rows x cols numbers; mask: not 0 for those that a mask hides, null if it hides none, or nobody knows; error: how far
 * at most they are from what was computed; sight: of numbers that say which keys are seen, the one that says yes. */
class Matrix {
    constructor(rows, cols, mask, error, data = new Float32Array(rows * cols)) {
        Object.assign(this, { rows, cols, mask, error, sight: null, data });
    }
    at(r, c) { return this.data[r * this.cols + c]; }
    hidden(r, c) { return this.mask !== null && this.mask[r * this.cols + c] !== 0; }
}

/* A mask is stored as lengths of runs, those that are seen first. */
function flagsOf(runs, n) {
    const flags = new Uint8Array(n);
    for (let i = 0, at = 0; i < runs.length; at += runs[i++])
        flags.fill(i % 2, at, at + runs[i]);
    return flags;
}

/* One activation: a matrix for each kept head, or a single one. */
class Sheet {
    constructor(json, base64) {
        Object.assign(this, json, { base64 });
        this.count = this.heads ? this.heads.length : 1;
        this.error = json.type === "u16" ? json.step / 2 : 0;
    }

    /* How many numbers of row r are stored, and of a matrix. */
    stored(r) {
        return this.beyond !== null ? Math.min(r + 1, this.cols) : this.cols;
    }

    get size() {
        const short = this.beyond !== null ? Math.min(this.rows, this.cols) : 0;
        return short * (short + 1) / 2 + (this.rows - short) * this.cols;
    }

    codes() {
        if (!this.unpacked) {
            const bytes = bytesOf(this.base64);
            this.unpacked = this.type === "u16" ? joinBytes(inflate(bytes, 2 * this.count * this.size)) : new Float32Array(bytes.buffer);
            this.base64 = null;         /* both would be too much of a large page */
        }
        return this.unpacked;
    }

    /* That of the nth matrix without its first `skip` columns, if it is known without a look at the numbers. */
    extent(nth, skip) {
        if (!this.extents)
            return extent(this.matrix(nth), skip);
        const [low, high] = this.extents[nth].slice(2 * skip);
        return { top: Math.max(high, -low, 0), signed: low < 0 };
    }

    /* What the mask hides of the nth matrix, where it left nothing; null: nothing. */
    hiddenOf(nth, data) {
        const size = this.rows * this.cols, n = this.masks ? this.count * size : size;
        if (this.mask === null)
            return null;
        const all = page.masks[this.mask] = Array.isArray(page.masks[this.mask]) ? flagsOf(page.masks[this.mask], n) : page.masks[this.mask];
        const flags = this.masks ? all.subarray(nth * size, (nth + 1) * size) : all, left = (x) => x !== 0 && x !== -Infinity;
        return flags.some((flag, i) => flag && left(data[i])) ? flags.map((flag, i) => flag && !left(data[i])) : flags;
    }

    /* The nth matrix stored; of a sheet without heads there is only the first. */
    matrix(nth) {
        const m = new Matrix(this.rows, this.cols, null, this.error);
        const numbers = this.numbers(nth), beyond = this.beyond === "-inf" ? -Infinity : 0;
        let from = 0;
        for (let r = 0; r < m.rows; r++) {
            const row = m.data.subarray(r * m.cols, (r + 1) * m.cols), stored = this.stored(r);
            row.set(numbers.subarray(from, from + stored));
            row.fill(beyond, stored);
            from += stored;
        }
        m.mask = this.hiddenOf(nth, m.data);
        m.sight = this.sight;
        return m;
    }

    /* Those stored of the nth matrix. */
    numbers(nth) {
        const all = this.codes(), { size } = this, codes = all.subarray(nth * size, (nth + 1) * size);
        if (this.type === "f32")
            return codes;
        const numbers = new Float32Array(size), { low, step } = this;
        for (let i = 0; i < size; i++)
            numbers[i] = codes[i] < SPECIAL ? low + step * codes[i] : SPECIALS[codes[i] - SPECIAL];
        return numbers;
    }
}

function readPage() {
    const page = JSON.parse(document.getElementById("data").textContent);
    page.sheets = page.sheets.map((json, i) => new Sheet(json, page.data[i]));
    page.data = null;
    return page;
}

/* What is no number, in the page's signs. */
const oddText = (x) => Number.isNaN(x) ? "nan" : x < 0 ? "−∞" : "∞";

/* Six significant digits, of the seven that a float32 has: wherever a number is read, it has the same. */
function numberText(x) {
    return Number.isFinite(x) ? String(Number(x.toPrecision(6))).replace("-", "−") : oddText(x);
}

/* For files: the fewest digits that read back to the same float32; of a stored code those its error allows. */
function exactText(x, error) {
    if (!Number.isFinite(x))
        return oddText(x);
    let text;
    for (let digits = error ? 5 : 6; digits <= 9; digits++) {
        text = String(Number(x.toPrecision(digits)));
        if (error ? Math.abs(Number(text) - x) <= error / 50 : Math.fround(Number(text)) === x)
            break;
    }
    return text.replace("-", "−");
}

/* Three decimals, or fewer digits where they would take more than six characters. */
function briefNumber(x) {
    const size = Math.abs(x);
    if (!Number.isFinite(x))
        return numberText(x);
    const text = size >= 9999.5 || (size < 5e-4 && size > 0) ? x.toExponential(0) : size >= 10 ? x.toPrecision(4) : x.toFixed(3);
    return text.replaceAll("-", "−");
}

/* With so many decimals, or those of an exponent form; no zero has a sign. */
function decimalText(x, { decimals, exponent }) {
    if (!Number.isFinite(x))
        return numberText(x);
    const text = exponent && x !== 0 ? x.toExponential(decimals) : x.toFixed(exponent ? 0 : decimals);
    return Number(text) === 0 ? text.replace("-", "") : text.replaceAll("-", "−");
}

/* To one digit, and never less than x. */
function roundedUp(x) {
    const unit = 10 ** Math.floor(Math.log10(x));
    return Number((Math.ceil(x / unit) * unit).toPrecision(1));
}
