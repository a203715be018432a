/* course_torch.c - checkpoints of nanoGPT, minGPT and the lecture "Let's build GPT", as torch.save writes them.
 *
 * nanoGPT and minGPT have GPT-2's names, but matrices stored [out, in], which c_attn tells; nanoGPT's GELU is the exact
 * one and its output layer the embedding, minGPT's is the tanh one and its output layer a matrix of its own.  What was
 * trained compiled or in parallel has a prefix ("_orig_mod.", "module.") before each name.  The lecture has three
 * matrices for each head: of these, a copy is made side by side, a quarter of such a model; all else stays where it
 * is in the file.  The state of the optimizer and masks are not read. */
#include "model/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "io/torch.h"

enum kind { NANOGPT, MINGPT, GPT2, LECTURE, KINDS };

/* The lecture's code of the video divides scores by the root of the width, the file of its repository by that of a
 * head: no file tells which of the two a model was trained with. */
#define ACTS " relu gelu gelu_tanh "
#define KNOWN [ATTN_AS_NORM] = {.value = "pre"}, [ATTN_AS_EMBED] = {.value = "plain"}
static const struct {
    const char *as, *what;
    bool lecture;
    struct attn_fact fact[ATTN_AS_HEADS];
} kinds[KINDS] = {
    [NANOGPT] = {"nanogpt", "is a checkpoint of nanoGPT", false, {
        [ATTN_AS_SCALE] = {"head", " head width ", false}, [ATTN_AS_ACT] = {"gelu", ACTS, false}, KNOWN}},
    [MINGPT] = {"mingpt", "is a checkpoint of minGPT", false, {
        [ATTN_AS_SCALE] = {"head", " head width ", false}, [ATTN_AS_ACT] = {"gelu_tanh", ACTS, false}, KNOWN}},
    [GPT2] = {"gpt2", "holds the weights of a GPT-2 of Hugging Face", false, {
        [ATTN_AS_SCALE] = {.value = "head"}, [ATTN_AS_ACT] = {"gelu_tanh", ACTS, false}, KNOWN}},
    [LECTURE] = {"lecture", "is a model of the lecture \"Let's build GPT\"", true, {
        [ATTN_AS_SCALE] = {"head", " head width ", true}, [ATTN_AS_ACT] = {"relu", ACTS, false}, KNOWN}}};

/* A file while it is opened. */
struct reading {
    struct attn_course *c;
    cJSON *beside, *config;             /* what is in the checkpoint, and minGPT's config.json; owned */
    bool bias, qkv_bias;
};

/* ---- names ----------------------------------------------------------------------------- */

enum { NAME = 192 };

/* A tensor by its name without the prefix; NULL: it is not there. */
static const struct attn_st_tensor *find(const struct attn_course *c, const char *name)
{
    char whole[sizeof c->prefix + NAME];
    snprintf(whole, sizeof whole, "%s%.*s", c->prefix, NAME - 1, name);
    return attn_st_find(c->st, whole);
}

static const struct attn_st_tensor *find_in(const struct attn_course *c, size_t layer, const char *path)
{
    char name[NAME];
    snprintf(name, sizeof name, "%s%zu.%s", kinds[c->kind].lecture ? "blocks." : "transformer.h.", layer, path);
    return find(c, name);
}

static const char *embedding_of(enum kind kind)
{
    return kinds[kind].lecture ? "token_embedding_table.weight" : "transformer.wte.weight";
}

/* Finds the embedding, and with it the prefix of all names. */
static bool find_prefix(struct attn_course *c, enum kind kind)
{
    const char *embed = embedding_of(kind);
    for (size_t i = 0; i < attn_st_count(c->st); i++) {
        const char *name = attn_st_at(c->st, i)->name;
        size_t n = strlen(name), tail = strlen(embed);
        if (n < tail || n - tail >= sizeof c->prefix || strcmp(name + n - tail, embed) != 0)
            continue;
        memcpy(c->prefix, name, n - tail);
        c->prefix[n - tail] = '\0';
        return true;
    }
    return false;
}

/* ---- what it is ------------------------------------------------------------------------ */

