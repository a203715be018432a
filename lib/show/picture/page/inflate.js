"use strict";
/* Unpacks what was deflated (RFC 1951), at once: a browser's own streams give it when the page has been drawn. */

/* Where a length or a distance begins, and how many bits more it has. */
function basesOf(first, n, bitsOf) {
    const base = [], bits = [];
    for (let i = 0, at = first; i < n; at += 1 << bits[i++]) {
        base.push(at);
        bits.push(bitsOf(i));
    }
    return { base, bits };
}

const LENGTHS = basesOf(3, 28, (i) => Math.max(0, (i >> 2) - 1));
const DISTANCES = basesOf(1, 30, (i) => Math.max(0, (i >> 1) - 1));
LENGTHS.base.push(258);
LENGTHS.bits.push(0);
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/* A table from the next `most` bits to a symbol and its length: symbol << 4 | length. */
function codeTable(lengths) {
    const most = Math.max(...lengths, 1), table = new Uint16Array(1 << most);
    for (let length = 1, code = 0; length <= most; length++, code <<= 1)
        lengths.forEach((l, symbol) => {
            if (l !== length)
                return;
            let turned = 0;
            for (let i = 0; i < length; i++)
                turned |= (code >> i & 1) << (length - 1 - i);
            for (let at = turned; at < table.length; at += 1 << length)
                table[at] = symbol << 4 | length;
            code++;
        });
    return { table, mask: table.length - 1 };
}

class Inflater {
    constructor(bytes, size) {
        Object.assign(this, { bytes, at: 0, held: 0, count: 0, out: new Uint8Array(size), n: 0 });
    }

    bits(n) {
        while (this.count < n) {
            this.held |= this.bytes[this.at++] << this.count;
            this.count += 8;
        }
        const value = this.held & (1 << n) - 1;
        this.held >>>= n;
        this.count -= n;
        return value;
    }

    symbol({ table, mask }) {
        while (this.count < 15) {       /* beyond the end there are zeros */
            this.held |= this.bytes[this.at++] << this.count;
            this.count += 8;
        }
        const found = table[this.held & mask], length = found & 15;
        this.held >>>= length;
        this.count -= length;
        return found >> 4;
    }

    stored() {
        this.bits(this.count & 7);
        const n = this.bits(16);
        this.bits(16);
        for (let i = 0; i < n; i++)
            this.out[this.n++] = this.bits(8);
    }

    fixed() {
        const literals = Array.from({ length: 288 }, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
        return [codeTable(literals), codeTable(Array(30).fill(5))];
    }

    tables() {
        const literals = this.bits(5) + 257, distances = this.bits(5) + 1, n = this.bits(4) + 4;
        const own = Array(19).fill(0), all = [];
        for (let i = 0; i < n; i++)
            own[LENGTH_ORDER[i]] = this.bits(3);
        const table = codeTable(own), repeat = (x, times) => { for (let i = 0; i < times; i++) all.push(x); };
        while (all.length < literals + distances) {
            const s = this.symbol(table);
            if (s < 16)
                all.push(s);
            else if (s === 16)
                repeat(all.at(-1), this.bits(2) + 3);
            else
                repeat(0, s === 17 ? this.bits(3) + 3 : this.bits(7) + 11);
        }
        return [codeTable(all.slice(0, literals)), codeTable(all.slice(literals))];
    }

    compressed([literals, distances]) {
        const { out } = this;
        for (;;) {
            const s = this.symbol(literals);
            if (s < 256) {
                out[this.n++] = s;
                continue;
            }
            if (s === 256)
                return;
            const length = LENGTHS.base[s - 257] + this.bits(LENGTHS.bits[s - 257]), d = this.symbol(distances);
            const from = this.n - DISTANCES.base[d] - this.bits(DISTANCES.bits[d]);
            for (let i = 0; i < length; i++)
                out[this.n++] = out[from + i];
        }
    }

    all() {
        for (let last = 0; !last;) {
            last = this.bits(1);
            const kind = this.bits(2);
            if (kind === 0)
                this.stored();
            else
                this.compressed(kind === 1 ? this.fixed() : this.tables());
        }
        return this.out;
    }
}

/* The `size` bytes that were deflated. */
function inflate(bytes, size) {
    return new Inflater(bytes, size).all();
}
