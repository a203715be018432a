"use strict";
/* A pass of the decoder, from ids to logits: compute/block.c in another language, with the same bits.
 *
 *     x = x + attn(norm1(x))
 *     x = x + mlp(norm2(x))
 *
 *     const pass = new Pass(w, ids, { kind, editor, keep, before });
 *     finishAll(pass.run());              // or next() by next(), with pauses
 *     pass.get("attn.pattern", 0)         // { data, cols, heads }: [T, cols], or [heads, T, cols] where attention has keys
 *
 * keep(act, layer) says which activations stay.  `before` is an earlier pass: where its text has the same beginning, and
 * nothing that came later changes rows, only new rows are computed. */

const SQUARES = ["attn.dots", "attn.scores", "attn.pattern"];
const OWN_KIND = parseKind("model");

function finishAll(steps) {
    let result;
    do
        result = steps.next();
    while (!result.done);
    return result.value;
}

/* Cosines and sines of positions first to before T (compute/position.c). */
function cosSin(w, rope, first, T) {
    const half = w.rotary / 2, cos = new Float32Array(T * half), sin = new Float32Array(T * half);
    for (let i = 0; i < half; i++) {
        const inverse = inverseFrequency(w, rope, i, T);
        for (let t = first; t < T; t++) {
            const [s, c] = sinCos(t * (w.backwards ? -inverse : inverse));
            cos[t * half + i] = c * rope.attention_factor;
            sin[t * half + i] = s * rope.attention_factor;
        }
    }
    return { cos, sin };
}

function inverseFrequency(w, rope, i, T) {
    if (rope.original_max_position === 0 || T <= rope.original_max_position)
        return rope.inv_freq[i];
    if (rope.long_inv_freq)
        return rope.long_inv_freq[i];
    const r = w.rotary, longer = rope.factor * T / rope.original_max_position - (rope.factor - 1);
    return exactPow(rope.theta * exactPow(longer, r / (r - 2)), -2 * i / r);
}

/* Row t of the positions of a model that computes them. */
function sinusoid(to, at, d, t) {
    const half = Math.floor(d / 2), p = t + 2;  /* rows 0 and 1 of the table that models are trained with are never used */
    for (let i = 0; i < half; i++) {
        const [s, c] = sinCos(p * exactPow(10000, -i / (half - 1)));
        to[at + i] = s;
        to[at + half + i] = c;
    }
    if (d % 2)
        to[at + d - 1] = 0;
}

function alibiAt(w, scale, head, key) {
    const slope = w.alibi[head];
    return w.alibi_early ? f32(toBf16(f32(toBf16(slope) * toBf16(key))) * scale) : f32(slope * key);
}

/* The logits of rows first to before end, which are normalised already. */
function* logitsOf(w, x, first, end) {
    const n = end - first, { V } = w.n, logits = new Float32Array(n * V);
    let reads = x.data.subarray(first * x.cols, end * x.cols), cols = x.cols;
    if (w.project_out) {
        const narrow = new Float32Array(n * w.project_out.out);
        yield* multiply(narrow, w.project_out.out, reads, cols, 0, n, w.project_out);
        [reads, cols] = [narrow, w.project_out.out];
    }
    yield* multiply(logits, V, reads, cols, 0, n, w.unembed);
    for (let i = 0; i < logits.length && w.logit_scale !== 0; i++)
        logits[i] = logits[i] * w.logit_scale;
    for (let i = 0; i < logits.length && w.logit_cap !== 0; i++)
        logits[i] = capped(logits[i], w.logit_cap);
    return logits;
}

class Pass {
    constructor(w, ids, { kind = OWN_KIND, editor = null, keep = () => true, before = null } = {}) {
        Object.assign(this, { w, ids, kind, editor, keep, T: ids.length, acts: new Map() });
        this.first = before ? this.sameRows(before) : 0;
        this.before = this.first ? before : null;
    }

    /* ---- what stays of an earlier pass ---- */

    sameRows(before) {
        const { w, ids, T } = this, alike = JSON.stringify(this.sort()) === JSON.stringify(before.sort());
        const past = w.block.every((b) => kindPast(kindIn(this.kind, w.causal, b.window)));
        const turned = w.rope.some((r) => r.original_max_position && Math.max(T, before.T) > r.original_max_position);
        let n = 0;
        while (n < Math.min(T - 1, before.T) && ids[n] === before.ids[n])
            n++;
        return alike && past && !turned && before.done && before.keep === this.keep && !this.keep("attn.dots", 0) ? n : 0;
    }

