"use strict";
/* How far a mistyped name is from a known one, as base/near.c counts it: the edit distance over characters, where
 * swapping two neighbours is one slip, in half slips: a letter in the wrong case costs one. */

const NEAR_LONGEST = 64, SLIP = 2, OTHER_CASE = 1;

/* The characters of a name as they are and in small letters; null: it is too long to be compared. */
function lettersOf(name) {
    const asIs = Array.from(name), lower = asIs.map((c) => String.fromCodePoint(c.toLowerCase().codePointAt(0)));
    return asIs.length > NEAR_LONGEST ? null : { asIs, lower };
}

function slipsBetween(a, b) {
    const rows = [b.asIs.map((_, j) => SLIP * (j + 1))];
    rows[0].unshift(0);
    for (let i = 1; i <= a.asIs.length; i++) {
        const row = [SLIP * i], [x, before] = [a.asIs[i - 1], a.asIs[i - 2]];
        for (let j = 1; j <= b.asIs.length; j++) {
            const y = b.asIs[j - 1], cost = x === y ? 0 : a.lower[i - 1] === b.lower[j - 1] ? OTHER_CASE : SLIP;
            row.push(Math.min(rows[i - 1][j] + SLIP, row[j - 1] + SLIP, rows[i - 1][j - 1] + cost));
            if (i > 1 && j > 1 && x === b.asIs[j - 2] && before === y)
                row[j] = Math.min(row[j], rows[i - 2][j - 2] + SLIP);
        }
        rows.push(row);
    }
    return rows.at(-1).at(-1);
}

/* The known name that was probably meant, of several the first; null: each is too far away.  A known name is a text, or
 * { name, means }, where means(typed) says whether others call it so. */
function nearestName(typed, known) {
    const letters = lettersOf(typed);
    let best = null, below = Infinity;
    for (const k of known) {
        const name = k.name ?? k, other = letters && lettersOf(name);
        const long = other && Math.max(letters.asIs.length, other.asIs.length);
        const slips = k.means?.(typed) ? 0 : !other ? Infinity : slipsBetween(letters, other);
        if (slips < below && (slips === 0 || slips <= SLIP * Math.floor((long + 1) / 3) + OTHER_CASE))
            [best, below] = [k, slips];
    }
    return best;
}
