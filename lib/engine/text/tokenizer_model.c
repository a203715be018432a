/* tokenizer_model.c - the "model" of a tokenizer.json.
 *
 * BPE has "vocab" and "merges"; Unigram, which older files do not name, a "vocab" that is a list with scores; WordLevel
 * and WordPiece look words up.  What would change a token and is not known is refused. */
#include "text/tokenizer_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"

enum { TYPE, VOCAB, MERGES, IGNORE_MERGES, DROPOUT, UNK, UNK_ID, PREFIX, SUFFIX, FUSE, FALLBACK, LONGEST, MODEL_PARTS };
static const char *const model_parts[MODEL_PARTS] = {
    "type", "vocab", "merges", "ignore_merges", "dropout", "unk_token", "unk_id",
    "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "max_input_chars_per_word"
};

enum { BPE, UNIGRAM, WORD_LEVEL, WORD_PIECE, TYPES };
static const char *const types[TYPES] = {"BPE", "Unigram", "WordLevel", "WordPiece"};

static int refuse_model(const struct attn_tokenizer_file *r, const char *key, const char *why)
{
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: model: \"%s\" %s; token ids can be given with --ids", r->file->name, key, why);
}

/* Checks the type first: in another kind of model every key would be unknown. */
static int check_type(const struct attn_tokenizer_file *r, size_t model)
{
    struct attn_json j;
    attn_members_at(r, &j, model);
    if (attn_json_next(&j) != ATTN_JSON_OBJECT)
        return ATTN_OK;                 /* take_members reports it */
    while (attn_json_next(&j) == ATTN_JSON_KEY) {
        bool type = attn_json_is(&j, model_parts[TYPE]);
        enum attn_json_event e = attn_json_next(&j);
        if (type && e == ATTN_JSON_STRING && attn_members_find(&j, types, TYPES) == TYPES)
            return attn_fail(r->err, ATTN_EFORMAT,
                             "%s: model: \"type\" is \"%.*s\", expected \"BPE\", \"Unigram\", \"WordLevel\" or "
                             "\"WordPiece\"; token ids can be given with --ids", r->file->name,
                             attn_shown(j.text + j.token, j.token_len), j.text + j.token);
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

static int take_flag(const struct attn_tokenizer_file *r, const struct attn_json_span *v, size_t i, bool *out)
{
    struct attn_json j;
    attn_members_at(r, &j, v[i].start);
    enum attn_json_event e = v[i].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    *out = e == ATTN_JSON_TRUE;
    return *out || e == ATTN_JSON_FALSE || e == ATTN_JSON_NULL ? ATTN_OK :
           refuse_model(r, model_parts[i], "is neither true nor false");
}

/* Files without a type are told apart as the tokenizers library does: BPE has merges, and only WordPiece says where
 * words go on. */
static size_t type_by_members(const struct attn_tokenizer_file *r, const struct attn_json_span *v)
{
    bool looks_up = v[MERGES].end == 0 && v[UNK].end > 0 && v[PREFIX].end > 0 && v[LONGEST].end > 0;
    return r->b->unigram ? UNIGRAM : looks_up ? WORD_PIECE : BPE;
}

/* The type of the model, which older files do not say. */
static int take_type(const struct attn_tokenizer_file *r, const struct attn_json_span *v, size_t *type)
{
    struct attn_json j;
    *type = type_by_members(r, v);
    attn_members_at(r, &j, v[TYPE].start);
    if (v[TYPE].end > 0 && attn_json_next(&j) != ATTN_JSON_STRING)
        return refuse_model(r, model_parts[TYPE], "is no string");
    if (v[TYPE].end > 0)
        *type = attn_members_find(&j, types, TYPES);
    if ((*type == UNIGRAM) != (r->b->unigram != NULL))
        return refuse_model(r, model_parts[VOCAB], r->b->unigram ? "is an array, expected an object" : "is no array");
    return ATTN_OK;
}

/* What would change tokens in a way that is not known here, but for the type that knows it. */
static int check_options(const struct attn_tokenizer_file *r, const struct attn_json_span *v, size_t type)
{
    static const struct { size_t part, type; } nothing[] = {{DROPOUT, TYPES}, {SUFFIX, BPE}, {PREFIX, WORD_PIECE}};
    struct attn_json j;
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++) {
        size_t i = nothing[k].part;
        attn_members_at(r, &j, v[i].start);
        if (type != nothing[k].type && v[i].end > 0 && !is_nothing(&j, attn_json_next(&j)))
            return refuse_model(r, model_parts[i], "is set, which is not supported");
    }
    return ATTN_OK;
}

/* Reads a member that is a string, or takes what it is if it is absent. */
static int take_text(const struct attn_tokenizer_file *r, const struct attn_json_span *v, size_t i,
                     const char *otherwise, char **out)
{
    struct attn_json j;
    attn_members_at(r, &j, v[i].start);
    enum attn_json_event e = v[i].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    if (e != ATTN_JSON_NULL && e != ATTN_JSON_STRING)
        return refuse_model(r, model_parts[i], "is no string");
    int rc = e == ATTN_JSON_STRING ? attn_json_refuse_nul(&j, r->err) : ATTN_OK;
    if (rc)
        return rc;
    *out = e == ATTN_JSON_NULL ? strdup(otherwise) : malloc(j.token_len + 1);
    if (*out && e == ATTN_JSON_STRING)
        (*out)[attn_json_string(&j, *out)] = '\0';
    return *out ? ATTN_OK : attn_no_memory(r->err, r->file->name, "for a token");
}

/* ---- BPE ------------------------------------------------------------------------------- */

/* An unknown token that the vocabulary lacks: of use where nothing is unknown. */
enum { NOT_THERE = -2 };

/* Reads the text of the unknown token and looks it up. */
static int take_unknown(const struct attn_tokenizer_file *r, const struct attn_json_span *v)
{
    struct attn_json j;
    attn_members_at(r, &j, v[UNK].start);
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

/* What the last character of a word is spelled with. */
static int take_suffix(const struct attn_tokenizer_file *r, const struct attn_json_span *v)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    int rc = take_text(r, v, SUFFIX, "", &rules->suffix);
    if (rc)
        return rc;
    rules->suffix_len = strlen(rules->suffix);
    if (rules->suffix_len > ATTN_SUFFIX_LONGEST)
        return refuse_model(r, model_parts[SUFFIX], "has more than 64 bytes");
    if (rules->suffix_len > 0)
        return rules->fallback ? refuse_model(r, model_parts[SUFFIX],
                                              "is set beside \"byte_fallback\", which is not supported") : ATTN_OK;
    free(rules->suffix);
    rules->suffix = NULL;
    return ATTN_OK;
}

static int take_bpe(const struct attn_tokenizer_file *r, const struct attn_json_span *v)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    struct attn_json before;
    int rc = v[MERGES].end == 0 ? refuse_model(r, "merges", "is not there") : v[UNK_ID].end > 0 ?
             refuse_model(r, "unk_id", "is no part of BPE") : ATTN_OK;
    if (rc || (rc = take_flag(r, v, IGNORE_MERGES, &rules->whole_first)) ||
        (rc = take_flag(r, v, FUSE, &rules->fuse)) || (rc = take_flag(r, v, FALLBACK, &rules->fallback)) ||
        (rc = take_suffix(r, v)) || (rc = take_unknown(r, v)) || v[MERGES].start > v[VOCAB].start)
        return rc;
    attn_members_at(r, &before, v[MERGES].start);
    return attn_merges_take(&rules->merges, rules->vocab, &before, r->err);
}

