/* sidecar_compare.c - whether two outputs hold the same records, by the sum of their keys, and what differed in how
 * they were made. */
#include "batch/sidecar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"

/* ---- keys ------------------------------------------------------------------------------ */

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

void attn_sums_start(char sum[65])
{
    memset(sum, '0', 64);
    sum[64] = '\0';
}

void attn_sums_add(char sum[65], const char *more)
{
    unsigned carry = 0;
    for (size_t i = 64; i-- > 0;) {
        unsigned s = digit(sum[i]) + digit(more[i]) + carry;
        sum[i] = "0123456789abcdef"[s & 15];
        carry = s >> 4;
    }
}

void attn_mark_add_key(struct attn_mark *m, uint64_t number, const char *key)
{
    char text[96], hex[65];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %s", number, key);
    attn_sha256_of(hex, text, (size_t)n);
    attn_sums_add(m->keys, hex);
}

/* ---- comparing ------------------------------------------------------------------------- */

static void say(char to[ATTN_DIFFERENCE], const char *what, const char *value)
{
    if (value)
        snprintf(to, ATTN_DIFFERENCE, "with %s%s%s", what, *value ? " " : "", value);
    else
        snprintf(to, ATTN_DIFFERENCE, "without %s", what);
}

static bool differ(const char *what, const char *a, const char *b, struct attn_difference *out)
{
    say(out->a, what, a);
    say(out->b, what, b);
    return a && b ? strcmp(a, b) != 0 : a != b;
}

static const char *value_of(const struct attn_sidecar *s, const char *name)
{
    for (size_t i = 0; i < s->options; i++)
        if (!strcmp(s->option[i].name, name))
            return s->option[i].value;
    return NULL;
}

static bool options_differ(const struct attn_sidecar *a, const struct attn_sidecar *b, struct attn_difference *out)
{
    const struct attn_sidecar *const sides[] = {a, b};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->options; i++) {
            const char *name = sides[side]->option[i].name;
            char what[64] = "the content of the files it names,";
            if (strcmp(name, "content") != 0)
                snprintf(what, sizeof what, "--%s", name);
            if (differ(what, value_of(a, name), value_of(b, name), out))
                return true;
        }
    return false;
}

bool attn_sidecar_differ(const struct attn_sidecar *a, const struct attn_sidecar *b, struct attn_difference *out)
{
    const struct { const char *what, *a, *b; } texts[] = {
        {"version", a->version, b->version}, {"--format", a->format, b->format},
        {"--input", a->input_format, b->input_format},
        {"--column", a->column, b->column}, {"the model of digest", a->model, b->model},
        {"the processor's instructions", a->cpu, b->cpu}, {"--no-header", a->header ? NULL : "", b->header ? NULL :
                                                           ""}};
    bool found = options_differ(a, b, out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !found; i++)
        found = differ(texts[i].what, texts[i].a, texts[i].b, out);
    return found;
}

static int shards_agree(const struct attn_share *a, const struct attn_share *b, const char *path, struct attn_err *err)
{
    if (a->index == b->index && a->count == b->count && a->stride == b->stride)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: holds shard %" PRIu64 "/%" PRIu64 "%s, not %" PRIu64 "/%" PRIu64 "%s: give the same "
                     "--shard again, or --force to start anew", path, a->index, a->count, a->stride ? " --stride" : "",
                     b->index, b->count, b->stride ? " --stride" : "");
}

int attn_sidecar_agree(const struct attn_sidecar *made, const struct attn_sidecar *asked, const char *path,
                       struct attn_err *err)
{
    struct attn_difference d;
    int rc = shards_agree(&made->shard, &asked->shard, path, err);
    if (!rc && (attn_sidecar_differ(made, asked, &d) || differ("--summary", made->summary, asked->summary, &d)))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: was made %s, not %s: give the same options again, or --force to start "
                                          "anew",
                       path, d.a, d.b);
    return rc;
}
