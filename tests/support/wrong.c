#include "wrong.h"

#include "golden.h"
#include "made.h"
#include "scratch.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *wrong_origin(const char *name)
{
    return printed("tests/golden/checkpoints/%s", name);
}

void wrong_transposed(size_t *i, size_t *j)
{
    size_t was = *i;
    *i = *j;
    *j = was;
}

static void moved(unsigned char *out, const struct attn_st_tensor *t, const struct wrong_move *m)
{
    size_t columns = t->ndim > 1 ? t->shape[1] : 1, each = t->bytes / t->count;
    for (size_t i = 0; i < t->count / columns; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t from_i = i, from_j = j;
            if (t->ndim > 1 || m->by_rows)
                m->from(&from_i, &from_j);
            else                        /* the bias of a matrix whose columns are outputs */
                m->from(&from_j, &from_i);
            memcpy(out + (i * columns + j) * each, t->data + (from_i * columns + from_j) * each, each);
        }
}

static void write_weights(const char *path, const char *to, const struct wrong_move *m)
{
    enum { MOST = 64 };
    struct attn_st_tensor t[MOST];
    unsigned char *copy[MOST] = {NULL};
    struct made_weights from = made_read(path);
    size_t n = attn_st_count(from.st), touched = 0;
    ck_assert_uint_le(n, MOST);
    for (size_t i = 0; i < n; i++) {
        t[i] = *attn_st_at(from.st, i);
        if (!m || strncmp(t[i].name, m->tensor, strlen(m->tensor)) != 0)
            continue;
        copy[i] = malloc(t[i].bytes);
        moved(copy[i], &t[i], m);
        t[i].data = copy[i];
        touched++;
    }
    ck_assert(!m || touched > 0);
    made_write(to, t, n);
    made_close(&from);
    for (size_t i = 0; i < n; i++)
        free(copy[i]);
}

const char *wrong_copy(const char *name, const char *from, const char *to, const struct wrong_move *m)
{
    char path[256], text[4096];
    size_t len;
    snprintf(path, sizeof path, "%s/config.json", wrong_origin(name));
    char *config = golden_text(path, &len), *at = from ? strstr(config, from) : config;
    ck_assert_msg(at != NULL, "no '%s' in %s", from, path);
    size_t before = (size_t)(at - config), skip = from ? strlen(from) : 0;
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)before, config, to ? to : "", at + skip);
    ck_assert_int_eq(mkdir(scratch_path("wrong"), 0777), 0);
    scratch_put(scratch_path("wrong/config.json"), text, (size_t)n);
    write_weights(printed("%s/model.safetensors", wrong_origin(name)), scratch_path("wrong/model.safetensors"), m);
    free(config);
    return scratch_path("wrong");
}
