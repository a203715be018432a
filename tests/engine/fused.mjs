// fused.mjs FUSED.wasm [TIMES] - whether the multiply-adds of WebAssembly (lib/engine/compute/fused.h, products_fused.h) round once:
// compared with whole numbers of any length, for ordinary numbers, for those of few bits, whose sums often lie halfway, and
// for denormal, huge, infinite ones, NaN and both zeros.
import { readFileSync } from "node:fs";

const e = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(process.argv[2]))).exports;
const times = Number(process.argv[3] ?? 400);
const floats = (at, n) => new Float32Array(e.memory.buffer, at, n), words = (at, n) => new Uint32Array(e.memory.buffer, at, n);
const view = new DataView(new ArrayBuffer(8));
const bits = (x) => (view.setFloat32(0, x), view.getUint32(0));
const length = (p) => p.toString(2).length;

// A float as a multiple of 2^-149, a double of 2^-1074.
function whole(x, mantissa, exponents) {
    if (mantissa === 23n)
        view.setFloat32(0, x);
    else
        view.setFloat64(0, x);
    const all = mantissa === 23n ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
    const exponent = (all >> mantissa) & exponents, rest = all & ((1n << mantissa) - 1n);
    const size = exponent ? (rest | (1n << mantissa)) << (exponent - 1n) : rest;
    return all >> (mantissa === 23n ? 31n : 63n) ? -size : size;
}

// x y + z, rounded once; `least` is the exponent of the smallest number.
function fused(x, y, z, mantissa, exponents, least) {
    if (!isFinite(x) || !isFinite(y) || !isFinite(z))
        return x * y + z;
    const sum = whole(x, mantissa, exponents) * whole(y, mantissa, exponents) + (whole(z, mantissa, exponents) << BigInt(-least));
    if (sum === 0n)
        return x * y + z;
    const size = sum < 0n ? -sum : sum, drop = Math.max(length(size) - Number(mantissa) - 1, -least);
    let q = size >> BigInt(drop);
    const rest = size - (q << BigInt(drop)), half = 1n << BigInt(drop - 1);
    if (rest > half || (rest === half && q & 1n))
        q++;
    let value = Number(q), exponent = drop + 2 * least;
    for (; exponent < -1000; exponent += 500)
        value *= 2 ** -500;
    value *= 2 ** exponent;
    return sum < 0n ? -value : value;
}
const fma = (x, y, z) => Math.fround(fused(x, y, z, 23n, 255n, -149));
const dfma = (x, y, z) => fused(x, y, z, 52n, 2047n, -1074);

let seed = 12345;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
const below = (n) => (random() >>> 8) % n;
const float = (from, n, mask) => ((random() & 0x80000000) | ((from + below(n)) << 23) | ((random() >>> 9) & mask)) >>> 0;
const kinds = [() => random(), () => float(120, 14, 0x7fffff << below(24)), () => float(100, 50, 0x7fffff), () => float(0, 70, 0x7fffff),
    () => ((random() & 0x80000000) | (below(3) ? 0 : below(16))) >>> 0, () => float(190, 66, below(2) ? 0x7fffff : 0), () => float(57, 12, below(2) ? 0x7fffff : 0x700000),
    () => [0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001, 0x800000, 0x7f7fffff, 0x3f800000][below(10)]];
const kind = () => kinds[below(kinds.length)];
const fill = (to, n, make) => { for (let i = 0; i < n; i++) to[i] = make(); };
const same = (a, b) => a === b || ((a & 0x7fffffff) > 0x7f800000 && (b & 0x7fffffff) > 0x7f800000);

let compared = 0, failed = 0;
function check(what, got, want, ok) {
    compared++;
    if (!ok && failed++ < 10)
        console.log(`fused: ${what}: found ${got.toString(16)}, expected ${want.toString(16)}`);
}

const PANEL = 64, MOST = 4096;
for (let t = 0; t < times; t++) {
    const K = 1 + below(5) * below(30), n = 1 + below(3), x = words(e.x(), 4 * MOST), want = new Map();
    const [of_x, of_w, of_y] = [kind(), kind(), kind()];
    for (let r = 0; r < n; r++)
        fill(x.subarray(r * MOST), K, of_x);
    fill(words(e.w(), MOST * PANEL), K * PANEL, of_w);
    fill(words(e.y(), 4 * PANEL), n * PANEL, of_y);
    const X = floats(e.x(), 4 * MOST), W = floats(e.w(), MOST * PANEL), Y = floats(e.y(), 4 * PANEL);
    for (let at = 0; at < n * PANEL; at += 1 + below(5)) {
        let sum = Y[at];
        for (let k = 0; k < K; k++)
            sum = fma(X[Math.floor(at / PANEL) * MOST + k], W[k * PANEL + (at % PANEL)], sum);
        want.set(at, bits(sum));
    }
    e.panel(n, K);
    const got = words(e.y(), 4 * PANEL);
    want.forEach((b, at) => check(`product of ${K} steps`, got[at], b, same(got[at], b)));
}
for (let t = 0; t < 4 * times; t++) {
    [e.x(), e.w(), e.y()].forEach((at) => fill(words(at, PANEL), PANEL, kind()));
    const [x, w, y] = [e.x(), e.w(), e.y()].map((at) => floats(at, PANEL).slice());
    e.vectors(PANEL);
    words(e.y(), PANEL).forEach((b, i) => check(`${x[i]} * ${w[i]} + ${y[i]}`, b, bits(fma(x[i], w[i], y[i])), same(b, bits(fma(x[i], w[i], y[i])))));
}
const double = (few) => {
    view.setUint32(0, ((random() & 0x80000000) | ((few ? 1020 + below(6) : 983 + below(80)) << 20) | (random() >>> 12)) >>> 0);
    view.setUint32(4, few === 2 ? random() & 0xf8000000 : random());
    return view.getFloat64(0);
};
const trials = [[0, 1, 2], [-0, 1, -0], [0, -1, 0], [Infinity, 1, 1], [Infinity, 0, 1], [1, 1, -1], [NaN, 1, 1], [1, 2, Infinity], [2, 3, -Infinity]];
for (let t = 0; t < 40 * times; t++) {
    const [a, b] = [double(below(3)), double(below(3))];
    trials.push([a, b, t % 3 ? double(below(3)) : -a * b * (1 + (below(5) - 2) * 2 ** -52) + (below(2) ? 0 : double(0) * 2 ** -60)]);
}
for (const [a, b, c] of trials)
    check(`${a} * ${b} + ${c}`, e.doubles(a, b, c), dfma(a, b, c), Object.is(e.doubles(a, b, c), dfma(a, b, c)));
console.log(`fused: ${compared} multiply-adds compared, ${failed} differ`);
process.exit(failed ? 1 : 0);
