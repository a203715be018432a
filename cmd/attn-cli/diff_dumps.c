#include "diff_dumps.h"

#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "say.h"

/* ---- names of arrays ---- */

static struct many maps;
static bool dumps;

/* Rows that diff_names_read finds again. */
enum { MAP, MAPS };

const struct option diff_dump_options[] = {
    [MAP] = {0, "map", OPT_MANY, &maps, "NAME=ACTIVATION",
             "which activation of ours an array of a dump is, as in "
             "'layer{}_att=blocks.{}.attn.pattern' or 'layer{}_att=pattern', where {} is the number of the layer.  "
             "May be given again",
             .flags = OPT_USUAL},
    [MAPS] = {0, "maps", OPT_MANY_FILES, &maps, "FILE",
              "the same from a file, one a line; lines that begin with # are comments", .flags = 0},
    {0, "dump", OPT_FLAG, &dumps, NULL,
     "A and B are dumps, even where a .safetensors file could hold the weights of a model", .flags = 0},
    {.name = NULL},
};

bool diff_dumps_given(void) { return maps.n > 0 || dumps; }

static int read_file(struct attn_naming **names, const char *path, struct attn_err *err)
{
    char *text = NULL;
    size_t len;
    int code = file_read(&text, &len, path, err);
    if (!code)
        code = attn_naming_read(names, text, len, strcmp(path, "-") ? path : "standard input", err);
    free(text);
    return code;
}

int diff_names_read(struct attn_naming **names, struct attn_err *err)
{
    int code = ATTN_OK;
    for (size_t i = 0; i < maps.n && !code; i++) {
        const struct given *g = &maps.item[i];
        code = g->of == &diff_dump_options[MAP] ? attn_naming_add(names, g->value, err)
                                                : read_file(names, g->value, err);
    }
    return code;
}

/* ---- dumps and models ---- */

/* A directory may be that of a model and hold arrays, too: then it is these.  So is a .safetensors file of
 * activations a dump. */
bool diff_is_model(const char *path, const struct attn_naming *names)
{
    struct attn_err why = {0};
    struct attn_dump *d = NULL;
    struct stat st;
    if (dumps || !attn_contrast_takes(path) || attn_diff_takes(path, names))
        return false;
    bool arrays = stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !attn_dump_open(&d, path, &why);
    attn_dump_free(d);
    return !arrays;
}

bool diff_may_be_dump(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    char config[4096];
    int n = snprintf(config, sizeof config, "%.*sconfig.json", slash ? (int)(slash + 1 - path) : 0, path);
    return dot && !strcmp(dot, ".safetensors") && n < (int)sizeof config && access(config, F_OK) != 0;
}

/* ---- their tokens ---- */

struct token { const char *text; size_t len; int32_t id; };

static struct token token_at(const struct attn_dump *d, size_t i)
{
    struct token t;
    t.text = attn_dump_token(d, i, &t.id, &t.len);
    return t;
}

static bool same_token(const struct token *x, const struct token *y)
{
    if (x->id >= 0 && y->id >= 0)
        return x->id == y->id;
    return !x->text || !y->text || (x->len == y->len && !memcmp(x->text, y->text, x->len));
}

static const char *describe(char out[80], const struct token *t)
{
    int most = t->len < 40 ? (int)t->len : 40;
    size_t n = 0;
    out[0] = '\0';
    if (t->id >= 0)
        n = (size_t)snprintf(out, 80, "id %" PRId32, t->id);
    if (t->text)
        snprintf(out + n, 80 - n, "%s'%.*s'", n ? " " : "", most, t->text);
    return out;
}

void diff_warn_of_tokens(const struct attn_dump *a, const struct attn_dump *b)
{
    size_t na = attn_dump_tokens(a), nb = attn_dump_tokens(b), i = 0;
    char x[80], y[80];
    for (; i < na && i < nb; i++) {
        struct token ta = token_at(a, i), tb = token_at(b, i);
        if (same_token(&ta, &tb))
            continue;
        say_note("attn-cli diff: warning: the dumps are of different texts: token %zu is %s in A and %s in B; run both "
                 "on the same tokens (--ids)",
                 i, describe(x, &ta), describe(y, &tb));
        return;
    }
    if (na && nb && na != nb)
        say_note("attn-cli diff: warning: the dumps are of different texts: A has %zu tokens and B %zu, of which the "
                 "first %zu are the same",
                 na, nb, i);
}
