/* gguf_tokenizer.c - the tokenizer's files of a GGUF model, made of its metadata.
 *
 * tokenizer.ggml.model is "llama", sentencepiece's BPE by scores, of which tokenizer.model is made; or "gpt2", BPE over
 * bytes by merges, of which tokenizer.json is made.  When such a model is converted, tokenizer.json is wanted of the
 * first kind, too: then the merges are those that the scores imply, as Hugging Face's converter finds them. */
#include "model/gguf_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/out.h"
#include "base/utf8.h"
#include "model/gguf_pre.h"

enum { NORMAL = 1, UNKNOWN, CONTROL, USER, UNUSED, BYTE };

/* ---- the lists ------------------------------------------------------------------------- */

struct tokens {
    const struct attn_gguf_model *m;
    const struct attn_gguf_value *text, *score, *type, *merge;      /* those that are absent are NULL */
    bool pieces;                        /* sentencepiece's */
    const struct attn_gguf_pre *pre;    /* of the others */
    size_t unknown;
};

static const struct attn_gguf_value *value_of(const struct attn_gguf_model *m, const char *key)
{
    char name[96] = "tokenizer.ggml.";
    strncat(name, key, sizeof name - strlen(name) - 1);
    return attn_gguf_find(m->meta, name);
}

/* A list of as many values as there are tokens; n 0: of any number.  *out is NULL if it is absent. */
static int take_list(const struct attn_gguf_model *m, const char *key, enum attn_gguf_kind kind, size_t n,
                     const struct attn_gguf_value **out, struct attn_err *err)
{
    const struct attn_gguf_value *v = *out = value_of(m, key);
    if (v && (!v->array || v->kind != kind))
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is %s, expected an array of %s", m->meta->name, v->key,
                         attn_gguf_kind_name(v), kind == ATTN_GGUF_STRING ? "string" :
                         kind == ATTN_GGUF_F32 ? "f32" : "i32");
    if (v && n && v->n != n)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' has %zu values, expected %zu, one for each token",
                         m->meta->name, v->key, v->n, n);
    return ATTN_OK;
}

static bool is(struct attn_str_view s, const char *text) { return s.len == strlen(text) && !memcmp(s.s, text, s.len); }

/* A flag of the tokenizer. */
static int take_flag(const struct attn_gguf_model *m, const char *key, bool otherwise, bool *out, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(m, key);
    *out = otherwise;
    return !v || attn_gguf_flag(v, out) ? ATTN_OK :
           attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is %s, expected bool", m->meta->name, v->key,
                     attn_gguf_kind_name(v));
}

static size_t type_of(const struct tokens *t, size_t i)
{
    uint64_t x = NORMAL;
    if (t->type && (!attn_gguf_whole(t->type, i, &x) || x == 0))
        x = NORMAL;
    return (size_t)x;
}

/* -1, or as it comes out without a sign: some writers put it where there is no such token. */
static bool is_none(const struct attn_gguf_value *v)
{
    uint64_t x;
    attn_gguf_whole(v, 0, &x);
    return !v->array && (x == UINT64_MAX || (x == UINT32_MAX && v->kind == ATTN_GGUF_U32));
}

/* The id of a token that has a part to play; *there is false if it is not said. */
static int take_id(const struct tokens *t, const char *key, size_t *id, bool *there, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(t->m, key);
    uint64_t x;
    *there = v && !is_none(v);
    if (!*there)
        return ATTN_OK;
    if (v->array || !attn_gguf_whole(v, 0, &x) || x >= t->text->n)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is no token's id, expected 0 to %zu", t->m->meta->name,
                         v->key, t->text->n - 1);
    *id = (size_t)x;
    return ATTN_OK;
}

static int take_pre(struct tokens *t, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(t->m, "pre");
    struct attn_str_view name = {"default", 7};
    if (v && !attn_gguf_text(v, &name))
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is %s, expected string", t->m->meta->name, v->key,
                         attn_gguf_kind_name(v));
    t->pre = attn_gguf_pre_find(name);
    if (t->pre)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: its tokenizer cuts texts as '%.*s' (tokenizer.ggml.pre), which is not "
                                        "known here; token ids can be given with --ids", t->m->meta->name,
                     attn_shown(name.s, name.len), name.s);
}

