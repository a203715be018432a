/* container_builtin.c - the models whose files are bytes of the program. */
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/err.h"
#include "base/format.h"
#include "model/container.h"
#include "model/shards.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif

/* Symbol and name of each; the default model comes first. */
#define BUILTINS(each) \
    each(tiny, "tiny") \
    each(life, "life") each(life_full, "life-full") each(life_4_heads, "life-4-heads") \
    each(journey, "journey") each(journey_causal, "journey-causal") each(journey_multi_head, "journey-multi-head") \
    each(stacked, "stacked") each(induction, "induction")

#define EMBED(of, name) \
    ATTN_EMBED(attn_##of##_config, "models/" name "/config.json"); \
    ATTN_EMBED(attn_##of##_vocab, "models/" name "/vocab.json"); \
    ATTN_EMBED(attn_##of##_weights, "models/" name "/model.safetensors");
BUILTINS(EMBED)
ATTN_EMBED(attn_tiny_merges, "models/tiny/merges.txt");
ATTN_EMBED(attn_tiny_index, ATTN_BUILT "/tiny.index");

struct embedded { const char *name; const unsigned char *data, *end; };
struct builtin { const char *name; struct embedded file[3]; };

#define ROW(of, name) \
    {name, {{"config.json", attn_##of##_config, attn_##of##_config_end}, \
            {"vocab.json", attn_##of##_vocab, attn_##of##_vocab_end}, \
            {"model.safetensors", attn_##of##_weights, attn_##of##_weights_end}}},
static const struct builtin builtins[] = { BUILTINS(ROW) };
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };
/* The tokens of the others are words, few enough to be read at once: they need no index (text/index.h). */
static const struct embedded merges = {"merges.txt", attn_tiny_merges, attn_tiny_merges_end};

const char *const *attn_model_builtin(void)
{
#define NAME(of, name) name,
    static const char *const names[] = { BUILTINS(NAME) NULL };
    return names;
}

bool attn_builtin_named(struct attn_source *s, const char *name)
{
    size_t i = 0;
    while (i < N_BUILTINS && strcmp(builtins[i].name, name) != 0)
        i++;
    if (i < N_BUILTINS)
        *s = (struct attn_source){.kind = &attn_container_builtin, .of = (void *)&builtins[i]};
    return i < N_BUILTINS;
}

/* A model that was made of numbers has no files. */
static const struct embedded *find(const struct attn_source *s, const char *file)
{
    const struct builtin *b = s->of;
    const struct embedded *f = b == builtins && strcmp(file, merges.name) == 0 ? &merges : NULL;
    for (size_t i = 0; b && !f && i < sizeof b->file / sizeof *b->file; i++)
        if (strcmp(b->file[i].name, file) == 0)
            f = &b->file[i];
    return f;
}

static char *path(const struct attn_source *s, const char *file)
{
    char *out = NULL;
    return attn_asprintf(&out, "built-in %s/%s", s->name, file) < 0 ? NULL : out;
}

static bool has(const struct attn_source *s, const char *file) { return find(s, file); }

static int read_file(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    const struct embedded *f = find(s, file);
    (void)limit;
    if (!f)
        return attn_fail(err, ATTN_EIO, "built-in %s/%s: no such file", s->name, file);
    *out = (struct attn_map){.data = f->data, .len = (size_t)(f->end - f->data)};
    return ATTN_OK;
}

static const void *index_of(const struct attn_source *s) { return s->of == builtins ? attn_tiny_index : NULL; }

/* The test `builtin_weights_are_finite` looks at every weight. */
const struct attn_container attn_container_builtin = {
    .name = "builtin", .what = "is built in", .says = "and says", .config = "config.json", .tested = true,
    .path = path, .has = has, .read = read_file, .index = index_of, .tensors = attn_shards_of_directory};
