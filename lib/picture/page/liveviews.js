"use strict";
/* The controls of a page that computes, the derivation of a weight, and a sentence that is pinned beside this one. */

function button(id, text, onclick, title = "") {
    return element("button", { type: "button", id, textContent: text, onclick, title });
}

/* What the page's numbers are where they are not the program's, and what cannot be typed. */
function noteOf({ w, coder }) {
    return [w.blocks && tr("The model stores weights as %s. This page computes with them rounded to float16, as the command " +
        "convert writes them: its numbers are those of the converted model, and differ a little from what the program computed.", w.blocks),
        coder.composes && tr("This model’s tokenizer brings a text into its normal form (NFC). This page reads texts that are in it " +
        "already, as nearly all are, without marks of their own (an accent behind its letter); the program reads all.")]
        .filter(Boolean).join(" ");
}

function labelled(text, control) {
    return element("label", {}, text + " ", control);
}

const liveControls = element("fieldset", { id: "live-controls", disabled: true },
    element("label", { id: "live-label", htmlFor: "live-text" }, tr("Text") + " "),
    element("textarea", { id: "live-text", rows: 2, spellcheck: false, oninput: (e) => ask({ text: e.target.value }) }),
    element("p", { id: "live-says", aria: { role: "status" } }),
    element("p", { id: "live-note" }),
    element("p", { id: "live-progress", hidden: true }, tr("computing") + " ", element("progress", { aria: { label: tr("Computing") } })),
    element("div", { className: "row" },
        button("live-head", tr("Switch this head off"), () => toggleHeads([here()], !isOff(here()))),
        button("live-layer", tr("Switch this layer off"), toggleLayer),
        button("live-all", tr("All heads on"), () => ask({ off: [] })),
        element("label", { className: "check" },
                element("input", { type: "checkbox", id: "live-clicks", onchange: (e) => { live.clicks = e.target.checked; } }),
                " " + tr("a click on a small head switches it"))),
    element("div", { className: "row" },
        button("live-write", tr("Let it write"), write),
        labelled(tr("tokens"), element("input", { type: "number", id: "live-count", min: 1, max: 500, value: 12 })),
        labelled(tr("temperature"), element("input", { type: "range", id: "live-temperature", min: 0, max: 2, step: 0.1, value: 0,
            oninput: (e) => { $("live-degree").textContent = e.target.value; } })),
        element("output", { id: "live-degree", textContent: "0" }),
        labelled(tr("seed"), element("input", { type: "number", id: "live-seed", min: 0, value: 0 })),
        button("live-pin", tr("Pin this sentence"), pin)),
    element("details", { id: "live-more" }, element("summary", { textContent: tr("Edits, kinds of attention, command and link") }),
        element("label", { htmlFor: "live-edits" }, tr("Edits, one a line, as after --edit: %s", "L1H2[pos=-1] *= 0.5")),
        element("textarea", { id: "live-edits", rows: 2, spellcheck: false, oninput: (e) => ask({ edits: e.target.value }) }),
        element("div", { className: "row" },
            labelled(tr("Attention"), element("input", { id: "live-kind", size: 16, onfocus: listKinds,
                                                   oninput: (e) => ask({ attention: e.target.value }) })),
            labelled(capital(tr("scale")), element("input", { id: "live-scale", size: 8, placeholder: tr("the model’s"),
                                               oninput: (e) => ask({ scale: e.target.value }) })),
            button("live-command", tr("As a command"), () => drawOut("command")),
            button("live-link", tr("As a link"), () => drawOut("link"))),
        element("output", { id: "live-out" })));

const liveSection = element("section", { id: "live", aria: { labelledby: "live-title" } },
    element("h2", { id: "live-title", textContent: tr("Type, and see it change") }), liveControls);
document.querySelector("header").after(liveSection);
document.querySelector("main").prepend($("next"));
document.querySelector("main").classList.add("next-first");

/* The browser offers them while one types. */
function listKinds() {
    const examples = { w: 4, s: 4, r: 2, b: 4, seed: 0 };
    if ($("live-kinds"))
        return;
    $("live-kind").setAttribute("list", "live-kinds");
    $("live-kind").after(element("datalist", { id: "live-kinds" }, ...Object.entries(KINDS).map(([form, { numbers }]) =>
        element("option", { value: form + (numbers.length ? ":" + numbers.map((n) => examples[n]).join(",") : "") }))));
}

const list = (id) => element("ol", { className: "next", id });
$("next-list").after(element("div", { className: "live-both", id: "live-both", hidden: true },
    element("div", {}, element("h3", { textContent: tr("As the model is") }), list("live-before")),
    element("div", {}, element("h3", { textContent: tr("With the changes") }), list("live-after"))));

