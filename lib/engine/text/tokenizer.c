/* tokenizer.c - opens a model's tokenizer from its files; weights are not needed.
 *
 * A config.json of our own format with a section "tokenizer" says which kind it is.  Otherwise the files that are there
 * decide: tokenizer.json, or vocab.json with merges.txt, or tokenizer.model, or tokenizer.bin, or, for models of our
 * own, vocab.json alone, with words. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stack_left.h"
#include "base/tree.h"
#include "model/container.h"
#include "model/family.h"
#include "model/model.h"
#include "text/subword.h"
#include "text/tokens.h"

/* ---- what config.json and tokenizer_config.json say ------------------------------------
 *
 * From config.json: "model_type", whether there is a section "tokenizer", and "bos_token_id".  From
 * tokenizer_config.json: "tokenizer_class", "add_bos_token", "add_eos_token", and "bos_token" and "eos_token", a string
 * or an object with "content", and "model_max_length".  Other keys are left to other readers, and a value of an
 * unexpected type counts as absent. */

enum { VALUES_MAX = 1 << 20 };
#define NO_HINTS {.bos_id = -1}

enum said { UNSAID, NO, YES };

struct hints {
    char *model_type, *bos_token, *eos_token, *class;               /* owned; NULL if absent */
    bool section;                       /* "tokenizer" is present */
    enum said add_bos, add_eos;
    int32_t bos_id;                     /* -1 if absent */
    double longest;                     /* 0 if absent */
};

static int keep(char **out, const cJSON *v, const char *name, struct attn_err *err)
{
    if (!v || !cJSON_IsString(v))
        return ATTN_OK;
    *out = strdup(v->valuestring);
    return *out ? ATTN_OK : attn_no_memory(err, name, "for \"%s\"", v->string);
}

static int read_config(struct hints *h, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    double id;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (rc)
        return rc;
    const cJSON *bos = attn_tree_member(root, "bos_token_id");
    if (bos && attn_tree_whole(bos, 0, INT32_MAX, &id))
        h->bos_id = (int32_t)id;
    h->section = attn_tree_member(root, "tokenizer") != NULL;
    rc = keep(&h->model_type, attn_tree_member(root, "model_type"), name, err);
    cJSON_Delete(root);
    return rc;
}

static enum said said(const cJSON *root, const char *key)
{
    const cJSON *v = attn_tree_member(root, key);
    return v && cJSON_IsBool(v) ? cJSON_IsTrue(v) ? YES : NO : UNSAID;
}

static const cJSON *content_of(const cJSON *token)
{
    return token && cJSON_IsObject(token) ? attn_tree_member(token, "content") : token;
}

static int read_tokenizer(struct hints *h, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (rc)
        return rc;
    h->add_bos = said(root, "add_bos_token");
    h->add_eos = said(root, "add_eos_token");
    const cJSON *longest = attn_tree_member(root, "model_max_length");
    h->longest = longest && cJSON_IsNumber(longest) ? longest->valuedouble : 0;
    rc = keep(&h->class, attn_tree_member(root, "tokenizer_class"), name, err);
    if (!rc)
        rc = keep(&h->bos_token, content_of(attn_tree_member(root, "bos_token")), name, err);
    if (!rc)
        rc = keep(&h->eos_token, content_of(attn_tree_member(root, "eos_token")), name, err);
    cJSON_Delete(root);
    return rc;
}

static void free_hints(struct hints *h)
{
    free(h->model_type);
    free(h->bos_token);
    free(h->eos_token);
    free(h->class);
    *h = (struct hints)NO_HINTS;
}

/* ---- a model's files ------------------------------------------------------------------- */

enum { VOCAB_LIMIT = 256 << 20, HINTS_LIMIT = 16 << 20 };

/* A file of the model, mapped while it is read. */
struct file { struct attn_map map; char *path; };

static int open_file(struct file *f, const struct attn_source *s, const char *name, size_t limit, struct attn_err *err)
{
    *f = (struct file){.path = attn_source_path(s, name)};
    if (!f->path)
        return attn_no_memory(err, NULL, "for a path");
    return attn_source_open(s, name, limit, &f->map, err);
}

static void close_file(struct file *f)
{
    attn_map_close(&f->map);
    free(f->path);
}

static struct attn_text_file text_of(const struct file *f)
{
    return (struct attn_text_file){(const char *)f->map.data, f->map.len, f->path};
}

/* ---- words ----------------------------------------------------------------------------- */

static int read_rule(struct attn_config *c, const struct attn_source *s, struct attn_err *err)
{
    struct file f;
    int rc = open_file(&f, s, "config.json", ATTN_CONFIG_LIMIT, err);
    if (!rc)
        rc = attn_config_read_tokenizer(c, (const char *)f.map.data, f.map.len, f.path, err);
    close_file(&f);
    return rc;
}

