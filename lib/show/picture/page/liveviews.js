"use strict";
/* The controls of a page that computes, the derivation of a weight, and a sentence that is pinned beside this one. */

function button(id, text, onclick, title = "") {
    return element("button", { type: "button", id, textContent: text, onclick, title });
}

function labelled(text, control) {
    return element("label", {}, text + " ", control);
}

const liveControls = element("fieldset", { id: "live-controls", disabled: true },
    element("label", { id: "live-label", htmlFor: "live-text" }, tr("Text") + " "),
    element("textarea", { id: "live-text", rows: 2, spellcheck: false, oninput: (e) => ask({ text: e.target.value }) }),
    element("p", { id: "live-says", aria: { role: "status" } }),
    element("p", { id: "live-note" }),
    bitsLine(),
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
        element("label", { htmlFor: "live-edits" }, tr("Edits, one a line, as after --edit: %s", page.editExample)),
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
    if ($("live-kinds"))
        return;
    $("live-kind").setAttribute("list", "live-kinds");
    $("live-kind").after(element("datalist", { id: "live-kinds" },
        ...live.session.kinds.map(({ example, form, note }) => element("option", { value: example, label: note ? `${form}: ${note}` : form }))));
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

live.weight = null;                     /* { of: an answer, at: which weight, what the engine says of it } */

const weightAt = () => [state.layer, state.head ?? 0, ...explained].join();
const explainsNow = () => live.weight?.of === live.answer && live.weight.at === weightAt();

/* What the engine says of a weight, as derivation.js has it. */
function partsOf({ weight, seen, softmax, terms, dot, scale, bias, cap, score, sum, keys }) {
    if (!seen)
        return { weight, says: [tr("The query does not see this key: its weight is 0.")] };
    if (!softmax)
        return { weight, says: [tr("Linear attention has no softmax: the weight is φ(q)·φ(k), divided by the sum of these over all keys seen.")] };
    return { weight, terms, dot, scale, score, sum, seen: keys,
             more: (bias ? ` + ${numberText(bias)}` : "") + (cap > 0 ? tr(", bounded by %s", cap) : "") };
}

const storedParts = weightParts;
weightParts = (r, c) => live.answer ? partsOf({ ...live.weight, weight: shownWeight(r, c) }) : storedParts(r, c);

const drawShownDerivation = drawDerivation;
drawDerivation = async function drawLiveDerivation() {
    if (!live.answer || !canExplain()) {
        drawShownDerivation();
        return;
    }
    const { answer } = live, [query, key] = explained, at = weightAt(), where = { layer: state.layer, head: state.head ?? 0, query, key };
    if (!explainsNow()) {
        const said = await follow({ ask: "weight", ...where });
        if (!said || answer !== live.answer || !canExplain() || at !== weightAt())
            return;
        live.weight = { ...said, of: answer, at };
    }
    drawShownDerivation();
    drawWeightChange(where);
};

function drawWeightChange(where) {
    const { weight, edited } = live.weight;
    if (edited)
        $("derivation").append(element("p", { textContent: tr("Edits of this layer may have changed what stands here.") }));
    const another = element("input", { type: "number", id: "live-weight", min: 0, max: 1, step: 0.05, value: Number(weight.toFixed(3)) });
    $("derivation").append(element("div", { className: "row" }, labelled(tr("Change it to"), another),
        button("live-set", tr("Set"), () => setWeight(where)), tr("the others of the row share the rest")));
}

/* As edits, so that a command can do the same; the engine knows which. */
async function setWeight(where) {
    const to = Number($("live-weight").value);
    if (!(to >= 0 && to <= 1)) {
        sayWrong(new Error(tr("A weight is a number from 0 to 1")));
        return;
    }
    const said = await follow({ ask: "weight", ...where, to });
    if (!said)
        return;
    $("live-more").open = true;
    ask({ edits: [live.asked.edits.trim(), ...said.edits].filter(Boolean).join("\n") });
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

if (lens)
    lensIsCurrent = () => live.answer ? live.lensOf === live.answer : Boolean(page.lens);

/* Layer, head and kind may change without anything being computed. */
extras.push((changes) => {
    if (!live.session)
        return;
    drawSwitches();
    if (live.answer) {
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
