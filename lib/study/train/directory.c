/* directory.c - where a training begins: a new directory gets its settings, a tokenizer, and a model with its first
 * weights, which are drawn or those of another model; a directory that is there must be what is asked for. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/map.h"
#include "base/sha256.h"
#include "model/config.h"
#include "model/container.h"
#include "making/draw.h"

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "to start training");
}

/* Fills in names for messages. */
static struct attn_train_opts named_options(const struct attn_train_opts *o)
{
    struct attn_train_opts named = *o;
    named.config_name = o->config_name ? o->config_name : "config";
    named.settings_name = o->settings_name ? o->settings_name : "settings";
    return named;
}

/* ---- settings ------------------------------------------------------------------------------ */

static char *digest(const char *text, size_t len)
{
    struct attn_sha256 h;
    char hex[65];
    attn_sha256_start(&h);
    attn_sha256_add(&h, text, len);
    attn_sha256_end(&h, hex);
    return strdup(hex);
}

/* Reads options; a fault in what a user typed is a usage error, not that of a file. */
static int read_options(struct attn_train_settings *settings, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_train_settings_read(settings, o->changes, o->changes_len, "options", &why);
    return rc ? attn_fail(err, rc == ATTN_EFORMAT ? ATTN_EUSAGE : why.code, "%s", why.msg) : ATTN_OK;
}

static int read_draw(struct attn_train_settings *settings, const char *draw, struct attn_err *err)
{
    free(settings->draw);
    settings->draw = strdup(draw);
    return settings->draw ? ATTN_OK : no_memory(err);
}

/* Reads all settings but the texts. */
static int read_all(struct attn_train_settings *settings, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (o->settings)
        rc = attn_train_settings_read(settings, o->settings, o->settings_len, o->settings_name, err);
    if (!rc && o->changes)
        rc = read_options(settings, o, err);
    if (!rc && o->draw)
        rc = read_draw(settings, o->draw, err);
    return rc ? rc : attn_train_settings_check(settings, err);
}

/* Opens the model a training begins with.  Its digest names it whatever it is called and wherever it lies. */
static int open_first(struct attn_model **m, char **name, const struct attn_train_opts *o, struct attn_err *err)
{
    char digest[80];
    int rc = attn_model_open_with(m, o->from, o->given, err);
    if (!rc && (*m)->source.kind->recast)
        rc = attn_fail(err, ATTN_EUSAGE, "%s %s, whose names, order of rows and quantised weights training "
                                         "cannot write: make a directory of it first, with 'attn-cli convert -m %s -o "
                                         "DIR', and train that", (*m)->source.path, (*m)->source.kind->what,
                       (*m)->source.path);
    if (!rc)
        rc = attn_model_digest(*m, false, digest, err);
    if (rc)
        return rc;
    *name = strdup(digest);
    return *name ? ATTN_OK : no_memory(err);
}

/* Applies the settings of a file and of options on top of those in `settings`, and notes for which texts they are. */
static int prepare(struct attn_train_settings *settings, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = read_all(settings, o, err);
    if (rc)
        return rc;
    free(settings->from);
    free(settings->text);
    free(settings->also);
    free(settings->against);
    settings->from = NULL;
    settings->text = digest(o->text, o->text_len);
    settings->also = o->also ? digest(o->also, o->also_len) : NULL;
    settings->against = o->against ? digest(o->against, o->against_len) : NULL;
    return settings->text && (!o->also || settings->also) &&
           (!o->against || settings->against) ? ATTN_OK : no_memory(err);
}

int attn_train_settings_save(const struct attn_train *t, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, t->dir, ATTN_TRAIN_SETTINGS_FILE, err);
    if (rc)
        return rc;
    attn_train_settings_write(out, &t->settings);
    return attn_out_end(out, ATTN_OK, err);
}

/* ---- a new model --------------------------------------------------------------------------- */

