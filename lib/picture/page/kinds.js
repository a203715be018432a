"use strict";
/* Which keys a query sees, and which weights are dropped, as compute/mask.c has it; and the text of a kind, as it is written
 * after --attention. */

/* past: whether a query sees none after itself. */
const KINDS = {
    model: { numbers: [] }, full: { numbers: [] }, causal: { numbers: [], past: true }, "causal-renorm": { numbers: [] },
    window: { numbers: ["w"], past: true }, strided: { numbers: ["w", "s"], past: true, pick: pickStrides },
    random: { numbers: ["w", "r", "seed"], past: true, pick: pickRandom },
    linear: { numbers: [], ifCausal: true }, block: { numbers: ["b"], ifCausal: true },
};
const LARGEST = 2147483647;

/* Reads "window:4"; throws an Error that says what was expected. */
function parseKind(text) {
    const [form, rest] = [text.split(":")[0], text.includes(":") ? text.slice(text.indexOf(":") + 1) : null];
    const row = Object.hasOwn(KINDS, form) ? KINDS[form] : null, letters = row?.numbers;
    const formOf = (name, r) => name + (r.numbers.length ? ":" + r.numbers.map((n) => n.toUpperCase()) : "");
    if (!row)
        throw new Error(`attention '${text}' is unknown, expected one of ` +
            Object.entries(KINDS).map(([n, r]) => formOf(n, r)).join(", "));
    const kind = { form, w: 0, s: 0, r: 0, b: 0, seed: 0n, scaling: "model", scale: 0, dropout: 0, dropoutSeed: 0n };
    const given = rest === null ? [] : rest.split(",");
    if (given.length !== letters.length || !given.every((x) => /^\d{1,20}$/.test(x)))
        throw new Error(`attention '${text}' is not of the form ${formOf(form, row)}` + (letters.length ? ", in whole numbers" : ""));
    row.numbers.forEach((name, i) => {
        const least = name === "r" || name === "seed" ? 0 : 1;
        if (name !== "seed" && (Number(given[i]) < least || Number(given[i]) > LARGEST))
            throw new Error(`attention '${text}': ${given[i]} is not in ${least}..${LARGEST} (${formOf(form, row)})`);
        kind[name] = name === "seed" ? BigInt(given[i]) & WORD : Number(given[i]);
    });
    return kind;
}

/* The kind of a layer, in place of "model" that of its own. */
function kindIn(asked, causal, window) {
    const form = asked.form !== "model" ? asked.form : !causal ? "full" : window ? "window" : "causal";
    return { ...asked, form, causal, w: asked.form === "model" ? window : asked.w };
}

function kindPast(kind) {
    return Boolean(KINDS[kind.form].past || (KINDS[kind.form].ifCausal && kind.causal));
}

function kindScale(kind, own, dh) {
    const scales = { none: 1, sqrt: f32(1 / Math.sqrt(dh)), value: f32(kind.scale), model: own };
    return scales[kind.scaling];
}

/* Of T keys, those that query q sees: from lo to before hi. */
function seenBy(kind, q, T) {
    if (!kindPast(kind))
        return [0, T];
    const end = q + 1;
    return [Math.min(kind.form === "window" && end > kind.w ? end - kind.w : 0, T), Math.min(end, T)];
}

function pickStrides(kind, q, front, T) {
    const list = [];
    for (let key = q % kind.s; key < Math.min(front, T); key += kind.s)
        list.push(key);
    return list;
}

/* The first steps of a shuffle of 0, 1, ..., n - 1. */
function pickRandom(kind, q, n) {
    const state = { x: (kind.seed + BigInt(q)) & WORD }, swapped = new Map(), r = Math.min(kind.r, n), list = [];
    const holds = (i) => swapped.get(i) ?? i;
    for (let i = 0; i < r; i++) {
        const j = i + Number(splitmixNext(state) % BigInt(n - i)), was = holds(i);
        list.push(holds(j));
        swapped.set(i, holds(j));
        swapped.set(j, was);
    }
    return list.sort((a, b) => a - b);
}

/* The keys that query q sees, ascending, of a kind that picks. */
function picked(kind, q, T) {
    const front = Math.max(q + 1 - kind.w, 0), list = KINDS[kind.form].pick(kind, q, front, T).filter((key) => key < T);
    for (let key = front; key <= q && key < T; key++)
        list.push(key);
    return list;
}

const dropSeed = (kind, layer, head) => splitmix(splitmix(kind.dropoutSeed + BigInt(layer)) + BigInt(head));

/* Drops among n weights of query q: those of the keys in the list, or from `from` on. */
function dropKeys(kind, seed, x, at, n, q, from, list) {
    if (!(kind.dropout > 0))
        return;
    const row = splitmix(seed + BigInt(q)), grow = f32(1 / (1 - kind.dropout));
    for (let i = 0; i < n; i++) {
        const u = splitmixUnit(splitmix(row + BigInt(list ? list[i] : from + i)));
        x[at + i] = x[at + i] * (u < kind.dropout ? 0 : grow);
    }
}
