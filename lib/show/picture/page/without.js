"use strict";
/* What comes next without a head: a button at the head, both predictions side by side, and in the overview how much each head
 * matters.
 *
 * page.without: { layer, head, kl, next } of each head. */

const ablated = new Map(page.without.map((w) => [w.layer + "," + w.head, w]));
const worst = page.without.reduce((a, b) => (b.kl ?? -1) > (a.kl ?? -1) ? b : a);
const klText = (kl) => kl === null ? tr("unknown, as a logit is not finite") : tr("%s nats", shortNumber(kl));
const briefKl = (kl) => kl > 0 && kl < 0.1 ? kl.toPrecision(2) : fixed(kl, 2);
state.without = false;

const withoutButton = element("button", { type: "button", id: "without", textContent: tr("Without this head") });
const withoutSays = element("output", { id: "without-says" });
const columnOf = (id) => element("div", {}, element("h3", { id }), element("ol", { className: "next", id: id + "-list" }));
const both = element("div", { className: "both", id: "next-both" }, columnOf("next-before"), columnOf("next-without"));

$("head").querySelector(".readout").before(element("p", { className: "without", id: "without-line" }, withoutButton, withoutSays));
$("next-list").after(both);
$("heads").before(element("p", { className: "hint", id: "without-hint" }, worst.kl === null ? "" :
    tr("The bar below a head: how far the next token’s probabilities move without it, KL up to %s (%s).", klText(worst.kl),
       shortName(worst.layer, worst.head))));
document.querySelector("main").prepend($("next"));
document.querySelector("main").classList.add("asked", "next-first");
withoutButton.addEventListener("click", () => change({ without: !state.without }));

/* What the head's own line says: where the likeliest token goes. */
function withoutText(w) {
    const [was, is] = [page.next[0], w.next[0]];
    const named = (t) => `“${tokenLabel(t)}” ${shareText(t.p)}`;
    return was && is ? tr("KL %s; likeliest next %s, with it %s", klText(w.kl), named(is), named(was)) : tr("KL %s", klText(w.kl));
}

function drawWithout() {
    const w = ablated.get(state.layer + "," + state.head), on = Boolean(w && state.without);
    $("without-line").hidden = !w;
    withoutButton.setAttribute("aria-pressed", state.without);
    withoutSays.textContent = on ? withoutText(w) : "";
    $("next-list").hidden = on;
    both.hidden = !on;
    drawNext();
    if (!on)
        return;
    const name = headName(w.layer, w.head);
    $("next-after").textContent = tr("What the model expects, with all heads and without %s. KL(with || without): %s.", name,
                                      klText(w.kl));
    $("next-before").textContent = tr("With all heads");
    $("next-without").textContent = tr("Without %s", name);
    $("next-before-list").replaceChildren(...page.next.map(likelyItem));
    $("next-without-list").replaceChildren(...w.next.map(likelyItem));
}

overview.decorate = (button, { layer, head }) => {
    const w = ablated.get(layer + "," + head);
    if (!w)
        return;
    const bar = element("i", { className: "kl" });
    bar.style.setProperty("--share", 100 * (w.kl ?? 0) / (worst.kl || 1) + "%");
    button.append(bar);
    overview.say(button, tr(": KL %s without it", klText(w.kl)));
};

columns.push({ name: "KL", title: tr("how far the next token’s probabilities move without the head, in nats"),
               by: (r) => ablated.get(r.layer + "," + r.head)?.kl ?? NaN,
               text: (r) => briefKl(ablated.get(r.layer + "," + r.head)?.kl ?? NaN) });
extras.push(drawWithout);
