"use strict";
/* What edits mean in a model, and how they are done, as ask/edit_place.c, ask/edit_rows.c and ask/editor.c have it.
 *
 *     new Editor(edits, model)            // of parseEdit; model: { w, name, kind, coder, sources }; throws an Error, as does
 *     finishAll(editor.read(tokens))      // before a pass over a text */

const TOKENS_COMPARED = 1000;           /* with a mistyped one */
const LISTED = 120;                     /* bytes of a list of tokens in a message */
const MOST_SOURCES = 4;                 /* other texts whose activations stay, in model.sources */

/* ---- names ---- */

/* In the order of trace/trace.c; heads: of queries or of keys and values. */
const ACTS = [
    ["embed"], ["pos_embed"], ["resid_pre", "block"], ["norm1", "block"], ["attn.q", "block", "heads"], ["attn.k", "block", "kv"],
    ["attn.v", "block", "kv"], ["attn.dots", "block", "heads"], ["attn.scores", "block", "heads"], ["attn.pattern", "block", "heads"],
    ["attn.context", "block"], ["attn.out", "block"], ["attn.added", "block"], ["resid_mid", "block"], ["norm2", "block"],
    ["mlp.pre", "block"], ["mlp.linear", "block"], ["mlp.post", "block"], ["mlp.out", "block"], ["mlp.added", "block"],
    ["resid_post", "block"], ["norm_final"], ["logits"],
].map(([tail, block, heads]) => ({ tail, short: tail.slice(tail.indexOf(".") + 1), block: Boolean(block), heads: heads ?? null }));
const DERIVED = ["result", "norms", "rollout", "lens", "mask", "mask_inf", "divisors"];

/* Which of them a model announces (model.c). */
function hasAct(w, tail, linear) {
    const b = w.block[0], mlp = Boolean(w.mlp);
    const has = { pos_embed: w.pos || w.sinusoid, norm1: b?.norm1, "attn.out": b?.o, norm2: mlp && b?.norm2, "attn.added": w.adds_apart,
                  "mlp.added": mlp && w.adds_apart, resid_mid: mlp && !w.parallel, "mlp.pre": mlp, "mlp.post": mlp, "mlp.out": mlp,
                  "mlp.linear": w.mlp?.gated, norm_final: w.final, logits: w.unembed, "attn.dots": !linear, "attn.scores": !linear };
    return tail in has ? Boolean(has[tail]) : true;
}

function glob(pattern, name) {
    return new RegExp("^" + pattern.replace(/[.*+?^${}()|[\]\\]/g, (c) => c === "*" ? ".*" : c === "?" ? "." : "\\" + c) + "$").test(name);
}

