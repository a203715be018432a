#include "spare.h"

#include "file.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool has_end(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* The length of the directory part, "dir/" in "dir/name"; 0 if there is none. */
static size_t directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* ---- files of a model ---- */

/* Whether `file`, in the directory of `path`, contains a text.  Files larger than any configuration are not read. */
static bool beside_says(const char *path, const char *file, const char *text)
{
    enum { LARGEST = 64 << 20 };
    char *beside = NULL, *all = NULL;
    size_t len = 0;
    struct stat st;
    struct attn_err ignored;
    bool says = asprintf(&beside, "%.*s%s", (int)directory(path), path, file) >= 0 && stat(beside, &st) == 0 && S_ISREG(st.st_mode) &&
                st.st_size <= LARGEST && file_read(&all, &len, beside, &ignored) == ATTN_OK && strstr(all, text);
    free(all);
    free(beside);
    return says;
}

/* A model's files are known by name and by the config.json beside them; other files there may be results and are no model's. */
static bool is_named_as_of_model(const char *path)
{
    static const char *const known[] = {"config.json", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                        "model.safetensors", "model.safetensors.index.json", "train.json", "checkpoint.safetensors", NULL};
    const char *name = path + directory(path);
    if (!beside_says(path, "config.json", "\"model_type\""))
        return false;
    for (const char *const *k = known; *k; k++)
        if (!strcmp(name, *k))
            return true;
    return has_end(name, ".safetensors") && beside_says(path, "model.safetensors.index.json", name);
}

/* Models may be symbolic links, so the link's target is checked as well. */
static bool is_of_model(const char *path)
{
    char *real = realpath(path, NULL);
    bool is = is_named_as_of_model(path) || (real && is_named_as_of_model(real));
    free(real);
    return is;
}

/* ---- inputs ---- */

static bool is_file(const struct stat *st, const char *path)
{
    struct stat other;
    bool standard = path && !strcmp(path, "-");
    return path && (standard ? fstat(STDIN_FILENO, &other) : stat(path, &other)) == 0 && is_same(st, &other);
}

/* Whether `path` is or would be a file of a dump: one with a dump's ending in the directory `dump`, or in that of its manifest. */
static bool is_in_dump(const char *path, const char *dump)
{
    static const char *const endings[] = {".npy", ".csv", ".json", NULL};
    struct stat of, in;
    char *dir = strndup(path, directory(path)), *from = has_end(dump, "manifest.json") ? strndup(dump, directory(dump)) : strdup(dump);
    bool is = false;
    if (dir && from && stat(*dir ? dir : ".", &of) == 0 && stat(*from ? from : ".", &in) == 0 && is_same(&of, &in))
        for (const char *const *e = endings; *e; e++)
            is |= has_end(path, *e);
    free(dir);
    free(from);
    return is;
}

/* Whether the file is named by an input option or a positional argument, or belongs to a dump that one names. */
static bool is_input(const struct command *c, const char *path, const struct stat *st)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if (o->type == OPT_FILE && !(o->flags & OPT_OUTPUT) && is_file(st, option_given(o)))
            return true;
    for (size_t i = 0; c->paths && i < common.n_words; i++)
        if (is_file(st, common.words[i]))
            return true;
    const char *const word[] = {common.word, common.second};
    for (size_t i = 0; c->paths && i < 2; i++)
        if (word[i] && (is_file(st, word[i]) || is_in_dump(path, word[i])))
            return true;
    return false;
}

static int spare(const struct command *c, const struct option *output, struct attn_err *err)
{
    const char *path = option_given(output);
    struct stat st;
    if (!path || !strcmp(path, "-") || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return ATTN_OK;
    if (is_input(c, path, &st))
        return fail(err, ATTN_EUSAGE, "%s: is the input, and would be written to (--%s): choose another name", path, output->name);
    bool makes = (output->flags & OPT_VOCABULARY) && has_end(path, "vocab.json");
    if (!makes && is_of_model(path))
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
