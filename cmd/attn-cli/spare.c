#include "spare.h"

#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_file(const struct stat *a, const char *path)
{
    struct stat b;
    return path && stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static bool has_end(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* By their names, and only where a config.json is beside them: results may lie in a model's directory. */
static bool is_named_as_of_model(const char *path)
{
    static const char *const known[] = {"config.json", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                        "train.json", "checkpoint.safetensors", NULL};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char config[4096];
    struct stat st;
    int n = snprintf(config, sizeof config, "%.*sconfig.json", (int)(name - path), path);
    if (n < 0 || (size_t)n >= sizeof config || stat(config, &st) != 0)
        return false;
    for (const char *const *k = known; *k; k++)
        if (!strcmp(name, *k))
            return true;
    return !strncmp(name, "model", 5) && (has_end(name, ".safetensors") || has_end(name, ".safetensors.index.json"));
}

/* Models are linked from one place to another, too. */
static bool is_of_model(const char *path)
{
    char *real = realpath(path, NULL);
    bool is = is_named_as_of_model(path) || (real && is_named_as_of_model(real));
    free(real);
    return is;
}

static bool is_word(const struct stat *st)
{
    for (size_t i = 0; i < common.n_words; i++)
        if (same_file(st, common.words[i]))
            return true;
    return same_file(st, common.word) || same_file(st, common.second);
}

/* An argument that is no option, or the value of one. */
static bool is_input(const struct command *c, const struct stat *st)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if (o->type == OPT_FILE && !(o->flags & OPT_OUTPUT) && same_file(st, option_given(o)))
            return true;
    return c->paths && is_word(st);
}

static int spare(const struct command *c, const struct option *output, struct attn_err *err)
{
    const char *path = option_given(output);
    struct stat st;
    if (!path || !strcmp(path, "-") || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return ATTN_OK;
    if (is_input(c, &st))
        return fail(err, ATTN_EUSAGE, "%s: is the input, and would be written to (--%s): choose another name", path, output->name);
    if (!(output->flags & OPT_MODEL_FILE) && is_of_model(path))
        return fail(err, ATTN_EUSAGE, "%s: is a file of a model, and would be written to (--%s): choose another name", path, output->name);
    return ATTN_OK;
}

int spare_inputs(const struct command *c, struct attn_err *err)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if ((o->flags & OPT_OUTPUT) && spare(c, o, err))
            return err->code;
    return ATTN_OK;
}