static int unknown(const struct attn_course *c, struct attn_err *err)
{
    const char *first = attn_st_count(c->st) ? attn_st_at(c->st, 0)->name : NULL;
    if (!first)
        return attn_fail(err, ATTN_EFORMAT, "%s: is a PyTorch file without tensors, expected the state_dict of a "
                                            "model, or a checkpoint with one", c->path);
    if (attn_st_find(c->st, "tok_embeddings.weight"))
        return attn_fail(err, ATTN_EFORMAT, "%s: is a checkpoint of llama2.c's train.py or of Meta's Llama, expected a "
                                            ".bin, which llama2.c's export.py makes of it: 'python export.py model.bin "
                                            "--version 1 --checkpoint %s'", c->path, c->path);
    return attn_fail(err, ATTN_EFORMAT, "%s: is a PyTorch file whose first tensor is '%.*s', expected one of nanoGPT "
                                        "or minGPT (with 'transformer.wte.weight') or of the lecture "
                                        "(with 'token_embedding_table.weight'); of a model of Hugging Face give the "
                                        "directory, with its config.json", c->path,
                     attn_shown(first, strlen(first)), first);
}

/* KINDS: the name is that of another format. */
static int kind_named(const char *as)
{
    int i = 0;
    while (i < KINDS && strcmp(kinds[i].as, as) != 0)
        i++;
    return i;
}

static bool is_tied(const struct attn_course *c)
{
    const struct attn_st_tensor *a = find(c, embedding_of((enum kind)c->kind)), *b = find(c, "lm_head.weight");
    return a && (!b || (a->bytes == b->bytes && (a->data == b->data || !memcmp(a->data, b->data, a->bytes))));
}

/* GPT-2 has c_attn [in, out]. */
static bool is_turned(const struct attn_course *c)
{
    const struct attn_st_tensor *t = find(c, "transformer.h.0.attn.c_attn.weight");
    return t && t->ndim == 2 && t->shape[1] == 3 * t->shape[0];
}

/* minGPT's own config.json has a section "model". */
static const cJSON *mingpt_section(const struct reading *r)
{
    const cJSON *model = attn_tree_member(r->config, "model");
    return attn_tree_member(model, "n_head") || attn_tree_member(model, "model_type") ? model : NULL;
}

static int find_kind(struct reading *r, struct attn_err *err)
{
    struct attn_course *c = r->c;
    bool lecture = find_prefix(c, LECTURE);
    if (!lecture && !find_prefix(c, NANOGPT))
        return unknown(c, err);
    c->kind = lecture ? LECTURE : NANOGPT;
    c->tied = is_tied(c);
    if (!lecture && is_turned(c))
        c->kind = GPT2;
    else if (!lecture && (mingpt_section(r) || (!attn_tree_member(r->beside, "model_args") && !c->tied)))
        c->kind = MINGPT;
    if (!c->as.name)
        return ATTN_OK;
    const int as = kind_named(c->as.name);
    if (as == KINDS || kinds[as].lecture != lecture || (as == GPT2) != (c->kind == GPT2))
        return attn_fail(err, ATTN_EUSAGE, "%s: %s, so it cannot be read as '%s'", c->path, kinds[c->kind].what,
                         c->as.name);
    c->kind = as;
    return ATTN_OK;
}

/* ---- its sizes ------------------------------------------------------------------------- */

static int expect_table(const struct attn_course *c, const char *name, size_t *rows, size_t *cols, struct attn_err *err)
{
    const struct attn_st_tensor *t = find(c, name);
    char shape[ATTN_ST_SHAPE];
    if (t && t->ndim == 2 && t->shape[0] && t->shape[1]) {
        *rows = t->shape[0];
        *cols = t->shape[1];
        return ATTN_OK;
    }
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, but tensor '%s' %s%s, expected a matrix", c->path,
                     kinds[c->kind].what, name, t ? "has shape " : "is missing",
                     t ? attn_st_shape(shape, t->shape, t->ndim) : "");
}

