"use strict";
/* A matrix as a picture with labels: cells on a canvas (one pixel each, enlarged by the browser), labels
 * and marks as SVG text above it, so that they stay sharp in print.  Labels stay in sight when the matrix is scrolled.
 *
 *     const heat = new Heat(element, { describe, onPoint, onPick });
 *     heat.show({ shade, rowLabels, colLabels, rowAxis, colAxis, tallest });
 *
 * Cells are as wide as fits and at most `tallest` high.  describe(r, c) gives the text of the tip; onPoint(r, c)
 * hears where the pointer or the keyboard's cursor is (-1, -1: nowhere), onPick(r) which row was chosen. */

const SVG = "http://www.w3.org/2000/svg";
const FONT = 12, ROW_SPACING = 12, COL_SPACING = 18;
const LABEL_CHARACTERS = 16;
const NUMBER = 11;                      /* the font of numbers in cells, and how they are written, the best first */
const NUMBER_FORMS = [4, 3, 2, 1, 0].map((decimals) => ({ decimals, exponent: false }))
    .concat([2, 1, 0].map((decimals) => ({ decimals, exponent: true })));
const SLANT = Math.PI / 4;
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };    /* rows, columns */

function svg(name, attributes, text) {
    const e = document.createElementNS(SVG, name);
    for (const key in attributes)
        e.setAttribute(key, attributes[key]);
    if (text !== undefined)
        e.textContent = text;
    return e;
}

/* With properties, and with attributes for whoever does not see it. */
function element(tag, attributes = {}, ...children) {
    const { aria = {}, ...rest } = attributes, e = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria))
        e.setAttribute(name === "role" ? "role" : "aria-" + name, value);
    e.append(...children);
    return e;
}

/* Makes these the children of e; those that are as they were stay, for laying out a text takes long. */
function renew(e, children) {
    children.forEach((child, i) => {
        const was = e.childNodes[i];
        if (!was)
            e.append(child);
        else if (!was.isEqualNode(child))
            was.replaceWith(child);
    });
    while (e.childNodes.length > children.length)
        e.lastChild.remove();
}

const ruler = document.createElement("canvas").getContext("2d");

const fontFamily = getComputedStyle(document.body).fontFamily;          /* once: each question lays out the page */

function textWidth(text, font = FONT) {
    const wanted = font + "px " + fontFamily;
    if (ruler.wanted !== wanted)
        ruler.font = ruler.wanted = wanted;
    return ruler.measureText(text).width;
}

function shorten(label) {
    const letters = Array.from(label);
    return letters.length > LABEL_CHARACTERS ? letters.slice(0, LABEL_CHARACTERS - 1).join("") + "…" : label;
}

