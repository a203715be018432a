"use strict";
/* Each view of the page, drawn from what is chosen. */

/* ---- matrices as they are shown ---- */

/* How many keys are columns. */
const keysShown = (sheet) => !sheet.keys ? 0 : merging() ? words.keys.length : sheet.cols;

const nthOf = (sheet, head) => head === null || !sheet.heads ? 0 : sheet.heads.indexOf(head);

/* A head's matrix as it is shown, words merged if they are to be. */
function matrixOf(sheet, head) {
    const m = sheet.matrix(nthOf(sheet, head));
    return merging() ? mergeWords(m, words.queries, words.keys) : m;
}

function axisLabels(sheet, m) {
    return merging() ?
        { rowLabels: words.queries.map((w) => w.label), colLabels: words.keys.map((w) => w.label) } :
        { rowLabels: labelsOf(page.queries, m.rows), colLabels: labelsOf(sheet.keys ? keyTokens() : null, m.cols) };
}

/* Which heads there are of a kind: { layer, head, sheet }. */
function headsIn(kind) {
    return sheetsOf(kind).flatMap((sheet) => (sheet.heads ?? [null]).map((head) => ({ layer: sheet.layer, head, sheet })));
}

/* keys: how many columns are keys. */
function chosenManner(extents, skip, keys) {
    return mannerOf(extents, { scale: state.scale, palette: page.palettes[state.palette], skip, keys });
}

/* How the matrices of a kind are coloured.  Where they must be unpacked for that, it is one by one and they are not kept,
 * for together they may be large. */
function mannerOfKind(kind) {
    const skip = state.hideFirst && hideable() ? 1 : 0;
    return chosenManner(headsIn(kind).map(({ sheet, head }) =>
        merging() ? extent(matrixOf(sheet, head), skip) : sheet.extent(nthOf(sheet, head), skip)), skip, keysShown(sheetsOf(kind)[0]));
}

/* ---- views ---- */

const heat = new Heat($("matrix"), { describe: describeCell, onPoint: readCell, onPick: (r) => pickQuery(r) });
const vector = new Heat($("vector"), { describe: describeNumber, onPoint: readNumber, onPick: () => {} });
const lines = new Lines($("pairs"), { onPick: (r) => change({ query: r }) });
const overview = new Overview($("heads"), {
    onPick: (layer, head) => change({ layer, head }), onStep: (layers, heads) => moveHead(layers, heads),
});
let how;                                /* the manner of the kind that is shown */

const thumbs = new WeakMap();           /* by sheet: reduced matrices by what they depend on, which colours do not */

function thumbOf({ sheet, head }) {
    const { skip, scale } = how, key = [head, skip, merging(), scale === "row"].join();
    if (!thumbs.has(sheet))
        thumbs.set(sheet, new Map());
    const known = thumbs.get(sheet);
    if (!known.has(key))
        known.set(key, reduceMatrix(new Shade(matrixOf(sheet, head), how)));
    return known.get(key);
}

function drawOverview() {
    const heads = headsIn(state.kind), alone = heads.length < 2;
    how = mannerOfKind(state.kind);
    overview.show(layersOf(state.kind), headsOf(state.kind), heads, thumbOf, how);
    $("overview").hidden = alone;
    document.querySelector("main").classList.toggle("single", alone);
}

/* The words for what stands along a side; any other is a name. */
const AXES = { queries: tr("queries"), keys: tr("keys"), tokens: tr("tokens"), layers: tr("layers"), heads: tr("heads"),
               positions: tr("positions"), rows: tr("rows"), columns: tr("columns"), numbers: tr("numbers"), "token ids": tr("token ids") };
const axisName = (axis) => AXES[axis] ?? axis;

