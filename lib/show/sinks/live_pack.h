/* live_pack.h - what a page that computes holds besides the numbers it shows: the files of the model, and how it was
 * run.
 *
 * One block of bytes, deflated as zlib does it: 4 bytes, the length of the JSON, low byte first; the JSON, with spaces
 * to a multiple of 8 bytes with the length; the files, each at a multiple of 8 bytes from the first one's beginning.
 *
 *     {"model": "model/tiny", "as": text or null, "vocab": path or null: as the page opens it,
 *      "named": the model as -m has it,
 *      "files": [{"name": "model/tiny/config.json", "at": 0, "bytes": 512}],
 *      "text": "..." or null, "ids": "1,2,3" or null, "edits": ["L0H0 = 0"], "attention": "window:4",
 *      "scale": "sqrt", a number or "", the model's own, "dropout": 0, "dropoutSeed": "0",
 *      "bits": "default" or "generic": those of the program} */
#ifndef ATTN_SINKS_LIVE_PACK_H
#define ATTN_SINKS_LIVE_PACK_H

#include "picture/album.h"
#include "sinks/sink.h"

enum { ATTN_LIVE_MOST = 64 << 20 };     /* bytes of weights: what a page can hold and a browser compute with */

/* Fails where there is no such page: of cross-attention, of gradients, of a larger model.  *out is malloc'd, and NULL
 * in a program that has nothing that computes in a page. */
int attn_live_make(struct attn_album_live **out, const struct attn_sink_job *job, const struct attn_tokenizer *t,
                   struct attn_err *err);
void attn_live_free(struct attn_album_live *live);      /* NULL is fine */

#endif
