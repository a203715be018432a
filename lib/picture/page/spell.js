"use strict";
/* The canonical form of an edit, the same for all ways to type it, as ask/edit_text.c spells it, and texts as messages
 * quote them. */

const SHOWN = 72;                       /* bytes of a text in a message */

/* Its beginning, with whole characters. */
function shownText(text, most = SHOWN) {
    const bytes = utf8.encode(text);
    let n = Math.min(bytes.length, most);
    while (n < bytes.length && (bytes[n] & 0xC0) === 0x80)
        n--;
    return fromUtf8.decode(bytes.subarray(0, n));
}

/* A double in the digits that read back, from 15 on, as printf's %g writes them. */
function spelledNumber(x) {
    if (!Number.isFinite(x))
        return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
    const digits = [15, 16, 17].find((n) => Number(x.toPrecision(n)) === x), sign = Object.is(x, -0) ? "-" : "";
    const [mantissa, power] = x.toExponential(digits - 1).split("e"), short = (s) => s.replace(/\.?0+$/, "");
    if (power < -4 || power >= digits)
        return short(mantissa) + "e" + power[0] + power.slice(1).padStart(2, "0");
    const plain = x.toPrecision(digits);
    return sign + (plain.includes(".") ? short(plain) : plain);
}

function spelledString(text) {
    const escape = (c) => c < " " ? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0") : "\\" + c;
    return `"${text.replace(/["\\\0-\x1F]/g, escape)}"`;
}

function spelledIndex({ form, lo, hi, token }) {
    return form === "all" ? "*" : form === "back" ? `-${lo}` : form === "token" ? spelledString(token) :
        form !== "range" ? form : hi > lo ? `${lo}-${hi}` : String(lo);
}

function spelledPlace({ layered, layers, heads, neurons, name, by }) {
    const list = (before, items) => items ? before + items.map(spelledIndex).join(",") : "";
    const chosen = Object.entries(by).map(([word, items]) => list(word + "=", items));
    const dot = layered && name !== null ? "." : "";
    return list("L", layers) + list("H", heads) + list("N", neurons) + dot + (name ?? "") +
        (chosen.length ? `[${chosen.join(",")}]` : "");
}

const spelledSource = ({ ids, text }) => ids ? `ids(${ids.join(",")})` : `text(${spelledString(text)})`;

function spelledValue({ form, number, sigma, seed, of }) {
    const factor = form === "number" ? spelledNumber(number) : number === 1 ? "" : spelledNumber(number) + "*";
    const rest = { number: () => "", uniform: () => "uniform", noise: () => `noise(${spelledNumber(sigma)},${seed})`,
                   source: () => spelledSource(of), mean: () => `mean(${spelledSource(of)})`,
                   proj: () => `proj(${spelledSource(of)})` };
    return factor + rest[form]();
}

const spelledEdit = ({ place, op, value }) => `${spelledPlace(place)} ${op} ${spelledValue(value)}`;