    /* What decides how rows are computed. */
    sort() {
        return [Object.entries(this.kind).map(([k, x]) => [k, String(x)]), this.editor?.key ?? ""];
    }

    /* An array of rows, with those of an earlier pass in front. */
    rows(act, layer, cols, heads = 0) {
        const { T, first } = this, square = heads > 0, old = first ? this.before.acts.get(act + "@" + layer) : null;
        const data = new Float32Array(square ? heads * T * T : T * cols);
        if (old && square)
            for (let h = 0; h < heads; h++)
                for (let t = 0; t < first; t++) {
                    const n = this.before.T, from = (h * n + t) * n, to = (h * T + t) * T;
                    data.set(old.data.subarray(from, from + Math.min(n, first)), to);
                    if (act === "attn.scores")
                        data.fill(-Infinity, to + first, to + T);
                }
        else if (old)
            data.set(old.data.subarray(0, first * cols));
        return { data, cols: square ? T : cols, heads };
    }

    get(act, layer = -1) {
        return this.acts.get(act + "@" + layer);
    }

    /* Tells the editor of an activation, before the next step reads it, and keeps it. */
    announce(act, layer, a, copy = false) {
        this.editor?.edit(this, act, layer, a);
        const needed = act === "attn.k" || act === "attn.v";         /* by rows to come */
        if (needed || this.keep(act, layer)) {
            const kept = copy ? this.rows(act, layer, a.cols) : a;
            if (copy)
                kept.data.set(a.data.subarray(this.first * a.cols, this.T * a.cols), this.first * a.cols);
            this.acts.set(act + "@" + layer, kept);
        }
    }

    wanted(act, layer) {
        return this.keep(act, layer) || Boolean(this.editor?.edits(act, layer));
    }

    /* ---- the pass ---- */

    *run() {
        const { w, T, first } = this;
        this.angles = w.rope.map((r) => cosSin(w, r, first, T));
        const scale = w.block.length ? kindScale(this.kind, w.block[0].scale, w.n.dh) : 1;
        this.bias = w.alibi && Array.from(w.alibi, (_, h) => Float32Array.from({ length: T }, (_, k) => alibiAt(w, scale, h, k)));
        let x = yield* this.embed();
        for (let layer = 0; layer < w.block.length; layer++)
            x = yield* this.block(layer, x);
        yield* this.unembed(x);
        this.before = null;
        this.done = true;
        return this;
    }

    *embed() {
        const { w, T, first, ids } = this, x = { data: new Float32Array(T * w.n.d), cols: w.n.d }, added = w.pos || w.sinusoid;
        const row = w.project_in ? { data: new Float32Array(T * w.embed.cols), cols: w.embed.cols } : x;
        for (let t = first; t < T; t++)
            w.embed.row(ids[t], row.data, t * row.cols);
        if (w.project_in)
            yield* this.product(x, row, w.project_in);
        if (w.embed_scale !== 0)
            this.scaleRows(x, w.embed_scale);
        if (!added)
            this.normalise(x, x, w.embed_norm);
        this.announce("embed", -1, x, true);
        if (!added)
            return x;
        const pos = this.rows("pos_embed", -1, w.n.d);
        for (let t = first; t < T; t++)
            if (w.sinusoid)
                sinusoid(pos.data, t * pos.cols, w.n.d, t);
            else
                w.pos.row(t, pos.data, t * pos.cols);
        this.announce("pos_embed", -1, pos);
        this.addRows(x, pos);
        this.normalise(x, x, w.embed_norm);
        return x;
    }

