/* labels.c - what tokens that were made from ids are called: by a tokenizer, or by the lines of a file. */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "text/tokens.h"

struct attn_labels {
    const struct attn_tokenizer *tokenizer;     /* NULL: lines */
    char *name, *text;                  /* of the file; its bytes, in which each line ends with a NUL */
    size_t *line, n;                    /* [n + 1] where each begins, and the byte after the last one's end */
    size_t vocabulary;                  /* entries of the model's */
};

void attn_labels_free(struct attn_labels *l)
{
    if (!l)
        return;
    free(l->name);
    free(l->text);
    free(l->line);
    free(l);
}

int attn_labels_new(struct attn_labels **out, const struct attn_tokenizer *t, struct attn_err *err)
{
    struct attn_labels *l = *out = calloc(1, sizeof *l);
    if (!l)
        return attn_no_memory(err, NULL, "for labels");
    l->tokenizer = t;
    return ATTN_OK;
}

/* ---- the lines of a file ----------------------------------------------------------------- */

static size_t count(const char *text, size_t len)
{
    size_t n = len && text[len - 1] != '\n';            /* the last line may lack its end */
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

/* Ends each line with a NUL, in place of \n or \r\n. */
static void split(struct attn_labels *l, size_t len)
{
    size_t n = 0;
    for (size_t at = 0; at < len; n++) {
        const char *end = memchr(l->text + at, '\n', len - at);
        size_t stop = end ? (size_t)(end - l->text) : len;
        l->line[n] = at;
        l->text[stop] = '\0';
        if (stop > at && l->text[stop - 1] == '\r')
            l->text[stop - 1] = '\0';
        at = stop + 1;
    }
}

static int check_utf8(const char *text, size_t len, const char *name, struct attn_err *err)
{
    size_t at = attn_utf8_valid(text, len), line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return at == len ? ATTN_OK : attn_fail(err, ATTN_EFORMAT,
                                           "%s: line %zu: the label is invalid UTF-8 (0x%02X); convert with: "
                                           "iconv -f LATIN1 -t UTF-8", name, line,
                                           (unsigned)(unsigned char)text[at]);
}

static int take(struct attn_labels *l, const char *text, size_t len, const char *name, struct attn_err *err)
{
    l->n = count(text, len);
    l->name = strdup(name);
    l->text = malloc(len + 1);
    l->line = calloc(l->n + 1, sizeof *l->line);
    if (!l->name || !l->text || !l->line)
        return attn_no_memory(err, name, "for %zu labels", l->n);
    if (len)
        memcpy(l->text, text, len);
    l->text[len] = '\0';
    split(l, len);
    return ATTN_OK;
}

int attn_labels_read(struct attn_labels **out, const char *text, size_t len, const char *name, size_t vocabulary,
                     struct attn_err *err)
{
    struct attn_labels *l = NULL;
    size_t skip = attn_utf8_mark(text, len);
    *out = NULL;
    text += skip;
    len -= skip;
    int rc = check_utf8(text, len, name, err);
    if (!rc)
        rc = attn_labels_new(&l, NULL, err);
    if (rc)
        return rc;
    l->vocabulary = vocabulary;
    rc = take(l, text, len, name, err);
    if (rc)
        attn_labels_free(l);
    else
        *out = l;
    return rc;
}

/* ---- naming ------------------------------------------------------------------------------ */

bool attn_labels_by_id(const struct attn_labels *l)
{
    return l->tokenizer || l->n == l->vocabulary;
}

size_t attn_labels_count(const struct attn_labels *l)
{
    return l->tokenizer ? attn_tokenizer_size(l->tokenizer) : l->n;
}

/* A blank line leaves the id. */
static const char *line_text(const struct attn_labels *l, size_t i, size_t *len)
{
    const char *s = i < l->n ? l->text + l->line[i] : "";
    *len = strlen(s);
    return *len ? s : NULL;
}

const char *attn_labels_text(const struct attn_labels *l, int32_t id, size_t *len)
{
    *len = 0;
    return l->tokenizer ? attn_tokenizer_text(l->tokenizer, id, len) : line_text(l, (size_t)id, len);
}

static void name(struct attn_token *t, const struct attn_labels *l, size_t i)
{
    size_t len = 0, raw_len = 0;
    const char *text = attn_labels_by_id(l) ? attn_labels_text(l, t->id, &len) : line_text(l, i, &len);
    const char *raw = text && l->tokenizer ? attn_tokenizer_raw(l->tokenizer, t->id, &raw_len) : NULL;
    if (text)
        *t = (struct attn_token){.id = t->id, .known = true, .named = true, .text = text, .text_len = len,
                                 .raw = raw ? raw : text, .raw_len = raw ? raw_len : len};
}

int attn_tokens_label(struct attn_tokens *t, const struct attn_labels *l, struct attn_err *err)
{
    if (!attn_labels_by_id(l) && l->n != t->n)
        return attn_fail(err, ATTN_EFORMAT, "%s: found %zu line%s, expected %zu, a label for each entry of the model's "
                                            "vocabulary, or %zu, one for each id of the input", l->name, l->n,
                         l->n == 1 ? "" :
                         "s", l->vocabulary, t->n);
    for (size_t i = 0; i < t->n; i++)
        if (!t->tok[i].known)
            name(&t->tok[i], l, i);
    attn_tokens_find_parts(t);
    return ATTN_OK;
}
