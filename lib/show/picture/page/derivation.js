"use strict";
/* Where a weight comes from, in brief: q and k, their product, scale, softmax.  A page that computes knows all of it
 * (liveviews.js); any other shows what it has. */

/* The row and the column whose weight is explained; null: none. */
let explained = null;

/* The weight as it is read above: what a page computes may differ from it in the last bits. */
const shownWeight = (r, c) => heat.shade.m.hidden(r, c) ? 0 : heat.shade.m.at(r, c);

/* What is said of a weight: { weight, terms: pairs of q and k, dot, scale, more: what is added or done before the
 * softmax, score, sum: of e^score over the keys seen, seen: how many } of which any may be missing; or { says }. */
function weightParts(r, c) {
    const { layer, head } = state, of = (part) => page.sheets.find((s) => s.part === part && s.layer === layer);
    const whole = (sheet) => sheet && sheet.matrix(nthOf(sheet, head)), [q, k] = [of("query"), of("key")];
    const [dots, scores] = [whole(of("product")), whole(of("score"))], { m } = heat.shade;
    if (m.hidden(r, c))
        return { weight: 0, says: [tr("The query does not see this key: its weight is 0.")] };
    const parts = { weight: shownWeight(r, c) };
    if (q?.heads?.includes(head) && k?.heads) {
        const kv = Math.floor(head / (page.kvHeads ? page.heads / page.kvHeads : 1)), mine = q.matrix(nthOf(q, head));
        const its = k.heads.includes(kv) && k.matrix(k.heads.indexOf(kv));
        if (its)
            parts.terms = Array.from({ length: mine.cols }, (_, i) => [mine.at(r, i), its.at(c, i)]);
    }
    parts.dot = dots?.at(r, c) ?? parts.terms?.reduce((sum, [x, y]) => Math.fround(sum + Math.fround(x * y)), 0);
    if (scores) {
        const keys = Array.from({ length: m.cols }, (_, i) => i).filter((i) => !m.hidden(r, i));
        const finite = keys.map((i) => scores.at(r, i)).filter(Number.isFinite);
        Object.assign(parts, { score: scores.at(r, c), scale: scaleBetween(dots, scores), seen: finite.length,
                               sum: finite.reduce((sum, x) => sum + Math.exp(x), 0) });
    }
    return parts;
}

/* What dots are multiplied by, where that is all that makes scores of them; undefined: it is not, or not known. */
function scaleBetween(dots, scores) {
    if (!dots)
        return undefined;
    const ratios = [];
    for (let i = 0; i < dots.data.length; i++)
        if (Number.isFinite(scores.data[i]) && Math.abs(dots.data[i]) > 1e-3)
            ratios.push(scores.data[i] / dots.data[i]);
    /* both are float32, and may be stored in 16 bits */
    const near = (x) => Math.abs(x / ratios[0] - 1) < 1e-3;
    return ratios.length && ratios.every(near) ? Number(ratios[0].toPrecision(6)) : undefined;
}

const TERMS_SHOWN = 4;
const SAME = 1e-3;                      /* float32 sums, and numbers stored in 14 bits, differ by less */
const fourDigits = (x) => Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "∞";

function derivationLines({ weight, terms, dot, scale, more = "", score, sum, seen, says }) {
    const text = numberText, lines = [...says ?? []];
    if (says)
        return lines;
    if (terms) {
        const shown = terms.slice(0, TERMS_SHOWN).map(([x, y]) => `(${briefNumber(x)})·(${briefNumber(y)})`).join(" + ");
        lines.push(`q·k = ${shown}${terms.length > TERMS_SHOWN ? ` + … (${tr("%s terms", terms.length)})` : ""} = ${text(dot)}`);
    } else if (dot !== undefined) {
        lines.push(`q·k = ${text(dot)}`);
    }
    if (score !== undefined)
        lines.push(`${tr("score")} = ` + (dot !== undefined && scale !== undefined ? `${text(dot)} × ${text(scale)}${more} = ${text(score)}`
            : dot === undefined ? text(score) : tr("%s, which q·k becomes by scaling and what is added to it", text(score))));
    if (sum !== undefined) {
        const share = Math.exp(score) / sum, same = !(Math.abs(share - weight) > SAME);
        const ratio = `${fourDigits(Math.exp(score))} / ${fourDigits(sum)} = ` + (same ? text(weight)
            : tr("%s; what is done to weights afterwards makes it %s", fourDigits(share), text(weight)));
        lines.push(seen === 1 ? tr("weight = e^score, divided by the sum of e^score over the %s key seen: %s", seen, ratio)
            : tr("weight = e^score, divided by the sum of e^score over the %s keys seen: %s", seen, ratio));
    }
    return lines;
}

function canExplain() {
    return explained && isPart("weight") && !merging() && heat.attends && state.layer !== null &&
        explained[0] < heat.rows && explained[1] < heat.cols;
}

function drawDerivation() {
    $("derivation").hidden = !canExplain();
    if ($("derivation").hidden)
        return;
    const [r, c] = explained, parts = weightParts(r, c), lines = derivationLines(parts);
    const name = `${placeName(heat.rowLabels[r], r)} → ${placeName(heat.colLabels[c], c)}: ${numberText(parts.weight)}`;
    if (!parts.says && (!parts.terms || parts.sum === undefined))
        lines.push(tr("More of where it comes from: %s.", page.explains));
    $("derivation").replaceChildren(element("p", {}, element("b", {}, name)), ...lines.map((s) => element("p", {}, s)));
}

const pickRow = heat.onPick;
heat.onPick = (r) => {
    const [row, col] = heat.cursor;
    explained = r >= 0 && row >= 0 ? [row, col] : null;
    pickRow(r);
};
extras.push(() => drawDerivation());
