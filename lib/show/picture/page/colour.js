"use strict";
/* From a value to a colour.
 *
 * A scale says how large a value counts, 0 to 1 (signed for values that may be negative); a palette
 * turns that into a colour. */

const SCALES = { linear: tr("linear"), sqrt: tr("square roots"), log: tr("logarithmic, four decades"),
                 row: tr("each row divided by its largest") };
const DECADES = 4;

function rgb(hex) {
    const n = parseInt(hex.replace("#", ""), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
}

const themed = new Map();               /* each question computes the style of the page */

function themeColour(name) {
    const { theme } = document.documentElement.dataset, key = `${theme} ${name}`;
    if (!themed.has(key))
        themed.set(key, rgb(getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()));
    return themed.get(key);
}

/* As a canvas holds it: little-endian RGBA. */
function pixelOf([r, g, b]) {
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

/* Colours from stop to stop in straight lines. */
function blend(stops, n = 240) {
    return Uint32Array.from({ length: n }, (_, i) => {
        const at = i / (n - 1) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
        return pixelOf(stops[k].map((x, j) => Math.round(x + (stops[k + 1][j] - x) * (at - k))));
    });
}

/* The colours of a palette of the page; null: those of the theme, which on white are those of figures.  Values with a
 * sign need a palette with a middle: that of the theme where the one chosen has none. */
function rampOf(palette, signed) {
    const light = document.documentElement.dataset.theme !== "dark", own = page.palettes[signed ? "balance" : "blues"];
    const chosen = palette && palette.diverges >= signed ? palette : light ? own : null;
    if (chosen)
        return Uint32Array.from(chosen.colours.match(/.{6}/g), (hex) => pixelOf(rgb(hex)));
    return blend((signed ? ["minus", "zero", "plus"] : ["low", "high"]).map(themeColour));
}

/* Whether text on this pixel is read better in white: by its luminance, as attn_is_bright() of the pictures. */
function isDark(pixel) {
    const [r, g, b] = [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];
    return 2126 * r * r + 7152 * g * g + 722 * b * b <= 149300000;
}

function cssColour(pixel) {
    return "#" + [pixel, pixel >> 8, pixel >> 16].map((x) => (x & 255).toString(16).padStart(2, "0")).join("");
}

/* The largest finite magnitude of what is shown, of all or of one row, and whether any is negative. */
function extent(m, skip, row) {
    let low = 0, high = 0;
    for (let r = row ?? 0, end = row === undefined ? m.rows : row + 1; r < end; r++)
        for (let i = r * m.cols + skip; i < (r + 1) * m.cols; i++) {
            const x = m.data[i];
            if (x > high && x !== Infinity)
                high = x;
            else if (x < low && x !== -Infinity)
                low = x;
        }
    return { top: Math.max(high, -low), signed: low < 0 };
}

/* Patterns of many keys have square roots, so that small weights show, where nobody chose. */
function scaleOf(scale, extents, keys) {
    return scale !== "auto" ? scale : keys > page.look.manyKeys && !extents.some((e) => e.signed) ? "sqrt" : "linear";
}

/* How values become pixels, the same for all heads, so that they can be compared: `top` is what counts as
 * 1, of scale "row" the largest of each row; the first `skip` columns are left out. */
function mannerOf(extents, { scale, palette, skip, keys }) {
    const signed = Boolean(palette?.diverges) || extents.some((e) => e.signed);
    return { scale: scaleOf(scale, extents, keys), skip, signed, top: Math.max(...extents.map((e) => e.top)), ramp: rampOf(palette, signed),
             none: pixelOf(themeColour("none")) };
}

/* A matrix in a manner. */
class Shade {
    constructor(m, manner) {
        Object.assign(this, manner, { m });
        this.tops = Array.from({ length: m.rows }, (_, r) => this.scale === "row" ? extent(m, this.skip, r).top : this.top);
    }

    /* 0 to 1, or -1 to 1; NaN: it has no colour of the scale. */
    size(r, c) {
        if (this.m.at(r, c) === Infinity)
            return NaN;
        const x = this.m.at(r, c), share = Math.min(Math.abs(x) / (this.tops[r] || 1), 1);
        const size = this.scale === "log" ? Math.max(0, 1 + Math.log10(share) / DECADES) : this.scale === "sqrt" ? Math.sqrt(share) : share;
        return x < 0 ? -size : size;
    }

    seen(r, c) {
        return c >= this.skip && !this.m.hidden(r, c) && (this.m.at(r, c) !== -Infinity || this.m.sight !== null);
    }

    /* The colours there are, from the least to the most. */
    get colours() {
        return this.m.sight === null ? this.ramp : [this.ramp[0], this.ramp.at(-1)];
    }

    /* 0, fully transparent: nothing to see. */
    pixel(r, c) {
        if (!this.seen(r, c))
            return 0;
        if (this.m.sight !== null)
            return this.colours[Number(this.m.at(r, c) === this.m.sight)];
        const size = this.size(r, c);
        if (Number.isNaN(size))
            return this.none;
        return this.ramp[Math.round((this.ramp.length - 1) * (this.signed ? (size + 1) / 2 : size))];
    }
}
