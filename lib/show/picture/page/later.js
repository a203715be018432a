"use strict";
/* What of a large page, or of one that computes, is drawn when the rest can be seen already; another is drawn at once.
 *
 *     later.add(key, job);                // in place of a job of this key that waits
 *     later.first(key);                   // it can be seen: before the others
 *     later.finish();                     // now, for paper */

const AT_ONCE = 1 << 20;                /* numbers of all matrices of a small page */
const TURN = 12;                       /* milliseconds of work before the page may do something else */

class Later {
    constructor(waits) {
        Object.assign(this, { waits, jobs: new Map(), channel: new MessageChannel() });
        this.channel.port1.onmessage = () => this.run(TURN);
    }

    add(key, job) {
        if (!this.waits) {
            job();
            return;
        }
        if (!this.jobs.size)
            this.channel.port2.postMessage(0);
        this.jobs.set(key, job);
    }

    first(key) {
        const job = this.jobs.get(key);
        if (job && this.jobs.delete(key))
            this.jobs = new Map([[key, job], ...this.jobs]);
    }

    drop(key) { this.jobs.delete(key); }

    run(time) {
        const end = performance.now() + time;
        for (const [key, job] of this.jobs) {
            if (performance.now() >= end) {
                this.channel.port2.postMessage(0);
                return;
            }
            this.jobs.delete(key);
            job();
        }
    }

    finish() { this.run(Infinity); }
}

const later = new Later($("packed") || page.sheets.reduce((n, s) => n + s.count * s.rows * s.cols, 0) > AT_ONCE);
