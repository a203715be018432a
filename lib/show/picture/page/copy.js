"use strict";
/* The head that is shown, to be taken along: as an SVG or a PNG of the whole matrix with its title and labels, as it is
 * coloured, or as the CSV that the program writes.  Where a browser keeps the clipboard from pages, a file is saved. */

const RECTANGLES = 10000;               /* a matrix with more cells is an image */
const SHARPER = 2;                      /* pixels of a PNG to one of the page */
const MARGIN = 8, TITLE = 15, LEGEND = 34;

/* What a figure consists of: { width, height, font, rects, lines, texts, images }, colours as CSS has them. */
function figureOfHead() {
    const { left, top, cell, high, rows, cols, shade } = heat, css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue("--" + name).trim();
    const at = (x, y) => [MARGIN + x, MARGIN + 2 * TITLE + y];
    const figure = { width: heat.width + 2 * MARGIN, height: heat.height + 2 * MARGIN + 2 * TITLE + LEGEND,
                     font: fontFamily, rects: [], lines: [], texts: [], images: [] };
    const rect = (x, y, width, height, fill) => figure.rects.push({ x, y, width, height, fill });
    const text = (x, y, what, size, anchor = "start", fill = colour("ink"), slant = 0) =>
        figure.texts.push({ x, y, what, size, anchor, fill, slant });
    rect(0, 0, figure.width, figure.height, colour("panel"));
    text(MARGIN, MARGIN + TITLE, $("head-title").textContent, TITLE);
    const [x0, y0] = at(left, top);
    if (rows * cols > RECTANGLES)
        figure.images.push({ canvas: heat.canvas, x: x0, y: y0, width: cell * cols, height: high * rows });
    for (let r = 0; r < rows && rows * cols <= RECTANGLES; r++)
        for (let c = 0; c < cols; c++)
            if (shade.pixel(r, c))
                rect(x0 + c * cell, y0 + r * high, cell, high, cssColour(shade.pixel(r, c)));
    for (const e of heat.inside.querySelectorAll("path"))
        figure.lines.push({ d: e.getAttribute("d"), by: at(0, 0),
                            stroke: colour(e.classList.contains("edge") ? "soft" : "panel") });
    for (const e of heat.svg.querySelectorAll("text:not(.pointed)")) {
        const number = (name) => Number(e.getAttribute(name)), [x, y] = at(number("x"), number("y"));
        const onCell = e.classList.contains("on-dark") ? "#ffffff" : e.classList.contains("on-light") ? "#101418" : null;
        const [, slant = 0] = /rotate\((-?\d+)/.exec(e.getAttribute("transform") ?? "") ?? [];
        text(x, y, e.textContent, number("font-size") || 11, e.getAttribute("text-anchor") ?? "start",
             onCell ?? colour(e.classList.contains("axis") ? "soft" : "ink"), Number(slant));
    }
    drawFigureLegend(rect, text, figure.height - MARGIN - 16, colour("soft"));
    return figure;
}

function drawFigureLegend(rect, text, y, soft) {
    const parts = [...$("legend").childNodes], canvas = parts.findIndex((e) => e.tagName === "CANVAS");
    const { colours } = heat.shade, wide = 160;
    const label = (e) => e?.textContent ?? "";
    let x = MARGIN;
    text(x, y + 10, label(parts[canvas - 1]), 11, "start", soft);
    x += textWidth(label(parts[canvas - 1]), 11) + 6;
    colours.forEach((pixel, i) => rect(x + i * wide / colours.length, y, wide / colours.length + 0.5, 12, cssColour(pixel)));
    text(x + wide + 6, y + 10, parts.slice(canvas + 1).map(label).filter(Boolean).join("  "), 11, "start", soft);
}

/* ---- as SVG ---- */

/* Made in a document of its own, which loads no images, as this page is not allowed to. */
function svgText(figure) {
    const { width, height, font } = figure, drawing = document.implementation.createDocument(SVG, "svg");
    const root = drawing.documentElement, add = (...what) => root.append(drawing.adoptNode(svg(...what)));
    const attributes = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font };
    Object.entries(attributes).forEach((pair) => root.setAttribute(...pair));
    add("title", {}, $("head-title").textContent);
    for (const { x, y, width: w, height: h, fill } of figure.rects)
        add("rect", { x, y, width: w, height: h, fill });
    for (const { canvas, ...box } of figure.images) {
        add("image", { ...box, preserveAspectRatio: "none", "image-rendering": "pixelated" });
        root.lastChild.setAttribute("href", canvas.toDataURL());
    }
    for (const { d, by, stroke } of figure.lines)
        add("path", { d, stroke, fill: "none", transform: `translate(${by})` });
    for (const { x, y, what, size, anchor, fill, slant } of figure.texts)
        add("text", { x, y, fill, "font-size": size, "text-anchor": anchor, "xml:space": "preserve",
                      ...slant ? { transform: `rotate(${slant} ${x} ${y})` } : {} }, what);
    return new XMLSerializer().serializeToString(drawing);
}

