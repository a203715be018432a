/* group.h - records that are read together: copied, tokenized by several threads, and given their keys.
 *
 * A group is what can be read without waiting for the input, up to a limit, but at least one record. */
#ifndef ATTN_BATCH_GROUP_H
#define ATTN_BATCH_GROUP_H

#include "base/sha256.h"
#include "base/team.h"

struct attn_item {
    struct attn_record of;              /* points into copy */
    void *copy;
    char key[65];
    struct attn_tokens *tokens;         /* NULL: it failed */
    int32_t *ids;                       /* of the tokens */
    struct attn_err failure;            /* code ATTN_OK: it has not failed, or not yet */
};

struct attn_group { struct attn_item *item; size_t n, room; };

/* What is needed to tokenize records. */
struct attn_reading {
    const struct attn_model *model;
    const char *name;                   /* of the model, whose tokenizer is opened for the first text */
    struct attn_tokenizer *tokenizer;
    struct attn_encode_opts encode;
    struct attn_sha256 context;         /* what is hashed before the text for every key */
    size_t n_ctx;                       /* the model's */
    struct attn_team *team;
};

/* Reads records and computes their keys.  *end: the input has ended; *stopped: the user stopped it. */
int attn_group_read(struct attn_group *g, struct attn_records *from, const struct attn_reading *how, bool *end, bool *stopped,
                    struct attn_err *err);
/* Tokenizes each item, or notes why that failed. */
int attn_group_encode(struct attn_group *g, struct attn_reading *how, struct attn_err *err);
/* Marks an item as failed and frees its tokens. */
void attn_item_fail(struct attn_item *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_group_clear(struct attn_group *g);
void attn_group_free(struct attn_group *g);             /* zeroed is fine */

#endif
