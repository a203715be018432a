/* live.h - what a page that computes holds besides the numbers it shows: the model, its tokenizer, and how it was run.
 *
 * One block of bytes, deflated as zlib does it: 4 bytes, the length of the JSON, low byte first; the JSON, with spaces
 * to a multiple of 8 bytes with the length; the numbers that its "model" speaks of (model/describe.h).
 *
 *     {"model": {...}, "tokenizer": {...} (text/describe_text.h) or null, "before": [ids], "after": [ids] put around
 *      each text, "named": the model as -m has it, "ends": [ids that end one], "attention": "window:4",
 *      "scaling": "model", "scale": 0, "dropout": 0, "dropoutSeed": "0",
 *      "meanings": [["attention", "pattern"], ...] (base/near.h)} */
#ifndef ATTN_SINKS_LIVE_H
#define ATTN_SINKS_LIVE_H

#include "picture/album.h"
#include "sinks/sink.h"

enum { ATTN_LIVE_MOST = 64 << 20 };     /* bytes of weights: what a page can hold and a browser compute with */

/* Fails where there is no such page: of cross-attention, of gradients, of a larger model.  *out is malloc'd. */
int attn_live_make(struct attn_album_live **out, const struct attn_sink_job *job, const struct attn_tokenizer *t,
                   struct attn_err *err);
void attn_live_free(struct attn_album_live *live);      /* NULL is fine */

#endif
