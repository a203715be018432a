"use strict";
/* What one can do in a page that computes: type, switch heads off, edit, pin, go on writing.  session.js computes; here is what is
 * asked of it, in `live`, and what must be drawn when an answer comes. */

const live = { session: null, asked: null, answer: null, pinned: null, clicks: false, job: 0, writing: false, lensOf: null,
               address: FIRST_ADDRESS, out: "" };
const FAR = 1e-3, BLOCKS_FAR = 0.05;    /* weights that are no more the program's; numbers in blocks are rounded here */
const PATIENCE = 12, SLOW = 300;        /* milliseconds: of a slice of work; until a line says that it takes long */

function element(tag, attributes = {}, ...children) {
    const { aria = {}, ...rest } = attributes, e = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(aria))
        e.setAttribute(name === "role" ? "role" : "aria-" + name, value);
    e.append(...children);
    return e;
}

/* ---- computing in slices, so that typing never waits ---- */

const channel = new MessageChannel(), waiting = [];
channel.port1.onmessage = () => waiting.shift()?.();
const pause = () => new Promise((resolve) => { waiting.push(resolve); channel.port2.postMessage(0); });

/* Runs a generator to its end; undefined: something newer was asked meanwhile. */
async function finishSlowly(steps, job) {
    const start = performance.now();
    for (let from = start; ;) {
        const step = steps.next();
        if (step.done) {
            $("live-progress").hidden = true;
            return step.value;
        }
        const now = performance.now();
        if (now - from < PATIENCE)
            continue;
        $("live-progress").hidden = now - start < SLOW;
        await pause();
        if (job !== live.job)
            return undefined;
        from = performance.now();
    }
}

/* Computes what is asked, and draws it. */
async function recompute() {
    const job = ++live.job;
    if (!live.session)
        return false;
    let answer;
    try {
        answer = await finishSlowly(live.session.answer({ ...live.asked }), job);
    } catch (e) {
        sayWrong(e);
        return false;
    } finally {
        if (job === live.job)
            $("live-progress").hidden = true;
    }
    if (answer)
        showAnswer(answer);
    return Boolean(answer);
}

function sayWrong(e) {
    $("live-says").textContent = e.message;
    $("live-says").className = "wrong";
    $("live-text").setAttribute("aria-invalid", "true");
}

/* ---- what is asked ---- */

function ask(changes) {
    Object.assign(live.asked, changes);
    for (const [key, id] of [["text", "live-text"], ["edits", "live-edits"], ["attention", "live-kind"], ["scale", "live-scale"]])
        if (key in changes && $(id).value !== changes[key])
            $(id).value = changes[key];
    return recompute();
}

function toggleHeads(keys, off) {
    const rest = live.asked.off.filter((key) => !keys.includes(key));
    const order = (key) => key.split(",").reduce((sum, x) => sum * 4096 + Number(x), 0);
    return ask({ off: (off ? [...rest, ...keys] : rest).sort((a, b) => order(a) - order(b)) });
}

const isOff = (key) => live.asked?.off.includes(key);
const headsOfLayer = (layer) => Array.from({ length: live.session.w.n.H }, (_, h) => `${layer},${h}`);

/* ---- an answer ---- */

const original = { sheets: page.sheets };
const nats = (kl) => kl === null ? tr("unknown") : tr("%s nats", shortNumber(kl));

function showAnswer(answer) {
    live.answer = answer;
    const followed = original.sheets.filter((s) => live.session.kinds.includes(s.kind));
    page.sheets = followed.map((s) => new LiveSheet(s, answer));
    page.queries = answer.tokens;
    page.text = live.session.byIds ? null : answer.asked.text;
    page.edits = answer.edits.length ? answer.edits : undefined;
    page.next = answer.after;
    page.noNext = answer.after.length || !live.session.w.unembed ? "" : tr("a logit is not finite");
    words.queries = words.keys = wordsOf(page.queries, page.text);
    if (page.without) {                 /* what was computed of another text */
        ablated.clear();
        $("without-hint").hidden = true;
    }
    drawLiveRanking();
    drawHeading();
    $("sentence").textContent = page.text === null ? tr("Ids %s", answer.tokens.map((t) => t.id).join(", ")) : upright(page.text);
    const left = original.sheets.length - followed.length, T = answer.tokens.length;
    $("live-says").className = "";
    $("live-says").textContent = [T === 1 ? tr("%s token", T) : tr("%s tokens", T),
        live.asked.off.length && tr("off: %s", live.asked.off.map((k) => "L" + k.replace(",", "H")).join(", ")),
        answer.kl !== null && tr("KL from all as it is: %s", nats(answer.kl)),
        left && tr("matrices that are derived from others are not shown now")].filter(Boolean).join(" · ");
    $("live-text").removeAttribute("aria-invalid");
    if (state.query >= answer.tokens.length)
        state.query = -1;
    change({ kind: state.kind });
    drawLiveNext();
    drawPinned();
    drawOut();
    drawLiveLens();
}

/* Whether what stands there is the comparison without a head (without.js), of what the page was made with. */
const comparing = () => page.without && state.without && ablated.has(here());

/* What comes next, before and after the changes; a click appends. */
function drawLiveNext() {
    const { answer } = live, { before, after, edited, kl } = answer;
    if (comparing())
        return;
    drawNext();
    const item = (t) => {
        const li = likelyItem(t);
        li.append(element("button", { type: "button", textContent: tr("append"), onclick: () => append(t.id),
                                      aria: { label: tr("Append %s", tokenLabel(t)) } }));
        return li;
    };
    $("next-list").hidden = edited;
    $("live-both").hidden = !edited;
    $("next-list").replaceChildren(...after.map(item));
    $("live-before").replaceChildren(...(edited ? before.map(item) : []));
    $("live-after").replaceChildren(...(edited ? after.map(item) : []));
    if (edited && after.length)
        $("next-after").textContent = tr("What the model expects, as it is and with the changes. KL(before || after): %s.", nats(kl));
}