    *block(layer, x) {
        const { w } = this, b = w.block[layer], n = w.n;
        this.announce("resid_pre", layer, x, true);

        /* x += attention(norm1(x)) */
        let h = this.norm("norm1", layer, x, b.norm1);
        const qkv = {};
        for (const [name, heads, width] of [["q", n.H, n.dh], ["k", n.Hkv, n.dh], ["v", n.Hkv, n.dv]]) {
            qkv[name] = this.rows("attn." + name, layer, heads * width);
            yield* this.product(qkv[name], h, b[name]);
            if (w.clip !== 0)
                this.clampRows(qkv[name], w.clip);
        }
        if (!w.late_norms)
            this.normaliseHeads(b, qkv);
        this.rotate(layer, qkv);
        const context = yield* this.attend(layer, qkv);
        let parallel = null;
        if (w.parallel) {
            parallel = this.rows("attn.out", layer, n.d);
            yield* this.product(parallel, context, b.o);
            this.announce("attn.out", layer, parallel);
        } else {
            x = yield* this.branch("attn.out", "attn.added", layer, x, context, b.o, b.post1);
            this.normalise(x, x, b.sum1);
        }

        /* x += mlp(norm2(x)): of the x that attention changed or, with parallel branches, of the same x */
        if (w.mlp) {
            if (!w.parallel)
                this.announce("resid_mid", layer, x, true);
            if (!w.one_norm)
                h = this.norm("norm2", layer, x, b.norm2);
            const hidden = yield* this.hidden(layer, h, b);
            if (parallel)
                this.addRows(x, parallel);
            x = yield* this.branch("mlp.out", "mlp.added", layer, x, hidden, b.out, b.post2);
            this.normalise(x, x, b.sum2);
        }
        this.announce("resid_post", layer, x, true);
        return x;
    }

    /* What a branch reads: x normalised, or x itself where there is no norm. */
    norm(act, layer, x, norm) {
        if (!norm)
            return x;
        const y = this.rows(act, layer, x.cols);
        this.normalise(y, x, norm);
        this.announce(act, layer, y);
        if (this.w.post_norm_residual)
            x.data.set(y.data.subarray(this.first * y.cols), this.first * y.cols);
        return y;
    }

    /* The hidden layer of the MLP: act(h in), or act(h gate) * (h in). */
    *hidden(layer, h, b) {
        const { w, T, first } = this, m = w.n.m, { of, gated } = w.mlp, pre = this.rows("mlp.pre", layer, m);
        yield* this.product(pre, h, gated ? b.gate : b.in);
        this.announce("mlp.pre", layer, pre);
        const linear = gated ? this.rows("mlp.linear", layer, m) : null, post = this.rows("mlp.post", layer, m);
        if (gated) {
            yield* this.product(linear, h, b.in);
            this.announce("mlp.linear", layer, linear);
        }
        for (let i = first * m; i < T * m; i++)
            post.data[i] = gated ? of(pre.data[i]) * linear.data[i] : of(pre.data[i]);
        this.announce("mlp.post", layer, post);
        return post;
    }

    /* x + what a branch gives; without residual connections that alone, and without a weight what it reads. */
    *branch(act, added, layer, x, input, weight, post) {
        const { w } = this, out = this.rows(act, layer, weight ? w.n.d : input.cols);
        if (weight) {
            yield* this.product(out, input, weight);
            this.announce(act, layer, out, true);
        } else {
            out.data.set(input.data.subarray(this.first * input.cols), this.first * input.cols);
        }
        if (w.adds_apart) {
            this.normalise(out, out, post);
            if (w.branch_scale !== 0)
                this.scaleRows(out, w.branch_scale);
            this.announce(added, layer, out, true);
        }
        if (!w.residual && !w.adds_apart)
            return out;
        this.addRows(x, out);
        return x;
    }

    /* ---- attention ---- */

    rotate(layer, { q, k, v }) {
        const { w, T, first } = this, b = w.block[layer];
        if (w.rotary && b.rope >= 0)
            for (const a of [q, k])
                for (let t = first; t < T; t++)
                    for (let at = t * a.cols; at < (t + 1) * a.cols; at += w.n.dh)
                        this.rotateOne(a.data, at, this.angles[b.rope], t);
        if (w.late_norms)
            this.normaliseHeads(b, { q, k });
        for (const [name, a] of Object.entries({ q, k, v }))
            this.announce("attn." + name, layer, a);
    }

    normaliseHeads(b, { q, k }) {
        this.normalise(q, q, b.q_norm);
        this.normalise(k, k, b.k_norm);
    }

    rotateOne(x, at, { cos, sin }, t) {
        const half = this.w.rotary / 2;
        for (let i = 0; i < half; i++) {
            const [p, r] = this.w.interleaved ? [at + 2 * i, at + 2 * i + 1] : [at + i, at + i + half];
            const a = x[p], b = x[r], c = cos[t * half + i], s = sin[t * half + i];
            x[p] = f32(a * c) - f32(b * s);
            x[r] = f32(b * c) + f32(a * s);
        }
    }

