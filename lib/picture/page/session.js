"use strict";
/* The model that the page holds, opened, and what is asked of it: a text, heads that are off, edits, a kind of attention.
 *
 *     const session = await openSession();
 *     const asked = { text, off: ["0,1"], edits: "L1H2[pos=-1] *= 0.5", attention: "window:4", scale: "" };
 *     finishAll(session.answer(asked))    // { tokens, plain, pass, kl, before, after }, or throws an Error with a sentence */

const LIKELIEST = 5;
const FIRST_ADDRESS = location.hash;    /* before page.js writes its own into it */

/* The bytes in the page: sinks/live.h says what they are. */
async function openSession() {
    if (typeof DecompressionStream === "undefined")
        throw new Error(tr("This browser cannot open what this page computes with (it has no DecompressionStream); " +
            "the page shows what was computed"));
    const packed = document.getElementById("packed"), bytes = bytesOf(packed.textContent);
    packed.remove();                    /* one copy of it is enough */
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const all = await new Response(stream).arrayBuffer(), length = new DataView(all).getUint32(0, true);
    const json = JSON.parse(new TextDecoder().decode(new Uint8Array(all, 4, length)));
    return new Session(json, new Uint8Array(all, 4 + length));
}

/* The likeliest tokens of a row of logits, the likeliest first; none if one is not finite. */
function likeliestOf(logits, coder) {
    const best = [];
    let top = -Infinity, sum = 0;
    for (let i = 0; i < logits.length; i++) {
        if (!Number.isFinite(logits[i]))
            return [];
        top = Math.max(top, logits[i]);
        if (best.length === LIKELIEST && !(logits[i] > logits[best[LIKELIEST - 1]]))
            continue;
        const at = best.findIndex((id) => logits[i] > logits[id]);
        best.splice(at < 0 ? best.length : at, 0, i);
        best.length = Math.min(best.length, LIKELIEST);
    }
    for (const x of logits)
        sum += exactExp(Math.max(x - top, -690));
    return best.map((id) => ({ ...coder.token(id), p: exactExp(logits[id] - top) / sum }));
}

/* KL(a || b) in nats; null: a logit is not finite. */
function divergence(a, b) {
    const top = (x) => x.reduce((m, e) => Math.max(m, e), -Infinity), [ta, tb] = [top(a), top(b)];
    let sa = 0, sb = 0, kl = 0;
    for (let i = 0; i < a.length; i++) {
        sa += Math.exp(a[i] - ta);
        sb += Math.exp(b[i] - tb);
    }
    for (let i = 0; i < a.length; i++)
        kl += Math.exp(a[i] - ta) / sa * (a[i] - ta - Math.log(sa) - b[i] + tb + Math.log(sb));
    return Number.isFinite(kl) ? Math.max(kl, 0) : null;
}

class Session {
    constructor(json, bytes) {
        this.json = json;
        this.name = json.model.name;
        this.w = openWeights(json.model, bytes);
        this.coder = new Coder(json.tokenizer, json.before, json.after);
        this.kinds = unique(page.sheets.map((s) => s.kind)).filter((kind) => ACTS.some((a) => a.tail === kind));
        const needed = new Set([...this.kinds, "attn.q", "attn.pattern", ...page.lens ? ["resid_post"] : []]);
        this.keep = (act) => needed.has(act);
        this.byIds = Boolean(this.coder.why) || page.text === null;
        this.remembered = null;         /* a text with its tokens, where these were chosen one by one */
        this.begun = this.beginning();
        this.sources = new Map();       /* of edits */
        this.last = {};                 /* the passes before, of which rows may stay */
    }

    /* What the page was made with. */
    beginning() {
        const { attention, scaling, scale } = this.json;
        return { text: this.byIds ? page.queries.map((t) => t.id).join(",") : page.text, off: [],
                 edits: (page.edits ?? []).join("\n"), attention,
                 scale: scaling === "model" ? "" : scaling === "value" ? String(scale) : scaling };
    }

    /* ---- reading what is asked ---- */

