"use strict";
/* What the engine answered to a run, and its sheets as views.js asks them of a page that only shows. */

class Answer {
    /* asked: the text, heads, edits, kind and scale that it answers. */
    constructor(asked, bits, { answer, arrays }) {
        Object.assign(this, answer, { asked, bits, arrays });
        this.at = new Map(answer.sheets.map((s) => [`${s.kind}@${s.layer}`, s]));
    }

    /* What it has of a sheet; undefined: nothing. */
    sheet({ kind, layer }) { return this.at.get(`${kind}@${layer}`); }
}

/* Of a mask, which sheets share: itself, null if it hides nothing, and what stands beyond the diagonal. */
const hidings = new WeakMap();

function hidingOf(mask, cols) {
    const beyond = () => mask.every((flag, i) => flag || i % cols <= Math.floor(i / cols));
    if (!hidings.has(mask))
        hidings.set(mask, mask.includes(1) ? { mask, beyond: beyond() ? "0" : null } : { mask: null, beyond: null });
    return hidings.get(mask);
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
        const masks = this.of.map((s) => s.answer.arrays[s.mask]);
        Object.assign(this, masks.every(Boolean) ? hidingOf(minus ? this.hiddenByAll(masks) : masks[0], this.cols)
            : { mask: null, beyond: null });
    }

    /* What no query of any answer sees. */
    hiddenByAll(masks) {
        return Uint8Array.from({ length: this.rows * this.cols }, (_, i) =>
            masks.every((flags, nth) => flags[Math.floor(i / this.cols) * this.of[nth].cols + i % this.cols]));
    }

    extent(nth, skip) { return extent(this.matrix(nth), skip); }

    /* The numbers of one answer are lent: nobody writes into them. */
    matrix(nth) {
        const { rows, cols, mask } = this, head = this.heads ? this.heads[nth] : 0;
        const [now, minus] = this.of.map((s) => s.data.subarray(head * s.rows * s.cols, (head + 1) * s.rows * s.cols));
        const m = new Matrix(rows, cols, mask, 0, minus ? new Float32Array(rows * cols) : now);
        const [wide, narrow] = this.of.map((s) => s.cols);
        for (let r = 0; r < rows && minus; r++)
            for (let c = 0; c < cols; c++)
                m.data[r * cols + c] = now[r * wide + c] - minus[r * narrow + c];
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
