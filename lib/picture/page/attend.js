"use strict";
/* Attention of one head, as compute/attention.c and its neighbours have it:
 *
 *     dots    = q k'                      [T, T]  how well each query matches each key
 *     scores  = dots * scale              -inf where hidden; some models add a number for each key, or bound scores softly
 *     pattern = softmax(scores)           each row sums to 1, exactly 0 where hidden
 *     context = pattern v                 [T, dv]
 *
 * A Head has what the steps need; rows from `first` on are computed, in place in m [T, T]. */

class Head {
    /* q, k, v are arrays of rows that are ldq, ldk and ldv apart, of which this head's begin at qAt, kAt and vAt. */
    constructor(fields) {
        Object.assign(this, fields);
    }

    seen(t) {
        return this.edited ? [0, this.T] : seenBy(this.kind, t, this.T);
    }

    /* ---- dots: each one chain over dh ---- */

    /* The dots of query t with keys from lo to before hi. */
    dotsOf(to, at, t, lo, hi, q = this.q, qAt = this.qAt + t * this.ldq, k = this.k) {
        const { ldk, kAt, dh } = this, end = qAt + dh;
        let j = lo;
        for (; j + 3 < hi; j += 4) {
            let s0 = 0, s1 = 0, s2 = 0, s3 = 0, b0 = kAt + j * ldk, b1 = b0 + ldk, b2 = b1 + ldk, b3 = b2 + ldk;
            for (let i = qAt; i < end; i++) {
                const x = q[i];
                s0 = fround(s0 + fround(x * k[b0++]));
                s1 = fround(s1 + fround(x * k[b1++]));
                s2 = fround(s2 + fround(x * k[b2++]));
                s3 = fround(s3 + fround(x * k[b3++]));
            }
            to[at + j] = s0;
            to[at + j + 1] = s1;
            to[at + j + 2] = s2;
            to[at + j + 3] = s3;
        }
        for (; j < hi; j++) {
            let s = 0, b = kAt + j * ldk;
            for (let i = qAt; i < end; i++)
                s = fround(s + fround(q[i] * k[b++]));
            to[at + j] = s;
        }
    }

    dots(all) {
        for (let t = this.first; t < this.T; t++) {
            const [lo, hi] = all ? [0, this.T] : seenBy(this.kind, t, this.T);
            this.dotsOf(this.m, t * this.T, t, lo, hi);
        }
    }

    /* ---- scores ---- */

    /* n dots, with the keys of the list or from `from` on. */
    score(x, at, n, from, list) {
        for (let i = 0; i < n; i++)
            x[at + i] = x[at + i] * this.scale;
        if (this.bias)
            for (let i = 0; i < n; i++)
                x[at + i] = x[at + i] + this.bias[list ? list[i] : from + i];
        if (this.cap > 0)
            for (let i = 0; i < n; i++)
                x[at + i] = capped(x[at + i], this.cap);
    }

    scores() {
        const { m, T, kind } = this;
        for (let t = this.first; t < T; t++) {
            const [lo, hi] = seenBy(kind, t, T), at = t * T;
            this.score(m, at + lo, hi - lo, lo, null);
            if (KINDS[kind.form].pick) {
                const seen = new Set(picked(kind, t, T));
                for (let j = lo; j < hi; j++)
                    if (!seen.has(j))
                        m[at + j] = -Infinity;
            }
            m.fill(-Infinity, at, at + lo);
            m.fill(-Infinity, at + hi, at + T);
        }
    }

    /* ---- the pattern ---- */

    /* The softmax of n scores; false: all are hidden, and the row becomes zeros. */
    softmax(x, at, n) {
        const { max } = largest(x, at, n, 1);
        if (max === -Infinity && (n === 0 || (this.edited && x.subarray(at, at + n).every((e) => e === -Infinity)))) {
            x.fill(0, at, at + n);
            return false;
        }
        divideRow(x, at, n, f32(expAndSum(x, at, n, 1, max)));
        return true;
    }

    pattern() {
        const { m, T, kind } = this;
        for (let t = this.first; t < T; t++) {
            if (KINDS[kind.form].pick && !this.edited) {
                this.pickedPattern(t);
                continue;
            }
            const at = t * T, [lo, hi] = this.seen(t), from = lo - lo % LANES;      /* so that each lane sums the same numbers */
            const kept = this.softmax(m, at + from, hi - from);
            if (kind.form === "causal-renorm" && kept)
                this.renormalise(at, Math.min(T, t + 1));
            dropKeys(kind, this.drop, m, at + lo, hi - lo, t, lo, null);
            m.fill(0, at, at + lo);
            m.fill(0, at + hi, at + T);
        }
    }

    /* The weights of later keys become 0 and the others are divided by their sum. */
    renormalise(at, n) {
        const { m, T } = this;
        let sum = 0;
        m.fill(0, at + n, at + T);
        for (let j = 0; j < n; j++)
            sum += m[at + j];
        if (sum > 0)
            divideRow(m, at, n, f32(sum));
    }

    /* The softmax of the picked keys alone, side by side. */
    pickedPattern(t) {
        const { m, T, kind } = this, list = picked(kind, t, T), few = Float32Array.from(list, (j) => m[t * T + j]);
        this.softmax(few, 0, few.length);
        dropKeys(kind, this.drop, few, 0, few.length, t, 0, list);
        m.fill(0, t * T, (t + 1) * T);
        list.forEach((j, i) => { m[t * T + j] = few[i]; });
    }

    /* ---- contexts: each number one chain over the keys ---- */

