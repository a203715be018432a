"use strict";
/* Small pictures of all heads, one row per layer.  Each is a button; one at a time can be tabbed to, the
 * arrow keys move between them. */

const THUMB = 64;                       /* pixels of a small picture at most */

/* The strongest cell of each square stands for it, so that thin lines survive: a matrix of its own, in which -inf is
 * nothing to see, and numbers of scale "row" are divided by what they are compared with. */
function reduceMatrix({ m, tops, skip, scale }) {
    const step = Math.ceil(Math.max(m.rows, m.cols) / THUMB), byRow = scale === "row";
    if (step === 1 && !skip && !byRow)
        return m;
    const small = new Matrix(Math.ceil(m.rows / step), Math.ceil(m.cols / step), null, 0);
    small.data.fill(-Infinity);
    small.sight = m.sight;
    for (let r = 0; r < m.rows; r++) {
        const to = Math.floor(r / step) * small.cols, top = byRow ? tops[r] || 1 : 1;
        for (let c = skip; c < m.cols; c++) {
            const x = m.data[r * m.cols + c], at = to + Math.floor(c / step), best = small.data[at];
            if (x !== -Infinity && !(m.mask && m.hidden(r, c)) && (best === -Infinity || Math.abs(x) / top > Math.abs(best)))
                small.data[at] = x / top;
        }
    }
    return small;
}

function paintThumb(canvas, small, manner) {
    const byRow = manner.scale === "row", shade = new Shade(small, { ...manner, skip: 0, ...byRow ? { scale: "linear", top: 1 } : {} });
    paintCells(canvas, small.rows, small.cols, (r, c) => shade.pixel(r, c));
}

class Overview {
    /* onPick(layer, head) hears what was clicked, onStep(layers, heads) how far to go. */
    constructor(host, handlers) {
        this.host = host;
        Object.assign(this, handlers);
        this.watcher = new IntersectionObserver((seen) => seen.filter((e) => e.isIntersecting).reverse()
            .forEach((e) => later.first(e.target)));
        host.addEventListener("keydown", (e) => this.key(e));
        /* A title would be read after the name, which it is. */
        host.addEventListener("pointermove", (e) => {
            const b = e.target.closest("button");
            if (b)
                showTip(b.getAttribute("aria-label"), e.clientX, e.clientY);
            else
                hideTip();
        });
        host.addEventListener("pointerleave", hideTip);
    }

    /* cells: { layer, head, sheet, ... } of each; thumbOf(cell) is called once for each, and gives its matrix reduced. */
    show(layers, heads, cells, thumbOf, manner) {
        const same = JSON.stringify([layers.map((l) => [l, nameOfLayer(l)]), heads, cells.map((c) => [c.layer, c.head])]), had = this.same === same;
        Object.assign(this, { thumbOf, manner, same });
        for (const b of this.buttons?.values() ?? [])
            later.drop(b);
        this.watcher.disconnect();
        if (had) {
            cells.forEach((cell) => this.renew(this.buttons.get(cell.layer + "," + cell.head), cell));
            return;
        }
        this.buttons = new Map();
        if (nameOfLayer(layers[0]) !== null && heads.length === 1)
            this.showNamed(cells);
        else
            this.showTable(layers, heads, cells);
    }

    /* One head under several kinds of attention: each with its name, going round corners. */
    showNamed(cells) {
        this.host.style.gridTemplateColumns = "repeat(auto-fill, minmax(96px, 120px))";
        this.host.replaceChildren(...cells.map((cell) => element("div", {}, this.heading(nameOfLayer(cell.layer)), this.button(cell))));
    }

    showTable(layers, heads, cells) {
        const children = [this.heading(heads.length > 1 && nameOfLayer(layers[0]) === null ? "L\\H" : ""), ...heads.map((h) => this.heading(h))];
        this.host.style.gridTemplateColumns = `auto repeat(${heads.length}, minmax(18px, 120px))`;
        for (const layer of layers) {
            children.push(this.heading(nameOfLayer(layer) ?? layer));
            for (const head of heads)
                children.push(this.button(cells.find((c) => c.layer === layer && c.head === head)));
        }
        this.host.replaceChildren(...children);
    }

    heading(index) { return element("span", {}, String(index ?? "")); }

    button(cell) {
        if (!cell)
            return element("span");
        const b = element("button", { type: "button", onclick: () => this.onPick(cell.layer, cell.head) }, element("canvas"));
        this.buttons.set(cell.layer + "," + cell.head, b);
        this.renew(b, cell);
        return b;
    }

    renew(b, cell) {
        b.setAttribute("aria-label", headName(cell.layer, cell.head));
        b.className = cell.sheet.beyond !== null ? "masked" : "";
        while (b.children.length > 1)
            b.lastChild.remove();
        later.add(b, () => paintThumb(b.firstChild, this.thumbOf(cell), this.manner));
        this.watcher.observe(b);
        this.decorate?.(b, cell);
    }

    /* Says more of a head, after its name. */
    say(b, more) {
        b.setAttribute("aria-label", b.getAttribute("aria-label") + more);
    }

    mark(layer, head) {
        for (const [key, b] of this.buttons) {
            const on = key === layer + "," + head;
            b.setAttribute("aria-pressed", on);
            b.tabIndex = on ? 0 : -1;
            if (on && this.host.contains(document.activeElement))
                b.focus();
        }
    }

    key(e) {
        if (!ARROWS[e.key] || e.shiftKey)
            return;
        e.preventDefault();
        this.onStep(...ARROWS[e.key]);
    }
}

function headName(layer, head) {
    const parts = [layer === null ? "" : nameOfLayer(layer) ?? tr("layer %s", layer), head === null ? "" : tr("head %s", head)];
    return parts.filter(Boolean).join(tr(", ")) || tr("the matrix");
}
