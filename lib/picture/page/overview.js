"use strict";
/* Small pictures of all heads, a row a layer.  Each is a button; one at a time can be tabbed to, the
 * arrow keys move between them. */

const THUMB = 64;                       /* pixels of a small picture at most */

/* The strongest cell of each square stands for it, so that thin lines survive. */
function paintThumb(canvas, shade) {
    const { rows, cols } = shade.m, step = Math.ceil(Math.max(rows, cols) / THUMB);
    paintCells(canvas, Math.ceil(rows / step), Math.ceil(cols / step), (y, x) => strongest(shade, y * step, x * step, step));
}

function strongest(shade, r0, c0, step) {
    const { m, tops } = shade, rows = Math.min(r0 + step, m.rows), cols = Math.min(c0 + step, m.cols);
    let best = -1, bestRow = r0, bestCol = c0;
    for (let r = r0; r < rows; r++)
        for (let c = c0; c < cols; c++) {
            const size = shade.seen(r, c) ? Math.abs(m.data[r * m.cols + c]) / (tops[r] || 1) : -1;
            if (size > best) {
                best = size;
                bestRow = r;
                bestCol = c;
            }
        }
    return shade.pixel(bestRow, bestCol);
}

class Overview {
    /* onPick(layer, head) hears what was clicked, onStep(layers, heads) how far to go. */
    constructor(host, handlers) {
        this.host = host;
        Object.assign(this, handlers);
        host.addEventListener("keydown", (e) => this.key(e));
    }

    /* cells: { layer, head, ... } of each; shadeOf(cell) is called once for each. */
    show(layers, heads, cells, shadeOf) {
        this.buttons = new Map();
        if (nameOfLayer(layers[0]) !== null && heads.length === 1)
            this.showNamed(cells, shadeOf);
        else
            this.showTable(layers, heads, cells, shadeOf);
    }

    /* One head under several kinds of attention: each with its name, going round corners. */
    showNamed(cells, shadeOf) {
        this.host.style.gridTemplateColumns = "repeat(auto-fill, minmax(96px, 120px))";
        this.host.replaceChildren(...cells.map((cell) => {
            const box = document.createElement("div");
            box.append(this.heading(nameOfLayer(cell.layer)), this.button(cell, shadeOf));
            return box;
        }));
    }

    showTable(layers, heads, cells, shadeOf) {
        const corner = document.createElement("span"), children = [corner];
        this.host.style.gridTemplateColumns = `auto repeat(${heads.length}, minmax(18px, 120px))`;
        corner.textContent = heads.length > 1 && nameOfLayer(layers[0]) === null ? "L\\H" : "";
        children.push(...heads.map((h) => this.heading(h)));
        for (const layer of layers) {
            children.push(this.heading(nameOfLayer(layer) ?? layer));
            for (const head of heads)
                children.push(this.button(cells.find((c) => c.layer === layer && c.head === head), shadeOf));
        }
        this.host.replaceChildren(...children);
    }

    heading(index) {
        const span = document.createElement("span");
        span.textContent = index ?? "";
        return span;
    }

    button(cell, shadeOf) {
        if (!cell)
            return document.createElement("span");
        const b = document.createElement("button"), name = headName(cell.layer, cell.head);
        b.type = "button";
        b.title = name;
        b.setAttribute("aria-label", name);
        b.append(document.createElement("canvas"));
        b.addEventListener("click", () => this.onPick(cell.layer, cell.head));
        paintThumb(b.firstChild, shadeOf(cell));
        this.decorate?.(b, cell);
        this.buttons.set(cell.layer + "," + cell.head, b);
        return b;
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
    const parts = [layer === null ? "" : nameOfLayer(layer) ?? "layer " + layer, head === null ? "" : "head " + head];
    return parts.filter(Boolean).join(", ") || "the matrix";
}