    kindOf({ attention, scale }) {
        const kind = parseKind(attention.trim() || "model"), text = scale.trim();
        Object.assign(kind, { dropout: this.json.dropout, dropoutSeed: BigInt(this.json.dropoutSeed) });
        if (!text)
            return kind;
        if (!/^(none|sqrt)$/.test(text) && !(Number.isFinite(fround(Number(text))) && /[0-9]/.test(text)))
            throw new Error(`scale '${text}' is none of none, sqrt and a number`);
        return Object.assign(kind, /^(none|sqrt)$/.test(text) ? { scaling: text } : { scaling: "value", scale: Number(text) });
    }

    tokensOf(text) {
        const found = () => this.byIds ? this.idsOf(text) : this.coder.encode(text);
        const tokens = this.remembered?.text === text ? this.remembered.tokens : found();
        const { V, n_ctx: most } = this.w.n, bad = tokens.find((t) => t.id < 0 || t.id >= V);
        if (!tokens.length)
            throw new Error(this.byIds ? tr("There are no ids: type some, with commas between them") : tr("There is no text: type some words"));
        if (bad)
            throw new Error(tr("The model has ids 0 to %s, and not %s", V - 1, bad.id));
        if (tokens.length > most)
            throw new Error(tr("The text has %s tokens, and the model reads %s at most: what is shown is the text before", tokens.length, most));
        return tokens;
    }

    idsOf(text) {
        const odd = text.split(/[\s,]+/).find((x) => x && !/^\d{1,9}$/.test(x));
        if (odd)
            throw new Error(tr("“%s” is no id: type whole numbers, with commas between them", odd));
        return text.split(/[\s,]+/).filter(Boolean).map((x) => this.coder.token(Number(x)));
    }

    editsOf({ off, edits }) {
        const heads = off.map((key) => `L${key.replace(",", "H")} = 0`);
        return [...heads, ...edits.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"))].map(parseEdit);
    }

    /* ---- answers ---- */

    pass(ids, options) {
        return new Pass(this.w, ids, { keep: this.keep, ...options });
    }

    editor(edits, kind) {
        return new Editor(edits, { w: this.w, name: this.name, kind, coder: this.coder, sources: this.sources,
                                    meanings: this.json.meanings });
    }

    /* A generator, which pauses now and then. */
    *answer(asked) {
        const kind = this.kindOf(asked), edits = this.editsOf(asked), editor = edits.length ? this.editor(edits, kind) : null;
        const tokens = this.tokensOf(asked.text), ids = tokens.map((t) => t.id);
        if (editor)
            yield* editor.read(tokens);
        const plain = yield* this.pass(ids, { kind, before: this.last.plain }).run();
        const pass = editor ? yield* this.pass(ids, { kind, editor, before: this.last.pass }).run() : plain;
        this.last = { plain, pass: editor ? pass : null };
        const likely = (p) => p.last ? likeliestOf(p.last, this.coder) : [];
        return { asked, kind, tokens, plain, pass, edited: Boolean(editor), edits: edits.map((e) => e.text),
                 before: likely(plain), after: likely(pass),
                 kl: editor && pass.last ? divergence(plain.last, pass.last) : null };
    }

    /* What each layer would predict, at each position. */
    *lens({ pass }) {
        const { w } = this, rows = [];
        for (const { layer } of page.lens) {
            const x = pass.get("resid_post", layer), y = { data: x.data.slice(), cols: x.cols }, { V } = w.n;
            w.final?.apply(y.data, x.data, x.cols, x.cols, 0, pass.T, w.eps);
            const logits = yield* logitsOf(w, y, 0, pass.T);
            rows.push({ layer, at: pass.ids.map((_, t) => likeliestOf(logits.subarray(t * V, (t + 1) * V), this.coder)) });
        }
        return rows;
    }

    /* The text with a token behind it; its tokens are those before and this one, even if the text alone would make others. */
    appended(answer, id) {
        const token = this.coder.token(id), { text } = answer.asked, size = utf8.encode(text).length;
        const more = this.byIds ? `,${id}` : (this.coder.json.spaced ? " " : "") + (token.text ?? "");
        const last = { ...token, start: size, end: size + utf8.encode(more).length };
        this.remembered = { text: text + more, tokens: [...answer.tokens, last] };
        return this.remembered.text;
    }

    /* How far the page's own numbers are from those of the program, which it shows at first. */
    difference({ pass }) {
        let worst = 0;
        for (const sheet of page.sheets.filter((s) => s.kind === "attn.pattern"))
            (sheet.heads ?? [0]).forEach((head, nth) => {
                const m = sheet.matrix(nth), a = pass.get("attn.pattern", sheet.layer), T = pass.T;
                for (let i = 0; i < m.data.length && m.rows === T; i++)
                    worst = Math.max(worst, Math.abs(m.data[i] - a.data[head * T * T + i]) - sheet.error);
            });
        return worst;
    }
}

/* ---- drawing tokens, as the command generate does it ---- */

class Sampler {
    constructor(temperature, seed) {
        Object.assign(this, { temperature, state: { x: BigInt(seed) & WORD } });
    }

