"use strict";
/* What the page has, and what of it is chosen. */

const page = readPage();
const $ = (id) => document.getElementById(id);
/* Rows that are no tokens, but layers or those of a file, are no vectors either. */
const isMatrix = (sheet) => sheet.keys || !sheet.tokens;
const isAttention = (sheet) => sheet.keys && sheet.tokens;
const unique = (list) => [...new Set(list)];
const shortKind = (kind) => sheetsOf(kind)[0].short;

const state = { kind: null, layer: null, head: null, scale: "auto", palette: "paper", hideFirst: false, merge: false,
                query: -1, allLines: false, withoutLines: [], vectorKind: null, slice: true, theme: "auto", tab: "attention" };
/* What parts that few pages have draw: each hears of changes, or nothing if all is to be drawn. */
const extras = [];

const sheetsOf = (kind) => page.sheets.filter((s) => s.kind === kind);
const layersOf = (kind) => sheetsOf(kind).map((s) => s.layer);
const headsOf = (kind) => unique(sheetsOf(kind).flatMap((s) => s.heads ?? [null])).sort((a, b) => a - b);
/* Whether what is shown is this to a weight. */
const isPart = (part) => sheetsOf(state.kind)[0]?.part === part;
const sheetAt = (kind, layer) => sheetsOf(kind).find((s) => s.layer === layer || s.layer === null);
/* Some stand in place of a layer: kinds of attention, scores of heads. */
const nameOfLayer = (layer) => page.sheets.find((s) => s.layer === layer)?.name ?? null;
const keyTokens = () => page.keys ?? page.queries;
const words = { queries: null, keys: null };

/* Of saved matrices tokens may be known that are not theirs. */
function labelsOf(tokens, n) {
    return Array.from({ length: n }, (_, i) => tokens?.length === n ? tokenLabel(tokens[i]) : String(i));
}

function mergeable() {
    const fits = (s) => s.rows === page.queries.length && s.cols === keyTokens().length;
    return isPart("weight") && Boolean(page.queries?.[0]?.text) && sheetsOf(state.kind).every(fits);
}

function merging() {
    return state.merge && mergeable();
}

/* How many rows of a sheet's matrices are seen. */
function rowsShown(sheet) {
    return sheet && merging() ? words.queries.length : sheet?.rows;
}

/* The first column is that of a token, or nobody knows. */
function hideable() {
    return sheetsOf(state.kind).every((s) => !["heads", "layers"].includes(s.colAxis));
}

const preferred = (list, kind) => list.includes(kind) ? kind : list[0] ?? null;
const matrixKinds = unique(page.sheets.filter(isMatrix).map((s) => s.kind));
const firstKind = preferred(matrixKinds, page.sheets.find((s) => s.part === "weight")?.kind);
/* Kinds of vectors: rows of numbers, one a token. */
const vectorKinds = () => unique(page.sheets.filter((s) => !isMatrix(s)).map((s) => s.kind));

/* Keeps layer and head among those there are. */
function settle() {
    const nearest = (list, x) => list.includes(x) ? x : list[0] ?? null;
    state.layer = nearest(layersOf(state.kind), state.layer);
    const sheet = sheetsOf(state.kind).find((s) => s.layer === state.layer);
    state.head = nearest(sheet?.heads ?? [null], state.head);
}
