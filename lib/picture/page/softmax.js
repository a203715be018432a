"use strict";
/* What is done with a row of numbers, as compute/vec_body.h does it on a processor without fused multiply-add, where
 * sixteen numbers lie side by side in lanes: float32 after every step, sums in double precision, lane by lane. */

const f32 = fround;
const LANES = 16, MAGIC = 12582912;
/* 2^k at index k + 192 */
const POWERS = Float64Array.from({ length: 384 }, (_, i) => 2 ** (i - 192));
const EXP_LOW = [0.0001990770445, 0.001393373572, 0.008333285837, 0.04166646414, 0.1666666676, 0.5000000014].map(f32);
const LOG2_E_32 = f32(1.44269504), LN2_HIGH_32 = f32(-0.693359375), LN2_LOW_32 = f32(2.12194440e-4);

/* e^x; x is at most 88.7 */
function expLow(x) {
    if (x <= -104)
        return 0;
    const n = f32(f32(f32(x * LOG2_E_32) + MAGIC) - MAGIC);
    let r = f32(f32(n * LN2_HIGH_32) + x);
    r = f32(f32(n * LN2_LOW_32) + r);
    let p = EXP_LOW[0];
    p = f32(f32(p * r) + EXP_LOW[1]);
    p = f32(f32(p * r) + EXP_LOW[2]);
    p = f32(f32(p * r) + EXP_LOW[3]);
    p = f32(f32(p * r) + EXP_LOW[4]);
    p = f32(f32(p * r) + EXP_LOW[5]);
    p = f32(f32(f32(f32(r * r) * p) + r) + 1);
    const half = f32(f32(f32(n * 0.5) + MAGIC) - MAGIC);
    return f32(f32(p * POWERS[half + 192]) * POWERS[n - half + 192]);
}

const EXP_MOST = f32(88.72283);
const expRow = (x) => expLow(EXP_MOST < x ? EXP_MOST : x);
const signed = (x) => x < 0 || Object.is(x, -0);

/* The sum of lanes: the halves are added, then their halves, and so on. */
function laneSum(s) {
    for (let n = LANES / 2; n > 0; n >>= 1)
        for (let i = 0; i < n; i++)
            s[i] += s[i + n];
    return s[0];
}

const lanes = new Float64Array(LANES);

function sumRow(x, at, n) {
    lanes.fill(0);
    for (let i = 0; i < n; i++)
        lanes[i & 15] += x[at + i];
    return laneSum(lanes);
}

function sumSquares(x, at, n, c) {
    const whole = n - n % LANES;
    let tail = 0;
    lanes.fill(0);
    for (let i = 0; i < whole; i++) {
        const e = x[at + i] - c;
        lanes[i & 15] += e * e;
    }
    const sum = laneSum(lanes);
    for (let i = whole; i < n; i++)
        tail += (x[at + i] - c) * (x[at + i] - c);
    return sum + tail;
}

/* ---- the softmax of x[at .. at + n], the first `hidden` of which are not seen ---- */

/* The largest scale * x, and whether all of these are finite. */
function largest(x, at, n, scale) {
    let max = -Infinity, finite = true;
    for (let i = 0; i < n; i++) {
        const e = f32(x[at + i] * scale);
        max = max > e ? max : e;
        finite &&= Number.isFinite(e);
    }
    return { max, finite };
}

function expAndSum(x, at, n, scale, max) {
    lanes.fill(0);
    for (let i = 0; i < n; i++) {
        const e = expLow(f32(f32(x[at + i] * scale) - max));
        x[at + i] = e;
        lanes[i & 15] += e;
    }
    return laneSum(lanes);
}

function divideRow(x, at, n, by) {
    for (let i = 0; i < n; i++)
        x[at + i] = x[at + i] / by;
}

/* ---- norms ---- */

function layerNorm(y, to, x, at, n, w, wAt, b, eps) {
    const mean = sumRow(x, at, n) / n, inv = 1 / Math.sqrt(sumSquares(x, at, n, mean) / n + eps);
    for (let i = 0; i < n; i++) {
        const scaled = f32(f32((x[at + i] - mean) * inv) * w[wAt + i]);
        y[to + i] = b ? scaled + b[wAt + i] : scaled;
    }
}

function rmsNorm(y, to, x, at, n, w, wAt, eps) {
    const inv = 1 / Math.sqrt(sumSquares(x, at, n, 0) / n + eps);
    for (let i = 0; i < n; i++)
        y[to + i] = f32((x[at + i] - 0) * inv) * w[wAt + i];
}

/* ---- activation functions ---- */

const PHI = [0.01228320669, -0.1232513175, 0.4289211149, -0.6700136219, 0.4212676439, -0.09831446988, 0.2255408932, 0.2386450134,
             0.2828570176, 0.2820644999].map(f32);
const ROOT_HALF = f32(0.707106781);

function phi(x) {
    const a = f32(x * ROOT_HALF), c = f32(x * -ROOT_HALF), z = a > c ? a : c, t = f32(1 / f32(f32(z * 0.5) + 1));
    let q = PHI[0];
    for (let i = 1; i < PHI.length; i++)
        q = f32(f32(q * t) + PHI[i]);
    const bell = expRow(f32(f32(z * z) * -1)), tail = f32(f32(f32(q * t) * 0.5) * bell);
    return signed(x) ? tail : f32(1 - tail);
}

const GELU_SCALE = f32(-1.59576912), GELU_CUBE = f32(0.044715);

function gelu(x) {
    return f32(x * phi(x));
}

function geluNew(x) {
    const u = f32(GELU_SCALE * f32(x * f32(f32(f32(x * x) * GELU_CUBE) + 1)));
    return f32(x / f32(1 + expRow(u)));
}

function silu(g) {
    return f32(g / f32(1 + expRow(f32(g * -1))));
}

function relu(x) {
    return 0 > x ? 0 : x;
}

/* By the names of the configuration: of one number, or of the gate, with which the other is multiplied. */
const ACTIVATIONS = {
    gelu: { of: gelu }, gelu_new: { of: geluNew }, relu: { of: relu }, relu2: { of: (x) => relu(x) * relu(x) },
    silu: { of: silu },
    swiglu: { of: silu, gated: true }, geglu: { of: gelu, gated: true }, geglu_new: { of: geluNew, gated: true },
};

const TANH = [0.002292744816, -0.008343945516, 0.02176891865, -0.05395925958, 0.1333330356, -0.3333333317].map(f32);
const TANH_SMALL = f32(0.625);

function tanh32(u) {
    const minus = f32(u * -1), size = minus > u ? minus : u;
    if (signed(f32(size - TANH_SMALL))) {
        const z = f32(u * u);
        let q = TANH[0];
        for (let i = 1; i < TANH.length; i++)
            q = f32(f32(q * z) + TANH[i]);
        return f32(f32(f32(u * z) * q) + u);
    }
    const large = f32(1 - f32(2 / f32(expRow(f32(size + size)) + 1)));
    return signed(u) ? f32(large * -1) : large;
}

const capped = (x, cap) => f32(tanh32(f32(x / cap)) * cap);

/* elu(x) + 1, the feature of linear attention */
const feature = (x) => signed(x) ? expRow(x) : f32(x + 1);
