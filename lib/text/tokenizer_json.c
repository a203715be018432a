/* tokenizer_json.c - reads Hugging Face's tokenizer.json, as far as it is byte-level BPE.
 *
 * An object: "model" holds "vocab" and "merges", "added_tokens" is found in the text first, and four components say
 * what happens around the model (tokenizer_steps.c).  Vocabulary and merges, which may take many megabytes, are read
 * in place; the rest becomes small trees.  "truncation" and "padding" concern batches of training and are ignored.
 * Whatever else would change a token is refused by name, and so is every unknown key. */
#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { VALUES_MAX = 1 << 23, NAME_MAX_SHOWN = 400 };

/* Where the value of a member is in the file; end 0 if it is absent. */
struct value { size_t start, end; };

enum { VERSION, TRUNCATION, PADDING, ADDED, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, MODEL, PARTS };
static const char *const parts[PARTS] = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"
};

enum { TYPE, VOCAB, MERGES, IGNORE_MERGES, DROPOUT, UNK, PREFIX, SUFFIX, FUSE, FALLBACK, MODEL_PARTS };
static const char *const model_parts[MODEL_PARTS] = {
    "type", "vocab", "merges", "ignore_merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
    "fuse_unk", "byte_fallback"
};

struct reader {
    const struct attn_text_file *file;
    struct attn_subword *b;
    struct attn_err *err;
};

/* ---- members --------------------------------------------------------------------------- */

static void start_at(const struct reader *r, struct attn_json *j, size_t at)
{
    attn_json_start(j, r->file->text, r->file->len, r->file->name);
    j->at = at;
}

static size_t find_name(const struct attn_json *j, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && !attn_json_is(j, names[i]))
        i++;
    return i;
}

/* The members of an object: their names, and a function that reads the value of one. */
struct members {
    const char *what, *const *names; size_t n;
    int (*take)(const struct reader *r, struct attn_json *j, size_t i);
};

static int skip_value(const struct reader *r, struct attn_json *j)
{
    return attn_json_skip(j, attn_json_next(j)) ? ATTN_OK : attn_json_error(j, r->err);
}

static int take_member(const struct reader *r, struct attn_json *j, const struct members *m, struct value *values)
{
    size_t line, column, n = m->n, i = find_name(j, m->names, n);
    if (i == n || values[i].end > 0) {
        attn_json_position(j, j->token - 1, &line, &column);
        return attn_fail(r->err, ATTN_EFORMAT, "%s: line %zu, column %zu: %s '%.*s'", r->file->name, line, column,
                         i == n ? "unknown key" : "for the second time key", attn_shown(j->text + j->token, j->token_len),
                         j->text + j->token);
    }
    values[i].start = j->at;
    int rc = m->take(r, j, i);
    values[i].end = j->at;
    return rc;
}

/* Reads the object that is the reader's next value. */
static int take_members(const struct reader *r, struct attn_json *j, const struct members *m, struct value *values)
{
    enum attn_json_event e = attn_json_next(j);
    int rc = ATTN_OK;
    if (e != ATTN_JSON_OBJECT && e != ATTN_JSON_FAILED)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: %s is no object", r->file->name, m->what);
    while (!rc && e != ATTN_JSON_FAILED && (e = attn_json_next(j)) == ATTN_JSON_KEY)
        rc = take_member(r, j, m, values);
    return rc ? rc : j->failed ? attn_json_error(j, r->err) : ATTN_OK;
}

/* ---- the model ------------------------------------------------------------------------- */

static int refuse_model(const struct reader *r, const char *key, const char *why)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: model: \"%s\" %s; token ids can be given with --ids", r->file->name, key, why);
}

/* Checks the type first: in another kind of model every key would be unknown. */
static int check_type(const struct reader *r, size_t model)
{
    struct attn_json j;
    start_at(r, &j, model);
    if (attn_json_next(&j) != ATTN_JSON_OBJECT)
        return ATTN_OK;                 /* take_members reports it */
    while (attn_json_next(&j) == ATTN_JSON_KEY) {
        bool type = attn_json_is(&j, model_parts[TYPE]);
        enum attn_json_event e = attn_json_next(&j);
        if (type && e == ATTN_JSON_STRING && !attn_json_is(&j, "BPE"))
            return attn_fail(r->err, ATTN_EFORMAT, "%s: model: \"type\" is \"%.*s\", expected \"BPE\"; token ids can be "
                             "given with --ids", r->file->name, attn_shown(j.text + j.token, j.token_len), j.text + j.token);
        if (type || !attn_json_skip(&j, e))
            break;
    }
    return ATTN_OK;
}