/* Adds the initialisation of GPT-2: a branch's last matrix gets the smaller numbers the more branches there are. */
static void add_step(struct attn_out *recipe, const struct attn_draw *d, const struct attn_slot *s)
{
    const double std = 0.02;
    bool norm = s->part == ATTN_PART_NORM1 || s->part == ATTN_PART_NORM2 || s->part == ATTN_PART_NORM_FINAL;
    bool ends = s->part == ATTN_PART_O || s->part == ATTN_PART_MLP_OUT;
    if (s->is_bias || s->layer > 0)
        return;
    if (norm)
        attn_out_printf(recipe, "%s:ones;", attn_part_name(s->part));
    else
        attn_out_printf(recipe, "%s:normal(0,%.17g);", attn_part_name(s->part),
                        ends ? std / sqrt(2.0 * (double)d->config->L) : std);
}

static int default_recipe(char **recipe, const struct attn_config *c, struct attn_err *err)
{
    struct attn_draw d;
    struct attn_out *out = NULL;
    size_t len;
    int rc = attn_draw_open(&d, c, err);
    if (!rc)
        rc = attn_out_open_memory(&out, err);
    for (size_t i = 0; i < d.n && !rc; i++)
        add_step(out, &d, &d.t[i].slot);
    if (!rc) {
        attn_out_char(out, '\0');
        rc = attn_out_take(out, recipe, &len, err);
    }
    attn_out_close(out);
    attn_draw_close(&d);
    return rc;
}

/* Checks that config and vocabulary agree; the token that ends a text is taken from the vocabulary. */
static int join_vocabulary(struct attn_config *c, const struct attn_tokenizer *t, const char *name, const char *dir,
                           struct attn_err *err)
{
    size_t tokens = attn_tokenizer_size(t);
    const char *kind = attn_tokenizer_kind(t);
    bool bpe = strcmp(kind, "bpe") == 0, words = strcmp(kind, "word") == 0 || strcmp(kind, "char") == 0;
    const bool own_bpe = c->tokenizer.kind == ATTN_RULE_BPE, chars = c->tokenizer.kind == ATTN_RULE_CHAR;
    int32_t mark;
    if (!c->family->native && words)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"model_type\" is \"%s\", but %s has words, which only our own models "
                                            "read: expected merges.txt, tokenizer.json or the like", name,
                         c->family->name, dir);
    if (c->family->native && bpe != own_bpe)
        return attn_fail(err, ATTN_EFORMAT, "%s: \"tokenizer.type\" is \"%s\", but %s has %s", name,
                         own_bpe ? "bpe" : chars ? "char" : "word", dir, bpe ? "merges.txt" : "words");
    if (tokens > c->V)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: \"vocab_size\" is %zu, but %s has %zu tokens", name, c->V, dir, tokens);
    int rc = attn_corpus_mark(&mark, t, err);
    if (!rc && c->n_eos == 0 && mark >= 0) {
        c->end = (size_t)mark + 1;
        c->eos[c->n_eos++] = mark;
    }
    return rc;
}

static int check_predicts(const struct attn_config *c, const char *name, struct attn_err *err)
{
    if (c->unembed && c->causal)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, so there is nothing to predict; expected %s", name,
                     c->unembed ? "\"mask\" is \"none\"" : "\"unembed\" is false", c->unembed ? "\"causal\"" :
                     "true: 'init --unembed' makes a model that has an output layer");
}

static int read_config(struct attn_config *c, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = attn_config_read(c, o->config, o->config_len, o->config_name, err);
    if (!rc && !c->family->native && o->draw)
        rc = attn_fail(err, ATTN_EUSAGE, "a recipe draws attn-decoder models, not \"%s\"", c->family->name);
    return rc ? rc : check_predicts(c, o->config_name, err);
}

