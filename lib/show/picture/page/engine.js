"use strict";
/* The engine of a page that computes: the program's own code as WebAssembly, in a worker, with the model's files in its memory.
 *
 *     const engine = new Engine(progress);            // progress(share of the work, or null: unknown), while it opens
 *     const head = await engine.open(packed, module);  // what stands before the files (sinks/live_pack.h), and how the model answered
 *     await engine.ask({ ask: "run", text })           // { answer, arrays } (live/live.h); undefined: something newer was asked
 *
 * Questions are answered one after the other; one that waits gives way to a newer one of its kind, and all that wait to
 * a newer run.  What cannot be answered is an Error with the engine's sentence.  After a trap there is a new instance, with the
 * model open and the last text run, and the question is an Error. */

const SLOW = 300;                       /* milliseconds until a line says that it takes long */

/* SHA-256 of bytes, in hexadecimal: browsers have their own only for pages of a server that encrypts. */
function sha256(bytes) {
    const primes = [], turn = (x, n) => x >>> n | x << (32 - n), length = bytes.length;
    for (let n = 2; primes.length < 64; n++)
        if (primes.every((p) => n % p))
            primes.push(n);
    const bits = (x) => (x - Math.floor(x)) * 2 ** 32 | 0, steps = primes.map((p) => bits(Math.cbrt(p)));
    const state = Int32Array.from(primes.slice(0, 8), (p) => bits(Math.sqrt(p))), w = new Int32Array(64);
    const tail = new Uint8Array(length % 64 < 56 ? 64 : 128), whole = length - length % 64, tailView = new DataView(tail.buffer);
    tail.set(bytes.subarray(whole));
    tail[length - whole] = 128;
    tailView.setUint32(tail.length - 8, Math.floor(length / 2 ** 29));
    tailView.setUint32(tail.length - 4, length << 3 >>> 0);
    const block = (view, at) => {
        for (let i = 0; i < 16; i++)
            w[i] = view.getInt32(at + 4 * i);
        for (let i = 16; i < 64; i++) {
            const a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >>> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >>> 10);
        }
        let [a, b, c, d, e, f, g, h] = state;
        for (let i = 0; i < 64; i++) {
            const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + steps[i] + w[i] | 0;
            const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
            [h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + two | 0];
        }
        [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] += x; });
    };
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = 0; at < whole; at += 64)
        block(view, at);
    for (let at = 0; at < tail.length; at += 64)
        block(tailView, at);
    return Array.from(state, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

/* ---- in the worker, which is made of these functions alone ---- */

function engineWorker() {
    const utf8 = new TextEncoder(), SLICE = 1 << 20, SPARE = 1 << 27;
    let compiled, bytes, files, opening, engine, last = null;
    const say = (what, transfer = []) => postMessage(what, transfer);

    async function inflated(packed, said) {
        const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
        const all = new Response(stream.readable).arrayBuffer();
        for (let at = 0; at < packed.length; at += SLICE) {
            await writer.write(packed.subarray(at, at + SLICE));
            said?.(Math.min(1, (at + SLICE) / packed.length));
        }
        await writer.close();
        return new Uint8Array(await all);
    }

    /* A pointer to a copy of bytes in the engine's memory. */
    function lent(what) {
        const at = engine.live_room(what.length + 1) >>> 0;
        if (!at)
            throw new RangeError("memory");
        new Uint8Array(engine.memory.buffer, at, what.length + 1).set(what);
        new Uint8Array(engine.memory.buffer)[at + what.length] = 0;
        return at;
    }

    /* { answer, arrays } */
    function told(question) {
        const text = utf8.encode(JSON.stringify(question)), at = lent(text), arrays = [];
        engine.live_ask(at, text.length);
        engine.live_drop(at);
        const { buffer } = engine.memory, from = engine.live_answer() >>> 0;
        const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, from, engine.live_answer_length())));
        for (let i = 0, p; (p = engine.live_array(i) >>> 0); i++)
            arrays.push(new Float32Array(buffer, p, engine.live_array_length(i)).slice());
        return { answer, arrays };
    }

    /* Makes the instance, with the model open and the last text run. */
    function make() {
        const imports = { env: { now: () => performance.now(), step: (done, all) => { say({ share: all > 0 ? done / all : null }); return 0; } } };
        engine = null;
        engine = new WebAssembly.Instance(compiled, imports).exports;
        engine._initialize?.();
        for (const { name, at, bytes: n } of files) {
            const path = lent(utf8.encode(name)), place = lent(bytes.subarray(at, at + n));
            if (engine.live_file(path, place, n))
                throw new RangeError("memory");
            engine.live_drop(path);
        }
        const opened = told(opening).answer;
        if (last && !opened.error)
            told(last);
        return opened;
    }

    async function start({ packed, module, digest }) {
        const code = await inflated(bytesOf(module));
        if (sha256(code) !== digest)
            return { wrong: "digest" };
        const compiling = WebAssembly.compile(code).catch(() => null);          /* while the model is unpacked */
        const all = await inflated(bytesOf(packed), (share) => say({ share }));
        const length = new DataView(all.buffer).getUint32(0, true);
        const head = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length)));
        bytes = all.subarray(4 + length);
        ({ files } = head);
        opening = { ask: "open", model: head.model, as: head.as, vocab: head.vocab };
        say({ share: null });
        compiled = await compiling;
        if (!compiled)
            return { wrong: "instructions" };
        return { head, opened: make() };
    }

    /* Memory that a long text took is given back with its instance. */
    const swollen = () => engine.memory.buffer.byteLength > 2 * bytes.length + SPARE;

    function answered(question) {
        try {
            if (question.ask === "run" && last && swollen() && JSON.stringify(question).length < JSON.stringify(last).length / 4) {
                last = null;
                make();
            }
            const all = told(question);
            if (question.ask === "run" && !all.answer.error)
                last = question;
            return all;
        } catch (e) {
            make();
            return { trap: String(e.message) };
        }
    }

    let before = Promise.resolve();
    onmessage = ({ data }) => {
        before = before.then(async () => {
            try {
                const all = data.packed ? await start(data) : answered(data);
                say(all, (all.arrays ?? []).map((a) => a.buffer));
            } catch (e) {
                say({ failed: String(e.message ?? e) });
            }
        });
    };
}

