"use strict";
/* The weights of the description (model/describe.h), opened once: float32, and matrices in panels of four outputs, so that a
 * product reads them in one stretch. */

/* A part of the bytes, in float32. */
function numbersAt(bytes, { at, type, n }) {
    if (type === "F32")
        return new Float32Array(bytes.buffer, bytes.byteOffset + at, n);
    const stored = new Uint16Array(bytes.buffer, bytes.byteOffset + at, n), to = new Float32Array(n);
    if (type === "F16") {
        for (let i = 0; i < n; i++)
            to[i] = HALVES[stored[i]];
        return to;
    }
    if (type !== "BF16")
        throw new Error(`weights of type ${type} are not known to this page`);
    const bits = new Uint32Array(to.buffer);
    for (let i = 0; i < n; i++)
        bits[i] = stored[i] << 16;
    return to;
}

const WIDE = 4;                         /* outputs of a panel */

class Weight {
    constructor(bytes, json) {
        this.in = json.in;
        this.out = json.out;
        this.bias = json.bias && numbersAt(bytes, json.bias);
        const stored = numbersAt(bytes, { ...json, n: json.in * json.out });
        const [k, j] = json.transposed ? [1, json.in] : [json.out, 1];         /* from one input, or output, to the next */
        this.panels = new Float32Array(Math.ceil(this.out / WIDE) * WIDE * this.in);
        for (let o = 0; o < this.out; o++) {
            const to = (o - o % WIDE) * this.in + o % WIDE;
            for (let i = 0; i < this.in; i++)
                this.panels[to + i * WIDE] = stored[i * k + o * j];
        }
    }
}

/* A table of which rows are looked up. */
class Table {
    constructor(bytes, json) {
        this.cols = json.out;
        this.type = json.type;
        this.stored = json.type === "F32" ? numbersAt(bytes, { ...json, n: json.in * json.out }) :
            new Uint16Array(bytes.buffer, bytes.byteOffset + json.at, json.in * json.out);
    }

    row(r, to, at) {
        const { stored, cols } = this, from = r * cols;
        for (let i = 0; i < cols; i++)
            to[at + i] = this.type === "F32" ? stored[from + i] : this.type === "F16" ? HALVES[stored[from + i]] :
                bf16ToFloat(stored[from + i]);
    }
}

function bf16ToFloat(word) {
    floatBits[0] = word << 16;
    return bitsFloat[0];
}

class Norm {
    constructor(bytes, json) {
        Object.assign(this, json);
        this.w = Float32Array.from(numbersAt(bytes, json.weight));
        this.b = json.bias && numbersAt(bytes, json.bias);
        if (json.from_one)
            for (let i = 0; i < this.w.length; i++)
                this.w[i] += 1;
    }

    /* y[rows, cols] = norm(x), and y may be x; rows are `ld` apart. */
    apply(y, x, ld, cols, first, end, eps) {
        const span = this.span || cols;
        for (let t = first; t < end; t++)
            for (let c = 0; c < cols; c += span) {
                const at = t * ld + c, own = this.own ? c : 0;
                if (this.rms)
                    rmsNorm(y, at, x, at, span, this.w, own, eps);
                else
                    layerNorm(y, at, x, at, span, this.w, own, this.b, eps);
            }
    }
}

