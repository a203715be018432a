"use strict";
/* Numbers as the program has them: float32 is what Math.fround makes of a double, and it is exact after one addition,
 * multiplication, division or root.  The functions here and their polynomials are those of base/elementary.c, and so are
 * their bits: a browser's own exp, log, sin and cos may differ in the last one.
 *
 * A number of two doubles is an array [hi, lo]. */

const fround = Math.fround;
const bitsView = new DataView(new ArrayBuffer(8));

/* A double written as C writes it, 0x1.8p-3. */
function hex(text) {
    const [, sign, whole, digits = "", exponent] = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?\d+)$/i.exec(text);
    const x = Number(BigInt("0x" + whole + digits)) * 2 ** (Number(exponent) - 4 * digits.length);
    return sign ? -x : x;
}

/* ---- numbers of two doubles ---- */

function fastSum(a, b) {                /* exact for |a| >= |b| */
    const s = a + b;
    return [s, b - (s - a)];
}

function exactSum(a, b) {
    const s = a + b, other = s - a;
    return [s, (a - (s - other)) + (b - other)];
}

const SPLIT = hex("0x1.000002p27");

function upperHalf(a) {
    const c = SPLIT * a;
    return c - (c - a);
}

function exactProduct(a, b) {
    const p = a * b, ah = upperHalf(a), al = a - ah, bh = upperHalf(b), bl = b - bh;
    return [p, ((ah * bh - p) + ah * bl + al * bh) + al * bl];
}

function timesPair(a, b) {
    const p = exactProduct(a[0], b[0]);
    return fastSum(p[0], p[1] + (a[0] * b[1] + a[1] * b[0]));
}

function plusPair(a, b) {
    const s = exactSum(a[0], b[0]);
    return fastSum(s[0], s[1] + (a[1] + b[1]));
}

const nearestWhole = (x) => (x + 6755399441055744) - 6755399441055744;         /* 1.5 * 2^52 */