/* Paints a function of (r, c) that gives pixels. */
function paintCells(canvas, rows, cols, pixelAt) {
    if (canvas.width !== cols || canvas.height !== rows)
        Object.assign(canvas, { width: cols, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(cols, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let r = 0; r < rows; r++)
        for (let c = 0; c < cols; c++)
            pixels[r * cols + c] = pixelAt(r, c);
    context.putImageData(image, 0, 0);
}

const onPaper = () => document.documentElement.classList.contains("printing");

class Heat {
    constructor(host, handlers) {
        this.host = host;
        Object.assign(this, handlers);
        this.zoom = 1;
        this.asked = 0;                 /* pixels of a cell; 0: as fits */
        this.cursor = [-1, -1];
        this.kept = -1;
        Object.assign(this, { wide: 0, scrolled: [0, 0] });             /* as last seen: each question lays out the page */
        this.plane = host.appendChild(element("div", { className: "plane" }, this.canvas = element("canvas")));
        this.svg = this.plane.appendChild(svg("svg", { "aria-hidden": "true" }));
        this.inside = this.svg.appendChild(svg("g"));       /* gaps and numbers */
        this.marks = this.svg.appendChild(svg("g"));
        const band = () => this.svg.appendChild(svg("g", { class: "band" }));
        this.bands = { columns: band(), rows: band(), corner: band() };
        this.listen();
    }

    show(picture) {
        Object.assign(this, picture);
        this.rows = this.shade.m.rows;
        this.cols = this.shade.m.cols;
        this.rowNames = this.rowLabels.map(shorten);
        this.colNames = this.colLabels.map(shorten);
        if (this.cursor[0] >= this.rows || this.cursor[1] >= this.cols)
            this.cursor = [-1, -1];
        paintCells(this.canvas, this.rows, this.cols, (r, c) => this.shade.pixel(r, c));
        this.layOut();
    }

    /* The cell is as large as the width allows, but for what nobody could see or would want. */
    layOut() {
        if (!this.shade)
            return;
        const rowWidth = Math.max(...this.rowNames.map((s) => textWidth(s)));
        const colWidth = Math.max(...this.colNames.map((s) => textWidth(s)));
        this.left = Math.ceil(rowWidth) + 24;
        const room = (onPaper() ? this.host.clientWidth : this.wide ||= this.host.clientWidth) - this.left - 2;
        const slanted = (cell) => colWidth + 8 > cell;
        const overhang = (cell) => slanted(cell) ? colWidth * Math.cos(SLANT) : 0;
        let cell = Math.min(room / this.cols, 64);
        if (slanted(cell))
            cell = Math.min((room - overhang(cell)) / this.cols, 64);
        const fits = cell >= 4 ? Math.floor(cell) : cell, paper = onPaper();        /* which cannot be scrolled */
        this.cell = paper ? fits : (this.asked || Math.max(fits, 1)) * this.zoom;
        this.high = Math.min(this.cell, this.tallest * (paper ? 1 : this.zoom));
        this.slanted = slanted(this.cell);
        this.top = (this.slanted ? Math.ceil(colWidth * Math.sin(SLANT)) + 12 : FONT + 10) + 16;
        this.width = this.left + this.cell * this.cols + Math.ceil(overhang(this.cell)) + 2;
        this.height = this.top + this.high * this.rows + 2;
        this.place();
        this.drawLabels();
        this.drawInside();
        this.drawMarks();
        this.follow();
    }

    /* Labels go with what is scrolled: those of columns up and down, those of rows to the sides. */
    follow() {
        const [x, y] = this.scrolled;
        for (const [band, by] of Object.entries({ columns: [0, y], rows: [x, 0], corner: [x, y] }))
            this.bands[band].setAttribute("transform", `translate(${by})`);
    }

    place() {
        const px = (x) => x + "px";
        Object.assign(this.plane.style, { width: px(this.width), height: px(this.height) });
        Object.assign(this.canvas.style, {
            left: px(this.left), top: px(this.top), width: px(this.cell * this.cols), height: px(this.high * this.rows),
        });
        this.svg.setAttribute("width", this.width);
        this.svg.setAttribute("height", this.height);
        this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    }

    drawLabels() {
        const rowStep = Math.ceil(ROW_SPACING / this.high);
        const colStep = Math.ceil((this.slanted ? COL_SPACING : ROW_SPACING) / this.cell);
        const { columns, rows, corner } = this.bands, cover = (width, height) => svg("rect", { width, height, class: "cover" });
        const every = (n, step, label) => Array.from({ length: Math.ceil(n / step) }, (_, i) => label.call(this, i * step));
        renew(columns, [cover(this.width, this.top - 1), ...every(this.cols, colStep, this.colLabel)]);
        renew(rows, [cover(this.left - 1, this.height), ...every(this.rows, rowStep, this.rowLabel)]);
        const fits = textWidth("← " + this.rowAxis, 11) <= this.high * this.rows;
        const right = svg("text", { x: this.left, y: 11, class: "axis" }, this.colAxis + " →");
        const down = svg("text", { x: 11, y: this.top, class: "axis", "text-anchor": "end",
                                   transform: `rotate(-90 11 ${this.top})` }, "← " + this.rowAxis);
        renew(corner, [cover(this.left - 1, this.top - 1), right, ...fits ? [down] : []]);
    }

    drawInside() {
        renew(this.inside, [...this.high >= 12 ? [this.gaps()] : [], ...this.shade.m.mask ? [this.edge()] : [],
                            ...this.cell >= 38 && this.high >= 16 ? this.numbers() : []]);
    }

    /* The steps between what the mask hides and what may be as light. */
    edge() {
        const { m } = this.shade, at = (r, c) => `M${this.left + this.cell * c} ${this.top + this.high * r}`;
        let d = "";
        for (let r = 0; r < this.rows; r++)
            for (let c = 0; c < this.cols; c++) {
                if (c > 0 && m.hidden(r, c) !== m.hidden(r, c - 1))
                    d += at(r, c) + "v" + this.high;
                if (r > 0 && m.hidden(r, c) !== m.hidden(r - 1, c))
                    d += at(r, c) + "h" + this.cell;
            }
        return svg("path", { d, class: "edge" });
    }

    rowLabel(r) {
        return svg("text", { x: this.left - 6, y: this.top + (r + 0.5) * this.high + FONT * 0.36, "font-size": FONT,
            "text-anchor": "end" }, this.rowNames[r]);
    }

    colLabel(c) {
        const x = this.left + (c + 0.5) * this.cell, y = this.top - 7;
        return this.slanted ?
            svg("text", { x, y, "font-size": FONT, transform: `rotate(-45 ${x} ${y})` }, this.colNames[c]) :
            svg("text", { x, y, "font-size": FONT, "text-anchor": "middle" }, this.colNames[c]);
    }

    /* Thin lines of paper between cells that are large enough. */
    gaps() {
        let d = "";
        for (let r = 1; r < this.rows; r++)
            d += `M${this.left} ${this.top + r * this.high}h${this.cell * this.cols}`;
        for (let c = 1; c < this.cols; c++)
            d += `M${this.left + c * this.cell} ${this.top}v${this.high * this.rows}`;
        return svg("path", { d, class: "gap" });
    }

    /* In the form that says most of what fits into every cell; where none does, there are none. */
    numbers() {
        const { shade } = this, seen = [];
        for (let r = 0; r < this.rows; r++)
            for (let c = 0; c < this.cols; c++)
                if (shade.pixel(r, c))
                    seen.push([r, c, shade.m.at(r, c)]);
        const { top } = extent(shade.m, shade.skip), texts = (form) => seen.map(([, , x]) => decimalText(x, form));
        const fits = (list) => textWidth(list.reduce((a, b) => b.length > a.length ? b : a, ""), NUMBER) <= this.cell - 4;
        const form = NUMBER_FORMS.find((f) => (f.exponent || top === 0 || top >= 10 ** -f.decimals) && fits(texts(f)));
        return (form ? texts(form) : []).map((text, i) => {
            const [r, c] = seen[i];
            return svg("text", {
                x: this.left + (c + 0.5) * this.cell, y: this.top + (r + 0.5) * this.high + 4, "font-size": NUMBER,
                "text-anchor": "middle", class: isDark(shade.pixel(r, c)) ? "on-dark" : "on-light",
            }, text);
        });
    }

    /* Where the pointer is, its labels above the others; the row that was kept. */
    drawMarks() {
        const [r, c] = this.cursor;
        this.marks.replaceChildren();
        this.svg.querySelectorAll(".pointed").forEach((label) => label.remove());
        if (this.kept >= 0 && this.kept < this.rows)
            this.marks.append(svg("rect", { x: this.left, y: this.top + this.kept * this.high,
                width: this.cell * this.cols, height: this.high, class: "kept" }));
        if (r < 0)
            return;
        for (const [band, label] of [["rows", this.rowLabel(r)], ["columns", this.colLabel(c)]]) {
            label.setAttribute("class", "strong pointed");
            this.bands[band].append(label);
            const box = label.getBBox(), cover = svg("rect", { x: box.x - 2, y: box.y, width: box.width + 4,
                height: box.height, class: "cover pointed" });
            if (label.hasAttribute("transform"))
                cover.setAttribute("transform", label.getAttribute("transform"));
            label.before(cover);
        }
        this.marks.append(svg("rect", { x: this.left + c * this.cell, y: this.top + r * this.high, width: this.cell,
            height: this.high, class: "cross" }));
    }

    point(r, c) {
        if (r === this.cursor[0] && c === this.cursor[1])
            return;
        this.cursor = [r, c];
        this.drawMarks();
        this.onPoint(r, c);
    }

    keep(r) {
        this.kept = r;
        if (this.shade)
            this.drawMarks();
    }

    cellAt(event) {
        const box = this.plane.getBoundingClientRect(), view = this.host.getBoundingClientRect();
        if (event.clientX - view.left < this.left || event.clientY - view.top < this.top)
            return [-1, -1];            /* a label, with cells under it */
        const c = Math.floor((event.clientX - box.left - this.left) / this.cell);
        const r = Math.floor((event.clientY - box.top - this.top) / this.high);
        return r >= 0 && c >= 0 && r < this.rows && c < this.cols ? [r, c] : [-1, -1];
    }

    listen() {
        this.plane.addEventListener("pointermove", (e) => {
            const [r, c] = this.cellAt(e);
            this.point(r, c);
            if (r >= 0)
                showTip(this.describe(r, c), e.clientX, e.clientY);
            else
                hideTip();
        });
        this.plane.addEventListener("pointerleave", () => { hideTip(); this.point(-1, -1); });
        this.plane.addEventListener("click", (e) => {
            const [r, c] = this.cellAt(e);
            this.point(r, c);
            this.onPick(r);
        });
        this.host.addEventListener("keydown", (e) => this.key(e));
        this.host.addEventListener("scroll", () => {
            this.scrolled = [this.host.scrollLeft, this.host.scrollTop];
            this.follow();
        }, { passive: true });
        new ResizeObserver(() => {
            const { clientWidth } = this.host, changed = clientWidth !== this.wide;
            this.wide = clientWidth;
            if (changed)
                this.layOut();
        }).observe(this.host);
    }

    key(e) {
        const step = ARROWS[e.key], [r, c] = this.cursor;
        const within = (x, n) => Math.max(0, Math.min(n - 1, x));
        if (e.shiftKey || e.ctrlKey || e.altKey || e.metaKey)
            return;
        if (step)
            this.point(r < 0 ? 0 : within(r + step[0], this.rows), r < 0 ? 0 : within(c + step[1], this.cols));
        else if (e.key === "Enter" || e.key === "Escape")
            this.onPick(e.key === "Enter" ? r : -1);
        else
            return;
        e.preventDefault();
        this.reveal();
    }

    /* Scrolls the keyboard's cell into view. */
    reveal() {
        const [r, c] = this.cursor, x = this.left + c * this.cell, y = this.top + r * this.high;
        const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.host;
        if (x < scrollLeft + this.left || x + this.cell > scrollLeft + clientWidth)
            this.host.scrollLeft = x - (this.left + clientWidth) / 2;
        if (y < scrollTop + this.top || y + this.high > scrollTop + clientHeight)
            this.host.scrollTop = y - (this.top + clientHeight) / 2;
    }

    resize(zoom) {
        this.zoom = zoom;
        this.layOut();
    }
}

/* One tip for the page, beside the pointer. */
const tip = element("div", { className: "tip", hidden: true, aria: { hidden: true } });
document.body.append(tip);

function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 4);
    const top = y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18;
    Object.assign(tip.style, { left: Math.max(left, 4) + "px", top: top + "px" });
}

function hideTip() {
    tip.hidden = true;
}
