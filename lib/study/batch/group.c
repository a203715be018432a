/* group.c - records that are read together: copied, tokenized by several threads, and given their keys.
 *
 * A group is what can be read without waiting for the input, up to a limit, but at least one record. */
#include "attn_tools.h"
#include "batch/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

enum { RECORDS = 256, BYTES = 1 << 16 };    /* most of a group, except that the last record may exceed it */
/* Tokenizing a byte of text takes a core about as long as this many floating point operations. */
static const double COST = 400;

static size_t add_bytes(size_t a, size_t b) { return a + b < a ? SIZE_MAX : a + b; }

/* The size of everything that a record points to. */
static size_t size_of(const struct attn_record *r)
{
    size_t all = add_bytes(r->ids ? r->n * sizeof *r->ids : 0, r->error ? strlen(r->error) + 1 : 0);
    all = add_bytes(add_bytes(all, r->text_len), add_bytes(r->id_len, r->n_fields * sizeof *r->field));
    for (size_t i = 0; i < r->n_fields; i++)
        all = add_bytes(add_bytes(all, r->field[i].n * sizeof *r->field[i].ids), r->field[i].len);
    return all;
}

/* Copies len bytes to *at, which moves behind them; NULL stays NULL. */
static const void *put(char **at, const void *from, size_t len)
{
    const void *to = from ? memcpy(*at, from, len) : NULL;
    *at += from ? len : 0;
    return to;
}

/* Copies everything the record points to into one block, in the order of alignment. */
static int copy(struct attn_item *item, const struct attn_record *r, struct attn_err *err)
{
    size_t all = size_of(r);
    char *at = item->copy = malloc(add_bytes(all, 1));
    if (!at)
        return attn_no_memory(err, NULL, "for a record of %zu bytes", all);
    item->of = *r;
    struct attn_record_field *field = (void *)at;
    item->of.field = put(&at, r->field, r->n_fields * sizeof *field);
    item->of.ids = put(&at, r->ids, r->n * sizeof *r->ids);
    for (size_t i = 0; i < r->n_fields; i++)
        field[i].ids = put(&at, r->field[i].ids, r->field[i].n * sizeof *r->ids);
    for (size_t i = 0; i < r->n_fields; i++)
        field[i].text = put(&at, r->field[i].text, r->field[i].len);
    item->of.text = put(&at, r->text, r->text_len);
    item->of.id = put(&at, r->id, r->id_len);
    item->of.error = put(&at, r->error, r->error ? strlen(r->error) + 1 : 0);
    return ATTN_OK;
}

/* Each field with its name and size, so that no two records with different fields are hashed alike. */
static void hash_field(struct attn_sha256 *sha, const struct attn_record_field *f)
{
    const uint64_t sizes[] = {f->text != NULL, f->len, f->ids != NULL, f->n};
    attn_sha256_add(sha, f->name, strlen(f->name) + 1);
    attn_sha256_add(sha, sizes, sizeof sizes);
    attn_sha256_add(sha, f->text ? f->text : "", f->len);
    attn_sha256_add(sha, f->ids ? (const void *)f->ids : "", f->n * sizeof *f->ids);
}

static void make_key(struct attn_item *item, const struct attn_reading *reading)
{
    const struct attn_record *r = &item->of;
    struct attn_sha256 sha = reading->context;
    attn_sha256_add(&sha, r->error ? "error\n" : r->text ? "text\n" : "ids\n", r->error ? 6 : r->text ? 5 : 4);
    if (r->error)
        attn_sha256_add(&sha, r->error, strlen(r->error));
    else if (r->text)
        attn_sha256_add(&sha, r->text, r->text_len);
    else
        attn_sha256_add(&sha, r->ids, r->n * sizeof *r->ids);
    for (size_t i = 0; i < r->n_fields; i++)
        hash_field(&sha, &r->field[i]);
    attn_sha256_end(&sha, item->key);
}