    contextOf(t, weights, at, lo, hi) {
        const { v, vAt, ldv, dv, context, contextAt, ldc } = this, to = contextAt + t * ldc;
        let i = 0;
        for (; i + 3 < dv; i += 4) {
            let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (let j = lo, b = vAt + lo * ldv + i; j < hi; j++, b += ldv) {
                const p = weights[at + j];
                s0 = fround(s0 + fround(p * v[b]));
                s1 = fround(s1 + fround(p * v[b + 1]));
                s2 = fround(s2 + fround(p * v[b + 2]));
                s3 = fround(s3 + fround(p * v[b + 3]));
            }
            context[to + i] = s0;
            context[to + i + 1] = s1;
            context[to + i + 2] = s2;
            context[to + i + 3] = s3;
        }
        for (; i < dv; i++) {
            let s = 0;
            for (let j = lo, b = vAt + lo * ldv + i; j < hi; j++, b += ldv)
                s = fround(s + fround(weights[at + j] * v[b]));
            context[to + i] = s;
        }
    }

    contexts() {
        for (let t = this.first; t < this.T; t++) {
            const [lo, hi] = this.seen(t);
            this.contextOf(t, this.m, t * this.T, lo, hi);
        }
    }

    /* ---- the softmax of causal or full, `b` keys at a time (compute/online.c) ---- */

    online() {
        const { T, kind, dv } = this, row = new Float32Array(T), y = new Float32Array(dv);
        for (let t = this.first; t < T; t++) {
            const end = seenBy(kind, t, T)[1];
            let top = -Infinity, sum = 0, odd = false;
            y.fill(0);
            for (let lo = 0; lo < end; lo += kind.b) {
                const hi = Math.min(lo + kind.b, end), n = hi - lo;
                this.dotsOf(row, 0, t, lo, hi);
                odd ||= !largest(row, lo, n, this.scale).finite;
                this.score(row, lo, n, lo, null);
                const { max, finite } = largest(row, lo, n, 1);
                odd ||= !finite;
                if (max > top) {
                    const shrink = f32(exactExp(top - max));
                    for (let i = 0; i < dv; i++)
                        y[i] = y[i] * shrink;
                    sum *= shrink;
                    top = max;
                }
                sum += expAndSum(row, lo, n, 1, top === -Infinity ? 0 : top);
                this.addValues(y, row, lo, hi);
            }
            this.finish(t, y, sum, odd);
        }
    }

    addValues(y, weights, lo, hi) {
        const { v, vAt, ldv, dv } = this;
        for (let i = 0; i < dv; i++) {
            let s = y[i];
            for (let j = lo; j < hi; j++)
                s = fround(s + fround(weights[j] * v[vAt + j * ldv + i]));
            y[i] = s;
        }
    }

    finish(t, y, sum, odd) {
        const to = this.contextAt + t * this.ldc, inverse = f32(1 / sum);
        for (let i = 0; i < this.dv; i++)
            this.context[to + i] = sum === 0 && !odd ? 0 : y[i] * inverse;
    }

    /* ---- linear attention (compute/linear.c) ---- */

    features(x, at) {
        return Float32Array.from({ length: this.dh }, (_, i) => feature(x[at + i]));
    }

    /* y = x / sum */
    divide(y, to, x, at, sum, n) {
        const lost = sum < 1.1754943508222875e-38, inverse = f32(1 / sum);
        for (let i = 0; i < n; i++)
            y[to + i] = lost ? 0 : x[at + i] * (inverse > 0 ? inverse : NaN);
    }

    linearPattern() {
        const { m, T, dh, kind } = this, phi_k = new Float32Array(T * this.ldk);
        for (let j = 0; j < T; j++)
            phi_k.set(this.features(this.k, this.kAt + j * this.ldk), this.kAt + j * this.ldk);
        for (let t = this.first; t < T; t++) {
            const at = t * T, hi = this.seen(t)[1];
            this.dotsOf(m, at, t, 0, hi, this.features(this.q, this.qAt + t * this.ldq), 0, phi_k);
            let sum = 0;
            for (let j = 0; j < hi; j++)
                sum += m[at + j];
            this.divide(m, at, m, at, sum, hi);
            dropKeys(kind, this.drop, m, at, hi, t, 0, null);
            m.fill(0, at + hi, at + T);
        }
    }

    linearContexts() {
        const { T, dh, dv, kind, v, vAt, ldv } = this;
        const S = new Float32Array(dh * dv), z = new Float64Array(dh), y = new Float32Array(dv);
        for (let t = 0, j = 0; t < T; t++) {
            for (const end = seenBy(kind, t, T)[1]; j < end; j++) {
                const phi = this.features(this.k, this.kAt + j * this.ldk);
                for (let i = 0; i < dh; i++) {
                    z[i] += phi[i];
                    for (let c = 0; c < dv; c++)
                        S[i * dv + c] = S[i * dv + c] + fround(phi[i] * v[vAt + j * ldv + c]);
                }
            }
            if (t < this.first)
                continue;
            const phi = this.features(this.q, this.qAt + t * this.ldq);
            let sum = 0;
            for (let i = 0; i < dh; i++)
                sum += phi[i] * z[i];
            for (let c = 0; c < dv; c++) {
                let s = 0;
                for (let i = 0; i < dh; i++)
                    s = fround(s + fround(phi[i] * S[i * dv + c]));
                y[c] = s;
            }
            this.divide(this.context, this.contextAt + t * this.ldc, y, 0, sum, dv);
        }
    }
}
