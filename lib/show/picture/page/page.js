"use strict";
/* The page: what is chosen, and what must be drawn anew when that changes.
 *
 * `state` is all there is to know; change() is the only place that writes it. */

/* Dark and light: as the system has it, unless somebody chose. */
const THEMES = { auto: tr("Theme: auto"), light: tr("Theme: light"), dark: tr("Theme: dark") };
const dark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme(printing) {
    const theme = printing ? "light" : state.theme !== "auto" ? state.theme : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = THEMES[state.theme];
}

/* ---- what is chosen ---- */

function fillSelect(select, entries, chosen) {
    const made = JSON.stringify(entries);
    if (select.made !== made)
        select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
    Object.assign(select, { made, value: String(chosen), disabled: entries.length < 2 });
}

function drawControls() {
    const list = (values, name = () => null) => values.map((v) => [String(v), name(v) ?? (v === null ? "–" : String(v))]);
    const layers = layersOf(state.kind), heads = headsOf(state.kind);
    fillSelect($("kind"), matrixKinds.map((k) => [k, shortKind(k)]), state.kind);
    fillSelect($("layer"), list(layers, nameOfLayer), state.layer);
    const named = nameOfLayer(layers[0]) !== null, attends = sheetsOf(state.kind).every(isAttention);
    $("layer-label").textContent = !named ? tr("Layer") : attends ? tr("Attention") : tr("Score");
    $("overview-title").textContent = !attends ? tr("All matrices") : named ? tr("All kinds of attention") : tr("All heads");
    fillSelect($("head-number"), list(heads), state.head);
    fillSelect($("palette"), Object.keys(page.palettes).map((p) => [p, p]), state.palette);
    fillSelect($("vector-kind"), vectorKinds().map((k) => [k, shortKind(k)]), state.vectorKind);
    $("scale").value = state.scale;
    $("hide-first").checked = state.hideFirst;
    $("merge").checked = state.merge;
    $("merge").disabled = !mergeable();
    $("hide-first").disabled = !hideable();
    for (const [id, list, value, choice] of [["layer", layers, state.layer, "layer"], ["head", heads, state.head, "head-number"]]) {
        allow($(id + "-down"), list.indexOf(value) > 0, $(choice));
        allow($(id + "-up"), list.indexOf(value) < list.length - 1, $(choice));
    }
}

/* Whoever has the focus of a button that goes away goes on with what it changes. */
function allow(button, possible, instead) {
    if (!possible && document.activeElement === button)
        instead.focus();
    button.disabled = !possible;
}

/* Which changes need all heads drawn again. */
const OF_ALL_HEADS = ["kind", "scale", "palette", "hideFirst", "merge", "theme"];

function change(changes) {
    const rows = () => rowsShown(sheetAt(state.kind, state.layer)), before = rows();
    Object.assign(state, changes);
    settle();
    if (rows() !== before)
        state.query = -1;
    if ("theme" in changes)
        applyTheme();
    drawControls();
    drawNote();
    if (state.kind) {
        if (OF_ALL_HEADS.some((key) => key in changes))
            drawOverview();
        if (Object.keys(changes).some((key) => !["query", "vectorKind", "slice", "without", "tab"].includes(key)))
            drawHead();
        $("root").setAttribute("aria-pressed", how.scale === "sqrt");
        drawRanking();
        heat.keep(state.query);
        if (heat.attends && !later.jobs.has("lines"))
            lines.keep(state.query);
        later.add("looks", drawLooks);
    }
    if (Object.keys(changes).some((key) => key !== "query"))
        later.add("vectors", drawVectors);
    extras.forEach((draw) => draw(changes));
    rememberPlace();
}

function pickQuery(r) {
    change({ query: r === state.query ? -1 : r });
}

/* One layer or head further, where there is one; what has a name and one head goes round corners. */
function moveHead(layers, heads) {
    if (nameOfLayer(state.layer) !== null && headsOf(state.kind).length === 1)
        [layers, heads] = [layers + heads, 0];
    const step = (list, x, by) => list[Math.max(0, Math.min(list.length - 1, list.indexOf(x) + by))];
    change({ layer: step(layersOf(state.kind), state.layer, layers), head: step(headsOf(state.kind), state.head, heads) });
}

/* The address names the head, so that a link leads to it. */
function rememberPlace() {
    const keys = ["layer", "head"].filter((k) => state[k] !== null).concat(state.tab === "lens" ? "tab" : []);
    const place = keys.concat(state.kind !== firstKind ? "kind" : []).map((k) => `${k}=${state[k]}`).join("&");
    try {
        history.replaceState(null, "", place ? "#" + place : "");
    } catch {
        /* a page inside another has no address of its own */
    }
}

function placeInAddress() {
    const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const place = Object.fromEntries(["layer", "head"].filter((k) => /^\d+$/.test(found[k])).map((k) => [k, Number(found[k])]));
    const lens = $("lens") && (found.tab === "lens" || !page.sheets.length);
    return { ...place, kind: matrixKinds.includes(found.kind) ? found.kind : firstKind, tab: lens ? "lens" : "attention" };
}