class Editor {
    constructor(edits, model) {
        Object.assign(this, { model, w: model.w, reaches: [] });
        this.key = edits.map((e) => e.text).join("\n");
        for (const edit of edits)
            this.find(edit);
        /* Rows that are counted from the end change when the text grows: then nothing of an earlier pass stays. */
        if (edits.some((e) => /pos|key/.test(e.text) && /=\s*-|"|,\s*-/.test(e.text)) || edits.some((e) => e.value.of))
            this.key += "\n" + Editor.passes++;
    }

    fail(edit, why) {
        return new Error(`edit '${shownText(edit.text)}': ${why}`);
    }

    /* The indices of a list that must be below n; all if it was not written. */
    indices(edit, list, n, noun, owner) {
        const out = new Set();
        for (const x of list ?? [{ form: "all" }]) {
            if (x.form === "range" && x.hi >= n)
                throw this.fail(edit, `${noun} ${x.hi} is not there: ${owner} has ${n} ${noun}${n === 1 ? "" : "s"}, counted from 0`);
            for (let i = x.form === "all" ? 0 : x.lo; i <= (x.form === "all" ? n - 1 : x.hi); i++)
                out.add(i);
        }
        return [...out].sort((a, b) => a - b);
    }

    /* Adds a reach for each activation that the name means. */
    find(edit) {
        const { w, model } = this, p = edit.place, linear = model.kind.form === "linear";
        const name = p.name ?? (p.neurons ? "mlp.post" : "attn.context"), isGlob = /[*?]/.test(name);
        const layers = p.layered ? new Set(this.indices(edit, p.layers, w.block.length, "layer", model.name)) : null;
        const means = (act, layer) => layers ? layer >= 0 && layers.has(layer) && (glob(name, act.tail) || glob(name, act.short))
            : [layer >= 0 ? `blocks.${layer}.${act.tail}` : act.tail, act.tail, act.short].some((full) => glob(name, full));
        const could = [], found = [];
        for (const act of ACTS) {
            const all = act.block ? w.block.map((_, i) => i) : [-1], meant = all.filter((layer) => means(act, layer));
            if (meant.length)
                could.push(act);
            if (meant.length && hasAct(w, act.tail, linear))
                found.push({ edit, act, layers: new Set(meant) });
        }
        const tails = (list) => list.map((act) => act.tail).join(", ");
        if (could.length > 1 && !isGlob)
            throw this.fail(edit, `'${name}' is ambiguous: it could be any of ${tails(could)}`);
        if (!could.length)
            throw this.unknown(edit, name, isGlob);
        if (!found.length)
            throw this.fail(edit, linear && could.some((act) => /dots|scores/.test(act.tail)) ?
                "linear attention has neither dots nor scores, only a pattern" :
                `model ${model.name} has no '${name}', as it lacks the part that makes it; it has ` +
                tails(ACTS.filter((a) => hasAct(w, a.tail, linear))));
        for (const r of found) {
            this.columns(r);
            this.headsOf(r);
            this.check(r);
            this.reaches.push(r);
        }
    }

    unknown(edit, name, isGlob) {
        const { w, model } = this, shown = shownText(name), [, beyond] = /^blocks\.([0-9]+)\./.exec(name) ?? [], L = w.block.length;
        if (beyond !== undefined && Number(beyond) >= L)
            return this.fail(edit, `layer ${Number(beyond)} is not there: model ${model.name} has ` +
                `${L} layer${L === 1 ? "" : "s"}, counted from 0`);
        if (DERIVED.includes(name.split(".").at(-1)))
            return this.fail(edit, `'${shown}' is derived from other activations, and cannot be edited: edit those`);
        const head = /^H[0-9]/.test(name), [, small, number] = /^l([0-9]+)h([0-9]+)$/.exec(name) ?? [], [first] = edit.place.layers ?? [];
        if (head && edit.place.layered)
            return this.fail(edit, `'${shown}' is a head, before which no full stop stands: in layer ${first.lo ?? 0} it is ` +
                `L${first.lo ?? 0}${shown}`);
        if (head)
            return this.fail(edit, `'${shown}' is a head without its layer: in layer 0 it is L0${shown}`);
        if (small !== undefined)
            return this.fail(edit, `no activation is called '${shown}'; a head has capital letters: L${small}H${number}`);
        if (edit.place.layered && ACTS.some((a) => !a.block && (glob(name, a.tail) || glob(name, a.short))))
            return this.fail(edit, `'${shown}' is in no layer: leave out the layer before it`);
        const near = isGlob ? null : this.nearest(name), names = `names: ${ACTS.map((a) => a.tail).join(", ")}`;
        return this.fail(edit, isGlob ? `nothing matches '${shown}'; ${names}` :
            `no activation is called '${shown}'; ${near ? `the nearest is '${near}'` : names}`);
    }

    /* The name that was probably meant, with or without its "attn." or "mlp."; null: none is near. */
    nearest(name) {
        const typed = name.replace(/^blocks\.[0-9]*\.?/, ""), whole = new Map([["attn", "attn.out"], ["mlp", "mlp.out"]]).get(typed);
        const means = (known) => (word) => this.model.meanings.some(([w, n]) => n === known && w === word.toLowerCase());
        const known = ACTS.flatMap((a) => [a.short, a.tail].map((n) => ({ name: n, means: means(n), tail: a.tail })));
        return whole ?? nearestName(typed, known)?.tail ?? null;
    }

    width(act) {
        const { d, H, Hkv, dh, dv, m, V, width } = this.w.n;
        return { "attn.q": dh, "attn.k": dh, "attn.v": dv, "attn.context": H * dv, "mlp.pre": m, "mlp.linear": m, "mlp.post": m,
                 logits: V, resid_post: this.w.block[0]?.o ? d : width }[act.tail] ?? d;
    }

    columns(r) {
        const { edit, act } = r, p = edit.place, square = SQUARES.includes(act.tail);
        if (square && p.by.col)
            throw this.fail(edit, `the columns of ${act.tail} are keys: key= chooses them, not col=`);
        if (!square && p.by.key)
            throw this.fail(edit, `${act.tail} has no keys: key= is for dots, scores and pattern, col= for the columns of others`);
        if (square)
            return;
        if (p.neurons && p.by.col)
            throw this.fail(edit, "the neurons are given twice, by N and by col=");
        const head = act.tail === "attn.context" && p.heads;
        r.cols = this.indices(edit, p.neurons ?? p.by.col, head ? this.w.n.dv : this.width(act), p.neurons ? "neuron" : "column",
                              head ? "a head of attn.context" : act.tail);
    }

    headsOf(r) {
        const { edit, act } = r, p = edit.place, list = p.heads ?? p.by.head;
        const { H, Hkv, dv } = this.w.n, own = { heads: H, kv: Hkv }[act.heads];
        if (p.heads && p.by.head)
            throw this.fail(edit, "the heads are given twice, by H and by head=");
        if (!list) {
            r.heads = Array.from({ length: own ?? 1 }, (_, h) => h);
            return;
        }
        if (!own && act.tail !== "attn.context")
            throw this.fail(edit, `${act.tail} has no heads: those of ${this.model.name} are in ` +
                "q, k, v, dots, scores, pattern and context");
        const heads = this.indices(edit, list, H, "head", this.model.name);
        if (act.heads === "kv") {
            r.heads = this.share(edit, heads, H / Hkv);
        } else if (own) {
            r.heads = heads;
        } else {                        /* their columns lie side by side; those behind L<n>H<m> count within each head */
            r.heads = [0];
            r.dv = dv;
            r.cols = heads.flatMap((h) => p.heads ? r.cols.map((c) => h * dv + c) : r.cols.filter((c) => Math.floor(c / dv) === h));
            if (!r.cols.length)
                throw this.fail(edit, `none of these columns belongs to these heads, which have ${dv} columns each`);
        }
    }

    /* From query heads to the key/value heads that serve them, which must serve no others. */
    share(edit, heads, group) {
        const kv = [...new Set(heads.map((h) => Math.floor(h / group)))];
        for (const k of kv)
            for (let h = k * group; h < (k + 1) * group; h++)
                if (!heads.includes(h))
                    throw this.fail(edit, `key/value head ${k} serves query heads ${k * group}-${(k + 1) * group - 1}, and head ${h} of ` +
                        `them is not chosen: choose all, as in [head=${k * group}-${(k + 1) * group - 1}]`);
        return kv;
    }

    check({ edit, act }) {
        const { value } = edit, { kind } = this.model;
        if (value.form === "uniform" && act.tail !== "attn.pattern")
            throw this.fail(edit, `uniform is for patterns, whose rows are weights; ${act.tail} is none`);
        const infinite = value.form === "number" && value.number === -Infinity;
        const unscaled = kind.scaling === "value" && !(f32(kind.scale) > 0);
        if (infinite && act.tail === "attn.dots" && (unscaled || this.w.cap !== 0))
            throw this.fail(edit, "a dot of -inf becomes no score of -inf, as dots are " +
                `${unscaled ? "multiplied by 0 or less (--scale)" : "capped"}: edit scores`);
        if (infinite && !["attn.dots", "attn.scores", "logits"].includes(act.tail))
            throw this.fail(edit, `-inf is for dots, scores and logits, which a softmax reads; ` +
                `in ${act.tail} it would make NaN of what follows`);
        if (value.form === "mean" && act.tail === "attn.scores")
            throw this.fail(edit, "scores of hidden keys are -inf, so that the mean over queries is -inf: edit dots or pattern");
    }

    /* ---- a text ---- */

    /* Finds the rows and keys that each edit chooses, and what it takes from other texts: a generator, which pauses. */
    *read(tokens) {
        for (const r of this.reaches) {
            r.rows = this.choose(r.edit, r.edit.place.by.pos, tokens, "position");
            r.keys = SQUARES.includes(r.act.tail) ? this.choose(r.edit, r.edit.place.by.key, tokens, "key") : null;
            if (r.edit.value.of)
                yield* this.readSource(r, tokens);
        }
    }

    /* The rows or keys that a list means; what is not there is an error. */
    choose(edit, list, tokens, noun) {
        const n = tokens.length, s = n === 1 ? "" : "s";
        for (const x of list ?? []) {
            if (x.form === "range" && x.hi >= n)
                throw this.fail(edit, `${noun} ${x.hi} is not there: the text has ${n} token${s}, counted from 0`);
            if (x.form === "back" && x.lo > n)
                throw this.fail(edit, `${noun} -${x.lo} is not there: the text has ${n} token${s}`);
            if (x.form === "new")
                throw this.fail(edit, "new rows are those after a prompt: there are some in generate only");
            if (x.form === "token" && !tokens.some((t) => t.text === x.token))
                throw this.fail(edit, `no token of the text is "${x.token}"; ${this.nearestToken(x.token, tokens)}`);
        }
        return this.meant(list, tokens);
    }

    meant(list, tokens) {
        const n = tokens.length, is = (x, t, i) => x.form === "all" || x.form === "prompt" ||
            (x.form === "range" && x.lo <= i && i <= x.hi) || (x.form === "back" && i === n - x.lo) ||
            (x.form === "token" && t.text === x.token);
        return tokens.map((_, i) => i).filter((i) => !list || list.some((x) => is(x, tokens[i], i)));
    }

    nearestToken(token, tokens) {
        const known = tokens.slice(0, TOKENS_COMPARED).filter((t) => t.text !== null && t.label === undefined);
        const near = nearestName(token, known.map((t) => t.text));
        return near === null ? "attn-cli tokenize shows them" : `the nearest is "${near}"`;
    }

    *readSource(r, tokens) {
        const { text, ids } = r.edit.value.of, { coder, w, kind, sources } = this.model;
        const key = JSON.stringify([r.edit.value.of, Object.values(kind).map(String)]);
        if (!sources.has(key)) {
            const list = ids ? ids.map((id) => coder.token(id)) : coder.encode(text), why = this.notRun(list);
            if (why)
                throw this.fail(r.edit, `${spelledSource(r.edit.value.of)}: ${why}`);
            if (sources.size >= MOST_SOURCES)
                sources.clear();
            sources.set(key, { tokens: list, pass: yield* new Pass(w, list.map((t) => t.id), { kind }).run() });
        }
        r.source = sources.get(key);
        const S = r.source.tokens.length, apart = r.edit.value.form === "mean" || S === 1 || S === tokens.length;
        r.sourceRow = -1;
        if (!apart && r.rows.length === 1) {
            const rows = this.meant(r.edit.place.by.pos, r.source.tokens);
            r.sourceRow = rows.length === 1 ? rows[0] : -1;
        }
        if (!apart && r.sourceRow < 0)
            throw this.otherRows(r, tokens);
        if (r.keys && S !== tokens.length)
            throw this.fail(r.edit, `columns of ${r.act.tail} are keys: the source has ${S}, the text ${tokens.length}`);
    }

    otherRows({ edit, rows, source }, tokens) {
        const list = (all) => {
            const text = all.map((t) => t.text ?? String(t.id)).join("|");
            return utf8.encode(text).length < LISTED ? text : shownText(text, LISTED - 4) + "...";
        };
        const S = source.tokens.length, from = list(source.tokens);
        if (edit.place.by.pos && rows.length === 1)
            return this.fail(edit, `${spelledSource(edit.value.of)} has ${S} rows (${from}), and not one for this pos=, which is ` +
                "counted in each text by itself: as -1, for one, from the end");
        return this.fail(edit, `the source has ${S} tokens, the text ${tokens.length} (${from}, and ${list(tokens)}): rows correspond ` +
            "only if there are equally many; select one, as in [pos=-1], or take mean(...)");
    }

    /* Why the model cannot run these tokens; null: it can. */
    notRun(list) {
        const { w, name } = this.model, bad = list.findIndex((t) => t.id >= w.n.V);
        if (!list.length)
            return "nothing to run: the text has no tokens";
        if (list.length > w.n.n_ctx)
            return `the text has ${list.length} tokens, but model ${name} takes at most ${w.n.n_ctx} (n_ctx): shorten it`;
        return bad < 0 ? null : `token ${bad} has id ${list[bad].id}, but model ${name} has ids 0 to ${w.n.V - 1} ` +
            `(vocab_size ${w.n.V})`;
    }

    /* ---- while the model computes ---- */

    edits(act, layer) {
        return this.reaches.some((r) => r.act.tail === act && r.layers.has(layer));
    }

    edit(pass, act, layer, a) {
        for (const r of this.reaches)
            if (r.act.tail === act && r.layers.has(layer))
                for (const h of r.heads)
                    for (const t of r.rows)
                        if (t >= Math.max(pass.first, a.row0 ?? 0))
                            this.row(pass, r, layer, a, h, t);
    }

    /* Where row t of head h begins. */
    place(r, a, h, t) {
        if (a.heads)
            return (h * (a.data.length / a.cols / a.heads) + t) * a.cols;
        return (t - (a.row0 ?? 0)) * a.cols + (r.act.heads ? h * this.width(r.act) : 0);
    }

    row(pass, r, layer, a, h, t) {
        const { op, value } = r.edit, x = a.data, at = this.place(r, a, h, t), seen = this.seen(pass, r, layer, t);
        const cells = r.keys ? r.keys.filter((k) => seen.has(k)) : r.cols, count = seen?.size;
        const given = value.of ? this.given(r, layer, h, t) : null;
        if (value.form === "proj") {
            this.project(r, x, at, cells, given);
            return;
        }
        const seed = value.form === "noise" ? splitmix(splitmix(splitmix(value.seed + BigInt(layer)) + BigInt(h)) + BigInt(t)) : null;
        for (const k of cells) {
            const v = value.form === "number" ? value.number : value.form === "uniform" ? value.number / count :
                value.form === "noise" ? value.number * value.sigma * normalNumber(splitmix(seed + BigInt(k))) : value.number * given(k);
            x[at + k] = op === "=" ? v : op === "+=" ? x[at + k] + v : op === "-=" ? x[at + k] - v : x[at + k] * v;
        }
    }

    /* The keys that a row sees, of scores and patterns; of dots all; null: it has no keys. */
    seen(pass, r, layer, t) {
        if (!r.keys)
            return null;
        const { w } = this, T = pass.T, kind = kindIn(pass.kind, w.causal, w.block[layer].window);
        if (r.act.tail === "attn.dots")
            return new Set(Array.from({ length: T }, (_, k) => k));
        if (KINDS[kind.form].pick)
            return new Set(picked(kind, t, T));
        let [lo, hi] = seenBy(kind, t, T);
        if (kind.form === "causal-renorm" && r.act.tail === "attn.pattern")
            hi = Math.min(hi, t + 1);
        return new Set(Array.from({ length: hi - lo }, (_, i) => lo + i));
    }

    /* The numbers of the source for a row, by column. */
    given(r, layer, h, t) {
        const a = r.source.pass.get(r.act.tail, layer), S = r.source.tokens.length;
        if (r.edit.value.form === "mean")
            return (k) => {
                let sum = 0;
                for (let s = 0; s < S; s++)
                    sum += a.data[this.place(r, a, h, s) + k];
                return f32(sum / S);
            };
        const at = this.place(r, a, h, S === 1 ? 0 : r.sourceRow >= 0 ? r.sourceRow : t);
        return (k) => a.data[at + k];
    }

    /* Subtracts the component along the source's row, of heads side by side each its own. */
    project(r, x, at, cells, given) {
        const parts = r.dv ? groups(cells, r.dv) : [cells];
        for (const part of parts) {
            let xs = 0, ss = 0;
            for (const k of part) {
                xs += x[at + k] * given(k);
                ss += given(k) * given(k);
            }
            for (const k of ss > 0 ? part : [])
                x[at + k] = x[at + k] - xs / ss * given(k);
        }
    }
}

Editor.passes = 0;

function groups(cells, dv) {
    const parts = [];
    for (const k of cells)
        (parts[Math.floor(k / dv)] ??= []).push(k);
    return parts.filter(Boolean);
}

/* A standard normal number, by Box and Muller, from the two numbers that splitmix64 gives first. */
function normalNumber(seed) {
    const state = { x: seed & WORD }, u = splitmixUnit(splitmixNext(state)), v = splitmixUnit(splitmixNext(state));
    return Math.sqrt(-2 * exactLog(1 - u)) * sinCos(6.283185307179586 * v)[1];
}
