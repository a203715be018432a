"use strict";
/* The sentence twice, queries on the left and keys on the right, with a line for each weight that can be
 * seen; of a long sentence only the strongest of each query.  Pointing at a token leaves only its lines and writes
 * the weights beside the other side's tokens.
 *
 *     const lines = new Lines(element, { onPick });
 *     lines.show({ shades, rowLabels, colLabels });
 *
 * shades: of the heads that are shown together, { shade, name, colour } each; the one head that is shown alone has neither name
 * nor colour.
 * onPick(r) hears which query was chosen (-1: none); a key is kept by the view itself. */

const LONG = 24, STRONGEST = 5;         /* all lines of many tokens would only be a surface */
const FAINTEST = 0.02;
const PAPER = 900;                      /* pixels of a page of paper */

class Lines {
    constructor(host, handlers) {
        this.host = host;
        Object.assign(this, handlers);
        this.sides = [this.makeSide(tr("Queries")), this.makeSide(tr("Keys"))];
        this.svg = svg("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
        this.svg.append(this.all = svg("g"), this.some = svg("g"));
        this.sides[0].after(this.svg);
        this.kept = null;               /* [side, index] */
        this.pointed = [0, -1];
        new ResizeObserver(() => {
            if (this.svg.clientWidth !== this.width)
                this.draw(this.svg.clientWidth);
        }).observe(this.svg);
    }

    makeSide(name) {
        const side = this.host.appendChild(element("ol", { aria: { label: name } })), at = () => this.sides.indexOf(side);
        side.addEventListener("pointerover", (e) => this.point(at(), this.indexOf(e.target)));
        side.addEventListener("pointerleave", () => this.point(...(this.kept ?? [0, -1])));
        side.addEventListener("click", (e) => this.pick(at(), this.indexOf(e.target)));
        side.addEventListener("focusin", (e) => this.point(at(), this.indexOf(e.target)));
        side.addEventListener("keydown", (e) => this.key(e, at()));
        return side;
    }

    indexOf(element) {
        const item = element.closest("li");
        return item ? Array.from(item.parentNode.children).indexOf(item) : -1;
    }

    show({ shades, rowLabels, colLabels }) {
        this.shades = shades;
        this.host.classList.toggle("several", shades.length > 1);
        [{ m: this.m }] = shades.map(({ shade }) => shade);
        this.row = Math.max(rowLabels.length, colLabels.length) > 40 ? 18 : 26;
        this.host.style.setProperty("--row", this.row + "px");
        this.fill(this.sides[0], rowLabels);
        this.fill(this.sides[1], colLabels);
        const gone = (at) => at && at[1] >= this.sides[at[0]].children.length;
        if (gone(this.kept))
            this.kept = null;
        this.pointed = this.kept ?? (gone(this.pointed) ? [0, -1] : this.pointed);
        this.draw();
    }

    fill(side, labels) {
        renew(side, labels.map((label, i) => element("li", { title: label, tabIndex: i ? -1 : 0 }, label)));
    }

    /* Lines of query r that are drawn before anybody points: [query, key, 0..1, head]. */
    linesOf(r) {
        const found = [];
        this.shades.forEach((of, i) => {
            for (let c = 0; c < this.m.cols; c++) {
                const size = this.strength(of, r, c);
                if (size >= FAINTEST)
                    found.push([r, c, size, i]);
            }
        });
        const most = Math.max(STRONGEST, this.shades.length);
        return this.m.rows <= LONG ? found : found.sort((a, b) => b[2] - a[2]).slice(0, most);
    }

    strength({ shade }, r, c) {
        return shade.pixel(r, c) ? Math.abs(shade.size(r, c)) || 0 : 0;
    }

    /* width: as last seen, for the question lays out the page. */
    draw(width = onPaper() ? this.svg.clientWidth : this.width || this.svg.clientWidth) {
        this.width = width;
        if (!this.shades || !width)
            return;
        const height = this.row * Math.max(this.m.rows, this.m.cols);
        this.svg.style.height = height + "px";
        this.host.closest("section").classList.toggle("too-tall", height > PAPER);
        this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
        const rows = Array.from({ length: this.m.rows }, (_, r) => this.linesOf(r));
        renew(this.all, rows.flat().map((line) => this.path(line)));
        this.point(...this.pointed);
    }

    /* Of one head, numbers with a sign have the two colours of their scale; of several each has its own. */
    path([r, c, size, i]) {
        const { shade: { signed, ramp, m }, colour } = this.shades[i];
        const stroke = colour ? { stroke: colour } : signed ? { stroke: cssColour(m.at(r, c) < 0 ? ramp[0] : ramp.at(-1)) } : {};
        const y1 = (r + 0.5) * this.row, y2 = (c + 0.5) * this.row, w = this.width;
        return svg("path", { d: `M0 ${y1}C${w / 3} ${y1} ${w * 2 / 3} ${y2} ${w} ${y2}`, "stroke-opacity": size.toFixed(3),
            "stroke-width": (0.75 + 2.25 * size).toFixed(2), ...stroke });
    }

    /* Shows one token's lines and weights; index -1: all lines. */
    point(side, index) {
        this.pointed = [side, index];
        this.all.setAttribute("class", index < 0 ? "" : "faint");
        for (const list of this.sides)
            for (const item of list.children) {
                item.removeAttribute("class");
                item.querySelector("b")?.remove();
            }
        if (index < 0)
            return this.some.replaceChildren();
        this.sides[side].children[index].className = "on";
        const other = this.sides[1 - side].children, lines = [];
        for (let i = 0; i < other.length; i++)
            lines.push(...this.weigh(side ? i : index, side ? index : i, other[i]));
        this.some.replaceChildren(...lines);
    }

    /* Writes a weight beside the token `item`, of several heads the largest; the lines that can be seen. */
    weigh(r, c, item) {
        const seen = this.shades.filter(({ shade }) => !shade.m.hidden(r, c) && c >= shade.skip);
        if (!seen.length)
            return [];
        const size = ({ shade }) => Math.abs(shade.m.at(r, c)), most = seen.reduce((a, b) => size(b) > size(a) ? b : a);
        item.append(element("b", {}, briefNumber(most.shade.m.at(r, c)) + (most.name ? " " + most.name : "")));
        return seen.map((of) => [r, c, this.strength(of, r, c), this.shades.indexOf(of)]).filter(([, , x]) => x > 0.002)
            .map(([, , x, i]) => this.path([r, c, 0.2 + 0.8 * x, i]));          /* never as faint as the others */
    }

    pick(side, index) {
        const same = this.kept && this.kept[0] === side && this.kept[1] === index;
        this.kept = same || index < 0 ? null : [side, index];
        this.onPick(this.kept && side === 0 ? index : -1);
    }

    /* The query chosen elsewhere on the page. */
    keep(r) {
        if (r >= 0)
            this.kept = [0, r];
        else if (this.kept?.[0] === 0)
            this.kept = null;
        if (!this.shades)
            return;
        this.point(...(this.kept ?? [0, -1]));
        if (r < 0)
            return;
        const { scrollTop, clientHeight } = this.host;
        if (r * this.row < scrollTop || (r + 1) * this.row > scrollTop + clientHeight)
            this.host.scrollTop = r * this.row - clientHeight / 2;
    }

    key(e, side) {
        const steps = { ArrowUp: [side, -1], ArrowDown: [side, 1], ArrowLeft: [0, 0], ArrowRight: [1, 0] };
        const step = steps[e.key], index = this.indexOf(e.target);
        if (e.shiftKey)
            return;
        if (step)
            this.sides[step[0]].children[Math.min(index + step[1], this.sides[step[0]].children.length - 1)]?.focus();
        else if (e.key === "Enter" || e.key === "Escape")
            this.pick(side, e.key === "Enter" ? index : -1);
        else
            return;
        e.preventDefault();
    }
}