    *attend(layer, { q, k, v }) {
        const { w, T, first } = this, { H, Hkv, dh, dv } = w.n, kind = kindIn(this.kind, w.causal, w.block[layer].window);
        const edited = SQUARES.some((act) => this.editor?.edits(act, layer));
        const shown = edited || SQUARES.some((act) => this.keep(act, layer));
        const context = this.rows("attn.context", layer, H * dv), m = this.rows("attn.pattern", layer, 0, H);
        const heads = Array.from({ length: H }, (_, h) => {
            const kv = Math.floor(h / (H / Hkv));
            return new Head({ T, first, dh, dv, kind, edited, cap: w.cap, bias: this.bias?.[h],
                drop: kind.dropout > 0 ? dropSeed(kind, layer, h) : 0n, scale: kindScale(this.kind, w.block[layer].scale, dh),
                q: q.data, ldq: q.cols, qAt: h * dh, k: k.data, ldk: k.cols, kAt: kv * dh,
                v: v.data, ldv: v.cols, vAt: kv * dv, context: context.data, ldc: context.cols, contextAt: h * dv,
                m: m.data.subarray(h * T * T, (h + 1) * T * T) });
        });
        const apart = !edited && kind.dropout === 0 ? { linear: "linearContexts", block: "online" }[kind.form] : null;
        if (shown || !apart)
            yield* this.matrices(layer, heads, m, kind);
        for (const head of heads) {
            head[apart ?? "contexts"]();
            yield;
        }
        this.announce("attn.context", layer, context);
        return context;
    }

    /* Dots, scores and pattern of all heads; each may be edited before the next step reads it. */
    *matrices(layer, heads, m, kind) {
        const linear = kind.form === "linear", steps = [["attn.dots", "dots"], ["attn.scores", "scores"], ["attn.pattern", "pattern"]];
        for (const [act, step] of linear ? [["attn.pattern", "linearPattern"]] : steps) {
            for (const head of heads) {
                head[step](this.wanted("attn.dots", layer));
                yield;
            }
            this.editor?.edit(this, act, layer, m);
            if (this.keep(act, layer))
                this.acts.set(act + "@" + layer, act === "attn.pattern" ? m : this.copyOf(act, layer, m));
        }
    }

    /* Of matrices that the next step overwrites. */
    copyOf(act, layer, m) {
        const { T, first } = this, copy = this.rows(act, layer, 0, m.heads);
        for (let h = 0; h < m.heads; h++)
            copy.data.set(m.data.subarray((h * T + first) * T, (h + 1) * T * T), (h * T + first) * T);
        return copy;
    }

    /* ---- logits ---- */

    /* Of all rows if they stay, else of the last one. */
    *unembed(x) {
        const { w, T } = this;
        if (w.final) {
            const y = this.rows("norm_final", -1, x.cols);
            this.normalise(y, x, w.final);
            this.announce("norm_final", -1, y);
            x = y;
        }
        if (!w.unembed)
            return;
        const { V } = w.n, all = this.keep("logits", -1) || this.editor?.edits("logits", -1), first = all ? this.first : T - 1;
        const found = yield* logitsOf(w, x, first, T);
        const logits = all ? this.rows("logits", -1, V) : { data: found, cols: V, row0: T - 1 };
        if (all)
            logits.data.set(found, first * V);
        this.editor?.edit(this, "logits", -1, logits);
        if (this.keep("logits", -1))
            this.acts.set("logits@-1", logits);
        this.last = logits.data.subarray(logits.data.length - V);
    }

    /* ---- rows ---- */

    *product(y, x, weight) {
        yield* multiply(y.data, y.cols, x.data, x.cols, this.first, this.T, weight);
    }

    normalise(y, x, norm) {
        norm?.apply(y.data, x.data, x.cols, x.cols, this.first, this.T, this.w.eps);
    }

    addRows(y, x) {
        for (let i = this.first * x.cols; i < this.T * x.cols; i++)
            y.data[i] = y.data[i] + x.data[i];
    }

    /* NaN stays NaN. */
    clampRows(x, most) {
        for (let i = this.first * x.cols; i < this.T * x.cols; i++)
            x.data[i] = x.data[i] > most ? most : x.data[i] < -most ? -most : x.data[i];
    }

    scaleRows(x, by) {
        for (let i = this.first * x.cols; i < this.T * x.cols; i++)
            x.data[i] = x.data[i] * by;
    }
}