/* ---- heads ---- */

const here = () => `${state.layer},${state.head}`;

function toggleLayer() {
    const heads = headsOfLayer(state.layer);
    return toggleHeads(heads, !heads.every(isOff));
}

const decorateBefore = overview.decorate, pickBefore = overview.onPick;
overview.decorate = (b, cell) => {
    decorateBefore?.(b, cell);
    if (!isOff(`${cell.layer},${cell.head}`))
        return;
    b.classList.add("off");
    overview.say(b, tr(", off"));
};
overview.onPick = (layer, head) => {
    pickBefore(layer, head);
    if (live.clicks && live.session && layer !== null && head !== null)
        toggleHeads([`${layer},${head}`], !isOff(`${layer},${head}`));
};

function drawSwitches() {
    const can = live.session && state.layer !== null && state.head !== null;
    for (const id of ["live-head", "live-layer"])
        $(id).disabled = !can;
    const place = [state.head ?? "", state.layer ?? ""];
    $("live-head").textContent = isOff(here()) ? tr("Switch head %s of layer %s on", ...place) : tr("Switch head %s of layer %s off", ...place);
    if (can)
        $("live-layer").textContent = headsOfLayer(state.layer).every(isOff) ? tr("Switch layer %s on", state.layer)
            : tr("Switch layer %s off", state.layer);
    $("live-all").disabled = !live.asked?.off.length;
}

/* ---- where a weight comes from, and another in its place ---- */

const storedParts = weightParts;

/* All of it, as this page computes. */
weightParts = function computedParts(r, c) {
    if (!live.answer)
        return storedParts(r, c);
    const { pass } = live.answer, { w, T } = pass, { dh, H, Hkv } = w.n, [layer, h] = [state.layer, state.head ?? 0], b = w.block[layer];
    const weight = shownWeight(r, c), q = pass.get("attn.q", layer), k = pass.get("attn.k", layer), kv = Math.floor(h / (H / Hkv));
    const terms = Array.from({ length: dh }, (_, i) => [q.data[r * q.cols + h * dh + i], k.data[c * k.cols + kv * dh + i]]);
    const kind = kindIn(pass.kind, w.causal, b.window), scale = kindScale(pass.kind, b.scale, dh), [lo, hi] = seenBy(kind, r, T);
    const dotOf = (key) => Array.from({ length: dh }, (_, i) => fround(q.data[r * q.cols + h * dh + i] * k.data[key * k.cols + kv * dh + i]))
        .reduce((sum, x) => fround(sum + x), 0);
    const biasOf = (key) => pass.bias?.[h]?.[key] ?? 0;
    const scoreOf = (key) => { const x = f32(f32(dotOf(key) * scale) + biasOf(key)); return w.cap > 0 ? capped(x, w.cap) : x; };
    if (c < lo || c >= hi || (KINDS[kind.form].pick && !picked(kind, r, T).includes(c)))
        return { weight, says: [tr("The query does not see this key: its weight is 0.")] };
    if (kind.form === "linear")
        return { weight, says: [tr("Linear attention has no softmax: the weight is φ(q)·φ(k), divided by the sum of these over all keys seen.")] };
    const keys = KINDS[kind.form].pick ? picked(kind, r, T) : Array.from({ length: hi - lo }, (_, i) => lo + i);
    return { weight, terms, dot: dotOf(c), scale, score: scoreOf(c), sum: keys.reduce((sum, key) => sum + Math.exp(scoreOf(key)), 0),
             seen: keys.length, more: (biasOf(c) ? ` + ${numberText(biasOf(c))}` : "") + (w.cap > 0 ? tr(", bounded by %s", w.cap) : "") };
};

function rowOf(pass, layer, head, r) {
    const { T } = pass;
    return pass.get("attn.pattern", layer).data.subarray((head * T + r) * T, (head * T + r + 1) * T);
}

const drawShownDerivation = drawDerivation;
drawDerivation = function drawLiveDerivation() {
    drawShownDerivation();
    if ($("derivation").hidden || !live.answer)
        return;
    const { pass } = live.answer, [r, c] = explained, [layer, head] = [state.layer, state.head ?? 0], row = rowOf(pass, layer, head, r);
    const [lo, hi] = seenBy(kindIn(pass.kind, pass.w.causal, pass.w.block[layer].window), r, pass.T);
    if (["attn.dots", "attn.scores", "attn.pattern"].some((act) => pass.editor?.edits(act, layer)))
        $("derivation").append(element("p", { textContent: tr("Edits of this layer may have changed what stands here.") }));
    const another = element("input", { type: "number", id: "live-weight", min: 0, max: 1, step: 0.05, value: Number(row[c].toFixed(3)) });
    $("derivation").append(element("div", { className: "row" }, labelled(tr("Change it to"), another),
        button("live-set", tr("Set"), () => setWeight(layer, head, r, c, row, lo, hi)), tr("the others of the row share the rest")));
};

