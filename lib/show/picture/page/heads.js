"use strict";
/* Several heads at once: the lines of all heads of a layer in their colours, and where all look from one token. */

const MOST_LOOKS = 8;                   /* heads that are listed */

const headColour = (head) => "#" + page.headColours[head % page.headColours.length];

/* What the lines show: the head that is chosen, or all of its layer that are not left out. */
function shadesOfLines(sheet, shade) {
    if (!state.allLines || !sheet.heads || sheet.heads.length < 2)
        return [{ shade }];
    const left = sheet.heads.filter((head) => !state.withoutLines.includes(head));
    return (left.length ? left : [state.head]).map((head) => ({ name: "H" + head, colour: headColour(head),
                                                               shade: new Shade(matrixOf(sheet, head), how) }));
}

/* A button for each head of the layer, which leaves out its lines; the last one cannot be. */
function drawLineHeads(sheet) {
    const several = sheet.heads?.length > 1;
    $("together").hidden = !several;
    $("all-lines").checked = state.allLines;
    const had = $("line-heads").contains(document.activeElement) ? document.activeElement.dataset.head : null;
    $("line-heads").replaceChildren(...(several && state.allLines ? sheet.heads : []).map((head) => {
        const b = element("button", { type: "button", textContent: "H" + head, onclick: () => toggleLines(sheet, head),
                                      aria: { pressed: !state.withoutLines.includes(head) } });
        b.dataset.head = head;
        b.style.setProperty("--of", headColour(head));
        return b;
    }));
    if (had !== null)
        $("line-heads").querySelector(`[data-head="${had}"]`)?.focus();
}

function toggleLines(sheet, head) {
    const rest = state.withoutLines.filter((h) => h !== head);
    const out = rest.length < state.withoutLines.length ? rest : [...rest, head];
    if (sheet.heads.some((h) => !out.includes(h)))
        change({ withoutLines: out });
}

/* ---- from one token ---- */

/* The key that each head gives most from query r: { layer, head, key, weight }, the largest weights first. */
function looksFrom(r) {
    const found = headsIn(state.kind).map(({ sheet, head, layer }) => {
        const m = matrixOf(sheet, head);
        let key = -1;
        for (let c = how.skip; c < m.cols; c++)
            if (!m.hidden(r, c) && m.at(r, c) > (key < 0 ? -Infinity : m.at(r, key)))
                key = c;
        return { layer, head, key, weight: key < 0 ? NaN : m.at(r, key) };
    });
    return found.filter(({ weight }) => Number.isFinite(weight)).sort((a, b) => b.weight - a.weight);
}

/* A head to go to, with what is said of it; share: of its width that a bar takes. */
function headItem({ layer, head }, says, number, share) {
    const b = element("button", { type: "button", onclick: () => change({ layer, head }), aria: { current: layer === state.layer && head === state.head } },
                      element("span", {}, shortName(layer, head)), says, element("b", {}, number));
    b.style.setProperty("--share", 100 * Math.min(share, 1) + "%");
    return element("li", {}, b);
}

function drawLooks() {
    const r = state.query, attends = heat.attends && isPart("weight");
    const can = r >= 0 && attends && headsIn(state.kind).length > 1;
    $("looks").hidden = !can;
    if (!can)
        return;
    $("looks-title").textContent = tr("From %s, of all heads, these look at one token most:", placeName(heat.rowLabels[r], r));
    $("looks-list").replaceChildren(...looksFrom(r).slice(0, MOST_LOOKS).map((of) =>
        headItem(of, ` → ${placeName(heat.colLabels[of.key], of.key)} `, briefNumber(of.weight), of.weight)));
}
