/* tokenizer_json.c - reads Hugging Face's tokenizer.json.
 *
 * An object: "model" makes tokens of a piece of text (tokenizer_model.c), "added_tokens" is found in the text first,
 * and four components say what happens around the model (tokenizer_normal.c, tokenizer_pre.c, tokenizer_decoder.c,
 * tokenizer_steps.c). Vocabulary and merges, which may take many megabytes, are read in place; the rest becomes small
 * trees.  "truncation" and "padding" concern batches of training and are ignored.  Whatever else would change a token
 * is refused by name, and so is every unknown key. */
#include "text/tokenizer_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { VALUES_MAX = 1 << 23, NAME_MAX_SHOWN = 400 };

enum { VERSION, TRUNCATION, PADDING, ADDED, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, MODEL, PARTS };
static const char *const parts[PARTS] = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
    "model"
};

/* ---- members --------------------------------------------------------------------------- */

void attn_members_at(const struct attn_tokenizer_file *r, struct attn_json *j, size_t at)
{
    attn_json_start(j, r->file->text, r->file->len, r->file->name);
    j->at = at;
}

size_t attn_members_find(const struct attn_json *j, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && !attn_json_is(j, names[i]))
        i++;
    return i;
}

int attn_members_skip(const struct attn_tokenizer_file *r, struct attn_json *j)
{
    return attn_json_skip(j, attn_json_next(j)) ? ATTN_OK : attn_json_error(j, r->err);
}

static int take_member(const struct attn_tokenizer_file *r, struct attn_json *j, const struct attn_members *m,
                       struct attn_json_span *values)
{
    size_t line, column, n = m->n, i = attn_members_find(j, m->names, n);
    if (i == n || values[i].end > 0) {
        attn_json_position(j, j->token - 1, &line, &column);
        return attn_fail(r->err, ATTN_EFORMAT, "%s: line %zu, column %zu: %s '%.*s'", r->file->name, line, column,
                         i == n ? "unknown key" :
                         "for the second time key", attn_shown(j->text + j->token, j->token_len),
                         j->text + j->token);
    }
    values[i].start = j->at;
    int rc = m->take(r, j, i);
    values[i].end = j->at;
    return rc;
}

int attn_members_take(const struct attn_tokenizer_file *r, struct attn_json *j, const struct attn_members *m,
                      struct attn_json_span *values)
{
    enum attn_json_event e = attn_json_next(j);
    int rc = ATTN_OK;
    if (e != ATTN_JSON_OBJECT && e != ATTN_JSON_FAILED)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: %s is no object", r->file->name, m->what);
    while (!rc && e != ATTN_JSON_FAILED && (e = attn_json_next(j)) == ATTN_JSON_KEY)
        rc = take_member(r, j, m, values);
    return rc ? rc : j->failed ? attn_json_error(j, r->err) : ATTN_OK;
}

/* ---- all of it ------------------------------------------------------------------------- */

static int take_part(const struct attn_tokenizer_file *r, const struct attn_json_span *v, int i,
                     int (*take)(struct attn_steps *s, const cJSON *v))
{
    char name[NAME_MAX_SHOWN];
    cJSON *tree = NULL;
    struct attn_steps s = {.b = r->b, .name = name, .err = r->err};
    const char *text = v[i].end > 0 ? r->file->text + v[i].start : "null";
    size_t len = v[i].end > 0 ? v[i].end - v[i].start : 4;
    snprintf(name, sizeof name, "%.*s: %s", NAME_MAX_SHOWN - 32, r->file->name, parts[i]);
    int rc = attn_tree_read_any(&tree, text, len, name, VALUES_MAX, r->err);
    if (!rc)
        rc = take(&s, tree);
    cJSON_Delete(tree);
    return rc;
}

static int take_top(const struct attn_tokenizer_file *r, struct attn_json *j, size_t i)
{
    return i == MODEL ? attn_tokenizer_model_take(r, j) : attn_members_skip(r, j);
}

static int read_parts(const struct attn_tokenizer_file *r)
{
    static const struct attn_members members = {"it", parts, PARTS, take_top};
    struct attn_json_span v[PARTS] = {{0}};
    struct attn_json j;
    attn_members_at(r, &j, 0);
    int rc = attn_members_take(r, &j, &members, v);
    if (!rc && attn_json_next(&j) != ATTN_JSON_DONE)
        rc = attn_json_error(&j, r->err);
    if (!rc && v[MODEL].end == 0)
        rc = attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"model\"", r->file->name);
    if (rc || (rc = take_part(r, v, NORMALIZER, attn_steps_normalizer)) ||
        (rc = take_part(r, v, PRE_TOKENIZER, attn_steps_pre_tokenizer)) ||
        (rc = take_part(r, v, DECODER, attn_steps_decoder)) || (rc = attn_tokenizer_model_finish(r)) ||
        (v[ADDED].end > 0 && (rc = take_part(r, v, ADDED, attn_steps_added))))
        return rc;
    return take_part(r, v, POST_PROCESSOR, attn_steps_post_processor);
}

int attn_tokenizer_json_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err)
{
    struct attn_tokenizer_file r = {.file = file, .b = attn_subword_new(), .err = err};
    if (!r.b)
        return attn_no_memory(err, file->name, "for a tokenizer");
    int rc = read_parts(&r);
    if (!rc)
        rc = attn_subword_finish(r.b, file->name, err);
    if (rc)
        attn_subword_free(r.b);
    else
        *out = r.b;
    return rc;
}