/* Sentencepiece has one unknown piece. */
static int take_unknown(struct tokens *t, struct attn_err *err)
{
    bool there;
    int rc = take_id(t, "unknown_token_id", &t->unknown, &there, err);
    for (size_t i = 0; !rc && !there && i < t->text->n; i++)
        if (type_of(t, i) == UNKNOWN) {
            t->unknown = i;
            break;
        }
    return rc;
}

static int take_types(const struct tokens *t, struct attn_err *err)
{
    for (size_t i = 0; i < t->text->n; i++)
        if (type_of(t, i) > BYTE)
            return attn_fail(err, ATTN_EFORMAT, "%s: token %zu has type %zu, expected 1 to 6", t->m->meta->name, i,
                             type_of(t, i));
    return ATTN_OK;
}

static int take_lists(struct tokens *t, const struct attn_gguf_model *m, struct attn_err *err)
{
    *t = (struct tokens){.m = m};
    int rc = take_list(m, "tokens", ATTN_GGUF_STRING, 0, &t->text, err);
    if (!rc && (!t->text || t->text->n == 0))
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no key 'tokenizer.ggml.tokens' with tokens, expected one",
                         m->meta->name);
    if (rc || (rc = take_list(m, "scores", ATTN_GGUF_F32, t->text->n, &t->score, err)) ||
        (rc = take_list(m, "token_type", ATTN_GGUF_I32, t->text->n, &t->type, err)) ||
        (rc = take_list(m, "merges", ATTN_GGUF_STRING, 0, &t->merge, err)))
        return rc;
    return take_types(t, err);
}

int attn_gguf_tokens_check(const struct attn_gguf_model *m, struct attn_err *err)
{
    static const char *const ids[] = {"bos_token_id", "eos_token_id", "unknown_token_id", "padding_token_id"};
    struct tokens t;
    if (!attn_gguf_has_tokenizer(m))
        return ATTN_OK;
    int rc = take_lists(&t, m, err);
    for (size_t i = 0; i < sizeof ids / sizeof *ids && !rc; i++) {
        size_t id;
        bool there;
        rc = take_id(&t, ids[i], &id, &there, err);
    }
    return rc;
}

static int take_tokens(struct tokens *t, const struct attn_gguf_model *m, struct attn_err *err)
{
    struct attn_str_view kind = {"", 0};
    const struct attn_gguf_value *v = value_of(m, "model");
    if (!v || !attn_gguf_text(v, &kind) || !(is(kind, "llama") || is(kind, "gpt2")))
        return attn_fail(err, ATTN_EFORMAT, "%s: its tokenizer is '%.*s' (tokenizer.ggml.model), expected llama or "
                                            "gpt2; token ids can be given with --ids", m->meta->name,
                         attn_shown(kind.s, kind.len), kind.s);
    int rc = take_lists(t, m, err);
    if (rc)
        return rc;
    t->pieces = is(kind, "llama");
    if (t->pieces && !t->score)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no key 'tokenizer.ggml.scores', expected a score for each "
                                            "token", m->meta->name);
    if (!t->pieces && !t->merge)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no key 'tokenizer.ggml.merges', expected the merges of its "
                                            "tokens", m->meta->name);
    return t->pieces ? take_unknown(t, err) : take_pre(t, err);
}

bool attn_gguf_has_tokenizer(const struct attn_gguf_model *m)
{
    return value_of(m, "model") && value_of(m, "tokens");
}

bool attn_gguf_is_sentencepiece(const struct attn_gguf_model *m)
{
    const struct attn_gguf_value *v = value_of(m, "model");
    struct attn_str_view kind;
    return v && attn_gguf_text(v, &kind) && is(kind, "llama");
}

/* ---- tokens around a text -------------------------------------------------------------- */