function drawHead() {
    const sheet = sheetAt(state.kind, state.layer), shade = new Shade(matrixOf(sheet, state.head), how);
    const rowAxis = axisName(sheet.rowAxis ?? "rows"), colAxis = axisName(sheet.colAxis ?? "columns");
    const labels = axisLabels(sheet, shade.m), name = titleOf(state.kind) + tr(", ") + headName(state.layer, state.head);
    overview.mark(state.layer, state.head);
    $("head-title").textContent = capital(name);
    $("matrix").setAttribute("aria-label", tr("%s: %s %s by %s %s", name, shade.m.rows, rowAxis, shade.m.cols, colAxis));
    heat.show({ shade, ...labels, rowAxis, colAxis, named: Boolean(sheet.rowAxis), attends: isAttention(sheet), tallest: Infinity });
    $("lines").hidden = !heat.attends;
    drawLineHeads(sheet);
    if (heat.attends)
        later.add("lines", () => {
            lines.show({ shades: shadesOfLines(sheet, shade), ...labels });
            lines.keep(state.query);
        });
    else
        later.drop("lines");
    drawLegend($("legend"), shade);
    readCell(...heat.cursor);
    if ($("table").open)
        drawTable();
}

function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

function titleOf(kind) {
    return said(sheetsOf(kind)[0].title);
}

function drawLegend(host, shade) {
    const bar = document.createElement("canvas"), { colours, m } = shade, note = document.createElement("span");
    paintCells(bar, 1, colours.length, (_, i) => colours[i]);
    if (m.sight !== null) {
        note.textContent = tr("%s: the query sees the key", m.sight);
        host.replaceChildren(tr("%s: hidden by the mask", m.sight ? "0" : "−∞"), bar, note);
        return;
    }
    const high = shade.scale === "row" ? tr("row’s largest") : shortNumber(shade.top);
    const low = shade.signed ? "−" + high : shade.scale === "log" ? "≤ " + shortNumber(shade.top / 10 ** DECADES) : "0";
    note.textContent = [SCALES[shade.scale], m.mask ? tr("blank: hidden by the mask") : "",
                        shade.skip ? tr("first column left out, the rest unchanged") : ""].filter(Boolean).join(" · ");
    host.replaceChildren(low, bar, high, note);
    const blank = m.data.filter((x, i) => x === -Infinity && !m.mask?.[i]).length;
    if (blank)
        host.append(tr("%s of −∞, left blank", blank));
    const odd = m.data.filter((x, i) => Number.isNaN(x) && !m.mask?.[i]).length, infinite = m.data.filter((x) => x === Infinity).length;
    if (odd || infinite) {
        host.append(element("i", { className: "none" }), [odd ? tr("%s not a number", odd) : "", infinite ? tr("%s infinite", infinite) : ""].filter(Boolean).join(tr(", ")));
    }
}

function shortNumber(x) {
    return String(Number(x.toPrecision(3)));
}

/* ---- one cell, in words ---- */

const placeName = (label, i) => `${label} (${i})`;

/* What is not attention has no direction. */
function cellName(row, col) {
    return row + (heat.attends ? " → " : ", ") + col;
}

function describeCell(r, c) {
    const { m } = heat.shade, x = m.hidden(r, c) ? tr("hidden by the mask") : numberText(m.at(r, c));
    return `${cellName(placeName(heat.rowLabels[r], r), placeName(heat.colLabels[c], c))}: ${x}`;
}

function readout(host, text, r, c, view) {
    const { m } = view.shade, value = element("b", {}, m.hidden(r, c) ? tr("hidden by the mask") : numberText(m.at(r, c)));
    host.replaceChildren(text + ": ", value, m.hidden(r, c) || !m.error ? "" : " ± " + roundedUp(m.error));
}

function readCell(r, c) {
    if (r < 0)
        $("value").textContent = heat.attends ? tr("Point at a cell: a row is a query looking at the keys in its columns.")
            : heat.named ? tr("Point at a cell: rows are %s, columns %s.", heat.rowAxis, heat.colAxis) : tr("Point at a cell.");
    else
        readout($("value"), cellName(placeName(heat.rowLabels[r], r), placeName(heat.colLabels[c], c)), r, c, heat);
}

function describeNumber(r, c) {
    return `${placeName(vector.rowLabels[r], r)}, ${vector.colLabels[c]}: ${numberText(vector.shade.m.at(r, c))}`;
}

function readNumber(r, c) {
    if (r < 0)
        $("vector-value").textContent = tr("Point at a number: a row is the vector of a token.");
    else
        readout($("vector-value"), tr("%s, number %s", placeName(vector.rowLabels[r], r), vector.colLabels[c]), r, c, vector);
}

/* ---- the rest of the page ---- */