static int check_vocabulary(struct attn_config *c, const char *name, const char *dir, struct attn_err *err)
{
    struct attn_tokenizer *t = NULL;
    int rc = attn_tokenizer_open(&t, dir, err);
    if (!rc)
        rc = join_vocabulary(c, t, name, dir, err);
    attn_tokenizer_close(t);
    return rc;
}

/* Tries the recipe before any file is written, by drawing the weights. */
static int check_draw(const char *recipe, const struct attn_config *c, struct attn_err *err)
{
    struct attn_draw d;
    int rc = recipe ? attn_draw_open(&d, c, err) : ATTN_OK;
    if (!recipe || rc)
        return rc;
    rc = attn_recipe_follow(&d, recipe, err);
    attn_draw_close(&d);
    return rc;
}

int attn_train_check(const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_train_opts named = named_options(o);
    struct attn_train_settings settings = attn_train_settings_defaults;
    struct attn_config c = {0};
    int rc = read_all(&settings, &named, err);
    if (!rc && o->config)
        rc = read_config(&c, &named, err);
    attn_config_free(&c);
    attn_train_settings_free(&settings);
    return rc;
}

static int make_model(const struct attn_train *t, const struct attn_train_opts *o, const struct attn_config *c,
                      struct attn_err *err)
{
    char *recipe = NULL, *config = NULL;
    struct attn_init_opts init = {.config_name = o->config_name, .draw = t->settings.draw, .seed = t->settings.seed,
                                  .dtype = "F32"};
    int rc = attn_train_config_text(&config, &init.config_len, o, c, err);
    if (!rc && !init.draw && c->family->native)
        rc = default_recipe(&recipe, c, err);
    init.config = config;
    if (recipe)
        init.draw = recipe;
    if (!rc)
        rc = attn_init_held(t->dir, &init, err);
    free(recipe);
    free(config);
    return rc;
}

static int hold(struct attn_train *t, struct attn_err *err)
{
    size_t made;
    int rc = attn_folder_make(t->dir, &made, err);
    return rc || t->lock >= 0 ? rc : attn_folder_hold(&t->lock, t->dir, err);
}

/* Copies the model to begin with; may_begin has made sure that no other model is overwritten. */
static int copy(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_model *m = NULL;
    size_t tensors;
    if (o->config || o->tokenizer || o->draw)
        return attn_fail(err, ATTN_EUSAGE, "a model to begin with has its own configuration, tokenizer and weights: "
                                           "another %s was given", o->config ? "config" : o->tokenizer ? "vocabulary" :
                         "recipe");
    t->settings = attn_train_settings_defaults;
    int rc = prepare(&t->settings, o, err);
    if (!rc)
        rc = open_first(&m, &t->settings.from, o, err);
    if (!rc)
        rc = check_predicts(&m->config, m->source.name, err);
    if (!rc)
        rc = hold(t, err);
    if (!rc)
        rc = attn_train_settings_save(t, err);            /* first: they show whose model it is */
    if (!rc)
        rc = attn_model_save_held(m, t->dir, &(struct attn_save_opts){.replace = true}, &tensors, err);
    attn_model_close(m);
    return rc;
}

/* Makes all files of a new model. */
static int make(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_config c = {0};
    if (!o->config || !o->tokenizer)
        return attn_fail(err, ATTN_EUSAGE, "%s: there is no training to go on with, so that a config and a vocabulary "
                                           "are needed", t->dir);
    t->settings = attn_train_settings_defaults;
    int rc = prepare(&t->settings, o, err);
    if (!rc)
        rc = read_config(&c, o, err);
    if (!rc)
        rc = check_vocabulary(&c, o->config_name, o->tokenizer, err);
    if (!rc)
        rc = check_draw(t->settings.draw, &c, err);
    if (!rc)
        rc = hold(t, err);
    if (!rc)
        rc = attn_train_settings_save(t, err);            /* first, as in copy */
    if (!rc)
        rc = attn_train_tokenizer_copy(t->dir, o->tokenizer, c.family->native, err);
    if (!rc)
        rc = make_model(t, o, &c, err);
    attn_config_free(&c);
    return rc;
}

