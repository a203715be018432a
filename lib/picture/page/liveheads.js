"use strict";
/* What the heads of a page that computes do with the text that is typed: their ranking, how much each matters for what
 * comes next, which differ most from a pinned sentence. */

/* ---- what they do ---- */

/* The shares of ask/scores.c that the ranking has, for row q of a pattern; null: the row has none. */

/* The places of earlier tokens that are the same as that of each. */
const earlierSame = (ids) => ids.map((id, q) => ids.slice(0, q).flatMap((other, k) => other === id ? [k] : []));
const sumAt = (row, keys) => keys.length ? keys.reduce((sum, k) => sum + row[k], 0) : null;
const SHARE_OF = {
    previous: (row, q) => row[q - 1],
    self: (row, q) => row[q],
    first: (row) => row[0],
    duplicate: (row, q, same) => sumAt(row, same[q]),
    induction: (row, q, same) => sumAt(row, same[q].map((k) => k + 1).filter((k) => k < q)),
};

/* The row of a head that looks at all keys alike which query q sees. */
function evenRow(kind, q, T) {
    const [lo, hi] = kind.form === "causal-renorm" ? [0, Math.min(q + 1, T)] : seenBy(kind, q, T);
    const keys = KINDS[kind.form].pick ? picked(kind, q, T) : Array.from({ length: hi - lo }, (_, i) => lo + i);
    const row = new Float32Array(T);
    keys.forEach((key) => { row[key] = 1 / keys.length; });
    return row;
}

/* The mean of a share over the rows of a pattern from the second on, null without a row, and of how many rows it is. */
function meanShare(name, patternRows, same) {
    const given = SHARE_OF[name] ? patternRows.map((row, i) => SHARE_OF[name](row, i + 1, same)).filter((x) => x !== null) : [];
    return { mean: given.length ? given.reduce((sum, x) => sum + x, 0) / given.length : null, rows: given.length };
}

/* After which of its shares a head is named, as ask/scores.c has it; null: none. */
function roleOf(shares, chances) {
    const { times, above, rows } = page.ranking.rule;
    const can = ({ mean, rows: n }, i) => n >= rows && mean >= times * chances[i].mean && mean >= chances[i].mean + above;
    const most = shares.reduce((best, share, i) => can(share, i) && share.mean > (shares[best]?.mean ?? -1) ? i : best, -1);
    return SHARES[most]?.name ?? null;
}

/* As page.ranking.heads has them. */
function liveRanks({ pass, tokens }) {
    const same = earlierSame(tokens.map((t) => t.id)), rows = tokens.map((_, q) => q).slice(1), { w, T } = pass, chances = new Map();
    const chancesOf = (layer) => {
        if (!chances.has(layer)) {
            const even = rows.map((q) => evenRow(kindIn(pass.kind, w.causal, w.block[layer].window), q, T));
            chances.set(layer, SHARES.map(({ name }) => meanShare(name, even, same)));
        }
        return chances.get(layer);
    };
    return page.ranking.heads.map(({ layer, head }) => {
        const of = rows.map((q) => rowOf(pass, layer, head, q)), shares = SHARES.map(({ name }) => meanShare(name, of, same));
        return { layer, head, role: roleOf(shares, chancesOf(layer)), shares: shares.map(({ mean }) => mean),
                 negative: of.some((row) => row.some((x) => x < 0)) };
    });
}

function drawLiveRanking() {
    if (!ranking)
        return;
    const heads = liveRanks(live.answer);
    $("ranking").hidden = heads.some((h) => h.negative);            /* edits have made something else of them */
    ranking.ranks = rankHeads(heads);
    ranking.sort();
}

/* ---- how much each matters ---- */

const MOST_MATTER = 6;
live.matter = null;                     /* { of: an answer, kl: by "layer,head", worst: that of the largest } */

/* Runs the text once without each head, with all that is changed besides: a generator, which pauses. */
function* withoutEach(answer) {
    const { w } = live.session, kl = new Map();
    for (const layer of w.block.keys())
        for (const key of headsOfLayer(layer).filter((k) => !isOff(k))) {
            const without = yield* live.session.answer({ ...live.asked, off: [...live.asked.off, key] });
            kl.set(key, divergence(answer.pass.last, without.pass.last));
        }
    return kl;
}

