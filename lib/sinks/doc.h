/* doc.h - the JSON document of one sentence.
 *
 *     {"version": "...", "model": {"name", "family", "digest"}, "text": "..." or null,
 *      "attention": "window:4", "scale": "none", "sqrt" or a number, "dropout": 0.1, "seed": 7,
 *      "tokens": [{"id", "text", "raw", "start", "end"}, ...],
 *      "context_text", "context_tokens": the same of the other text, where there is one,
 *      "activations": [{"name", "layer", "heads", "shape", "data", "nonfinite"}, ...]}
 *
 * One of many sentences begins with "record" (its number), "line", "id" (what the input calls it, or null) and
 * "key" (a digest of text, model, options and version); one that failed has "error" in place of what follows "text".
 *
 * Of attention, what is the model's own is left out.  `layer` is null outside the blocks, `heads` (the indices kept) null without a head axis, `shape`
 * that of `data`, whose nested lists are [T,n] or [heads,T,n].  JSON has no -inf, inf and nan: they
 * are null and counted in `nonfinite`.  Tokens of ids alone have nulls beside `id`.  Items stand on
 * lines of their own, unless `eol` is "". */
#ifndef ATTN_SINKS_DOC_H
#define ATTN_SINKS_DOC_H

#include "base/out.h"
#include "sinks/lines.h"
#include "sinks/piece.h"
#include "sinks/sink.h"

struct attn_doc {
    struct attn_out *out;
    struct attn_lines *lines;
    const struct attn_sink_job *job;
    const char *eol;                    /* "\n", or "" for a document on one line */
    size_t activations;                 /* begun so far */
    uint64_t nonfinite;                 /* in the one being written */
};

void attn_doc_begin(struct attn_doc *d);
/* All of the document of a sentence that failed. */
void attn_doc_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why);
int attn_doc_piece(struct attn_doc *d, const struct attn_piece *p, struct attn_err *err);
void attn_doc_end(struct attn_doc *d);

/* Values that other documents have too. */
void attn_doc_model(struct attn_out *o, const struct attn_sink_job *job);
/* "attention", "scale", "dropout" and "seed", as far as they are not the model's own, each after a comma and `between`. */
void attn_doc_kind(struct attn_out *o, const struct attn_sink_kind *k, const char *between);
void attn_doc_tokens(struct attn_out *o, const struct attn_tokens *t, const char *eol);
void attn_doc_sizes(struct attn_out *o, const size_t *list, size_t n);
void attn_doc_string(struct attn_out *o, const char *s);            /* NULL: null */
void attn_doc_index(struct attn_out *o, int i);                     /* -1: null */

#endif