/* ---- going on: what is asked for must match what is there ----------------------------------- */

struct rest { const char *s; size_t len; };

/* Removes a line from the front, and from it leading blanks and a comma at the end. */
static struct rest take_line(struct rest *r)
{
    const char *end = memchr(r->s, '\n', r->len);
    struct rest line = {r->s, end ? (size_t)(end - r->s) : r->len};
    r->s += line.len + (end != NULL);
    r->len -= line.len + (end != NULL);
    for (; line.len > 0 && *line.s == ' '; line.len--)
        line.s++;
    line.len -= line.len > 0 && line.s[line.len - 1] == ',';
    return line;
}

static bool begins(struct rest line, const char *with)
{
    return line.len >= strlen(with) && !memcmp(line.s, with, strlen(with));
}

/* Digests of the texts mean nothing to a user who gave files, so these settings have messages of their own. */
static int differ(const char *dir, struct rest has, struct rest asked, struct attn_err *err)
{
    if (begins(has, "\"text\":"))
        return attn_fail(err, ATTN_EFORMAT, "%s: the training there reads another text; give the same -f to go on, or "
                                            "choose another directory", dir);
    if (begins(has, "\"also\":"))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: the training there reads %s; give the same to go on, or choose another directory", dir,
                         begins(has, "\"also\": null") ? "no --also" :
                         "another --also");
    if (begins(has, "\"against\":"))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: the training there reads %s; give the same to go on, or choose another directory", dir,
                         begins(has, "\"against\": null") ? "no --against" :
                         "another --against");
    if (begins(has, "\"from\":"))
        return attn_fail(err, ATTN_EFORMAT, "%s: the training there began with %s; leave the model out to go on, or "
                                            "choose another directory", dir, begins(has, "\"from\": null") ?
                         "weights it drew" : "another model");
    if (begins(has, "\"steps\":"))
        return attn_fail(err, ATTN_EFORMAT, "%s: the training there has %.*s, over which its learning rate falls, but "
                                            "%.*s was asked for; leave --steps out to finish it, or, to train its "
                                            "model further, begin another from it with -m and another directory", dir,
                         (int)has.len, has.s, (int)asked.len, asked.s);
    return attn_fail(err, ATTN_EFORMAT, "%s: the training there has %.*s, but %.*s was asked for; leave it out to go "
                                        "on, or choose another directory", dir, (int)has.len, has.s, (int)asked.len,
                     asked.s);
}

/* Both are JSON with one key per line, the same keys in the same order. */
static int compare(const char *dir, struct rest has, struct rest asked, struct attn_err *err)
{
    while (has.len > 0 && asked.len > 0) {
        struct rest a = take_line(&has), b = take_line(&asked);
        if (a.len != b.len || memcmp(a.s, b.s, a.len) != 0)
            return differ(dir, a, b, err);
    }
    return ATTN_OK;
}

typedef void write_fn(struct attn_out *out, const void *what);

static void write_settings_to(struct attn_out *out, const void *settings) { attn_train_settings_write(out, settings); }
static void write_config_to(struct attn_out *out, const void *config) { attn_config_write(out, config); }

static int compare_written(const char *dir, write_fn *write, const void *has, const void *asked, struct attn_err *err)
{
    const void *what[2] = {has, asked};
    char *text[2] = {NULL, NULL};
    size_t len[2] = {0, 0};
    int rc = ATTN_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        struct attn_out *out = NULL;
        if (!(rc = attn_out_open_memory(&out, err))) {
            write(out, what[i]);
            rc = attn_out_take(out, &text[i], &len[i], err);
        }
        attn_out_close(out);
    }
    if (!rc)
        rc = compare(dir, (struct rest){text[0], len[0]}, (struct rest){text[1], len[1]}, err);
    free(text[0]);
    free(text[1]);
    return rc;
}