    next(logits) {
        let best = 0;
        for (let i = 1; i < logits.length; i++)
            best = logits[i] > logits[best] ? i : best;
        if (!Number.isFinite(logits[best]) || this.temperature === 0)
            return best;
        const weight = Float64Array.from(logits, (x) => exactExp((x - logits[best]) / this.temperature));
        const at = splitmixUnit(splitmixNext(this.state)) * weight.reduce((sum, x) => sum + x, 0);
        let last = 0, sum = 0;
        for (let i = 0; i < weight.length && sum <= at; i++) {
            if (weight[i] > 0)
                last = i;
            sum += weight[i];
        }
        return last;
    }
}

/* ---- sheets that follow the model ---- */

/* One activation of an answer, with what views.js asks of a Sheet; of two answers, their difference. */
class LiveSheet {
    constructor(original, answer, minus = null) {
        const { kind, title, layer, name, heads, keys, ofKeys, rowAxis, colAxis, tokens, count } = original;
        const T = Math.min(answer.pass.T, minus?.pass.T ?? Infinity);
        Object.assign(this, { kind, title, layer, name, heads, keys, ofKeys, rowAxis, colAxis, tokens, count });
        Object.assign(this, { answer, minus, error: 0, rows: T });
        this.cols = keys ? T : original.cols;
        const masks = /scores|pattern/.test(kind) ? [answer, minus].filter(Boolean).map((a) => this.hiddenBy(a)) : [];
        this.mask = masks.length ? masks[0].map((flag, i) => flag && masks.at(-1)[i]) : null;
        this.beyond = this.mask?.every((flag, i) => flag || i % T <= Math.floor(i / T)) ? "0" : null;
    }

    /* What no query of an answer sees. */
    hiddenBy({ pass, kind: asked }) {
        const kind = kindIn(asked, pass.w.causal, pass.w.block[this.layer].window), T = this.rows, flags = new Uint8Array(T * T).fill(1);
        for (let q = 0; q < T; q++) {
            const [lo, hi] = asked.form === "causal-renorm" && this.kind === "attn.pattern" ? [0, q + 1] : seenBy(kind, q, T);
            if (KINDS[kind.form].pick)
                picked(kind, q, T).forEach((key) => { flags[q * T + key] = 0; });
            else
                flags.fill(0, q * T + lo, q * T + hi);
        }
        return flags;
    }

    extent(nth, skip) {
        return extent(this.matrix(nth), skip);
    }

    matrix(nth) {
        const m = new Matrix(this.rows, this.cols, this.mask?.includes(1) ? this.mask : null, 0), add = ({ pass }, sign) => {
            const a = pass.get(this.kind, this.layer ?? -1), head = this.heads ? this.heads[nth] : 0, T = pass.T;
            const [start, step] = a.heads ? [head * T * T, T] : [this.heads ? head * this.cols : 0, a.cols];
            for (let r = 0; r < m.rows; r++)
                for (let c = 0; c < m.cols; c++)
                    m.data[r * m.cols + c] += sign * a.data[start + r * step + c];
        };
        add(this.answer, 1);
        if (this.minus)
            add(this.minus, -1);
        return m;
    }
}