function append(id) {
    return ask({ text: live.session.appended(live.answer, id) });
}

/* The lens follows when its tab is open. */
async function drawLiveLens() {
    if (!page.lens || state.tab !== "lens" || live.lensOf === live.answer || !live.answer)
        return;
    const { answer, job } = live, rows = await finishSlowly(live.session.lens(answer), job);
    if (!rows || answer !== live.answer)
        return;
    live.lensOf = answer;
    page.lens = rows;
    stale = false;
    lens.cursor = [rows.length - 1, answer.tokens.length - 1];
    lens.draw();
}

/* ---- writing on ---- */

async function write() {
    if (live.writing) {
        live.writing = false;
        return;
    }
    const temperature = Number($("live-temperature").value);
    const seed = /^\d{1,20}$/.test($("live-seed").value) ? $("live-seed").value : "0";
    const sampler = new Sampler(temperature, seed), { ends } = live.session.json, { n_ctx: most } = live.session.w.n;
    live.writing = true;
    $("live-write").textContent = tr("Stop writing");
    const can = () => live.writing && live.answer.tokens.length < most && live.answer.pass.last;
    for (let i = 0; can() && i < Number($("live-count").value); i++) {
        const id = sampler.next(live.answer.pass.last);
        if (ends.includes(id) || !await append(id))
            break;
    }
    live.writing = false;
    $("live-write").textContent = tr("Let it write");
}

/* ---- as a command, as a link ---- */

const quoted = (text) => /^[\w./,:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function commandOf({ text, off, edits, attention, scale }, { byIds, json }) {
    const parts = ["attn-cli", "run", "-m", quoted(json.named), byIds ? "--ids" : "-s", quoted(text)];
    if (off.length)
        parts.push("--ablate", off.map((key) => "L" + key.replace(",", "H")).join(","));
    for (const line of edits.split("\n").filter((l) => l.trim() && !l.trim().startsWith("#")))
        parts.push("--edit", quoted(line.trim()));
    if (attention.trim() && attention.trim() !== "model")
        parts.push("--attention", quoted(attention.trim()));
    if (scale.trim())
        parts.push("--scale", quoted(scale.trim()));
    if (json.dropout > 0)
        parts.push("--dropout", String(json.dropout), "--seed", json.dropoutSeed);
    return parts.join(" ");
}

/* The command or the link goes on as what is asked does. */
function drawOut(out = live.out) {
    live.out = out;
    if (out === "link")
        rememberAll();
    $("live-out").textContent = out === "command" ? commandOf(live.asked, live.session) : out === "link" ? location.href : "";
}

/* What differs from how the page began. */
function linkParts() {
    const begun = live.session?.begun, parts = [];
    for (const key of ["text", "off", "edits", "attention", "scale"]) {
        const value = String(live.asked?.[key] ?? "").replace(/\p{Cs}/gu, "\uFFFD"), first = String(begun?.[key] ?? "");
        if (live.answer && value !== first)
            parts.push(`${key}=${encodeURIComponent(key === "off" ? live.asked.off.join(";") : value)}`);
    }
    return parts;
}

const rememberHead = rememberPlace;
let rememberLater = 0;                  /* browsers count how often the address changes: not with every keystroke */

rememberPlace = function rememberSoon() {
    clearTimeout(rememberLater);
    rememberLater = setTimeout(rememberAll, SLOW);
};

function rememberAll() {
    if (!live.ready && live.session)
        return;
    rememberHead();
    const parts = linkParts(), head = location.hash.slice(1);
    if (!parts.length)
        return;
    try {
        history.replaceState(null, "", "#" + [head, ...parts].filter(Boolean).join("&"));
    } catch {
        /* a page inside another has no address of its own */
    }
}

function askedIn(address) {
    const found = new URLSearchParams(address.slice(1)), asked = {};
    for (const key of ["text", "edits", "attention", "scale"])
        if (found.has(key))
            asked[key] = found.get(key);
    if (found.has("off"))
        asked.off = found.get("off").split(";").filter((key) => /^\d+,\d+$/.test(key));
    return asked;
}

/* ---- the beginning ---- */

async function startLive() {
    const says = $("live-says");
    says.textContent = tr("Opening the model …");
    try {
        live.session = await openSession();
        live.asked = { ...live.session.begun };
        const first = await finishSlowly(live.session.answer(live.session.begun), live.job);
        const far = first ? live.session.difference(first) : 0;
        if (!(far < (live.session.w.blocks ? BLOCKS_FAR : FAR)))
            throw new Error(tr("What this page computes differs from what the program computed, by %s: it only shows", shortNumber(far)));
        live.first = first;
    } catch (e) {
        live.session = null;
        sayWrong(e);
        $("live-controls").disabled = true;
        return;
    }
    $("live-note").textContent = noteOf(live.session);
    if (live.session.byIds)
        $("live-label").firstChild.textContent = (page.text === null ? tr("Ids")
            : tr("Ids, as this page does not do %s", live.session.coder.why)) + " ";
    for (const [key, id] of [["text", "live-text"], ["edits", "live-edits"], ["attention", "live-kind"], ["scale", "live-scale"]])
        $(id).value = live.asked[key];
    $("live-controls").disabled = false;
    says.textContent = tr("Type: everything follows.");
    live.answer = live.lensOf = live.first;
    live.first = null;
    const begin = askedIn(live.address);
    if (Object.keys(begin).length)
        await ask(begin);
    else {
        drawLiveNext();
        extras.forEach((draw) => draw({}));
    }
    live.ready = true;
}