static int open_words(struct attn_tokenizer **out, const struct attn_source *s, const struct attn_word_rule *rule,
                      struct attn_err *err)
{
    struct file f;
    struct attn_vocab *vocab = NULL;
    int rc = open_file(&f, s, "vocab.json", VOCAB_LIMIT, err);
    if (!rc)
        rc = attn_vocab_read(&vocab, (const char *)f.map.data, f.map.len, f.path, err);
    if (!rc)
        rc = attn_tokenizer_word(out, vocab, rule, f.path, err);
    close_file(&f);
    return rc;
}

/* ---- pieces of words ------------------------------------------------------------------- */

static int32_t id_of(const struct attn_subword *b, const char *token)
{
    return token ? attn_vocab_id(b->rules.vocab, token, strlen(token)) : -1;
}

/* Classes whose implementation puts tokens around a text by its own options, whatever else the files say. */
static const struct class { const char *name; bool bos; } classes[] = {
    {"LlamaTokenizer", true}, {"CodeLlamaTokenizer", true}, {"GemmaTokenizer", true}, {"T5Tokenizer", false}};

static const struct class *class_of(const struct hints *h)
{
    for (size_t i = 0; h->class && i < sizeof classes / sizeof *classes; i++) {
        size_t n = strlen(classes[i].name);
        if (strncmp(h->class, classes[i].name, n) == 0 && (!h->class[n] || strcmp(h->class + n, "Fast") == 0))
            return &classes[i];
    }
    return NULL;
}

static int put_around(struct attn_around *a, bool wanted, int32_t id, const char *token, const char *option,
                      const char *path, struct attn_err *err)
{
    *a = (struct attn_around){.id = {id}, .n = wanted};
    if (!wanted || id >= 0)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: it has no token '%s', which tokenizer_config.json puts around each text "
                                        "(\"%s\")", path,
                     token ? token : "", option);
}

/* What the options say of BOS and EOS.  A template in the file counts more, except for those classes. */
static int take_options(struct attn_subword *b, const struct hints *h, const char *path, struct attn_err *err)
{
    const struct class *c = class_of(h);
    bool model = b->type != NULL, decides = !b->templated || (c && (h->add_bos != UNSAID || h->add_eos != UNSAID));
    bool bos = h->add_bos == YES || (h->add_bos == UNSAID && c && c->bos && (model || b->templated));
    bool eos = h->add_eos == YES || (h->add_eos == UNSAID && c && !c->bos && model);
    if (!decides)
        return ATTN_OK;
    int rc = put_around(&b->before, bos, b->bos, h->bos_token, "add_bos_token", path, err);
    return rc ? rc : put_around(&b->after, eos, b->eos, h->eos_token, "add_eos_token", path, err);
}

/* Takes ownership of b.  usual: the BOS token of such files if no other is named; NULL: there is none. */
static int finish_subword(struct attn_tokenizer **out, struct attn_subword *b, const struct hints *h,
                          const char *usual, const char *path, struct attn_err *err)
{
    attn_subword_set_bos(b, id_of(b, h->bos_token));
    attn_subword_set_bos(b, h->bos_id);
    attn_subword_set_bos(b, id_of(b, usual));
    if (b->eos < 0)
        b->eos = id_of(b, h->eos_token);
    int rc = take_options(b, h, path, err);
    if (rc) {
        attn_subword_free(b);
        return rc;
    }
    return attn_tokenizer_subword(out, b, path, err);
}

static int open_if_there(struct file *f, const struct attn_source *s, const char *name, struct attn_err *err)
{
    *f = (struct file){0};
    return attn_source_has(s, name) ? open_file(f, s, name, HINTS_LIMIT, err) : ATTN_OK;
}

static int open_merges(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                       struct attn_err *err)
{
    struct file vocab, merges = {0}, added = {0}, config = {0};
    struct attn_subword *b = NULL;
    int rc = open_file(&vocab, s, "vocab.json", VOCAB_LIMIT, err);
    if (!rc)
        rc = open_file(&merges, s, "merges.txt", VOCAB_LIMIT, err);
    if (!rc)
        rc = open_if_there(&added, s, "added_tokens.json", err);
    if (!rc)
        rc = open_if_there(&config, s, "tokenizer_config.json", err);
    if (!rc) {
        struct attn_merges_files files = {text_of(&vocab), text_of(&merges), text_of(&added), text_of(&config),
                                          attn_source_index(s)};
        rc = attn_subword_read(&b, &files, err);
    }
    if (!rc)
        rc = finish_subword(out, b, h, "<|endoftext|>", vocab.path, err);
    close_file(&vocab);
    close_file(&merges);
    close_file(&added);
    close_file(&config);
    return rc;
}

/* A file that holds all of a tokenizer. */
static int open_whole(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h, const char *name,
                      int (*read)(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err),
                      struct attn_err *err)
{
    struct file f;
    struct attn_subword *b = NULL;
    int rc = open_file(&f, s, name, VOCAB_LIMIT, err);
    if (!rc) {
        struct attn_text_file text = text_of(&f);
        rc = read(&b, &text, err);
    }
    if (!rc)
        rc = finish_subword(out, b, h, NULL, f.path, err);
    close_file(&f);
    return rc;
}