/* Which tokens begin and end a text, and whether they are put there. */
struct ends { size_t bos, eos; bool has_bos, has_eos, add_bos, add_eos; };

static int take_ends(struct ends *e, const struct tokens *t, struct attn_err *err)
{
    *e = (struct ends){.bos = 1, .eos = 2};         /* sentencepiece's usual ones */
    int rc = take_id(t, "bos_token_id", &e->bos, &e->has_bos, err);
    if (rc || (rc = take_id(t, "eos_token_id", &e->eos, &e->has_eos, err)) ||
        (rc = take_flag(t->m, "add_bos_token", t->pieces || t->pre->bos, &e->add_bos, err)) ||
        (rc = take_flag(t->m, "add_eos_token", false, &e->add_eos, err)))
        return rc;
    e->has_bos |= t->pieces && e->bos < t->text->n;
    e->has_eos |= t->pieces && e->eos < t->text->n;
    e->add_bos &= e->has_bos;
    e->add_eos &= e->has_eos;
    return ATTN_OK;
}

static struct attn_str_view text_at(const struct tokens *t, size_t id)
{
    const unsigned char *at = t->text->at;
    struct attn_str_view s = {0};
    for (size_t i = 0; i <= id; i++)
        s = attn_gguf_next_text(&at);
    return s;
}

static void put_token(struct attn_out *out, const char *name, const struct tokens *t, size_t id)
{
    struct attn_str_view s = text_at(t, id);
    attn_out_printf(out, ",\n  \"%s\": ", name);
    attn_out_json(out, s.s, s.len);
}

static const char *truth(bool x) { return x ? "true" : "false"; }

/* ---- tokenizer_config.json ------------------------------------------------------------- */

int attn_gguf_tokenizer_config(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    static const char *const others[][2] = {{"unknown_token_id", "unk_token"}, {"padding_token_id", "pad_token"}};
    const struct attn_gguf_value *chat = attn_gguf_find(m->meta, "tokenizer.chat_template");
    struct attn_str_view template;
    struct tokens t;
    struct ends e;
    int rc = take_tokens(&t, m, err);
    if (rc || (rc = take_ends(&e, &t, err)))
        return rc;
    attn_out_printf(out, "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n"
                         "  \"clean_up_tokenization_spaces\": false,\n"
                         "  \"add_bos_token\": %s,\n  \"add_eos_token\": %s",
                    truth(e.add_bos), truth(e.add_eos));
    if (e.has_bos)
        put_token(out, "bos_token", &t, e.bos);
    if (e.has_eos)
        put_token(out, "eos_token", &t, e.eos);
    for (size_t i = 0; i < sizeof others / sizeof *others && !rc; i++) {
        size_t id = 0;
        bool there;
        rc = take_id(&t, others[i][0], &id, &there, err);
        if (!rc && there)
            put_token(out, others[i][1], &t, id);
    }
    if (chat && attn_gguf_text(chat, &template)) {
        attn_out_str(out, ",\n  \"chat_template\": ");
        attn_out_json(out, template.s, template.len);
    }
    attn_out_str(out, "\n}\n");
    return rc;
}

/* ---- tokenizer.model ------------------------------------------------------------------- */

static void put_varint(struct attn_out *out, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        attn_out_char(out, (char)(x | 0x80));
    attn_out_char(out, (char)x);
}

static size_t varint_len(uint64_t x)
{
    size_t n = 1;
    for (; x >= 0x80; x >>= 7)
        n++;
    return n;
}

static void put_field(struct attn_out *out, unsigned number, uint64_t x)
{
    put_varint(out, number << 3);
    put_varint(out, x);
}

/* Only one may be the unknown piece. */
static size_t piece_type(const struct tokens *t, size_t i)
{
    size_t type = type_of(t, i);
    return i == t->unknown ? UNKNOWN : type == UNKNOWN ? CONTROL : type;
}