/* Of models that look for the longest token, or the best: a limit of tries. */
static int check_size(const struct attn_tokenizer_file *r)
{
    return attn_vocab_bytes(r->b->rules.vocab) <= ATTN_TRIE_MOST ? ATTN_OK :
           refuse_model(r, model_parts[VOCAB], "has more than 16 MiB of tokens, which is not supported");
}

/* ---- Unigram --------------------------------------------------------------------------- */

static int bad_piece(const struct attn_tokenizer_file *r, const struct attn_json *j, size_t n)
{
    if (j->failed)
        return attn_json_error(j, r->err);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: model: entry %zu of \"vocab\" is no array of a text and a finite "
                                           "number",
                     r->file->name, n);
}

/* Memory for the pieces while they are read. */
struct pieces { char *text; size_t room, score_room; };

static int take_piece(const struct attn_tokenizer_file *r, struct attn_json *j, struct pieces *p)
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
        return attn_fail(r->err, ATTN_EFORMAT, "%s: model: entry %zu of \"vocab\" has %zu bytes, and at most %d are "
                                               "supported",
                         r->file->name, n, len, ATTN_PIECE_LONGEST);
    rc = attn_vocab_append(r->b->rules.vocab, j->escaped ? text : j->text + j->token, len, r->file->name, r->err);
    if (!rc &&
        (attn_json_next(j) != ATTN_JSON_NUMBER || !attn_num_parse_f64(j->text + j->token, j->token_len, &score[n]) ||
         !isfinite(score[n]) || attn_json_next(j) != ATTN_JSON_ARRAY_END))
        rc = bad_piece(r, j, n);
    return rc;
}

/* The "vocab" of Unigram; its first event has been read. */
static int take_pieces(const struct attn_tokenizer_file *r, struct attn_json *j)
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

static int take_unigram(const struct attn_tokenizer_file *r, const struct attn_json_span *v)
{
    struct attn_unigram *u = r->b->unigram;
    struct attn_json j;
    bool fallback;
    attn_members_at(r, &j, v[UNK_ID].start);
    enum attn_json_event e = v[UNK_ID].end > 0 ? attn_json_next(&j) : ATTN_JSON_NULL;
    int rc = take_flag(r, v, FALLBACK, &fallback);
    if (rc || (rc = check_size(r)))
        return rc;
    if (e != ATTN_JSON_NULL && !(e == ATTN_JSON_NUMBER && j.is_whole && j.whole < attn_vocab_size(r->b->rules.vocab)))
        return refuse_model(r, "unk_id", "is no token's");
    u->unknown = e == ATTN_JSON_NUMBER ? (int32_t)j.whole : -1;
    u->joined = true;
    u->byte = fallback ? r->b->rules.byte : NULL;
    u->vocab = r->b->rules.vocab;
    return attn_unigram_index(u, NULL) ? ATTN_OK : attn_no_memory(r->err, r->file->name, "for the vocabulary");
}