static int read_sizes(struct reading *r, struct attn_err *err)
{
    struct attn_course *c = r->c;
    bool lecture = kinds[c->kind].lecture;
    char name[NAME];
    size_t width;
    int rc = expect_table(c, embedding_of((enum kind)c->kind), &c->V, &c->d, err);
    if (!rc)
        rc = expect_table(c, lecture ? "position_embedding_table.weight" : "transformer.wpe.weight", &c->ctx, &width,
                          err);
    snprintf(name, sizeof name, lecture ? "blocks.0.ffwd.net.0.weight" : "transformer.h.0.mlp.c_fc.weight");
    if (!rc)
        rc = expect_table(c, name, c->kind == GPT2 ? &width : &c->m, c->kind == GPT2 ? &c->m : &width, err);
    while (!rc && find_in(c, c->L, lecture ? "ln1.weight" : "ln_1.weight"))
        c->L++;
    r->bias = find_in(c, 0, lecture ? "ffwd.net.0.bias" : "mlp.c_fc.bias");
    r->qkv_bias = find_in(c, 0, "attn.c_attn.bias");
    if (rc || c->L)
        return rc;
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, but there is no norm of its block 0", c->path, kinds[c->kind].what);
}

/* What "model_args" says must be what the tensors are. */
static int check_args(const struct reading *r, struct attn_err *err)
{
    const struct attn_course *c = r->c;
    const struct { const char *key; size_t size; } sizes[] = {
        {"n_layer", c->L}, {"n_embd", c->d}, {"block_size", c->ctx}, {"vocab_size", c->V}};
    const cJSON *args = attn_tree_member(r->beside, "model_args");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const cJSON *v = attn_tree_member(args, sizes[i].key);
        double x;
        if (v && (!attn_tree_whole(v, 1, INT32_MAX, &x) || (size_t)x != sizes[i].size))
            return attn_fail(err, ATTN_EFORMAT, "%s: \"model_args\" says that \"%s\" is %g, but the tensors have %zu",
                             c->path, sizes[i].key, cJSON_IsNumber(v) ? v->valuedouble : 0, sizes[i].size);
    }
    return ATTN_OK;
}

/* ---- heads ----------------------------------------------------------------------------- */

/* Settings are those of the training, of minGPT's config.json, or stand beside the tensors. */
static int find_heads(struct reading *r, struct attn_err *err)
{
    struct attn_course *c = r->c;
    const char *what = kinds[c->kind].what;
    const cJSON *config = attn_tree_member(r->beside, "config"), *const from[] = {
        attn_tree_member(r->beside, "model_args"), config, attn_tree_member(config, "model"), mingpt_section(r),
        r->beside};
    char head[32];
    if (!kinds[c->kind].lecture)
        return attn_course_heads(c, what, from, sizeof from / sizeof *from, err);
    do
        snprintf(head, sizeof head, "sa.heads.%zu.key.weight", c->H);
    while (find_in(c, 0, head) && ++c->H);
    if (!c->H)
        return attn_fail(err, ATTN_EFORMAT, "%s: %s, but tensor 'blocks.0.sa.heads.0.key.weight' is missing: only "
                                            "models with heads of their own are read", c->path, what);
    return attn_course_heads(c, what, NULL, 0, err);
}

/* ---- the directory that it would have -------------------------------------------------- */

static int write_config(const struct reading *r, struct attn_err *err)
{
    struct attn_course *c = r->c;
    const char *value[ATTN_AS_HEADS];
    char scale[64] = "", *text = NULL;
    int rc = ATTN_OK;
    for (int key = 0; key < ATTN_AS_HEADS && !rc; key++)
        rc = attn_as_settle(&value[key], &c->assumed, (enum attn_as_key)key, &kinds[c->kind].fact[key], &c->as,
                            c->path, kinds[c->kind].what, err);
    if (rc)
        return rc;
    const char *act = attn_course_activation(value[ATTN_AS_ACT]);
    if (!strcmp(value[ATTN_AS_SCALE], "width"))
        attn_snprintf(scale, sizeof scale, " \"attention_multiplier\": %.17g,\n", 1 / sqrt((double)c->d));
    int n = c->kind == GPT2 ?
        attn_asprintf(&text, "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"],\n"
                             " \"vocab_size\": %zu, \"n_positions\": %zu, \"n_layer\": %zu, \"n_head\": %zu, "
                             "\"n_embd\": %zu, \"n_inner\": %zu,\n \"activation_function\": \"%s\", "
                             "\"layer_norm_epsilon\": 1e-05, \"tie_word_embeddings\": %s}\n", c->V, c->ctx, c->L, c->H,
                      c->d, c->m, act, c->tied ? "true" : "false") :
        attn_asprintf(&text, "{\"model_type\": \"nanogpt\",\n"
                             " \"vocab_size\": %zu, \"block_size\": %zu, \"n_layer\": %zu, \"n_head\": %zu, "
                             "\"n_embd\": %zu, \"n_inner\": %zu,\n%s \"activation_function\": \"%s\", "
                             "\"bias\": %s, \"qkv_bias\": %s, \"tie_word_embeddings\": %s}\n", c->V, c->ctx, c->L, c->H,
                      c->d, c->m, scale, act, r->bias ? "true" : "false", r->qkv_bias ? "true" : "false",
                      c->tied ? "true" : "false");
    return attn_course_add(c, "config.json", n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n, err);
}