/* ---- in the page ---- */

class Engine {
    constructor(progress) {
        Object.assign(this, { progress, waiting: new Map(), busy: null, worker: null });
    }

    /* packed: the model, module: the engine, both deflated, in base64. */
    async open(packed, module) {
        for (const [name, there] of [["Worker", typeof Worker], ["WebAssembly", typeof WebAssembly], ["DecompressionStream", typeof DecompressionStream]])
            if (there === "undefined")
                throw new Error(tr("This browser cannot open what this page computes with (it has no %s); the page shows what was computed", name));
        const source = [bytesOf, sha256, engineWorker].join("\n") + "\nengineWorker();\n";
        const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        this.worker = new Worker(address);
        const said = await new Promise((resolve, reject) => {
            this.worker.onmessage = ({ data }) => "share" in data ? this.progress(data.share) : resolve(data);
            this.worker.onerror = (e) => { e.preventDefault(); reject(new Error(tr("The browser does not start what this page computes with"))); };
            this.worker.postMessage({ packed, module, digest: ENGINE_DIGEST });
        });
        URL.revokeObjectURL(address);
        if (said.wrong === "digest")
            throw new Error(tr("What this page computes with is not what was written into it: the file is damaged"));
        if (said.wrong)
            throw new Error(tr("This browser cannot open what this page computes with (it has no %s); the page shows what was computed", "WebAssembly SIMD"));
        if (said.failed || said.opened.error)
            throw new Error(said.opened?.error ?? tr("What this page computes with does not start: %s", said.failed));
        this.worker.onmessage = ({ data }) => "share" in data ? this.progress(data.share) : this.settle(data);
        return said;
    }

    /* of: what it gives way to. */
    ask(question, of = question.ask) {
        if (question.ask === "run")
            for (const [key] of this.waiting)
                this.drop(key);
        this.drop(of);
        return new Promise((resolve, reject) => {
            this.waiting.set(of, { question, resolve, reject });
            this.next();
        });
    }

    drop(of) {
        this.waiting.get(of)?.resolve(undefined);
        this.waiting.delete(of);
    }

    next() {
        const [first] = this.waiting;
        if (this.busy || !first)
            return;
        [, this.busy] = first;
        this.waiting.delete(first[0]);
        this.slow = setTimeout(() => this.progress(null), SLOW);
        this.worker.postMessage(this.busy.question);
    }

    settle({ answer, arrays, trap, failed }) {
        const { resolve, reject } = this.busy;
        clearTimeout(this.slow);
        this.busy = null;
        this.progress(undefined);
        if (answer && answer.error === undefined)
            resolve({ answer, arrays });
        else
            reject(new Error(answer?.error ?? tr("What computes broke off (%s) and began anew: what is shown is what was before", trap ?? failed)));
        this.next();
    }
}