async function tryEach() {
    const { answer } = live, kl = await finishSlowly(withoutEach(answer), ++live.job);
    if (!kl || live.answer !== answer)
        return;
    const worst = [...kl].reduce((a, b) => (b[1] ?? -1) > (a[1] ?? -1) ? b : a, [null, -1]);
    live.matter = { of: answer, kl, worst };
    drawOverview();
    overview.mark(state.layer, state.head);
    drawMatter();
}

const matters = () => live.matter?.of === live.answer && live.answer ? live.matter : null;

function drawMatter() {
    const m = matters(), [key, kl] = m?.worst ?? [], [layer, head] = key?.split(",").map(Number) ?? [];
    document.querySelector("main").classList.toggle("asked", Boolean(m) || Boolean(page.without));
    $("live-each").disabled = !live.answer?.pass.last || Boolean(m);
    const most = m ? [...m.kl].filter(([, x]) => x !== null).sort((a, b) => b[1] - a[1]).slice(0, MOST_MATTER) : [];
    $("live-most").replaceChildren(...most.map(([of, x]) => {
        const [l, h] = of.split(",").map(Number);
        return headItem({ layer: l, head: h }, ": ", shortNumber(x), x / kl);
    }));
    $("live-matter").textContent = !key ? "" :
        tr("The bar below a head: how far the next token’s probabilities move without it, KL up to %s (%s).", nats(kl), shortName(layer, head));
}

/* A button that waits until the page has shown that it can compute. */
const unready = (b) => Object.assign(b, { disabled: true });

$("heads").before(element("p", { className: "without", id: "live-matters" },
    unready(button("live-each", tr("How much does each head matter?"), tryEach, tr("Switches one head off at a time"))),
    element("output", { id: "live-matter", className: "hint" }),
    element("ol", { id: "live-most", className: "looks" })));

const decorateLive = overview.decorate;
overview.decorate = (b, cell) => {
    decorateLive(b, cell);
    const m = matters(), kl = m?.kl.get(`${cell.layer},${cell.head}`);
    if (kl === undefined)
        return;
    b.querySelector(".kl")?.remove();
    const bar = element("i", { className: "kl" });
    bar.style.setProperty("--share", 100 * (kl ?? 0) / (m.worst[1] || 1) + "%");
    b.append(bar);
    overview.say(b, tr(": KL %s without it", nats(kl)));
};

/* ---- the head that is shown: off and on where it stands ---- */

$("head").querySelector(".readout").before(element("p", { className: "without", id: "live-line" },
    unready(button("live-here", tr("Switch it off"), () => toggleHeads([here()], !isOff(here())))),
    element("output", { id: "live-here-says" })));

function drawHere() {
    const { answer } = live, off = isOff(here()), named = (t) => `“${tokenLabel(t)}” ${shareText(t.p)}`;
    $("live-here").disabled = state.layer === null || state.head === null;
    $("live-here").textContent = off ? tr("Switch it on") : tr("Switch it off");
    $("live-here").setAttribute("aria-pressed", off);
    $("live-here-says").textContent = !answer?.edited ? "" : !answer.after.length ? tr("What comes next is unknown") :
        (off ? tr("It is off.") + " " : "") +
        tr("Next: %s, as the model is %s; KL %s", named(answer.after[0]), named(answer.before[0]), nats(answer.kl));
}

/* ---- heads that differ from a pinned sentence ---- */

const MOST_DIFFER = 6;

function drawDiffering() {
    const sheets = live.pinned ? original.sheets.filter((s) => s.kind === state.kind && s.keys) : [];
    const found = sheets.flatMap((sheet) => (sheet.heads ?? [null]).map((head, nth) => ({
        layer: sheet.layer, head, most: extent(new LiveSheet(sheet, live.answer, live.pinned).matrix(nth), 0).top,
    }))).sort((a, b) => b.most - a.most).filter(({ most }) => most > 0);
    $("differing").hidden = found.length < 2;
    $("differing-list").replaceChildren(...found.slice(0, MOST_DIFFER).map((of) =>
        headItem(of, ": ", briefNumber(of.most), of.most / found[0].most)));
}

$("pinned-value").parentNode.before(element("div", { id: "differing", hidden: true },
    element("p", { className: "hint", textContent: tr("Heads whose largest difference is greatest:") }),
    element("ol", { className: "looks", id: "differing-list" })));

extras.push(() => {
    if (!live.session)
        return;
    drawHere();
    drawMatter();
    drawDiffering();
});

startLive();
