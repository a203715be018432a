"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = document.getElementById("at"), step = document.getElementById("step"), says = document.getElementById("says");
const play = document.getElementById("play");
const BLANK = 240, NAN = 241;

function make(parent, tag, text) {
    const e = parent.appendChild(document.createElement(tag));
    e.textContent = text || "";
    return e;
}

/* A byte for each number of each step: its place on the scale of its kind. */
function unpack(text) {
    return Uint8Array.from(atob(text), c => c.charCodeAt(0));
}

function paint(canvas, cols, rows, colors, steps) {
    const context = canvas.getContext("2d"), image = context.createImageData(cols, rows);
    for (let i = 0; i < cols * rows; i++) {
        const c = parseInt(colors.slice(6 * steps[i], 6 * steps[i] + 6), 16);
        image.data.set([c >> 16, c >> 8 & 255, c & 255, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
}

function name(labels, i) {
    return labels && i < labels.length ? labels[i] : String(i);
}

function add_panel(kind, panel, parent) {
    const figure = make(parent, "figure"), size = panel.rows * panel.cols, all = unpack(panel.data);
    const canvas = document.createElement("canvas");
    make(figure, "figcaption", panel.name);
    figure.append(canvas);
    canvas.width = panel.cols;
    canvas.height = panel.rows;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", kind.title + tr(", ") + panel.name);
    const now = () => all.subarray(at.value * size, (+at.value + 1) * size);
    canvas.addEventListener("pointermove", e => {
        const r = Math.min(Math.floor(e.offsetY / canvas.clientHeight * panel.rows), panel.rows - 1);
        const c = Math.min(Math.floor(e.offsetX / canvas.clientWidth * panel.cols), panel.cols - 1);
        const s = now()[Math.max(r, 0) * panel.cols + Math.max(c, 0)];
        const value = s === BLANK ? tr("hidden") : s === NAN ? tr("not a number") : tr("about %s", kind.values[s]);
        says.textContent = `${panel.name}: ${name(data.rows, r)} → ${name(kind.keys ? data.keys : null, c)}: ${value}`;
    });
    return () => paint(canvas, panel.cols, panel.rows, kind.colors, now());
}

function swatch(colors, step) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    canvas.className = "swatch";
    paint(canvas, 1, 1, colors, [step]);
    return canvas;
}

function add_kind(kind) {
    const main = document.getElementById("kinds");
    make(main, "h2", kind.title);
    const panels = make(main, "div");
    panels.className = "panels";
    const drawn = kind.panels.map(p => add_panel(kind, p, panels));
    const legend = make(main, "p"), bar = document.createElement("canvas");
    legend.className = "legend";
    make(legend, "span", kind.values[0]);
    legend.append(bar);
    make(legend, "span", kind.values[BLANK - 1]);
    for (const note of kind.notes) {
        if (note.step >= 0)
            legend.append(swatch(kind.colors, note.step));
        make(legend, "span", note.text);
    }
    bar.width = BLANK;
    bar.height = 1;
    paint(bar, BLANK, 1, kind.colors, Uint8Array.from({length: BLANK}, (_, i) => i));
    return drawn;
}

const draw_all = data.kinds.flatMap(add_kind);
function show() {
    step.textContent = data.steps[at.value];
    at.setAttribute("aria-valuetext", tr("step %s", data.steps[at.value]));
    draw_all.forEach(draw => draw());
}
let timer = 0;
function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = tr("Play");
    play.setAttribute("aria-pressed", "false");
}
play.addEventListener("click", () => {
    if (timer)
        return stop();
    if (+at.value === data.steps.length - 1)
        at.value = 0;
    play.textContent = tr("Stop");
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
        at.value = +at.value + 1;
        show();
        if (+at.value === data.steps.length - 1)
            stop();
    }, 300);
    show();
});
at.max = data.steps.length - 1;
at.value = at.max;
at.addEventListener("input", show);
show();
