/* tokenizer_json.c - reads Hugging Face's tokenizer.json.
 *
 * An object: "model" is BPE, with "vocab" and "merges", or Unigram, whose "vocab" is a list with scores and which older
 * files do not name; "added_tokens" is found in the text first, and four components say what happens around the model
 * (tokenizer_normal.c, tokenizer_pre.c, tokenizer_decoder.c, tokenizer_steps.c).  Vocabulary and merges, which may take many
 * megabytes, are read in place; the rest becomes small trees.  "truncation" and "padding" concern batches of training and are
 * ignored.  Whatever else would change a token is refused by name, and so is every unknown key. */
#include "text/subword.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"

enum { VALUES_MAX = 1 << 23, NAME_MAX_SHOWN = 400 };

/* Where the value of a member is in the file; end 0 if it is absent. */
struct value { size_t start, end; };

enum { VERSION, TRUNCATION, PADDING, ADDED, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, MODEL, PARTS };
static const char *const parts[PARTS] = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"
};

enum { TYPE, VOCAB, MERGES, IGNORE_MERGES, DROPOUT, UNK, UNK_ID, PREFIX, SUFFIX, FUSE, FALLBACK, MODEL_PARTS };
static const char *const model_parts[MODEL_PARTS] = {
    "type", "vocab", "merges", "ignore_merges", "dropout", "unk_token", "unk_id",
    "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"
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
        if (type && e == ATTN_JSON_STRING && !attn_json_is(&j, "BPE") && !attn_json_is(&j, "Unigram"))
            return attn_fail(r->err, ATTN_EFORMAT, "%s: model: \"type\" is \"%.*s\", expected \"BPE\" or \"Unigram\"; token ids "
                             "can be given with --ids", r->file->name, attn_shown(j.text + j.token, j.token_len), j.text + j.token);
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

static int take_flag(const struct reader *r, const struct value *v, size_t i, bool *out)
{
    struct attn_json j;
    start_at(r, &j, v[i].start);
    enum attn_json_event e = v[i].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    *out = e == ATTN_JSON_TRUE;
    return *out || e == ATTN_JSON_FALSE || e == ATTN_JSON_NULL ? ATTN_OK :
           refuse_model(r, model_parts[i], "is neither true nor false");
}

/* What would change tokens in a way that is not known here. */
static int check_options(const struct reader *r, const struct value *v)
{
    static const size_t nothing[] = {DROPOUT, PREFIX, SUFFIX};
    struct attn_json j;
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++) {
        size_t i = nothing[k];
        start_at(r, &j, v[i].start);
        if (v[i].end > 0 && !is_nothing(&j, attn_json_next(&j)))
            return refuse_model(r, model_parts[i], "is set, which is not supported");
    }
    start_at(r, &j, v[TYPE].start);
    if (v[TYPE].end > 0 && attn_json_next(&j) != ATTN_JSON_STRING)
        return refuse_model(r, model_parts[TYPE], "is no string");
    if (v[TYPE].end > 0 && attn_json_is(&j, "Unigram") != (r->b->unigram != NULL))
        return refuse_model(r, model_parts[VOCAB], r->b->unigram ? "is an array, expected an object" : "is no array");
    return ATTN_OK;
}

/* ---- BPE ------------------------------------------------------------------------------- */

/* An unknown token that the vocabulary lacks: of use where nothing is unknown. */
enum { NOT_THERE = -2 };

/* Reads the text of the unknown token and looks it up. */
static int take_unknown(const struct reader *r, const struct value *v)
{
    struct attn_json j;
    start_at(r, &j, v[UNK].start);
    enum attn_json_event e = v[UNK].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    if (e == ATTN_JSON_NULL)
        return ATTN_OK;
    char *text = e == ATTN_JSON_STRING ? malloc(j.token_len + 1) : NULL;
    if (!text)
        return e == ATTN_JSON_STRING ? attn_no_memory(r->err, r->file->name, "for a token") :
               refuse_model(r, model_parts[UNK], "is no string");
    int32_t id = attn_vocab_id(r->b->rules.vocab, text, attn_json_string(&j, text));
    r->b->rules.unknown = id < 0 && j.token_len > 0 ? NOT_THERE : id;
    free(text);
    return ATTN_OK;
}