/* ---- as PNG ---- */

function pngOf(figure) {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
    const anchors = { start: "left", middle: "center", end: "right" };
    Object.assign(canvas, { width: Math.ceil(figure.width * SHARPER), height: Math.ceil(figure.height * SHARPER) });
    context.scale(SHARPER, SHARPER);
    context.imageSmoothingEnabled = false;
    for (const { x, y, width, height, fill } of figure.rects) {
        context.fillStyle = fill;
        context.fillRect(x, y, width, height);
    }
    for (const { canvas: image, x, y, width, height } of figure.images)
        context.drawImage(image, x, y, width, height);
    for (const { d, by, stroke } of figure.lines)
        placed(context, ...by, 0, () => { context.strokeStyle = stroke; context.stroke(new Path2D(d)); });
    for (const { x, y, what, size, anchor, fill, slant } of figure.texts)
        placed(context, x, y, slant, () => {
            Object.assign(context, { font: `${size}px ${figure.font}`, textAlign: anchors[anchor], fillStyle: fill });
            context.fillText(what, 0, 0);
        });
    return new Promise((resolve) => { canvas.toBlob(resolve); });
}

function placed(context, x, y, slant, draw) {
    context.save();
    context.translate(x, y);
    context.rotate(slant * Math.PI / 180);
    draw();
    context.restore();
}

/* ---- as CSV ---- */

/* The labels that the program writes: texts as they are, or ids. */
function plainLabels(tokens, labels) {
    return labels.map((label, i) => merging() || tokens?.length !== labels.length ? label : tokens[i].text ?? label);
}

function csvText() {
    const { m } = heat.shade, sheet = sheetAt(state.kind, state.layer), rows = plainLabels(page.queries, heat.rowLabels);
    const quoted = (s) => /[\s",]/.test(s) ? `"${s.replaceAll("\"", "\"\"")}"` : s;
    const number = (x) => exactText(x, m.error).replace("−", "-").replace("∞", "inf");
    const columns = sheet.keys ? plainLabels(keyTokens(), heat.colLabels) : heat.colLabels;
    const lines = rows.map((label, r) => [quoted(label), ...columns.map((_, c) => number(m.at(r, c)))].join(","));
    return [["token", ...columns.map(quoted)].join(","), ...lines, ""].join("\n");
}

/* ---- to where it goes ---- */

/* The names of files are the same in all languages. */
function saveFile(blob, ending) {
    const link = document.createElement("a"), { layer, head } = state;
    const place = [layer === null ? "" : nameOfLayer(layer) ?? "layer " + layer, head === null ? "" : "head " + head];
    const name = capital(`${sheetsOf(state.kind)[0].title} ${place.filter(Boolean).join(" ") || "the matrix"}`);
    link.href = URL.createObjectURL(blob);
    link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, "-")}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    return tr("Saved as %s.", link.download);
}

const COPIES = {
    svg: { type: "text/plain", as: "image/svg+xml", make: () => svgText(figureOfHead()) },
    png: { type: "image/png", as: "image/png", make: () => pngOf(figureOfHead()) },
    csv: { type: "text/plain", as: "text/csv", make: csvText },
};

async function copyHead(ending) {
    const { type, as, make } = COPIES[ending], made = await make();
    try {
        const blob = made instanceof Blob ? made : new Blob([made], { type });
        await navigator.clipboard.write([new ClipboardItem({ [type]: blob })]);
        $("copy-says").textContent = tr("The %s is on the clipboard.", ending.toUpperCase());
    } catch {                           /* not allowed, or an old browser */
        $("copy-says").textContent = saveFile(made instanceof Blob ? made : new Blob([made], { type: as }), ending);
    }
}

for (const ending of Object.keys(COPIES))
    $("copy-" + ending).addEventListener("click", () => copyHead(ending));
