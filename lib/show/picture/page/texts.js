"use strict";
/* What the page says, in its language.  Scripts say it in English; a page in another language has a dictionary of that
 * beside its numbers.  Values stand in place of each %s, and in that of %2$s, as a translation may have it, the second. */

const texts = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");

/* Of a text that comes with the numbers. */
const said = (english) => Object.hasOwn(texts, english) ? texts[english] : english;

function tr(english, ...values) {
    let next = 0;
    return said(english).replace(/%(?:(\d)\$)?s/g, (_, place) => String(values[place ? place - 1 : next++]));
}