/* The weights as decoder.js reads them, in the names of compute/weights.h. */
function openWeights(json, bytes) {
    const mat = (m) => m && new Weight(bytes, m), norm = (n) => n && new Norm(bytes, n), table = (m) => m && new Table(bytes, m);
    if (json.mlp !== "none" && !ACTIVATIONS[json.mlp])
        throw new Error(`an mlp of the kind ${json.mlp} is not known to this page`);
    const w = { ...json };
    for (const key of ["eps", "clip", "cap", "logit_cap", "embed_scale", "branch_scale", "logit_scale"])
        w[key] = f32(json[key]);
    w.alibi = json.alibi && Float32Array.from(json.alibi);
    w.mlp = json.mlp === "none" ? null : ACTIVATIONS[json.mlp];
    w.embed = table(json.embed);
    w.pos = table(json.pos);
    for (const key of ["project_in", "project_out", "unembed"])
        w[key] = mat(json[key]);
    w.embed_norm = norm(json.embed_norm);
    w.final = norm(json.final);
    w.block = json.block.map((b) => {
        const block = { ...b, scale: f32(b.scale) };
        for (const key of ["norm1", "norm2", "post1", "post2", "sum1", "sum2", "q_norm", "k_norm"])
            block[key] = norm(b[key]);
        for (const key of ["q", "k", "v", "o", "gate", "in", "out"])
            block[key] = mat(b[key]);
        return block;
    });
    w.adds_apart = w.branch_scale !== 0 || Boolean(w.block[0]?.post1);
    return w;
}

/* ---- products: each number is one chain of multiplications and additions over k, ascending, from 0 ---- */

function twoRows(y, ldy, x, ldx, t, w, j0, j1) {
    const K = w.in, p = w.panels, out = w.out;
    for (let j = j0; j < j1; j += WIDE) {
        let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0, at = j * K;
        for (let k = t * ldx, end = k + K; k < end; k++, at += WIDE) {
            const a = x[k], b = x[k + ldx], w0 = p[at], w1 = p[at + 1], w2 = p[at + 2], w3 = p[at + 3];
            a0 = fround(a0 + fround(a * w0));
            a1 = fround(a1 + fround(a * w1));
            a2 = fround(a2 + fround(a * w2));
            a3 = fround(a3 + fround(a * w3));
            b0 = fround(b0 + fround(b * w0));
            b1 = fround(b1 + fround(b * w1));
            b2 = fround(b2 + fround(b * w2));
            b3 = fround(b3 + fround(b * w3));
        }
        const to = t * ldy + j, next = to + ldy, n = out - j;
        y[to] = a0;
        y[next] = b0;
        if (n > 1) { y[to + 1] = a1; y[next + 1] = b1; }
        if (n > 2) { y[to + 2] = a2; y[next + 2] = b2; }
        if (n > 3) { y[to + 3] = a3; y[next + 3] = b3; }
    }
}

function oneRow(y, ldy, x, ldx, t, w, j0, j1) {
    const K = w.in, p = w.panels, out = w.out;
    for (let j = j0; j < j1; j += WIDE) {
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0, at = j * K;
        for (let k = t * ldx, end = k + K; k < end; k++, at += WIDE) {
            const a = x[k];
            s0 = fround(s0 + fround(a * p[at]));
            s1 = fround(s1 + fround(a * p[at + 1]));
            s2 = fround(s2 + fround(a * p[at + 2]));
            s3 = fround(s3 + fround(a * p[at + 3]));
        }
        const to = t * ldy + j, n = out - j;
        y[to] = s0;
        if (n > 1) y[to + 1] = s1;
        if (n > 2) y[to + 2] = s2;
        if (n > 3) y[to + 3] = s3;
    }
}

const SLICE = 4e6;                      /* multiply-adds between two pauses: some milliseconds */

/* y[first .. end] = x w + bias: a generator, which pauses now and then. */
function* multiply(y, ldy, x, ldx, first, end, w) {
    const columns = Math.max(WIDE, Math.floor(SLICE / (w.in * Math.max(1, end - first)) / WIDE) * WIDE);
    for (let j0 = 0; j0 < w.out; j0 += columns) {
        const j1 = Math.min(j0 + columns, w.out);
        let t = first;
        for (; t + 1 < end; t += 2)
            twoRows(y, ldy, x, ldx, t, w, j0, j1);
        if (t < end)
            oneRow(y, ldy, x, ldx, t, w, j0, j1);
        if (j1 < w.out)
            yield;
    }
    if (w.bias)
        for (let t = first; t < end; t++)
            for (let j = 0; j < w.out; j++)
                y[t * ldy + j] = y[t * ldy + j] + w.bias[j];
}
