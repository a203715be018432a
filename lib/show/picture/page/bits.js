"use strict";
/* Which bits the page computes: those of the program, unless a whole pass would take too long with them. */

const FIRST_ADDRESS = location.hash;    /* before page.js writes its own into it */
const OWN_BITS = "default", OTHER_BITS = "generic";
const TOO_SLOW = 250;                   /* milliseconds of a whole pass */

/* slow: how long a token of a whole pass takes with the program's own bits; null: not known.  own: somebody wants these. */
const bits = { slow: null, own: false };

/* How long a whole pass over so many tokens would take with the program's own bits. */
const wholePass = (tokens) => (bits.slow ?? 0) * tokens;

function bitsToAsk() {
    const { head } = live.session;
    return head.bits !== OWN_BITS || bits.own || wholePass(live.answer?.tokens.length ?? 0) <= TOO_SLOW ? head.bits : OTHER_BITS;
}

/* The first pass is slower than those that follow, and a few rows are slower than many: the quickest counts. */
function measureBits({ milliseconds, rows, edited, bits: computed }) {
    const took = milliseconds / (rows * (edited ? 2 : 1));
    if (computed === OWN_BITS && rows > 1)
        bits.slow = Math.min(took, bits.slow ?? took);
}

/* Whether a text became so short that its numbers may have the program's bits. */
const wantsOwnBits = (answer) => answer.bits !== live.session.head.bits && wholePass(answer.tokens.length) <= TOO_SLOW;

/* A note while other bits are computed, and a switch. */
function drawBits() {
    const { answer, session } = live, other = answer.bits !== session.head.bits;
    $("live-bits").hidden = !other && !bits.own;
    $("live-bits-says").textContent = other ? tr("The last digits are not the program’s, but those of ATTN_SIMD=generic: a whole pass over this " +
        "text takes some %s ms with the program’s own.", Math.round(wholePass(answer.tokens.length))) : "";
    $("live-bits-own").checked = bits.own;
}

const bitsLine = () => element("p", { id: "live-bits", className: "hint", hidden: true },
    element("output", { id: "live-bits-says" }), " ",
    element("label", { className: "check" },
            element("input", { type: "checkbox", id: "live-bits-own", onchange: (e) => { bits.own = e.target.checked; recompute(); } }),
            " " + tr("the program’s own digits, however long it takes")));