static void put_piece(struct attn_out *out, const struct tokens *t, size_t i, struct attn_str_view s)
{
    char empty[40];
    if (s.len == 0)                     /* it has an id, and no text may match it */
        s = (struct attn_str_view){empty, (size_t)attn_snprintf(empty, sizeof empty, "[EMPTY_%zu]", i)};
    put_varint(out, 1 << 3 | 2);
    put_varint(out, 1 + varint_len(s.len) + s.len + 5 + 2);
    put_varint(out, 1 << 3 | 2);
    put_varint(out, s.len);
    attn_out_write(out, s.s, s.len);
    put_varint(out, 2 << 3 | 5);
    attn_out_write(out, t->score->at + i * sizeof(float), sizeof(float));
    put_field(out, 3, piece_type(t, i));
}

/* A message whose fields are single numbers. */
struct number { unsigned field; uint64_t x; };

static void put_numbers(struct attn_out *out, unsigned field, const struct number *x, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += varint_len(x[i].field << 3) + varint_len(x[i].x);
    put_varint(out, field << 3 | 2);
    put_varint(out, len);
    for (size_t i = 0; i < n; i++)
        put_field(out, x[i].field, x[i].x);
}

/* Trainer: BPE, whether there are bytes, BOS and EOS.  Normalizer: a space in front; blanks as they are, or U+2581. */
int attn_gguf_tokenizer_model(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    struct tokens t;
    struct ends e;
    bool space, bytes = false;
    int rc = take_tokens(&t, m, err);
    if (rc || (rc = take_ends(&e, &t, err)) || (rc = take_flag(m, "add_space_prefix", true, &space, err)))
        return rc;
    const unsigned char *at = t.text->at;
    for (size_t i = 0; i < t.text->n; i++) {
        put_piece(out, &t, i, attn_gguf_next_text(&at));
        bytes |= piece_type(&t, i) == BYTE;
    }
    const struct number trainer[] = {{3, 2}, {35, bytes}, {41, e.has_bos ? e.bos : UINT64_MAX},
                                     {42, e.has_eos ? e.eos : UINT64_MAX}};
    const struct number normalizer[] = {{3, space}, {4, false}, {5, true}};
    put_numbers(out, 2, trainer, sizeof trainer / sizeof *trainer);
    put_numbers(out, 3, normalizer, sizeof normalizer / sizeof *normalizer);
    return ATTN_OK;
}

/* ---- tokenizer.json -------------------------------------------------------------------- */

static void put_added(struct attn_out *out, const struct tokens *t)
{
    const unsigned char *at = t->text->at;
    const char *before = "";
    for (size_t i = 0; i < t->text->n; i++) {
        struct attn_str_view s = attn_gguf_next_text(&at);
        size_t type = t->pieces ? piece_type(t, i) : type_of(t, i);
        if ((type != UNKNOWN && type != CONTROL && type != USER) || s.len == 0)
            continue;
        attn_out_printf(out, "%s\n    {\"id\": %zu, \"content\": ", before, i);
        attn_out_json(out, s.s, s.len);
        attn_out_printf(out, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, "
                             "\"special\": %s}", truth(type != USER));
        before = ",";
    }
}

static void put_around(struct attn_out *out, const struct tokens *t, size_t id, const char *which)
{
    struct attn_str_view s = text_at(t, id);
    attn_out_str(out, "{\"SpecialToken\": {\"id\": ");
    attn_out_json(out, s.s, s.len);
    attn_out_printf(out, ", \"type_id\": %s}}", which);
}

/* A text, or one of two, with what is put around it. */
static void put_text(struct attn_out *out, const struct tokens *t, const struct ends *e, const char *name,
                     const char *which)
{
    if (e->add_bos) {
        put_around(out, t, e->bos, which);
        attn_out_str(out, ", ");
    }
    attn_out_printf(out, "{\"Sequence\": {\"id\": \"%s\", \"type_id\": %s}}", name, which);
    if (e->add_eos) {
        attn_out_str(out, ", ");
        put_around(out, t, e->eos, which);
    }
}