/* The vectors to show: those of the chosen layer, and of the head that serves the chosen one. */
function vectorSheet() {
    const sheet = sheetAt(state.vectorKind, state.layer) ?? sheetsOf(state.vectorKind)[0];
    if (!sheet.heads)
        return { sheet, m: sheet.matrix(0), of: sheet.layer === null ? "" : headName(sheet.layer, null) };
    const group = sheet.shared ? page.heads / page.kvHeads : 1;
    const nth = Math.max(sheet.heads.indexOf(Math.floor((state.head ?? 0) / group)), 0);
    return { sheet, m: sheet.matrix(nth), of: headName(sheet.layer, sheet.heads[nth]) };
}

/* Context vectors have the heads side by side. */
function sliceable(sheet) {
    return sheet.beside && page.heads > 1 && state.head !== null && sheet.cols % page.heads === 0;
}

function slice(m, from, cols) {
    const part = new Matrix(m.rows, cols, null, m.error);
    for (let r = 0; r < m.rows; r++)
        part.data.set(m.data.subarray(r * m.cols + from, r * m.cols + from + cols), r * cols);
    return part;
}

function drawVectors() {
    $("vectors").hidden = !state.vectorKind;
    if (!state.vectorKind)
        return;
    const { sheet, m: whole, of } = vectorSheet(), wide = sliceable(sheet), cols = whole.cols / (page.heads || 1);
    $("vector-slice-label").hidden = !wide;
    const from = wide && state.slice ? state.head * cols : 0, m = wide && state.slice ? slice(whole, from, cols) : whole;
    const place = wide && state.slice ? headName(sheet.layer, state.head) : of;
    const shade = new Shade(m, chosenManner([extent(m, 0)], 0, 0));
    const colLabels = Array.from({ length: m.cols }, (_, i) => String(from + i));
    $("vectors-title").textContent = capital([said(sheet.title), place].filter(Boolean).join(tr(", ")));
    vector.show({ shade, rowLabels: labelsOf(sheet.ofKeys ? keyTokens() : page.queries, m.rows), colLabels, rowAxis: axisName("tokens"),
                  colAxis: axisName(sheet.colAxis ?? "numbers"), tallest: 24 });
    drawLegend($("vector-legend"), shade);
    readNumber(...vector.cursor);
}

function drawNext() {
    const last = page.queries?.at(-1);
    $("next").hidden = !page.next.length && !page.noNext;
    $("next-after").textContent = page.noNext ? tr("None: %s.", page.noNext)
        : last ? tr("After “%s” the model expects", tokenLabel(last)) : tr("The model expects");
    $("next-list").replaceChildren(...page.next.map(likelyItem));
}

const shareText = (p) => (100 * p).toFixed(2) + " %";

function likelyItem(t) {
    const label = tokenLabel(t), item = element("li", {}, element("span", { title: label }, label), element("b", {}, shareText(t.p)));
    item.style.setProperty("--share", 100 * t.p + "%");
    return item;
}

function tableRow(cells, tag) {
    return element("tr", {}, ...cells.map((text, i) => element(i ? tag : "th", {}, text)));
}

const TABLE_ROWS = 64;                  /* more is for the CSV */

function drawTable() {
    const { m } = heat.shade, table = element("table"), n = Math.min(m.rows, TABLE_ROWS);
    table.append(tableRow(["", ...heat.colLabels], "th"));
    const text = (r, c) => m.hidden(r, c) ? "" : numberText(m.at(r, c));
    for (let r = 0; r < n; r++)
        table.append(tableRow([heat.rowLabels[r], ...heat.colLabels.map((_, c) => text(r, c))], "td"));
    $("table-body").replaceChildren(table, n < m.rows ? tr("The first %s of %s %s; --format csv has all.", n, m.rows, heat.rowAxis) : "");
}

function drawNote() {
    const merged = state.kind && state.merge ? mergeable() ?
        tr("Whole words: weights are summed over keys and averaged over queries.") :
        tr("Tokens can be merged into words only in the attention pattern of a text.") : "";
    const hidden = state.hideFirst && state.kind && hideable() ? tr("The first column is not shown; no row was renormalised.") : "";
    $("note").textContent = [merged, hidden].join(" ").trim();
}