function polynomial(c, x) {
    let y = c[c.length - 1];
    for (let i = c.length - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}

/* ---- exponentials and logarithms ---- */

const LN2_HI = hex("0x1.62e42feep-1"), LN2_LO = hex("0x1.a39ef35793c76p-33"), LN2_END = hex("0x1.cc01f97b57ap-87");
const LOG2_E = hex("0x1.71547652b82fep0");
const EXP_TERMS = [1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800,
                   1 / 479001600, 1 / 6227020800];

function expOfPair(x) {
    if (Number.isNaN(x[0]))
        return x[0];
    if (x[0] > 710)
        return Infinity;
    if (x[0] < -746)
        return 0;
    const n = nearestWhole(x[0] * LOG2_E);
    const r = exactSum(x[0] - n * LN2_HI, x[1] - n * LN2_LO), one = fastSum(1, r[0]);
    const y = one[0] + (one[1] + (r[1] + r[0] * r[0] * polynomial(EXP_TERMS, r[0])));
    const half = Math.trunc(n / 2);
    return y * 2 ** half * 2 ** (n - half);
}

const exactExp = (x) => expOfPair([x, 0]);

/* x = 2^k m, m from sqrt(1/2) to sqrt(2); x is finite and above 0. */
function mantissaOf(x) {
    let e = 0;
    if (x < 2.2250738585072014e-308) {
        x *= 2 ** 54;
        e = -54;
    }
    bitsView.setFloat64(0, x);
    const high = bitsView.getUint32(0);
    e += (high >>> 20) - 1023;
    bitsView.setUint32(0, (high & 0xFFFFF) | 0x3FF00000);
    let m = bitsView.getFloat64(0);
    if (m > Math.SQRT2) {
        m /= 2;
        e++;
    }
    return [m, e];
}

const LOG_TERMS = [5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27].map((n) => 2 / n);
const THIRDS = [hex("0x1.5555555555555p-1"), hex("0x1.5555555555555p-55")];

function logPair(x) {
    const [m, k] = mantissaOf(x), f = m - 1, below = exactSum(m, 1), s = f / below[0], back = exactProduct(s, below[0]);
    const t = fastSum(s, (f - back[0] - back[1] - s * below[1]) / below[0]);
    const z = timesPair(t, t), cube = timesPair(t, timesPair(z, THIRDS));
    const rest = t[0] * z[0] * z[0] * polynomial(LOG_TERMS, z[0]);
    const ofM = plusPair([2 * t[0], 2 * t[1]], plusPair(cube, [rest, 0]));
    if (k === 0)
        return ofM;
    const ofK = fastSum(k * LN2_HI, k * LN2_LO);
    ofK[1] += k * LN2_END;
    return plusPair(ofK, ofM);
}

const exactLog = (x) => x > 0 && x < Infinity ? logPair(x)[0] : Math.log(x);

/* x is above 0, as all bases of rotary positions are. */
function exactPow(x, y) {
    if (y === 0 || x === 1)
        return 1;
    if (!(x > 0) || !Number.isFinite(x) || !Number.isFinite(y))
        return x ** y;
    const l = logPair(x);
    if (Math.abs(y * l[0]) > 800)
        return exactExp(y * l[0]);
    const p = exactProduct(y, l[0]);
    return expOfPair(fastSum(p[0], p[1] + y * l[1]));
}

/* ---- sines and cosines ---- */

const QUARTER = ["0x1.921fb4p0", "0x1.4442dp-24", "0x1.846988p-48", "0x1.8cc516p-72", "0x1.01b839a25204ap-96"].map(hex);
const TURNS = hex("0x1.45f306dc9c883p-1");
const SINE_TERMS = [-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000,
                    1 / 355687428096000];
const COSINE_TERMS = [1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200, 1 / 20922789888000,
                      -1 / 6402373705728000];

function sine(r) {
    const z = r[0] * r[0];
    return r[0] + (r[1] * (1 - z / 2) + r[0] * z * polynomial(SINE_TERMS, z));
}

function cosine(r) {
    const z = exactProduct(r[0], r[0]), y = fastSum(1, -z[0] / 2);
    return y[0] + (y[1] + (z[0] * z[0] * polynomial(COSINE_TERMS, z[0]) - z[1] / 2 - r[0] * r[1]));
}

/* [sine, cosine]; beyond 8e8, where no position of a page is, they are the browser's. */
function sinCos(x) {
    if (!(Math.abs(x) < 8e8))
        return [Math.sin(x), Math.cos(x)];
    const turns = nearestWhole(x * TURNS), n = turns & 3;
    let r = [x, 0];
    for (const part of QUARTER) {
        const s = exactSum(r[0], -(turns * part));
        r = exactSum(s[0], s[1] + r[1]);
    }
    const s = x === 0 ? x : sine(r), c = cosine(r);
    return [n === 0 ? s : n === 1 ? c : n === 2 ? -s : -c, n === 0 ? c : n === 1 ? -s : n === 2 ? -c : s];
}

/* ---- random numbers: splitmix64 ---- */

const WORD = (1n << 64n) - 1n;

function splitmixNext(state) {
    state.x = (state.x + 0x9E3779B97F4A7C15n) & WORD;
    let z = state.x;
    z = ((z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n) & WORD;
    z = ((z ^ (z >> 27n)) * 0x94D049BB133111EBn) & WORD;
    return z ^ (z >> 31n);
}

const splitmix = (seed) => splitmixNext({ x: seed & WORD });
const splitmixUnit = (x) => Number(x >> 11n) * 2 ** -53;

/* ---- numbers as they are stored ---- */

function halfToFloat(h) {
    const sign = h & 0x8000 ? -1 : 1, e = h >> 10 & 31, m = h & 1023;
    if (e === 31)
        return m ? NaN : sign * Infinity;
    return sign * (e ? 2 ** (e - 25) * (1024 + m) : 2 ** -24 * m);
}

/* float16, by its bits */
const HALVES = Float32Array.from({ length: 65536 }, (_, h) => halfToFloat(h));
HALVES[0x8000] = -0;

const floatBits = new Uint32Array(1), bitsFloat = new Float32Array(floatBits.buffer);

/* rounded to bf16, to nearest even */
function toBf16(x) {
    if (Number.isNaN(x))
        return x;
    bitsFloat[0] = x;
    floatBits[0] = (floatBits[0] + 0x7FFF + (floatBits[0] >>> 16 & 1)) & 0xFFFF0000;
    return bitsFloat[0];
}
