/* tokenizer.c - opens a model's tokenizer from its files; weights are not needed.
 *
 * A config.json of our own format with a section "tokenizer" says which kind it is.  Otherwise the files that are there
 * decide: tokenizer.json, or vocab.json with merges.txt, or, for models of our own, vocab.json alone, with words. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/tree.h"
#include "model/source.h"
#include "text/subword.h"
#include "text/tokens.h"

/* ---- what config.json and tokenizer_config.json say ------------------------------------
 *
 * From config.json: "model_type", whether there is a section "tokenizer", and "bos_token_id".  From
 * tokenizer_config.json: "add_bos_token", and "bos_token", a string or an object with "content".  Other keys are left
 * to other readers, and a value of an unexpected type counts as absent. */

enum { VALUES_MAX = 1 << 20 };
#define NO_HINTS {.bos_id = -1}

struct hints {
    char *model_type, *bos_token;       /* owned; NULL if absent */
    bool section, add_bos;              /* section: "tokenizer" is present */
    int32_t bos_id;                     /* -1 if absent */
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

static int read_tokenizer(struct hints *h, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (rc)
        return rc;
    const cJSON *add = attn_tree_member(root, "add_bos_token"), *bos = attn_tree_member(root, "bos_token");
    h->add_bos = add && cJSON_IsTrue(add);
    rc = keep(&h->bos_token, bos && cJSON_IsObject(bos) ? attn_tree_member(bos, "content") : bos, name, err);
    cJSON_Delete(root);
    return rc;
}

static void free_hints(struct hints *h)
{
    free(h->model_type);
    free(h->bos_token);
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

/* ---- byte-level BPE -------------------------------------------------------------------- */

static int32_t id_of(const struct attn_subword *b, const char *token)
{
    return token ? attn_vocab_id(b->rules.vocab, token, strlen(token)) : -1;
}

/* Takes ownership of b.  usual: the BOS token of such files if no other is named; NULL: there is none. */
static int finish_bytes(struct attn_tokenizer **out, struct attn_subword *b, const struct hints *h,
                        const char *usual, const char *path, struct attn_err *err)
{
    attn_subword_set_bos(b, id_of(b, h->bos_token));
    attn_subword_set_bos(b, h->bos_id);
    attn_subword_set_bos(b, id_of(b, usual));
    bool add = h->add_bos && !b->templated;
    if (add && b->bos < 0) {
        attn_subword_free(b);
        return attn_fail(err, ATTN_EFORMAT, "%s: it has no token '%s', which tokenizer_config.json puts before each text "
                         "(\"add_bos_token\")", path, h->bos_token ? h->bos_token : "");
    }
    if (add)
        b->before = (struct attn_around){.id = {b->bos}, .n = 1};
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
        struct attn_merges_files files = {text_of(&vocab), text_of(&merges), text_of(&added), text_of(&config)};
        rc = attn_subword_read(&b, &files, err);
    }
    if (!rc)
        rc = finish_bytes(out, b, h, "<|endoftext|>", vocab.path, err);
    close_file(&vocab);
    close_file(&merges);
    close_file(&added);
    close_file(&config);
    return rc;
}

static int open_json(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                     struct attn_err *err)
{
    struct file f;
    struct attn_subword *b = NULL;
    int rc = open_file(&f, s, "tokenizer.json", VOCAB_LIMIT, err);
    if (!rc) {
        struct attn_text_file text = text_of(&f);
        rc = attn_tokenizer_json_read(&b, &text, err);
    }
    if (!rc)
        rc = finish_bytes(out, b, h, NULL, f.path, err);
    close_file(&f);
    return rc;
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
        rc = c.tokenizer.bpe ? open_merges(out, s, h, err) : open_words(out, s, &c.tokenizer, err);
    attn_config_free(&c);
    return rc;
}

static int choose(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h,
                  struct attn_err *err)
{
    static const struct {
        const char *file;
        int (*open)(struct attn_tokenizer **out, const struct attn_source *s, const struct hints *h, struct attn_err *err);
    } by_file[] = {{"tokenizer.json", open_json}, {"merges.txt", open_merges}};
    bool native = !h->model_type || strcmp(h->model_type, "attn-decoder") == 0;
    if (native && h->section)
        return follow_config(out, s, h, err);
    for (size_t i = 0; i < sizeof by_file / sizeof *by_file; i++)
        if (attn_source_has(s, by_file[i].file))
            return by_file[i].open(out, s, h, err);
    if (native)
        return open_words(out, s, &(struct attn_word_rule){0}, err);
    return attn_fail(err, ATTN_EIO, "%s: there is neither tokenizer.json nor merges.txt, expected one of them for a model "
                     "of type \"%s\"; token ids can be given with --ids", s->name, h->model_type);
}

int attn_tokenizer_open(struct attn_tokenizer **out, const char *model, struct attn_err *err)
{
    struct attn_source s;
    struct hints h = NO_HINTS;
    *out = NULL;
    int rc = attn_source_find(&s, model, err);
    if (rc)
        return rc;
    rc = read_hints(&h, &s, "config.json", read_config, err);
    if (!rc)
        rc = read_hints(&h, &s, "tokenizer_config.json", read_tokenizer, err);
    if (!rc)
        rc = choose(out, &s, &h, err);
    free_hints(&h);
    attn_source_free(&s);
    return rc;
}
