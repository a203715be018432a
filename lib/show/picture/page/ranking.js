"use strict";
/* What heads do: how much of its attention each gives to which keys, as the command heads counts it, as a table. */

let SHARES = page.ranking?.scores ?? [];

/* Of heads with their shares, null where no row offers one: which share is their main role, -1 if they have none. */
function rankHeads(heads = page.ranking?.heads ?? []) {
    return heads.map(({ layer, head, role, shares }) => ({
        layer, head, shares: shares.map((x) => x ?? NaN), most: SHARES.findIndex(({ name }) => name === role),
    }));
}

const shortName = (layer, head) => nameOfLayer(layer) ?? `L${layer}H${head}`;
const fixed = (x, digits) => Number.isFinite(x) ? x.toFixed(digits).replace("-", "−") : "–";

/* Columns: what stands above, what it means, what rows are sorted by, and whether that is a share that a bar shows. */
const columns = [
    { name: tr("head"), title: tr("layer and head") },
    { name: tr("main role"), title: tr("the largest share that is twice that of chance, 0.1 above it, and a mean of three rows or more"), by: (r) => r.shares[r.most] ?? NaN,
      text: (r) => r.most < 0 ? "–" : said(SHARES[r.most].name), more: (r) => fixed(r.shares[r.most], 2) },
    ...SHARES.map(shareColumn),
];

function shareColumn({ name, brief, help }, i) {
    return { name: said(brief), title: `${name}: ${said(help)}`, bar: true, by: (r) => r.shares[i], text: (r) => fixed(r.shares[i], 2) };
}

/* Other shares have columns: a text may offer more, or fewer. */
function setShares(shares) {
    if (shares.map((s) => s.name).join() === SHARES.map((s) => s.name).join())
        return;
    const sortedBy = ranking.by.title;
    columns.splice(2, SHARES.length, ...shares.map(shareColumn));
    SHARES = shares;
    ranking.by = columns.find((c) => c.title === sortedBy) ?? columns[1];
}

class Ranking {
    constructor(host, ranks, onPick) {
        Object.assign(this, { host, ranks, onPick, by: columns[1], down: true });
        this.sort();
    }

    /* Those without a number last; heads in their order where numbers are the same. */
    sort() {
        const { by } = this.by, sign = this.down ? -1 : 1;
        const order = (a, b) => by ? Number.isNaN(by(a)) - Number.isNaN(by(b)) || sign * (by(a) - by(b)) || 0 : 0;
        this.sorted = [...this.ranks].sort(order);
        if (!by && this.down)
            this.sorted.reverse();
        const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
        head.append(...columns.map((c) => this.heading(c)));
        body.append(...this.sorted.map((r) => this.row(r)));
        this.host.replaceChildren(table);
        this.mark();
    }

    heading(column) {
        const onclick = () => {
            this.down = column === this.by ? !this.down : Boolean(column.by);
            this.by = column;
            this.sort();
            this.host.querySelectorAll("th button")[columns.indexOf(column)].focus();
        };
        return element("th", { scope: "col", aria: { sort: column !== this.by ? "none" : this.down ? "descending" : "ascending" } },
                       element("button", { type: "button", textContent: column.name, title: column.title, onclick }));
    }

    row(r) {
        const link = element("a", { href: `#layer=${r.layer}&head=${r.head}`, textContent: shortName(r.layer, r.head), onclick: (e) => {
            e.preventDefault();
            this.onPick(r.layer, r.head);
        } });
        return element("tr", {}, element("th", { scope: "row" }, link), ...columns.slice(1).map((c) => {
            const cell = element("td", {}, c.text(r));
            if (c.more && r.most >= 0)  /* which a narrow screen does without */
                cell.append(element("span", {}, " " + c.more(r)));
            if (c.bar)
                cell.style.setProperty("--share", 100 * (c.by(r) || 0) + "%");
            return cell;
        }));
    }

    mark() {
        this.sorted.forEach((r, i) => {
            const here = r.layer === state.layer && r.head === state.head, row = this.host.querySelector("tbody").rows[i];
            row.classList.toggle("here", here);
            row.querySelector("a").setAttribute("aria-current", here);
        });
    }
}

/* The head with the clearest role, which the program shows first, too; without one, the first of the last layer. */
function tellingPlace() {
    const ranks = rankHeads(), named = ranks.filter((r) => r.most >= 0), share = (r) => r.shares[r.most];
    const best = named.length ? named.reduce((a, b) => share(b) > share(a) ? b : a)
        : ranks.find((r) => r.layer === ranks.at(-1).layer);
    return best ? { layer: best.layer, head: best.head } : {};
}

let ranking = null;

function drawRanking() {
    if (ranking)
        ranking.mark();
    else if (ranking === null) {
        const ranks = rankHeads();
        $("ranking").hidden = !ranks.length;
        ranking = ranks.length > 0 && new Ranking($("ranking-body"), ranks, (layer, head) => change({ layer, head }));
    }
}
