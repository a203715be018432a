"use strict";
/* What each layer would predict, in a tab of its own: layers by positions, the likeliest next token in each cell.
 *
 * page.lens: { layer, at } of each layer, at[t] the likeliest tokens after position t; a page that computes has it when it is
 * looked at.  One cell at a time can be tabbed to, the
 * arrow keys move between them. */

class Lens {
    constructor(host) {
        this.host = host;
        this.cursor = [(page.lens?.length ?? 1) - 1, page.queries.length - 1];        /* what comes next */
        host.addEventListener("keydown", (e) => this.key(e));
        for (const event of ["pointerover", "focusin"])
            host.addEventListener(event, (e) => this.look(e.target.closest("td")));
        host.addEventListener("click", (e) => e.target.closest("td")?.focus());
    }

    draw() {
        const table = element("table", { aria: { role: "grid", labelledby: "lens-title" } }), head = table.createTHead().insertRow(), body = table.createTBody();
        const ramp = rampOf(page.palettes[state.palette], false);
        const heading = (text, scope) => element("th", { textContent: text, scope });
        head.append(heading(tr("layer"), "col"), ...page.queries.map((t) => heading(tokenLabel(t), "col")));
        page.lens.forEach(({ layer, at }, r) => {
            const row = body.insertRow();
            row.append(heading(layer, "row"), ...at.map((likely, c) => this.cell(likely, ramp, r, c)));
        });
        this.body = body;
        this.host.replaceChildren(table);
        this.show();
    }

    cell(likely, ramp, r, c) {
        const [best] = likely, cell = element("td", { tabIndex: -1 }, element("span", {}, best ? tokenLabel(best) : "–"));
        if (!best)
            return cell;
        const pixel = ramp[Math.round(best.p * (ramp.length - 1))];
        cell.style.background = cssColour(pixel);
        cell.className = isDark(pixel) ? "on-dark" : "on-light";
        cell.classList.toggle("right", best.id === page.queries[c + 1]?.id);
        return cell;
    }

    at(r, c) {
        return this.body.rows[r].cells[c + 1];
    }

    look(cell) {
        if (!cell || !lensIsCurrent())
            return;
        this.at(...this.cursor).tabIndex = -1;
        this.cursor = [cell.parentNode.rowIndex - 1, cell.cellIndex - 1];
        this.show();
    }

    /* The cell's likeliest tokens. */
    show() {
        const [r, c] = this.cursor, { layer, at } = page.lens[r];
        this.at(r, c).tabIndex = 0;
        const likely = at[c].length ? `${tokenLabel(at[c][0])} ${shareText(at[c][0].p)}` : tr("nothing, as a logit is not finite");
        $("lens-value").textContent = tr("After “%s” (%s), layer %s: %s", tokenLabel(page.queries[c]), c, layer, likely);
        $("lens-list").replaceChildren(...at[c].map(likelyItem));
    }

    key(e) {
        const step = ARROWS[e.key], [r, c] = this.cursor, within = (x, n) => Math.max(0, Math.min(n - 1, x));
        if (!step || e.shiftKey || e.ctrlKey || e.altKey || e.metaKey)
            return;
        e.preventDefault();
        this.at(within(r + step[0], page.lens.length), within(c + step[1], page.queries.length)).focus();
    }
}

/* ---- the tabs ---- */

const tabs = element("div", { className: "tabs", aria: { role: "tablist", label: tr("What the page shows") } }), lensPanel = element("section", { id: "lens" });
lensPanel.innerHTML = `
    <h2 id="lens-title">${tr("What each layer would predict")}</h2>
    <p class="hint">${tr("The likeliest next token if the model ended with a layer: its residual stream through the final norm and the " +
      "output layer. Underlined: the token that does follow. Point at a cell, or move with the arrow keys.")}</p>
    <p class="readout"><output id="lens-value"></output></p>
    <ol class="next" id="lens-list"></ol>
    <div class="scroll lens" id="lens-body"></div>
    <div class="legend" id="lens-legend"></div>`;
const panels = { attention: $("attention"), lens: lensPanel };
for (const [name, panel] of Object.entries(panels)) {
    const tab = element("button", { type: "button", id: "tab-" + name, textContent: name === "lens" ? tr("Lens") : tr("Attention"),
                                    onclick: () => change({ tab: name }), aria: { role: "tab", controls: panel.id } });
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tabs.append(tab);
}
tabs.addEventListener("keydown", (e) => {
    if (e.shiftKey || !["ArrowLeft", "ArrowRight"].includes(e.key))
        return;
    change({ tab: state.tab === "lens" ? "attention" : "lens" });
    $("tab-" + state.tab).focus();
});
$("attention").before(tabs);
$("attention").after(lensPanel);

const lens = page.lens || $("packed") ? new Lens($("lens-body")) : null;

/* Says why there is no table. */
function lensSays(why) {
    $("lens-body").replaceChildren(tr("Left out: %s.", why));
    $("lens-value").textContent = "";
    $("lens-list").replaceChildren();
}

if (!lens)
    lensSays(page.noLens);

/* Whether page.lens is that of the text; a page that computes may still be at it. */
let lensIsCurrent = () => true;
let stale = true;                       /* the table is not that of the colours; it is drawn when it is looked at */

function drawLens(changes) {
    for (const [name, panel] of Object.entries(panels)) {
        panel.hidden = name !== state.tab;
        $("tab-" + name).setAttribute("aria-selected", name === state.tab);
        $("tab-" + name).tabIndex = name === state.tab ? 0 : -1;
    }
    stale ||= changes === undefined || "theme" in changes || "palette" in changes;
    if (!lens || !stale || state.tab !== "lens")
        return;
    if (!lensIsCurrent()) {
        $("lens-body").replaceChildren(tr("computing …"));
        $("lens-value").textContent = "";
        $("lens-list").replaceChildren();
        return;
    }
    stale = false;
    lens.draw();
    const bar = document.createElement("canvas"), ramp = rampOf(page.palettes[state.palette], false);
    paintCells(bar, 1, ramp.length, (_, i) => ramp[i]);
    $("lens-legend").replaceChildren("0", bar, tr("1 · probability of the token in the cell"));
}

extras.push(drawLens);
