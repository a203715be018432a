"use strict";
/* What the engine answered to a run, and its sheets as views.js asks them of a page that only shows. */

class Answer {
    /* asked: the text, heads, edits, kind and scale that it answers. */
    constructor(asked, bits, { answer, arrays }) {
        Object.assign(this, answer, { asked, bits, arrays });
        this.at = new Map(answer.sheets.map((s) => [`${s.kind}@${s.layer}`, s]));
    }

    /* What it has of a sheet; undefined: nothing. */
    sheet({ kind, layer }) {
        return this.at.get(`${kind}@${layer}`);
    }
}

/* One activation of an answer; of two answers, their difference. */
class LiveSheet {
    constructor(original, answer, minus = null) {
        const { kind, short, part, beside, shared, sight, title, layer, name, heads, keys, ofKeys, rowAxis, colAxis, tokens, count } = original;
        Object.assign(this, { kind, short, part, beside, shared, sight, title, layer, name, heads, keys, ofKeys, rowAxis, colAxis, tokens, count });
        this.of = [answer, minus].filter(Boolean).map((a) => ({ ...a.sheet(original), data: a.arrays[a.sheet(original).array], answer: a }));
        this.rows = Math.min(...this.of.map((s) => s.rows));
        this.cols = Math.min(...this.of.map((s) => s.cols));
        this.error = 0;
        this.mask = this.of.every((s) => s.mask !== null) ? this.hiddenByAll() : null;
        this.beyond = this.mask?.every((flag, i) => flag || i % this.cols <= Math.floor(i / this.cols)) ? "0" : null;
    }

    /* What no query of any answer sees. */
    hiddenByAll() {
        const masks = this.of.map((s) => [s.answer.arrays[s.mask], s.cols]);
        return Uint8Array.from({ length: this.rows * this.cols }, (_, i) =>
            masks.every(([flags, cols]) => flags[Math.floor(i / this.cols) * cols + i % this.cols]));
    }

    extent(nth, skip) {
        return extent(this.matrix(nth), skip);
    }

    matrix(nth) {
        const m = new Matrix(this.rows, this.cols, this.mask?.includes(1) ? this.mask : null, 0), head = this.heads ? this.heads[nth] : 0;
        this.of.forEach((s, i) => {
            for (let r = 0; r < m.rows; r++) {
                const row = s.data.subarray(head * s.head + r * s.row);
                for (let c = 0; c < m.cols; c++)
                    m.data[r * m.cols + c] = i ? m.data[r * m.cols + c] - row[c] : row[c];
            }
        });
        m.sight = this.sight;
        return m;
    }
}

/* How far at most an answer's numbers are from those the page was made with, beyond what the codes of these allow. */
function distanceFrom(sheets, answer) {
    let most = 0;
    for (const sheet of sheets.filter((s) => answer.sheet(s)))
        for (let nth = 0; nth < sheet.count; nth++) {
            const stored = sheet.matrix(nth), now = new LiveSheet(sheet, answer).matrix(nth);
            if (stored.data.length !== now.data.length)
                return Infinity;
            stored.data.forEach((x, i) => {
                const y = now.data[i], coded = sheet.error && sheet.error + Math.abs(y) * 2 ** -22;
                if (!Object.is(x, y) && x !== y)
                    most = Math.max(most, Number.isFinite(x - y) ? Math.abs(x - y) - coded : Infinity);
            });
        }
    return most;
}