static int read_settings(struct attn_train_settings *settings, const char *dir, struct attn_err *err)
{
    struct attn_map map = {0};
    char *path = NULL;
    int rc = attn_train_file(&map, &path, dir, ATTN_TRAIN_SETTINGS_FILE, err);
    *settings = attn_train_settings_defaults;
    if (!rc)
        rc = attn_train_settings_read(settings, (const char *)map.data, map.len, path, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

/* The model that is said to be the first one; the one it was, where nothing is said. */
static int name_first(char **name, const struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_model *m = NULL;
    int rc = ATTN_OK;
    if (o->from)
        rc = open_first(&m, name, o, err);
    else if (t->settings.from && !(*name = strdup(t->settings.from)))
        rc = attn_no_memory(err, t->dir, "to go on");
    attn_model_close(m);
    return rc;
}

static int check_settings(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_train_settings asked;
    int rc = read_settings(&t->settings, t->dir, err);
    if (rc)
        return rc;
    asked = t->settings;
    asked.text = asked.also = asked.against = asked.draw = asked.from = NULL;
    if (t->settings.draw && !(asked.draw = strdup(t->settings.draw)))
        return attn_no_memory(err, t->dir, "to go on");
    rc = prepare(&asked, o, err);
    if (!rc)
        rc = name_first(&asked.from, t, o, err);
    if (!rc)
        rc = compare_written(t->dir, write_settings_to, &t->settings, &asked, err);
    attn_train_settings_free(&asked);
    return rc;
}

/* Another family's is what was written, byte for byte. */
static int compare_config(const struct attn_train *t, const struct attn_train_opts *o, const struct attn_config *asked,
                          const struct attn_map *has, struct attn_err *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = attn_train_config_text(&text, &len, o, asked, err);
    if (!rc && (has->len != len || memcmp(has->data, text, len) != 0))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: the training there has another config.json; leave --config, --family and the options for "
                       "the model out to go on, or choose another directory",
                       t->dir);
    free(text);
    return rc;
}

static int check_config(const struct attn_train *t, const struct attn_train_opts *o, bool *native, struct attn_err *err)
{
    struct attn_config has = {0}, asked = {0};
    struct attn_map map = {0};
    char *path = NULL;
    int rc = attn_train_file(&map, &path, t->dir, "config.json", err);
    if (!rc)
        rc = attn_config_read(&has, (const char *)map.data, map.len, path, err);
    if (!rc)
        *native = has.family->native;
    if (!rc && o->config)
        rc = attn_config_read(&asked, o->config, o->config_len, o->config_name, err);
    if (!rc && o->config) {
        asked.end = asked.end ? asked.end : has.end;    /* follows from the vocabulary, which is compared elsewhere */
        if (asked.n_eos == 0 && has.n_eos)
            asked.eos[asked.n_eos++] = has.eos[0];
        rc = has.family->native && asked.family->native ? compare_written(t->dir, write_config_to, &has, &asked, err)
                                                        : compare_config(t, o, &asked, &map, err);
    }
    attn_config_free(&has);
    attn_config_free(&asked);
    attn_map_close(&map);
    free(path);
    return rc;
}

/* Checks that the files of an existing training match what is asked for. */
static int go_on(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    bool native = true;
    int rc = check_settings(t, o, err);
    if (!rc)
        rc = check_config(t, o, &native, err);
    return rc || !o->tokenizer ? rc : attn_train_tokenizer_compare(t->dir, o->tokenizer, native, err);
}

int attn_train_begin(struct attn_train *t, const struct attn_train_opts *o, bool goes_on, struct attn_err *err)
{
    struct attn_train_opts named = named_options(o);
    return goes_on ? go_on(t, &named, err) : o->from ? copy(t, &named, err) : make(t, &named, err);
}