/* minGPT writes a config.json of its own kind beside the model; another one is left alone. */
static int read_mingpt_config(struct reading *r, struct attn_err *err)
{
    enum { LIMIT = 1 << 20, VALUES = 4096 };
    struct attn_map map;
    struct attn_err why = {0};
    char *path = NULL;
    if (attn_asprintf(&path, "%s/config.json", r->c->dir) < 0)
        return attn_no_memory(err, r->c->path, "for a path");
    if (!attn_map_open_found(&map, path, LIMIT, ATTN_LINKS_FOLLOWED, &why)) {
        if (attn_tree_read(&r->config, (const char *)map.data, map.len, path, VALUES, &why))
            r->config = NULL;
        attn_map_close(&map);
    }
    free(path);
    return why.code == ATTN_ENOMEM ? attn_fail_as(err, &why) : ATTN_OK;
}

/* Characters that a checkpoint itself lists. */
static int read_characters(const struct reading *r, struct attn_err *err)
{
    const cJSON *stoi = attn_tree_member(r->beside, "stoi"), *chars = attn_tree_member(r->beside, "chars");
    if (!r->c->vocab && (cJSON_IsObject(stoi) || cJSON_IsArray(chars)))
        return attn_course_characters(r->c, cJSON_IsObject(stoi) ? stoi : chars, r->c->path, -1, err);
    return ATTN_OK;
}

/* nanoGPT keeps the characters with the text that was trained on, in data/NAME/meta.pkl; the checkpoint says which. */
static int find_vocabulary(const struct reading *r, struct attn_err *err)
{
    const char *of = cJSON_GetStringValue(attn_tree_member(attn_tree_member(r->beside, "config"), "dataset"));
    char *path = NULL;
    if (of && (!*of || *of == '.' || strpbrk(of, "/\\")))
        of = NULL;                      /* a name, and no way to other files */
    if (of && attn_asprintf(&path, "%s/../data/%s/meta.pkl", r->c->dir, of) < 0)
        return attn_no_memory(err, r->c->path, "for a path");
    int rc = attn_course_vocabulary(r->c, path, err);
    free(path);
    return rc;
}

static int open_checkpoint(struct attn_course *c, struct attn_err *err)
{
    struct reading r = {.c = c};
    int rc = attn_torch_open_checkpoint(&c->st, &r.beside, c->map.data, c->map.len, c->path, err);
    if (!rc)
        rc = read_mingpt_config(&r, err);
    if (rc || (rc = find_kind(&r, err)) || (rc = read_sizes(&r, err)) || (rc = check_args(&r, err)) ||
        (rc = find_heads(&r, err)) || (rc = write_config(&r, err)) || (rc = read_characters(&r, err)))
        ;
    else
        rc = find_vocabulary(&r, err);
    cJSON_Delete(r.beside);
    cJSON_Delete(r.config);
    return rc;
}

/* ---- tensors --------------------------------------------------------------------------- */

/* What the lecture calls them; `in` a block, or outside. */
static const struct { const char *from, *to; bool in; } renamed[] = {
    {"token_embedding_table.", "transformer.wte.", false}, {"position_embedding_table.", "transformer.wpe.", false},
    {"ln_f.", "transformer.ln_f.", false}, {"lm_head.", "lm_head.", false}, {"sa.proj.", "attn.c_proj.", true},
    {"ffwd.net.0.", "mlp.c_fc.", true}, {"ffwd.net.2.", "mlp.c_proj.", true}, {"ln1.", "ln_1.", true},
    {"ln2.", "ln_2.", true}};

