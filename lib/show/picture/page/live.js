"use strict";
/* What one can do in a page that computes: type, switch heads off, edit, pin, go on writing.  The engine computes (engine.js); here
 * is what is asked of it, in `live`, and what must be drawn when an answer comes. */

const live = { session: null, asked: null, answer: null, pinned: null, clicks: false, job: 0, writing: false, lensOf: null,
               address: FIRST_ADDRESS, out: "" };
/* The control of each part of what is asked. */
const CONTROLS = { text: "live-text", edits: "live-edits", attention: "live-kind", scale: "live-scale" };

/* ---- asking ---- */

/* undefined: the engine is at nothing that takes long; null: nobody knows how much of it is done. */
function showProgress(share) {
    const bar = $("live-progress").querySelector("progress");
    $("live-progress").hidden = share === undefined;
    if (share === null || share === undefined)
        bar.removeAttribute("value");
    else
        bar.value = share;
}

/* The engine reads all of it: nothing is parsed here. */
function questionOf({ text, append, off, edits, attention, scale }) {
    const { byIds, head, keep } = live.session;
    return { ask: "run", [byIds ? "ids" : "text"]: text, ...append === undefined ? {} : { append }, off, edits: edits.split("\n"),
             attention, scale, dropout: head.dropout, seed: head.dropoutSeed, keep, bits: bitsToAsk() };
}

/* Runs what is asked; undefined: something newer was asked. */
async function run(asked) {
    const question = questionOf(asked), said = await live.session.engine.ask(question);
    if (!said)
        return undefined;
    const { append, ...rest } = asked, answer = new Answer({ ...rest, text: said.answer.text ?? said.answer.ids }, question.bits, said);
    measureBits(answer);
    return answer;
}

/* What is asked of the last run; undefined: something newer was asked, null: there is no answer, and `failed` hears why. */
async function follow(question, failed = sayWrong) {
    const { answer } = live;
    try {
        const said = await live.session.engine.ask(question);
        return live.answer === answer ? said?.answer : undefined;
    } catch (e) {
        failed(e);
        return null;
    }
}

/* Computes what is asked, and draws it. */
async function recompute() {
    live.job++;
    if (!live.session)
        return false;
    try {
        if (!live.asked.text.trim())
            throw new Error(live.session.byIds ? tr("There are no ids: type some, with commas between them")
                : tr("There is no text: type some words"));
        const answer = await run({ ...live.asked });
        if (answer)
            showAnswer(answer);
        return Boolean(answer) && (wantsOwnBits(answer) ? recompute() : true);
    } catch (e) {
        sayWrong(e);
        return false;
    }
}

function sayWrong(e) {
    $("live-says").textContent = e.message;
    $("live-says").className = "wrong";
    $("live-text").setAttribute("aria-invalid", "true");
}

/* ---- what is asked ---- */