/* ---- WordLevel and WordPiece ----------------------------------------------------------- */

static int take_longest(const struct attn_tokenizer_file *r, const struct attn_json_span *v, size_t *out)
{
    struct attn_json j;
    *out = 100;
    if (v[LONGEST].end == 0)
        return ATTN_OK;
    attn_members_at(r, &j, v[LONGEST].start);
    if (attn_json_next(&j) != ATTN_JSON_NUMBER || !j.is_whole || j.whole > ATTN_LOOKUP_LONGEST)
        return refuse_model(r, model_parts[LONGEST], "is no whole number up to 1000");
    *out = (size_t)j.whole;
    return ATTN_OK;
}

static int take_lookup(const struct attn_tokenizer_file *r, const struct attn_json_span *v, bool pieces)
{
    struct attn_lookup *l = r->b->lookup = calloc(1, sizeof *l);
    char *unknown = NULL;
    if (!l)
        return attn_no_memory(r->err, r->file->name, "for a tokenizer");
    l->vocab = r->b->rules.vocab;
    l->parts = pieces;
    int rc = v[MERGES].end > 0 ? refuse_model(r, model_parts[MERGES],
                                              "is no part of such a model") : take_longest(r, v, &l->longest);
    if (!rc && pieces && !(rc = take_text(r, v, PREFIX, "##", &l->prefix)))
        l->prefix_len = strlen(l->prefix);
    if (!rc && l->prefix_len > ATTN_STRING_LONGEST)
        rc = refuse_model(r, model_parts[PREFIX], "has more than 64 bytes");
    if (!rc && !(rc = take_text(r, v, UNK, pieces ? "[UNK]" : "<unk>", &unknown)))
        l->unknown = attn_vocab_id(l->vocab, unknown, strlen(unknown));
    free(unknown);
    if (!rc && pieces)
        rc = check_size(r);
    return rc || attn_lookup_index(l) ? rc : attn_no_memory(r->err, r->file->name, "for the vocabulary");
}

/* ---- any of them ----------------------------------------------------------------------- */

static int take_vocab(const struct attn_tokenizer_file *r, struct attn_json *j)
{
    struct attn_json before = *j;
    if (attn_json_next(j) == ATTN_JSON_ARRAY)
        return take_pieces(r, j);
    *j = before;
    return attn_vocab_take(&r->b->rules.vocab, j, r->err);
}

static int take_vocab_or_merges(const struct attn_tokenizer_file *r, struct attn_json *j, size_t i)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    if (i == VOCAB)
        return take_vocab(r, j);
    if (i == MERGES && rules->vocab && !r->b->unigram)      /* of another model they are refused later */
        return attn_merges_take(&rules->merges, rules->vocab, j, r->err);
    return attn_members_skip(r, j);
}

int attn_tokenizer_model_take(const struct attn_tokenizer_file *r, struct attn_json *j)
{
    static const struct attn_members members = {"\"model\"", model_parts, MODEL_PARTS, take_vocab_or_merges};
    struct attn_json_span v[MODEL_PARTS] = {{0}};
    size_t type = BPE;
    int rc = check_type(r, j->at);
    if (!rc)
        rc = attn_members_take(r, j, &members, v);
    if (!rc && v[VOCAB].end == 0)
        rc = refuse_model(r, "vocab", "is not there");
    if (!rc)
        rc = take_type(r, v, &type);
    if (!rc)
        rc = check_options(r, v, type);
    if (!rc)
        attn_bpe_rules_bytes(&r->b->rules);
    return rc ? rc : type == UNIGRAM ? take_unigram(r, v) : type == BPE ? take_bpe(r, v) :
           take_lookup(r, v, type == WORD_PIECE);
}

/* Whether there is a token for every byte, so that no text is unknown. */
static bool knows_all(const struct attn_bpe_rules *r, bool spells)
{
    int i = 0;
    while (i < 256 && r->byte[i] >= 0)
        i++;
    return i == 256 && (spells || r->fallback);
}

int attn_tokenizer_model_finish(const struct attn_tokenizer_file *r)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    bool spells = r->b->byte_level;
    if (spells && (r->b->unigram || r->b->lookup))
        return attn_fail(r->err, ATTN_EFORMAT, "%s: \"%s\" with \"ByteLevel\" is not supported; token ids can be given "
                                               "with --ids", r->file->name,
                         types[r->b->unigram ? UNIGRAM : r->b->lookup->parts ? WORD_PIECE : WORD_LEVEL]);
    if (spells && rules->suffix)
        return refuse_model(r, model_parts[SUFFIX], "is set beside \"ByteLevel\", which is not supported");
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
    rules->chars = !spells && !r->b->unigram && !r->b->lookup;
    return !rules->chars || attn_bpe_rules_index(rules) ? ATTN_OK : attn_no_memory(r->err, r->file->name,
                                                                                   "for the vocabulary");
}