/* As two edits, so that a command can do the same: one weight is set, and the others are scaled. */
function setWeight(layer, h, r, c, row, lo, hi) {
    const x = Number($("live-weight").value), rest = 1 - row[c], place = (keys) => `L${layer}H${h}.pattern[pos=${r},key=${keys}]`;
    const others = [[lo, c - 1], [c + 1, hi - 1]].filter(([a, b]) => b >= a).map(([a, b]) => a === b ? a : `${a}-${b}`).join(",");
    if (!(x >= 0 && x <= 1)) {
        sayWrong(new Error(tr("A weight is a number from 0 to 1")));
        return;
    }
    const lines = [`${place(c)} = ${x}`];
    if (others && rest > 0)
        lines.push(`${place(others)} *= ${(1 - x) / rest}`);
    $("live-more").open = true;
    ask({ edits: [live.asked.edits.trim(), ...lines].filter(Boolean).join("\n") });
}

/* ---- a pinned sentence beside this one ---- */

const map = (id) => element("div", { className: "heat", id, tabIndex: 0, aria: { role: "img" } });
const pinnedSection = element("section", { id: "pinned", hidden: true, aria: { labelledby: "pinned-title" } },
    element("h2", { id: "pinned-title", textContent: tr("Pinned") }),
    element("p", { className: "readout" }, element("output", { id: "pinned-value" })),
    element("div", { className: "pinned" },
        element("div", {}, element("h3", { id: "pinned-name" }), map("pinned-map")),
        element("div", {}, element("h3", { textContent: tr("This minus pinned") }), map("pinned-minus"))));
document.querySelector("main").append(pinnedSection);

function pinnedHeat(id) {
    const describe = (r, c) => `${placeName(view.rowLabels[r], r)} → ${placeName(view.colLabels[c], c)}: ` +
        numberText(view.shade.m.at(r, c));
    const onPoint = (r, c) => { $("pinned-value").textContent = r < 0 ? "" : describe(r, c); };
    const view = new Heat($(id), { describe, onPoint, onPick: () => {} });
    return view;
}

const pinnedMaps = { map: pinnedHeat("pinned-map"), minus: pinnedHeat("pinned-minus") };

function pin() {
    live.pinned = live.pinned ? null : live.answer;
    $("live-pin").textContent = live.pinned ? tr("Unpin") : tr("Pin this sentence");
    drawPinned();
    drawDiffering();
}

function drawPinned() {
    const sheet = live.pinned && original.sheets.find((s) => s.kind === state.kind && s.layer === state.layer && s.keys);
    pinnedSection.hidden = !sheet;
    if (!sheet)
        return;
    const head = sheet.heads ? Math.max(sheet.heads.indexOf(state.head), 0) : 0, name = headName(state.layer, state.head);
    $("pinned-title").textContent = page.text === null ? tr("Pinned: ids") : tr("Pinned: “%s”", live.pinned.asked.text);
    $("pinned-name").textContent = capital(said(sheet.title)) + tr(", ") + name;
    for (const [id, minus] of [["map", null], ["minus", live.pinned]]) {
        const of = minus ? live.answer : live.pinned, m = new LiveSheet(sheet, of, minus).matrix(head);
        const labels = labelsOf(of.tokens, m.rows), view = pinnedMaps[id];
        view.host.setAttribute("aria-label", minus ? tr("Difference: %s, %s queries by %s keys", name, m.rows, m.cols)
            : tr("Pinned: %s, %s queries by %s keys", name, m.rows, m.cols));
        view.show({ shade: new Shade(m, chosenManner([extent(m, 0)], 0, m.cols)), rowLabels: labels, colLabels: labels,
                    rowAxis: axisName("queries"), colAxis: axisName("keys"), attends: true, tallest: Infinity });
    }
}

if (page.lens)
    lensIsCurrent = () => !live.answer || live.lensOf === live.answer;

/* Layer, head and kind may change without anything being computed. */
extras.push((changes) => {
    if (!live.session)
        return;
    drawSwitches();
    if (live.answer && live.ready) {
        drawLiveNext();
        drawPinned();
    }
    if (changes && "tab" in changes)
        drawLiveLens();
});

window.addEventListener("hashchange", () => {
    const asked = askedIn(live.address = location.hash);
    if (live.ready && location.hash.includes("="))
        ask({ ...live.session.begun, ...asked });       /* a link says what differs from how the page began */
});
