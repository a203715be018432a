/* engine.h - the parts a batch works with: the input, the tokenizer, passes through the model, and how each record is
 * written.  Nothing here writes anything yet (output.h does). */
#ifndef ATTN_BATCH_ENGINE_H
#define ATTN_BATCH_ENGINE_H

#include "batch/runner.h"
#include "batch/writing.h"
#include "run/kind.h"

struct attn_engine {
    const struct attn_batch_opts *o;
    struct attn_info info;              /* of the model */
    char digest[80];
    struct attn_kind_words kind;        /* of attention */
    struct attn_team *team;
    struct attn_records *in;
    struct attn_reading reading;
    struct attn_group group;            /* records that are read but not done yet */
    struct attn_capture *capture;
    struct attn_summary *summary;       /* NULL: not requested */
    struct attn_runner runner;
    struct attn_writing how;
};

int attn_engine_open(struct attn_engine *e, const struct attn_batch_opts *o, struct attn_err *err);
void attn_engine_close(struct attn_engine *e);          /* zeroed is fine */

#endif
