"use strict";
/* What the heads of a page that computes do with the text that is typed: their ranking, how much each matters for what
 * comes next, which differ most from a pinned sentence. */

/* ---- what they do ---- */

let rankLater = 0;

/* The ranking follows a text when nobody has typed for a moment, so that no key waits for it. */
function drawLiveRanking() {
    clearTimeout(rankLater);
    rankLater = setTimeout(rankLive, 2 * SLOW);
}

async function rankLive() {
    const { answer } = live, said = ranking && await follow({ ask: "heads" });
    if (!said || answer !== live.answer)
        return;
    const shares = live.session.scores.filter((s) => s.share && said.scores.includes(s.name)), at = shares.map((s) => said.scores.indexOf(s.name));
    setShares(shares);
    $("ranking").hidden = said.heads.some((h) => h.negative);       /* edits have made something else of them */
    ranking.ranks = rankHeads(said.heads.map(({ layer, head, role, scores }) => ({ layer, head, role, shares: at.map((i) => scores[i]) })));
    ranking.sort();
    live.ranked = answer;
}

/* ---- how much each matters ---- */

const MOST_MATTER = 6;
live.matter = null;                     /* { of: an answer, kl: by "layer,head", worst: that of the largest } */
live.trying = false;

/* Asks for one head after the other, until somebody types or wants no more. */
async function tryEach() {
    const { answer } = live, kl = new Map(), { info } = live.session;
    const keys = Array.from({ length: info.L }, (_, layer) => headsOfLayer(layer)).flat().filter((key) => !isOff(key));
    live.trying = !live.trying;
    drawMatter();
    for (const key of live.trying ? keys : []) {
        const [layer, head] = key.split(",").map(Number), said = await follow({ ask: "without", layer, head });
        if (!said || !live.trying || answer !== live.answer)
            break;
        kl.set(key, said.kl);
        $("live-tried").value = kl.size / keys.length;
    }
    live.trying = false;
    if (kl.size === keys.length && answer === live.answer) {
        const worst = [...kl].reduce((a, b) => (b[1] ?? -1) > (a[1] ?? -1) ? b : a, [null, -1]);
        live.matter = { of: answer, kl, worst };
        drawOverview();
        overview.mark(state.layer, state.head);
    }
    drawMatter();
}

const matters = () => live.matter?.of === live.answer && live.answer ? live.matter : null;

function drawMatter() {
    const m = matters(), [key, kl] = m?.worst ?? [], [layer, head] = key?.split(",").map(Number) ?? [];
    document.querySelector("main").classList.toggle("asked", Boolean(m) || Boolean(page.without));
    $("live-each").disabled = !live.answer?.after.length || Boolean(m);
    $("live-each").textContent = live.trying ? tr("Stop") : tr("How much does each head matter?");
    $("live-tried").hidden = !live.trying;
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
    element("progress", { id: "live-tried", hidden: true, aria: { label: tr("Computing") } }),
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