static void put_special(struct attn_out *out, const struct tokens *t, size_t id, const char *before)
{
    struct attn_str_view s = text_at(t, id);
    attn_out_str(out, before);
    attn_out_json(out, s.s, s.len);
    attn_out_str(out, ": {\"id\": ");
    attn_out_json(out, s.s, s.len);
    attn_out_printf(out, ", \"ids\": [%zu], \"tokens\": [", id);
    attn_out_json(out, s.s, s.len);
    attn_out_str(out, "]}");
}

static void put_template(struct attn_out *out, const struct tokens *t, const struct ends *e)
{
    attn_out_str(out, ",\n  \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [");
    put_text(out, t, e, "A", "0");
    attn_out_str(out, "], \"pair\": [");
    put_text(out, t, e, "A", "0");
    attn_out_str(out, ", ");
    put_text(out, t, e, "B", "1");
    attn_out_str(out, "], \"special_tokens\": {");
    if (e->add_bos)
        put_special(out, t, e->bos, "");
    if (e->add_eos && !(e->add_bos && e->eos == e->bos))
        put_special(out, t, e->eos, e->add_bos ? ", " : "");
    attn_out_str(out, "}}");
}

static void put_vocabulary(struct attn_out *out, const struct tokens *t)
{
    const unsigned char *at = t->text->at;
    attn_out_str(out, "\"vocab\": {");
    for (size_t i = 0; i < t->text->n; i++) {
        struct attn_str_view s = attn_gguf_next_text(&at);
        attn_out_str(out, i ? ",\n    " : "\n    ");
        if (s.len)
            attn_out_json(out, s.s, s.len);
        else
            attn_out_printf(out, "\"[EMPTY_%zu]\"", i);
        attn_out_str(out, ": ");
        attn_out_u64(out, i);
    }
    attn_out_str(out, "},\n    \"merges\": [");
}

static void put_merges(struct attn_out *out, const struct tokens *t)
{
    const unsigned char *at = t->merge->at;
    for (size_t i = 0; i < t->merge->n; i++) {
        struct attn_str_view s = attn_gguf_next_text(&at);
        attn_out_str(out, i ? ",\n    " : "\n    ");
        attn_out_json(out, s.s, s.len);
    }
}

/* ---- merges that scores imply ---- */

struct pair { uint32_t whole, left; double score; };

/* The better score first; of one token the longer left part, as the converter has it. */
static int by_score(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->whole != y->whole ? (x->whole < y->whole ? -1 : 1) : x->left < y->left ? 1 : -1;
}

/* Two tokens that make a third one: where in its text the second begins. */
static int find_pairs(struct pair **out, size_t *n, const struct tokens *t, const struct attn_strings *texts,
                      struct attn_err *err)
{
    size_t room = 0;
    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < texts->n; i++) {
        size_t len;
        const char *s = attn_strings_at(texts, i, &len);
        double score = 0;
        attn_gguf_real(t->score, i, &score);
        for (size_t k = 1; k < len && type_of(t, i) == NORMAL; k++) {
            size_t left = attn_strings_find(texts, s, k), right = attn_strings_find(texts, s + k, len - k);
            if (((unsigned char)s[k] & 0xC0) == 0x80 || left == ATTN_STRINGS_NONE || right == ATTN_STRINGS_NONE)
                continue;
            struct pair *more = attn_grow(*out, &room, *n + 1, sizeof *more);
            if (!more)
                return attn_no_memory(err, t->m->meta->name, "for the merges of its tokens");
            *out = more;
            more[(*n)++] = (struct pair){(uint32_t)i, (uint32_t)k, score};
        }
    }
    if (*n)
        qsort(*out, *n, sizeof **out, by_score);
    return ATTN_OK;
}

