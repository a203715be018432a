/* sink_json.h - the JSON document of one sentence, and the formats json and ndjson, which write one.
 *
 *     {"version": "...", "model": {"name", "family", "digest"}, "text": "..." or null,
 *      "attention": "window:4", "scale": "none", "sqrt" or a number, "dropout": 0.1, "seed": 7,
 *      "tokens": [{"id", "text", "raw", "start", "end"}, ...],
 *      "context_text", "context_tokens": the same for the other text in cross-attention,
 *      "gradient": a metric, "value", "times": true or false; of gradients in place of activations,
 *      "edits": ["L1H2 = 0", ...] where there are any, in canonical form,
 *      "activations": [{"name", "layer", "heads", "mask", "shape", "data", "nonfinite"}, ...],
 *      "compare": {"kl", "before": [{"id", "text", "probability"}, ...], "after"} or null, where there are edits}
 *
 * A document of a batch begins with "record" (its number), "line", "id" (its id in the input, or null) and "key" (a
 * digest of text, model, options and version); that of a failed sentence has "error" in place of what follows "text".
 *
 * "attention", "scale", "dropout" and "seed" are left out where they are the model's own.  `layer` is null outside the
 * blocks; `heads`, the indices of the heads shown, is null without a head axis; `mask` is the kind of attention that
 * hid keys, where there are keys and a kind says all of it; `shape` is that of `data`, nested lists [T,n] or
 * [heads,T,n].  JSON has no -inf, inf and nan: they become null and are counted in `nonfinite`.  Tokens made from ids
 * alone have only `id`, and null for the rest.  Each item is on a line of its own, unless `eol` is "". */
#ifndef ATTN_SINKS_SINK_JSON_H
#define ATTN_SINKS_SINK_JSON_H

#include "base/out.h"
#include "sinks/lines.h"
#include "trace/slice.h"
#include "sinks/sink.h"

struct attn_doc {
    struct attn_out *out;
    struct attn_lines *lines;
    const struct attn_sink_job *job;
    const char *eol;                    /* "\n", or "" for a document on one line */
    size_t activations;                 /* how many were begun so far */
    uint64_t nonfinite;                 /* in the activation that is being written */
};

void attn_doc_begin(struct attn_doc *d);
/* Writes the whole document of a sentence that failed. */
void attn_doc_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why);
void attn_doc_end(struct attn_doc *d);

/* Values that other JSON files have, too. */
void attn_doc_model(struct attn_out *o, const struct attn_sink_job *job);
/* ,"mask":"causal", where a kind says all that was hidden. */
void attn_doc_mask(struct attn_out *o, const struct attn_sink_job *job, int act, int layer);
/* "attention", "scale", "dropout" and "seed" if they are not the model's own, each after a comma and `between`. */
void attn_doc_kind(struct attn_out *o, const struct attn_sink_kind *k, const char *between);
void attn_doc_words(struct attn_out *o, const struct attn_sink_job *job, const char *between);
void attn_doc_tokens(struct attn_out *o, const struct attn_tokens *t, const char *eol);
/* Writes "edits": [...] after a comma and `between`; without edits nothing. */
void attn_doc_edits(struct attn_out *o, const struct attn_edits *edits, const char *between);
/* From the opening brace to "edits": what documents of one text begin with. */
void attn_doc_opening(struct attn_out *o, const struct attn_sink_job *job, const char *eol);
void attn_doc_sizes(struct attn_out *o, const size_t *list, size_t n);
void attn_doc_string(struct attn_out *o, const char *s);            /* NULL: null */
void attn_doc_index(struct attn_out *o, int i);                     /* -1: null */

#endif