/* The name in the end of a tensor of the lecture; false: it has no such place. */
static bool rename_one(char out[NAME], const char *name)
{
    size_t digits = strncmp(name, "blocks.", 7) ? 0 : strspn(name + 7, "0123456789");
    bool in = digits && digits < 10 && name[7 + digits] == '.';
    const char *path = in ? name + 7 + digits + 1 : name;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        size_t n = strlen(renamed[i].from);
        if (renamed[i].in != in || strncmp(path, renamed[i].from, n) || strlen(path) > n + 8)
            continue;
        if (in)
            snprintf(out, NAME, "transformer.h.%.*s.%s%s", (int)digits, name + 7, renamed[i].to, path + n);
        else
            snprintf(out, NAME, "%s%s", renamed[i].to, path + n);
        return true;
    }
    return false;
}

/* Rows of all heads' queries, then keys, then values, [3 d, d]. */
static int fuse_heads(struct attn_course *c, struct attn_st *st, size_t layer, struct attn_err *err)
{
    static const char *const parts[] = {"query", "key", "value"};
    struct attn_st_tensor whole = {.ndim = 2, .shape = {3 * c->d, c->d}, .count = 3 * c->d * c->d};
    char path[64], name[NAME];
    unsigned char *at = NULL;
    for (size_t i = 0; i < 3 * c->H; i++) {
        snprintf(path, sizeof path, "sa.heads.%zu.%s.weight", i % c->H, parts[i / c->H]);
        const struct attn_st_tensor *t = find_in(c, layer, path);
        bool first = i == 0;
        if (!t || t->ndim != 2 || t->shape[0] != c->d / c->H || t->shape[1] != c->d ||
            (!first && strcmp(t->dtype, whole.dtype) != 0))
            return attn_fail(err, ATTN_EFORMAT, "%s: tensor 'blocks.%zu.%s' is missing or of another kind, expected "
                                                "shape [%zu, %zu] and the type of the other heads", c->path, layer,
                             path, c->d / c->H, c->d);
        if (first) {
            whole.dtype = t->dtype;
            whole.bytes = t->bytes * 3 * c->H;
            whole.data = at = attn_course_room(c, st, whole.bytes, err);
        }
        if (!at)
            return err ? (int)err->code : ATTN_ENOMEM;
        memcpy(at, t->data, t->bytes);
        at += t->bytes;
    }
    snprintf(name, sizeof name, "transformer.h.%zu.attn.c_attn.weight", layer);
    return attn_course_tensor(c, st, name, &whole, err);
}

static bool is_mask(const char *name)
{
    return attn_ends_with(name, ".attn.bias") || attn_ends_with(name, ".attn.masked_bias") ||
           attn_ends_with(name, ".tril");
}

/* Takes a tensor under its name in the end, or leaves it out. */
static int take_tensor(struct attn_course *c, struct attn_st *st, const struct attn_st_tensor *t, struct attn_err *err)
{
    size_t n = strlen(c->prefix);
    bool prefixed = !strncmp(t->name, c->prefix, n), lecture = kinds[c->kind].lecture;
    const char *name = t->name + (prefixed ? n : 0);
    char to[NAME];
    if (is_mask(name) || (c->tied && !strcmp(name, "lm_head.weight")) || (lecture && strstr(name, ".sa.heads.")))
        return ATTN_OK;
    if (prefixed && (lecture ? rename_one(to, name) : strlen(name) < sizeof to))
        return attn_course_tensor(c, st, lecture ? to : name, t, err);
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, but tensor '%.*s' has no place in it", c->path, kinds[c->kind].what,
                     attn_shown(t->name, strlen(t->name)), t->name);
}

static int fill(struct attn_course *c, struct attn_st *st, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < attn_st_count(c->st) && !rc; i++)
        rc = take_tensor(c, st, attn_st_at(c->st, i), err);
    for (size_t i = 0; i < c->L && kinds[c->kind].lecture && !rc; i++)
        rc = fuse_heads(c, st, i, err);
    st->header = c->st->header;
    st->header_len = c->st->header_len;
    return rc;
}

/* A zip archive, or the pickle of older files. */
static bool is_torch(const struct attn_map *m)
{
    return m->len > 4 && (!memcmp(m->data, "PK\003\004", 4) || (m->data[0] == 0x80 && m->data[1] == 2));
}

const struct attn_course_format attn_course_torch = {
    .what = "is a file of torch.save", .asks = true, .is = is_torch, .open = open_checkpoint, .fill = fill};
