/* tokenizer_merges.c - reads vocab.json and merges.txt, and the files beside them that say how the text is cut.
 *
 * The two do not say by which pattern a text is cut into pieces.  That depends on "tokenizer_class" in
 * tokenizer_config.json, whose classes are rows of a table here; without it the pattern is GPT-2's.  Added tokens are
 * those of "added_tokens_decoder" there, of added_tokens.json, and entries such as <|endoftext|> that no rule makes. */
#include "text/index.h"
#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { VALUES_MAX = 1 << 20, NAME_MAX_SHOWN = 400 };

struct reader {
    struct attn_subword *b;
    const struct attn_merges_files *files;
    cJSON *config;                      /* of tokenizer_config.json; NULL if it is absent */
    const int32_t *special; size_t specials;                        /* as attn_merges_special finds them */
    int32_t *found;                     /* they, if they were looked for */
    struct attn_err *err;
};

/* ---- the class ------------------------------------------------------------------------- */

static const struct class { const char *name; enum attn_pretoken cut; bool nfc; } classes[] = {
    {"GPT2Tokenizer", ATTN_PRETOKEN_GPT2, false},
    {"CodeGenTokenizer", ATTN_PRETOKEN_GPT2, false},
    {"Qwen2Tokenizer", ATTN_PRETOKEN_QWEN2, true},
};

/* The names of the classes of the faster implementation end in Fast. */
static bool is_class(const char *name, const char *class)
{
    size_t n = strlen(class);
    return strncmp(name, class, n) == 0 && (!name[n] || strcmp(name + n, "Fast") == 0);
}

static const struct class *find_class(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (is_class(name, classes[i].name))
            return &classes[i];
    return NULL;
}

static int take_class(struct reader *r, enum attn_pretoken *cut)
{
    const cJSON *name = attn_tree_member(r->config, "tokenizer_class");
    const struct class *c = &classes[0];
    if (name && cJSON_IsString(name) && !(c = find_class(name->valuestring)))
        return attn_fail(r->err, ATTN_EFORMAT,
                         "%s: \"tokenizer_class\" is \"%.*s\", of which vocab.json and merges.txt do not say how it "
                         "cuts a text, expected a tokenizer.json, or GPT2Tokenizer, CodeGenTokenizer or "
                         "Qwen2Tokenizer; token ids can be given with --ids", r->files->config.name,
                         attn_shown(name->valuestring, strlen(name->valuestring)), name->valuestring);
    if (c->nfc)
        attn_subword_normal(r->b, ATTN_NORMAL_NFC);
    *cut = c->cut;
    return ATTN_OK;
}

static int take_config(struct reader *r)
{
    const struct attn_text_file *f = &r->files->config;
    struct attn_steps s = {.b = r->b, .name = f->name, .err = r->err};
    enum attn_pretoken cut = ATTN_PRETOKEN_GPT2;
    bool space = false;
    int rc = f->text ? attn_tree_read(&r->config, f->text, f->len, f->name, VALUES_MAX, r->err) : ATTN_OK;
    if (rc || (rc = take_class(r, &cut)) || (rc = attn_steps_flag(&s, r->config, "add_prefix_space", false, &space)))
        return rc;
    if (space)
        *attn_subword_pre(r->b) = (struct attn_pre_step){.change = {.kind = ATTN_NORMAL_SPACE_FIRST}};
    *attn_subword_pre(r->b) = (struct attn_pre_step){.cuts = true, .cut = {.pattern = cut}};
    attn_subword_decode(r->b, ATTN_DECODE_BYTE_LEVEL);
    r->b->byte_level = true;
    return ATTN_OK;
}

/* ---- added tokens ---------------------------------------------------------------------- */

static int take_added(struct reader *r)
{
    char name[NAME_MAX_SHOWN];
    const cJSON *v = attn_tree_member(r->config, "added_tokens_decoder");
    struct attn_steps s = {.b = r->b, .name = name, .err = r->err};
    snprintf(name, sizeof name, "%.*s: added_tokens_decoder", NAME_MAX_SHOWN - 32, v ? r->files->config.name : "");
    int rc = v ? attn_steps_added_by_id(&s, v) : ATTN_OK;
    s.name = r->files->added.name;
    return rc || !r->files->added.text ? rc : attn_steps_added_names(&s, &r->files->added, r->config);
}

/* Tokens that no rule makes and no file adds. */
static int take_special(struct reader *r)
{
    struct attn_subword *b = r->b;
    const struct attn_vocab *v = b->rules.vocab;
    bool *added = calloc(attn_vocab_size(v), sizeof *added), ok = added != NULL;    /* by rank */
    for (size_t k = 0; ok && k < 2; k++)
        for (size_t i = 0; i < b->added[k].n; i++)
            added[attn_vocab_rank(v, b->added[k].token[i].id)] = true;
    for (size_t i = 0; ok && i < r->specials; i++) {
        size_t rank = attn_vocab_rank(v, r->special[i]), len;
        const char *word = attn_vocab_at(v, rank, &len);
        if (added[rank])
            continue;
        struct attn_added_token t = {.text = strdup(word), .len = len, .id = r->special[i], .special = true};
        ok = t.text && attn_added_put(&b->added[0], &t);
    }
    free(added);
    return ok ? ATTN_OK : attn_no_memory(r->err, r->files->vocab.name, "for a tokenizer");
}

/* ---- all of it ------------------------------------------------------------------------- */

/* What the program holds of a built-in model needs no reading. */
static int take_index(struct reader *r)
{
    struct attn_text_index x = attn_text_index_of(r->files->index);
    struct attn_bpe_rules *rules = &r->b->rules;
    rules->merges = x.merges;
    rules->vocab = attn_vocab_lend(&x.words, x.id);
    memcpy(rules->byte, x.byte, sizeof rules->byte);
    r->special = x.special;
    r->specials = x.specials;
    return rules->vocab ? ATTN_OK : attn_no_memory(r->err, r->files->vocab.name, "for the vocabulary");
}

static int take_rules(struct reader *r)
{
    const struct attn_text_file *v = &r->files->vocab, *m = &r->files->merges;
    struct attn_bpe_rules *rules = &r->b->rules;
    if (r->files->index)
        return take_index(r);
    int rc = attn_vocab_read(&rules->vocab, v->text, v->len, v->name, r->err);
    if (!rc)
        rc = attn_merges_read(&rules->merges, rules->vocab, m->text, m->len, m->name, r->err);
    if (rc)
        return rc;
    attn_bytes_find(rules->byte, rules->vocab);
    r->special = r->found = attn_merges_special(&rules->merges, rules->vocab, &r->specials);
    return r->found ? ATTN_OK : attn_no_memory(r->err, v->name, "for a tokenizer");
}

static int read_all(struct reader *r)
{
    const struct attn_text_file *v = &r->files->vocab;
    int rc = take_config(r);
    if (!rc)
        rc = take_rules(r);
    if (!rc)
        rc = take_added(r);
    if (!rc)
        rc = take_special(r);
    return rc ? rc : attn_subword_finish(r->b, v->name, r->err);
}

int attn_subword_read(struct attn_subword **out, const struct attn_merges_files *files, struct attn_err *err)
{
    struct reader r = {.b = attn_subword_new(), .files = files, .err = err};
    if (!r.b)
        return attn_no_memory(err, files->vocab.name, "for a tokenizer");
    int rc = read_all(&r);
    cJSON_Delete(r.config);
    free(r.found);
    if (rc)
        attn_subword_free(r.b);
    else
        *out = r.b;
    return rc;
}