static int open_json(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                     struct attn_err *err)
{
    return open_whole(out, s, h, "tokenizer.json", attn_tokenizer_json_read, err);
}

static int open_sentencepiece(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                              struct attn_err *err)
{
    return open_whole(out, s, h, "tokenizer.model", attn_sentencepiece_read, err);
}

static int open_llama2c(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                        struct attn_err *err)
{
    return open_whole(out, s, h, "tokenizer.bin", attn_llama2c_read, err);
}

/* ---- which ----------------------------------------------------------------------------- */

static int read_hints(struct hints *h, const struct attn_source *s, const char *file,
                      int (*read)(struct hints *h, const char *text, size_t len, const char *name,
                      struct attn_err *err), struct attn_err *err)
{
    struct file f;
    if (!attn_source_has(s, file))
        return ATTN_OK;
    int rc = open_file(&f, s, file, HINTS_LIMIT, err);
    if (!rc)
        rc = read(h, (const char *)f.map.data, f.map.len, f.path, err);
    close_file(&f);
    return rc;
}

static int follow_config(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                         struct attn_err *err)
{
    struct attn_config c = {0};
    int rc = read_rule(&c, s, err);
    if (!rc)
        rc = c.tokenizer.kind == ATTN_RULE_BPE ? open_merges(out, s, h, err) : open_words(out, s, &c.tokenizer, err);
    attn_config_free(&c);
    return rc;
}

static int refuse(const struct attn_source *s, const struct hints *h, bool native, struct attn_err *err)
{
    if (s->kind->no_tokenizer)
        return s->kind->no_tokenizer(s, err);
    return attn_fail(err, ATTN_EIO, "%s: there is neither tokenizer.json nor %s, tokenizer.model or tokenizer.bin, "
                                    "expected one of them for a model of type \"%s\"; token ids can be given with "
                                    "--ids", s->name,
                     native ? "vocab.json" : "merges.txt", h->model_type ? h->model_type : "attn-decoder");
}

/* The first of these that is there. */
static const struct {
    const char *file;
    int (*open)(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h, struct attn_err *err);
} by_file[] = {{"tokenizer.json", open_json}, {"merges.txt", open_merges}, {"tokenizer.model", open_sentencepiece},
               {"tokenizer.bin", open_llama2c}};
enum { FILES = sizeof by_file / sizeof *by_file };

bool attn_model_spells(const struct attn_model *m)
{
    bool there = m->config.family->native && attn_source_has(&m->source, "vocab.json");
    for (size_t i = 0; i < FILES && !there; i++)
        there = attn_source_has(&m->source, by_file[i].file);
    return there;
}

static int choose(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                  struct attn_err *err)
{
    bool native = !h->model_type || strcmp(h->model_type, "attn-decoder") == 0;
    bool says = native && h->section, words = native && attn_source_has(s, "vocab.json");
    if (says && words)
        return follow_config(out, s, h, err);
    for (size_t i = 0; i < FILES && !says; i++)
        if (attn_source_has(s, by_file[i].file))
            return by_file[i].open(out, s, h, err);
    if (words)
        return open_words(out, s, &(struct attn_word_rule){0}, err);
    return refuse(s, h, native, err);
}

static int open_of(struct attn_tokenizer **out, const struct attn_source *s, struct attn_err *err)
{
    struct hints h = NO_HINTS;
    int rc = ATTN_OK;
    if (s->kind->whole)                 /* it has a tokenizer of its own, also where there is no model */
        rc = (h.model_type = strdup(s->kind->name)) ? ATTN_OK : attn_no_memory(err, NULL, "for a tokenizer");
    else
        rc = read_hints(&h, s, "config.json", read_config, err);
    if (!rc)
        rc = read_hints(&h, s, "tokenizer_config.json", read_tokenizer, err);
    if (!rc)
        rc = choose(out, s, &h, err);
    if (!rc)
        attn_tokenizer_hear(*out, h.bos_token, h.eos_token, h.bos_id, h.longest);
    free_hints(&h);
    return rc;
}

int attn_tokenizer_open(struct attn_tokenizer **out, const char *model, struct attn_err *err)
{
    return attn_tokenizer_open_with(out, model, NULL, err);
}

int attn_tokenizer_open_with(struct attn_tokenizer **out, const char *model, const struct attn_lacking *given,
                             struct attn_err *err)
{
    struct attn_source s;
    *out = NULL;
    int rc = attn_stack_check(err);
    if (rc)
        return rc;
    rc = attn_source_find(&s, model, given, err);
    if (!rc)
        rc = open_of(out, &s, err);
    attn_source_free(&s);
    return rc;
}

int attn_model_tokenizer(struct attn_tokenizer **out, const struct attn_model *m, struct attn_err *err)
{
    *out = NULL;
    return open_of(out, &m->source, err);
}