static bool is_nothing(const struct attn_json *j, enum attn_json_event e)
{
    return e == ATTN_JSON_NULL || e == ATTN_JSON_FALSE || (e == ATTN_JSON_STRING && j->token_len == 0) ||
           (e == ATTN_JSON_NUMBER && strspn(j->text + j->token, "0.") == j->token_len);
}

static int check_options(const struct reader *r, const struct value *v)
{
    struct attn_json j;
    for (size_t i = TYPE; i < MODEL_PARTS; i++) {
        if (v[i].end == 0 || i == VOCAB || i == MERGES)
            continue;
        start_at(r, &j, v[i].start);
        enum attn_json_event e = attn_json_next(&j);
        if (i == TYPE && e != ATTN_JSON_STRING)
            return refuse_model(r, model_parts[i], "is no string");
        if (i == IGNORE_MERGES && e != ATTN_JSON_TRUE && e != ATTN_JSON_FALSE)
            return refuse_model(r, model_parts[i], "is neither true nor false");
        if (i > IGNORE_MERGES && !is_nothing(&j, e))
            return refuse_model(r, model_parts[i], "is set, which is not supported");
        if (i == IGNORE_MERGES)
            r->b->rules.whole_first = e == ATTN_JSON_TRUE;
    }
    return ATTN_OK;
}

static int take_vocab_or_merges(const struct reader *r, struct attn_json *j, size_t i)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    if (i == VOCAB)
        return attn_vocab_take(&rules->vocab, j, r->err);
    if (i == MERGES && rules->vocab)
        return attn_merges_take(&rules->merges, rules->vocab, j, r->err);
    return skip_value(r, j);
}

/* Reads the model in one pass, since it is most of the file. */
static int take_model(const struct reader *r, struct attn_json *j)
{
    static const struct members members = {"\"model\"", model_parts, MODEL_PARTS, take_vocab_or_merges};
    struct value v[MODEL_PARTS] = {{0}};
    struct attn_bpe_rules *rules = &r->b->rules;
    struct attn_json before;
    int rc = check_type(r, j->at);
    if (!rc)
        rc = take_members(r, j, &members, v);
    if (!rc)
        rc = check_options(r, v);
    if (!rc && (v[VOCAB].end == 0 || v[MERGES].end == 0))
        rc = refuse_model(r, v[VOCAB].end ? "merges" : "vocab", "is not there");
    if (rc || v[MERGES].start > v[VOCAB].start)
        return rc;
    start_at(r, &before, v[MERGES].start);
    return attn_merges_take(&rules->merges, rules->vocab, &before, r->err);
}

/* ---- all of it ------------------------------------------------------------------------- */

static int take_part(const struct reader *r, const struct value *v, int i,
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

static int take_top(const struct reader *r, struct attn_json *j, size_t i)
{
    return i == MODEL ? take_model(r, j) : skip_value(r, j);
}

static int read_parts(const struct reader *r)
{
    static const struct members members = {"it", parts, PARTS, take_top};
    struct value v[PARTS] = {{0}};
    struct attn_json j;
    start_at(r, &j, 0);
    int rc = take_members(r, &j, &members, v);
    if (!rc && attn_json_next(&j) != ATTN_JSON_DONE)
        rc = attn_json_error(&j, r->err);
    if (!rc && v[MODEL].end == 0)
        rc = attn_fail(r->err, ATTN_EFORMAT, "%s: there is no \"model\"", r->file->name);
    if (rc || (rc = take_part(r, v, NORMALIZER, attn_steps_normalizer)) ||
        (rc = take_part(r, v, PRE_TOKENIZER, attn_steps_pre_tokenizer)) ||
        (rc = take_part(r, v, DECODER, attn_steps_decoder)) ||
        (v[ADDED].end > 0 && (rc = take_part(r, v, ADDED, attn_steps_added))))
        return rc;
    return take_part(r, v, POST_PROCESSOR, attn_steps_post_processor);
}

int attn_tokenizer_json_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err)
{
    struct reader r = {.file = file, .b = calloc(1, sizeof *r.b), .err = err};
    if (!r.b)
        return attn_no_memory(err, file->name, "for a tokenizer");
    r.b->bos = -1;
    int rc = read_parts(&r);
    if (!rc)
        rc = attn_subword_finish(r.b, file->name, err);
    if (rc)
        attn_subword_free(r.b);
    else
        *out = r.b;
    return rc;
}