static int put_implied_merges(struct attn_out *out, const struct tokens *t, struct attn_err *err)
{
    enum { LONGEST = 4096 };            /* as sentencepiece's reader has it: tries grow with the square */
    const unsigned char *at = t->text->at;
    struct attn_strings texts = {0};
    struct pair *pair = NULL;
    size_t n = 0, twice = ATTN_STRINGS_NONE;
    bool fits = true;
    int rc = ATTN_OK;
    for (size_t i = 0; i < t->text->n && fits && !rc; i++) {
        struct attn_str_view s = attn_gguf_next_text(&at);
        fits = attn_strings_append(&texts, s.s, s.len);
        if (s.len > LONGEST)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: token %zu has %zu bytes, expected at most %d", t->m->meta->name, i,
                           s.len, LONGEST);
    }
    if (!rc && !(fits && attn_strings_index(&texts, &twice)))
        rc = attn_no_memory(err, t->m->meta->name, "for its tokens");
    if (!rc && twice != ATTN_STRINGS_NONE)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: token %zu has the text of one before it, expected each text once",
                       t->m->meta->name, twice);
    if (!rc)
        rc = find_pairs(&pair, &n, t, &texts, err);
    for (size_t i = 0; i < n && !rc; i++) {
        size_t len;
        const char *s = attn_strings_at(&texts, pair[i].whole, &len);
        attn_out_str(out, i ? ",\n    [" : "\n    [");
        attn_out_json(out, s, pair[i].left);
        attn_out_str(out, ", ");
        attn_out_json(out, s + pair[i].left, len - pair[i].left);
        attn_out_char(out, ']');
    }
    free(pair);
    attn_strings_free(&texts);
    return rc;
}

/* ---- all of it ---- */

/* Sentencepiece's steps, as Hugging Face's converter writes them. */
static void put_piece_steps(struct attn_out *out, bool space)
{
    static const char spaces[] = "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\u2581\"}";
    if (space)
        attn_out_printf(out, ",\n  \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", "
                             "\"prepend\": \"\u2581\"}, %s]}", spaces);
    else
        attn_out_printf(out, ",\n  \"normalizer\": %s", spaces);
    attn_out_printf(out, ",\n  \"pre_tokenizer\": null,\n  \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{"
                         "\"type\": \"Replace\", \"pattern\": {\"String\": \"\u2581\"}, \"content\": \" \"}, "
                         "{\"type\": \"ByteFallback\"}, {\"type\": \"Fuse\"}%s]}",
                    space ? ", {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}" : "");
}

static int put_steps(struct attn_out *out, const struct tokens *t, struct attn_err *err)
{
    bool space = false;
    int rc = t->pieces ? take_flag(t->m, "add_space_prefix", true, &space, err) : ATTN_OK;
    if (t->pieces)
        put_piece_steps(out, space);
    else
        attn_out_printf(out, ",\n  \"normalizer\": null,\n  \"pre_tokenizer\": %s,\n"
                             "  \"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": "
                             "true, \"use_regex\": true}", t->pre->steps);
    return rc;
}

int attn_gguf_tokenizer_json(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err)
{
    struct tokens t;
    struct ends e;
    int rc = take_tokens(&t, m, err);
    if (rc || (rc = take_ends(&e, &t, err)))
        return rc;
    attn_out_str(out, "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n"
                      "  \"added_tokens\": [");
    put_added(out, &t);
    attn_out_char(out, ']');
    rc = put_steps(out, &t, err);
    if (e.add_bos || e.add_eos)
        put_template(out, &t, &e);
    else
        attn_out_str(out, ",\n  \"post_processor\": null");
    attn_out_str(out, ",\n  \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": ");
    if (t.pieces) {
        struct attn_str_view s = text_at(&t, t.unknown);
        attn_out_json(out, s.s, s.len);
    } else {
        attn_out_str(out, "null");
    }
    attn_out_printf(out, ", \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": %s, "
                         "\"byte_fallback\": %s, \"ignore_merges\": %s,\n    ", truth(t.pieces), truth(t.pieces),
                    truth(!t.pieces && t.pre->whole));
    put_vocabulary(out, &t);
    if (!rc && t.pieces)
        rc = put_implied_merges(out, &t, err);
    else if (!rc)
        put_merges(out, &t);
    attn_out_str(out, "]}\n}\n");
    return rc;
}