static int take_bpe(const struct reader *r, const struct value *v)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    struct attn_json before;
    int rc = v[MERGES].end == 0 ? refuse_model(r, "merges", "is not there") : v[UNK_ID].end > 0 ?
             refuse_model(r, "unk_id", "is no part of BPE") : ATTN_OK;
    if (rc || (rc = take_flag(r, v, IGNORE_MERGES, &rules->whole_first)) || (rc = take_flag(r, v, FUSE, &rules->fuse)) ||
        (rc = take_flag(r, v, FALLBACK, &rules->fallback)) || (rc = take_unknown(r, v)) || v[MERGES].start > v[VOCAB].start)
        return rc;
    start_at(r, &before, v[MERGES].start);
    return attn_merges_take(&rules->merges, rules->vocab, &before, r->err);
}

/* ---- Unigram --------------------------------------------------------------------------- */

static int bad_piece(const struct reader *r, const struct attn_json *j, size_t n)
{
    if (j->failed)
        return attn_json_error(j, r->err);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: model: entry %zu of \"vocab\" is no array of a text and a finite number",
                     r->file->name, n);
}

/* Memory for the pieces while they are read. */
struct pieces { char *text; size_t room, score_room; };

static int take_piece(const struct reader *r, struct attn_json *j, struct pieces *p)
{
    struct attn_unigram *u = r->b->unigram;
    size_t n = attn_vocab_size(r->b->rules.vocab);
    if (attn_json_next(j) != ATTN_JSON_STRING)
        return bad_piece(r, j, n);
    int rc = attn_json_refuse_nul(j, r->err);
    char *text = attn_grow(p->text, &p->room, j->token_len + 1, 1);
    p->text = text ? text : p->text;
    double *score = attn_grow(u->score, &p->score_room, n + 1, sizeof *score);
    u->score = score ? score : u->score;
    if (rc || !text || !score)
        return rc ? rc : attn_no_memory(r->err, r->file->name, "for the vocabulary");
    size_t len = j->escaped ? attn_json_string(j, text) : j->token_len;
    if (len > ATTN_PIECE_LONGEST)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: model: entry %zu of \"vocab\" has %zu bytes, and at most %d are supported",
                         r->file->name, n, len, ATTN_PIECE_LONGEST);
    rc = attn_vocab_append(r->b->rules.vocab, j->escaped ? text : j->text + j->token, len, r->file->name, r->err);
    if (!rc && (attn_json_next(j) != ATTN_JSON_NUMBER || !attn_num_parse_f64(j->text + j->token, j->token_len, &score[n]) ||
                !isfinite(score[n]) || attn_json_next(j) != ATTN_JSON_ARRAY_END))
        rc = bad_piece(r, j, n);
    return rc;
}

/* The "vocab" of Unigram; its first event has been read. */
static int take_pieces(const struct reader *r, struct attn_json *j)
{
    struct attn_subword *b = r->b;
    struct pieces p = {0};
    enum attn_json_event e;
    int rc = ATTN_OK;
    b->unigram = calloc(1, sizeof *b->unigram);
    b->rules.vocab = attn_vocab_new();
    if (!b->unigram || !b->rules.vocab)
        return attn_no_memory(r->err, r->file->name, "for the vocabulary");
    while (!rc && (e = attn_json_next(j)) != ATTN_JSON_ARRAY_END)
        rc = e == ATTN_JSON_ARRAY ? take_piece(r, j, &p) : bad_piece(r, j, attn_vocab_size(b->rules.vocab));
    free(p.text);
    return rc ? rc : attn_vocab_index(b->rules.vocab, r->file->name, r->err);
}

