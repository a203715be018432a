"use strict";
/* Questions of the text that is typed which a command answers: the page gives the command's own options to the engine, and shows
 * the command's own JSON as tables. */

/* Which answers have a panel, with the options that have a field of their own; others are typed. */
const PANELS = [
    { what: "attribute", title: tr("Who makes the next token likelier?"), fields: ["target", "foil"] },
    { what: "patch", title: tr("Where does another text make the difference?"), fields: ["what", "over", "metric"], from: true },
];

function drawAsks() {
    const can = new Map(live.session.answers.map((a) => [a.what, a.options]));
    $("live-controls").append(...PANELS.filter(({ what }) => can.has(what)).map((panel) => askPanel(panel, can.get(panel.what))));
}

function askPanel({ what, title, fields, from }, options) {
    const inputs = fields.filter((name) => options.includes(name)).map((name) => [name, element("input", { id: `live-${what}-${name}`, size: 12 })]);
    const other = element("input", { id: `live-${what}-other`, size: 24, value: "" }), rest = element("input", {
        id: `live-${what}-more`, size: 16, placeholder: options.filter((name) => !fields.includes(name)).slice(0, 3).map((name) => name + "=").join(" "),
    });
    const said = element("div", { id: `live-${what}-says`, className: "scroll answer", aria: { role: "status" } });
    const fromText = () => live.session.byIds ? { fromIds: other.value } : { from: other.value };
    const compute = async () => {
        const given = inputs.filter(([, input]) => input.value.trim()).map(([name, input]) => `${name}=${input.value.trim()}`);
        const found = await follow({ ask: "write", what, options: [...given, ...rest.value.split(/\s+/).filter(Boolean)],
                                     ...from && other.value ? fromText() : {} }, (e) => said.replaceChildren(element("p", { className: "wrong", textContent: e.message })));
        if (found)
            said.replaceChildren(...tablesOf(JSON.parse(found.text)));
    };
    return element("details", { id: "live-" + what }, element("summary", { textContent: title }),
        element("div", { className: "row" }, ...inputs.map(([name, input]) => labelled(name, input)), ...from ? [labelled(tr("another text"), other)] : [],
                labelled(tr("more options"), rest), button(`live-${what}-compute`, tr("Compute"), compute)), said);
}

/* ---- JSON as tables ---- */

const isList = (x) => Array.isArray(x) && x.length > 0 && x.every((e) => e !== null && typeof e === "object" && !Array.isArray(e));
const isPlain = (x) => x === null || typeof x !== "object" || (Array.isArray(x) && x.every((e) => e === null || typeof e !== "object"));

function wordsOfValue(x) {
    if (x === null || x === undefined)
        return "–";
    if (Array.isArray(x))
        return x.map(wordsOfValue).join(", ");
    if (typeof x === "object")          /* a token, or a place */
        return "text" in x ? visible(x.text ?? String(x.id)) : Object.values(x).map(wordsOfValue).join(" ");
    return typeof x === "number" && !Number.isInteger(x) ? numberText(x) : String(x);
}

const tableOf = (rows, head) => {
    const table = element("table");
    table.append(...head ? [tableRow(head, "th")] : [], ...rows.map((cells) => tableRow(cells, "td")));
    return table;
};

/* What is plain in one table, then each list and each matrix in one of its own, under its name. */
function tablesOf(json, under = "") {
    const entries = Object.entries(json), plain = entries.filter(([, x]) => isPlain(x)), made = [];
    const titled = (name, ...what) => made.push(element("h3", { textContent: under + name }), ...what);
    if (plain.length)
        made.push(tableOf(plain.map(([name, x]) => [name, wordsOfValue(x)])));
    for (const [name, x] of entries.filter(([, e]) => !isPlain(e))) {
        if (isList(x)) {
            const keys = unique(x.flatMap((row) => Object.keys(row)));
            titled(name, tableOf(x.map((row) => keys.map((key) => wordsOfValue(row[key]))), keys));
        } else if (Array.isArray(x)) {
            titled(name, tableOf(x.map((row) => [row].flat().map(wordsOfValue))));
        } else {
            titled(name, ...tablesOf(x, `${under}${name} `));
        }
    }
    return made;
}

startLive();