int attn_group_add(struct attn_group *g, const struct attn_record *r, const struct attn_reading *reading,
                   struct attn_err *err)
{
    struct attn_item *more = attn_grow(g->item, &g->room, g->n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu records", g->n + 1);
    g->item = more;
    struct attn_item *item = &g->item[g->n++];
    *item = (struct attn_item){0};
    int rc = copy(item, r, err);
    if (!rc)
        make_key(item, reading);
    return rc;
}

int attn_group_read(struct attn_group *g, struct attn_records *from, const struct attn_reading *reading, bool *end,
                    bool *stopped, struct attn_err *err)
{
    struct attn_record r;
    enum attn_records_event what = ATTN_RECORDS_NEXT;
    size_t bytes = 0;
    int rc = ATTN_OK;
    while (!rc && g->n < RECORDS && bytes < BYTES && (g->n == 0 || attn_records_ready(from))) {
        rc = attn_records_next(from, &r, &what, err);
        if (rc || what != ATTN_RECORDS_NEXT)
            break;
        rc = attn_group_add(g, &r, reading, err);
        bytes += size_of(&r);
    }
    *end = what == ATTN_RECORDS_END;
    *stopped = what == ATTN_RECORDS_STOPPED;
    return rc;
}

/* ---- tokens ---------------------------------------------------------------------------- */

static int make_tokens(struct attn_item *item, const struct attn_reading *reading, struct attn_err *err)
{
    const struct attn_record *r = &item->of;
    if (r->error)
        return attn_fail(err, ATTN_EFORMAT, "%s", r->error);
    int rc = r->text ? attn_encode_with(&item->tokens, reading->tokenizer, r->text, r->text_len, &reading->encode, err)
                     : attn_tokens_from_ids(&item->tokens, r->ids, r->n, err);
    if (!rc && reading->labels)
        rc = attn_tokens_label(item->tokens, reading->labels, err);
    if (rc)
        return rc;
    if (item->tokens->n == 0)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    if (item->tokens->n > reading->n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but the model takes at most %zu (n_ctx): shorten "
                                            "it",
                         item->tokens->n, reading->n_ctx);
    rc = attn_tokens_to_ids(&item->ids, item->tokens, err);
    return rc ? rc : attn_model_check_tokens(reading->model, item->tokens, err);
}

struct job { struct attn_group *g; const struct attn_reading *reading; };

static void encode_one(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    struct attn_item *item = &j->g->item[i];
    if (make_tokens(item, j->reading, &item->failure)) {
        attn_tokens_free(item->tokens);
        item->tokens = NULL;
    }
}

int attn_item_blame(const struct attn_item *item, struct attn_err *err)
{
    bool machine = item->failure.code == ATTN_ENOMEM || item->failure.code == ATTN_EIO;
    return machine ? attn_fail_as(err, &item->failure) : ATTN_OK;
}

int attn_reading_tokenizer(struct attn_reading *reading, struct attn_err *err)
{
    if (reading->tokenizer)
        return ATTN_OK;
    int rc = attn_model_tokenizer(&reading->tokenizer, reading->model, err);
    if (!rc && reading->opened)
        reading->opened(reading->self, reading->tokenizer);
    return rc;
}

const char *attn_reading_text(void *reading, int32_t id, size_t *len)
{
    const struct attn_reading *r = reading;
    return r->tokenizer ? attn_tokenizer_text(r->tokenizer, id, len) :
           r->labels && attn_labels_by_id(r->labels) ? attn_labels_text(r->labels, id, len) : NULL;
}

int attn_group_encode(struct attn_group *g, struct attn_reading *reading, struct attn_err *err)
{
    struct job job = {g, reading};
    double bytes = 0;
    int rc = ATTN_OK;
    for (size_t i = 0; i < g->n && !rc; i++) {
        bytes += 64 + (double)g->item[i].of.text_len;
        if (g->item[i].of.text)
            rc = attn_reading_tokenizer(reading, err);
    }
    if (rc)
        return rc;
    attn_team_run(reading->team, g->n, COST * bytes, encode_one, &job);
    for (size_t i = 0; i < g->n && !rc; i++)
        rc = attn_item_blame(&g->item[i], err);
    return rc;
}

void attn_group_clear(struct attn_group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->item[i].copy);
        free(g->item[i].ids);
        attn_tokens_free(g->item[i].tokens);
        attn_tokens_free(g->item[i].from);
    }
    g->n = 0;
}