function listen() {
    const number = (text) => text === "null" ? null : Number(text);
    const on = (id, event, f) => $(id).addEventListener(event, f);
    on("kind", "change", (e) => change({ kind: e.target.value }));
    on("layer", "change", (e) => change({ layer: number(e.target.value) }));
    on("head-number", "change", (e) => change({ head: number(e.target.value) }));
    on("scale", "change", (e) => change({ scale: e.target.value }));
    on("root", "click", () => change({ scale: how.scale === "sqrt" ? "linear" : "sqrt" }));
    on("palette", "change", (e) => change({ palette: e.target.value }));
    on("hide-first", "change", (e) => change({ hideFirst: e.target.checked }));
    on("merge", "change", (e) => change({ merge: e.target.checked }));
    on("all-lines", "change", (e) => change({ allLines: e.target.checked }));
    on("vector-kind", "change", (e) => change({ vectorKind: e.target.value }));
    on("vector-slice", "change", (e) => change({ slice: e.target.checked }));
    on("layer-down", "click", () => moveHead(-1, 0));
    on("layer-up", "click", () => moveHead(1, 0));
    on("head-down", "click", () => moveHead(0, -1));
    on("head-up", "click", () => moveHead(0, 1));
    on("smaller", "click", () => heat.resize(heat.zoom / 1.5));
    on("larger", "click", () => heat.resize(heat.zoom * 1.5));
    on("fit", "click", () => heat.resize(1));
    on("table", "toggle", () => $("table").open && drawTable());
    on("controls", "submit", (e) => e.preventDefault());
    on("theme", "click", () => change({ theme: { auto: "light", light: "dark", dark: "auto" }[state.theme] }));
    dark.addEventListener("change", () => change({ theme: state.theme }));
    window.addEventListener("beforeprint", () => layOutFor(true));
    window.addEventListener("afterprint", () => layOutFor(false));
    window.addEventListener("hashchange", () => location.hash.includes("=") && change(placeInAddress()));
    document.addEventListener("keydown", shiftArrow);
}

function shiftArrow(e) {
    if (!e.shiftKey || !ARROWS[e.key] || !state.kind || state.tab !== "attention")
        return;
    e.preventDefault();
    moveHead(...ARROWS[e.key]);
}

/* Everything is laid out for a page of paper, in light colours, and drawn. */
function layOutFor(printing) {
    document.documentElement.classList.toggle("printing", printing);
    applyTheme(printing);
    heat.wide = vector.wide = lines.width = 0;
    redraw();
    later.finish();
}

function redraw() {
    if (state.kind) {
        drawOverview();
        drawHead();
    }
    drawVectors();
    extras.forEach((draw) => draw());
}

/* ---- the beginning ---- */

function drawHeading() {
    const matrices = page.sheets.reduce((n, s) => n + s.count, 0), error = Math.max(0, ...page.sheets.map((s) => s.error));
    const tokens = ({ length: n }) => n === 1 ? tr("%s token", n) : tr("%s tokens", n);
    const looking = (keys) => page.keysText === null ? tr("looking at %s", tokens(keys))
        : tr("looking at %s of “%s”", tokens(keys), upright(page.keysText));
    const attends = !page.sheets.length || page.sheets.some((s) => s.tokens);
    $("sentence").textContent = page.text === null ? document.title : upright(page.text);
    $("about").textContent = [page.model, attends && page.queries && tokens(page.queries),
        attends && page.keys && looking(page.keys),
        matrices === 1 ? tr("%s matrix", matrices) : tr("%s matrices", matrices)].filter(Boolean).join(" · ");
    $("edits").hidden = !page.edits;
    $("edits").textContent = tr("Edited: %s", (page.edits ?? []).join(" · "));
    const says = [error ? tr("Numbers are stored in 16 bits: each is within %s of the one computed; the " +
        "value under the pointer is shown with the error of its matrix.", roundedUp(error)) : tr("Numbers are stored as computed, in 32 bits."),
        tr("Drawn by attn-cli %s. This file is complete: it requests nothing from any network.", page.version)];
    if (page.leftOut.length)
        says.unshift(tr("Left out because they are too large for a page: %s.", unique(page.leftOut).join(", ")));
    $("footer").replaceChildren(...says.map((text) => element("p", {}, text)));
}

function start() {
    page.palettes.paper = null;         /* the theme's own */
    words.queries = page.queries && wordsOf(page.queries, page.text);
    words.keys = page.keys ? wordsOf(page.keys, page.keysText) : words.queries;
    for (const id of ["overview", "head", "lines", "controls"])
        $(id).hidden = !matrixKinds.length;
    document.querySelector("main").classList.toggle("single", !matrixKinds.length);
    listen();
    drawHeading();
    drawNext();
    heat.asked = page.look.cell;
    change({ vectorKind: preferred(vectorKinds(), page.sheets.find((s) => s.beside)?.kind), theme: "auto",
             palette: page.look.palette, scale: page.look.scale, hideFirst: page.look.hideFirst, merge: Boolean(page.look.merge),
             ...tellingPlace(), ...placeInAddress() });
}

start();