function ask(changes) {
    Object.assign(live.asked, changes);
    for (const [key, id] of Object.entries(CONTROLS))
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
const headsOfLayer = (layer) => Array.from({ length: live.session.info.H }, (_, h) => `${layer},${h}`);

/* ---- an answer ---- */

const original = { sheets: page.sheets };
const nats = (kl) => kl === null ? tr("unknown") : tr("%s nats", shortNumber(kl));

function showAnswer(answer) {
    live.answer = answer;
    const followed = original.sheets.filter((s) => answer.sheet(s));
    page.sheets = followed.map((s) => new LiveSheet(s, answer));
    page.queries = answer.tokens;
    page.text = live.session.byIds ? null : answer.asked.text;
    page.edits = answer.edits.length ? answer.edits : undefined;
    page.next = answer.after;
    page.noNext = answer.after.length || !live.session.info.unembed ? "" : tr("a logit is not finite");
    words.queries = words.keys = wordsOf(page.queries, page.text);
    if (page.without) {                 /* what was computed of another text */
        ablated.clear();
        $("without-hint").hidden = true;
    }
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
    drawOut();
    drawBits();
    drawLiveRanking();
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

/* The tokens that there are stay, and this one follows. */
async function append(id) {
    const { asked } = live, typed = asked.text, done = ask({ append: id });
    delete asked.append;                /* it is asked once */
    if (!await done)
        return false;
    if (asked.text === typed)
        asked.text = $("live-text").value = live.answer.asked.text;
    return true;
}

/* The lens follows when its tab is open. */
async function drawLiveLens() {
    const { answer } = live;
    if (!lens || state.tab !== "lens" || !answer || live.lensOf === answer)
        return;
    const said = await follow({ ask: "lens" }, (e) => { lensSays(e.message); });
    if (!said || answer !== live.answer)
        return;
    live.lensOf = answer;
    page.lens = said.lens;
    stale = false;
    lens.cursor = [page.lens.length - 1, answer.tokens.length - 1];
    lens.draw();
}

/* ---- writing on ---- */

async function write() {
    if (live.writing) {
        live.writing = false;
        return;
    }
    const temperature = Number($("live-temperature").value), seed = /^\d{1,20}$/.test($("live-seed").value) ? $("live-seed").value : "0";
    live.writing = true;
    $("live-write").textContent = tr("Stop writing");
    for (let i = 0; live.writing && i < Number($("live-count").value); i++) {
        const next = await follow({ ask: "next", temperature, seed, first: i === 0 });
        if (!next || next.ends || !next.room || !live.writing || !await append(next.id))
            break;
    }
    live.writing = false;
    $("live-write").textContent = tr("Let it write");
}

/* ---- as a command, as a link ---- */

const quoted = (text) => /^[\w./,:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function commandOf({ text, off, edits, attention, scale }, { byIds, head, usual }) {
    const parts = ["attn-cli", "run", "-m", quoted(head.named), byIds ? "--ids" : "-s", quoted(text)];
    if (off.length)
        parts.push("--ablate", off.map((key) => "L" + key.replace(",", "H")).join(","));
    for (const line of edits.split("\n").filter((l) => l.trim() && !l.trim().startsWith("#")))
        parts.push("--edit", quoted(line.trim()));
    if (attention.trim() && attention.trim() !== usual)
        parts.push("--attention", quoted(attention.trim()));
    if (scale.trim())
        parts.push("--scale", quoted(scale.trim()));
    if (head.dropout > 0)
        parts.push("--dropout", String(head.dropout), "--seed", head.dropoutSeed);
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
    for (const key of Object.keys(CONTROLS))
        if (found.has(key))
            asked[key] = found.get(key);
    if (found.has("off"))
        asked.off = found.get("off").split(";").filter((key) => /^\d+,\d+$/.test(key));
    return asked;
}

/* ---- the beginning ---- */

/* What the page was made with. */
const beginning = (head, byIds) => ({ text: byIds ? page.queries.map((t) => t.id).join(",") : head.text, off: [], edits: head.edits.join("\n"),
                                      attention: head.attention, scale: head.scale });

async function openSession() {
    const take = (id) => { const e = $(id), { textContent } = e; e.remove(); return textContent; };     /* one copy of it is enough */
    const engine = new Engine(showProgress), { head, opened } = await engine.open(take("packed"), take("engine"));
    const kinds = opened.activations.filter((a) => a.has).map((a) => a.name), byIds = head.text === null || !opened.tokenizer;
    live.session = { ...opened, engine, head, byIds, keep: unique(page.sheets.map((s) => s.kind)).filter((kind) => kinds.includes(kind)),
                     begun: beginning(head, byIds), usual: opened.kinds[0].example };
    let first = await run(live.session.begun);
    if (first.tokens.map((t) => t.id).join() !== page.queries.map((t) => t.id).join()) {       /* options made others of the text */
        Object.assign(live.session, { byIds: true, begun: beginning(head, true) });
        first = await run(live.session.begun);
    }
    live.asked = { ...live.session.begun };
    const far = distanceFrom(page.sheets, first);
    if (far > 0)
        throw new Error(tr("What this page computes differs from what the program computed, by %s: it only shows", shortNumber(far)));
    live.answer = live.lensOf = first;
}

async function startLive() {
    const says = $("live-says");
    says.textContent = tr("Opening the model …");
    try {
        await openSession();
    } catch (e) {
        live.session = null;
        sayWrong(e);
        $("live-progress").hidden = true;
        $("live-controls").disabled = true;
        return;
    }
    live.lensOf = page.lens?.length ? live.answer : null;
    $("live-note").textContent = live.session.warning ?? "";
    if (live.session.byIds)
        $("live-label").firstChild.textContent = (page.text === null ? tr("Ids") : tr("Ids, as the text alone has other tokens")) + " ";
    for (const [key, id] of Object.entries(CONTROLS))
        $(id).value = live.asked[key];
    $("live-controls").disabled = false;
    says.textContent = tr("Type: everything follows.");
    drawAsks();
    const begin = askedIn(live.address);
    if (Object.keys(begin).length)
        await ask(begin);
    else
        extras.forEach((draw) => draw({}));
    live.ready = true;
}