static int take_unigram(const struct reader *r, const struct value *v)
{
    struct attn_unigram *u = r->b->unigram;
    struct attn_json j;
    bool fallback;
    start_at(r, &j, v[UNK_ID].start);
    enum attn_json_event e = v[UNK_ID].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    int rc = take_flag(r, v, FALLBACK, &fallback);
    if (rc)
        return rc;
    if (e != ATTN_JSON_NULL && !(e == ATTN_JSON_NUMBER && j.is_whole && j.whole < attn_vocab_size(r->b->rules.vocab)))
        return refuse_model(r, "unk_id", "is no token's");
    u->unknown = e == ATTN_JSON_NUMBER ? (int32_t)j.whole : -1;
    u->joined = true;
    u->byte = fallback ? r->b->rules.byte : NULL;
    u->vocab = r->b->rules.vocab;
    return attn_unigram_index(u, NULL) ? ATTN_OK : attn_no_memory(r->err, r->file->name, "for the vocabulary");
}

/* ---- either ---------------------------------------------------------------------------- */

static int take_vocab(const struct reader *r, struct attn_json *j)
{
    struct attn_json before = *j;
    if (attn_json_next(j) == ATTN_JSON_ARRAY)
        return take_pieces(r, j);
    *j = before;
    return attn_vocab_take(&r->b->rules.vocab, j, r->err);
}

static int take_vocab_or_merges(const struct reader *r, struct attn_json *j, size_t i)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    if (i == VOCAB)
        return take_vocab(r, j);
    if (i == MERGES && rules->vocab && !r->b->unigram)
        return attn_merges_take(&rules->merges, rules->vocab, j, r->err);
    return skip_value(r, j);
}

/* Reads the model in one pass, since it is most of the file. */
static int take_model(const struct reader *r, struct attn_json *j)
{
    static const struct members members = {"\"model\"", model_parts, MODEL_PARTS, take_vocab_or_merges};
    struct value v[MODEL_PARTS] = {{0}};
    int rc = check_type(r, j->at);
    if (!rc)
        rc = take_members(r, j, &members, v);
    if (!rc && v[VOCAB].end == 0)
        rc = refuse_model(r, "vocab", "is not there");
    if (!rc)
        rc = check_options(r, v);
    if (!rc)
        attn_bpe_rules_bytes(&r->b->rules);
    return rc ? rc : r->b->unigram ? take_unigram(r, v) : take_bpe(r, v);
}

/* Whether there is a token for every byte, so that no text is unknown. */
static bool knows_all(const struct attn_bpe_rules *r, bool spells)
{
    int i = 0;
    while (i < 256 && r->byte[i] >= 0)
        i++;
    return i == 256 && (spells || r->fallback);
}

/* Once it is known whether tokens spell bytes, and before tokens are added that no text may match. */
static int finish_model(const struct reader *r)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    bool spells = r->b->byte_level;
    if (spells && r->b->unigram)
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"Unigram\" with \"ByteLevel\" is not supported; token ids can be given with "
                         "--ids", r->file->name);
    for (int i = 0; spells && rules->fallback && i < 256; i++) {
        char spelled[4];
        if (attn_vocab_id(rules->vocab, spelled, attn_bytes_spell(spelled, (unsigned char)i)) < 0)
            return refuse_model(r, "byte_fallback", "is set, but a byte is no token");
    }
    if (spells)
        attn_bytes_find(rules->byte, rules->vocab);
    if (rules->unknown == NOT_THERE && !knows_all(rules, spells))
        return refuse_model(r, model_parts[UNK], "is no token of the vocabulary");
    if (rules->unknown == NOT_THERE)
        rules->unknown = -1;
    rules->drop = true;                 /* as the reference does */
    rules->chars = !spells && !r->b->unigram;
    return !rules->chars || attn_bpe_rules_index(rules) ? ATTN_OK : attn_no_memory(r->err, r->file->name, "for the vocabulary");
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
        (rc = take_part(r, v, DECODER, attn_steps_decoder)) || (rc = finish_model(r)) ||
        (v[ADDED].end > 0 && (rc = take_part(r, v, ADDED, attn_steps_added))))
        return rc;
    return take_part(r, v, POST_PROCESSOR, attn_steps_post_processor);
}

int attn_tokenizer_json_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err)
{
    struct reader r = {.file = file, .b = attn_subword_new(), .err = err};
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
