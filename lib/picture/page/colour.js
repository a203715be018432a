"use strict";
/* From a value to a colour.
 *
 * A scale says how large a value counts, 0 to 1 (signed for values that may be negative); a palette
 * turns that into a colour. */

const SCALES = { linear: "linear", log: "logarithmic, four decades", row: "each row up to its own largest" };
const DECADES = 4;

function rgb(hex) {
    const n = parseInt(hex.replace("#", ""), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
}

function themeColour(name) {
    return rgb(getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
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

/* The colours of a palette of the page; null: those of the theme.  Values with a sign need a palette with
 * a middle: that of the theme where the one chosen has none. */
function rampOf(palette, signed) {
    if (palette && palette.diverges >= signed)
        return Uint32Array.from(palette.colours.match(/.{6}/g), (hex) => pixelOf(rgb(hex)));
    return blend((signed ? ["minus", "zero", "plus"] : ["low", "high"]).map(themeColour));
}

/* Whether text on this pixel is read better in white. */
function isDark(pixel) {
    const [r, g, b] = [pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255];
    return 0.299 * r + 0.587 * g + 0.114 * b < 140;
}

/* The largest finite magnitude of what is shown, of all or of one row, and whether any is negative. */
function extent(m, skip, row) {
    let top = 0, signed = false;
    for (let r = row ?? 0; r < (row === undefined ? m.rows : row + 1); r++)
        for (let c = skip; c < m.cols; c++) {
            const x = m.at(r, c), size = Math.abs(x);
            signed ||= x < 0 && size !== Infinity;
            if (size > top && size !== Infinity)
                top = size;
        }
    return { top, signed };
}

/* How the values of a matrix become pixels.  `top` is what counts as 1, the same for all heads, so
 * that heads can be compared; scale "row" has one a row.  The first `skip` columns are left out. */
class Shade {
    constructor(m, { scale, palette, top, signed, skip }) {
        Object.assign(this, { m, scale, skip, top });
        this.signed = signed || Boolean(palette?.diverges);
        this.ramp = rampOf(palette, this.signed);
        this.none = pixelOf(themeColour("none"));
        this.tops = Array.from({ length: m.rows }, (_, r) => scale === "row" ? extent(m, skip, r).top : top);
    }

    /* 0 to 1, or -1 to 1. */
    size(r, c) {
        const x = this.m.at(r, c), share = Math.min(Math.abs(x) / (this.tops[r] || 1), 1);
        const size = this.scale === "log" ? Math.max(0, 1 + Math.log10(share) / DECADES) : share;
        return x < 0 ? -size : size;
    }

    /* 0, fully transparent: nothing to see. */
    pixel(r, c) {
        if (c < this.skip || this.m.hidden(r, c))
            return 0;
        const x = this.m.at(r, c);
        if (Number.isNaN(x))
            return this.none;
        if (x === -Infinity)
            return 0;
        const size = this.size(r, c);
        return this.ramp[Math.round((this.ramp.length - 1) * (this.signed ? (size + 1) / 2 : size))];
    }
}
