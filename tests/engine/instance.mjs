// instance.mjs - the engine of pages without a page: files in its memory, questions as text, answers with sums of
// their arrays.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const text = (s) => new TextEncoder().encode(s);

export const compiled = (path) => new WebAssembly.Module(readFileSync(path));

export class Engine {
    constructor(module) { this.e = new WebAssembly.Instance(module, { env: { now: () => performance.now() } }).exports; }
    put(bytes) {
        const at = this.e.live_room(bytes.length + 1);
        const memory = new Uint8Array(this.e.memory.buffer);
        memory.set(bytes, at);
        memory[at + bytes.length] = 0;
        return at;
    }
    // Gives it a file, or all of a directory, by the name that it has here.
    file(name) {
        if (statSync(name).isDirectory()) {
            readdirSync(name).sort().forEach((f) => this.file(join(name, f)));
            return;
        }
        const bytes = readFileSync(name), as = this.put(text(name));
        if (this.e.live_file(as, this.put(bytes), bytes.length))
            throw new RangeError(`no room for ${name}`);
        this.e.live_drop(as);
    }
    ask(question) {
        const bytes = text(question), at = this.put(bytes);
        this.e.live_ask(at, bytes.length);
        this.e.live_drop(at);
        const answer = new Uint8Array(this.e.memory.buffer, this.e.live_answer(), this.e.live_answer_length());
        const said = new TextDecoder().decode(answer);
        const sums = [];
        for (let i = 0, x; (x = this.e.live_array(i)); i++) {
            const n = this.e.live_array_length(i);
            sums.push(`${n}:${sumOf(new Uint32Array(this.e.memory.buffer, x, n))}`);
        }
        return [said, [sums.length, ...sums].join(" ")];
    }
}

// As answers.c has it.
function sumOf(bits) {
    let sum = 2166136261;
    for (const b of bits) {
        sum = Math.imul(sum ^ ((b & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : b), 16777619);
        sum ^= sum >>> 15;
    }
    return sum >>> 0;
}

