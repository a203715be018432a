#include "text/charsmap.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

/* Bytes.  Charsmaps in use have about 250,000 in all, and 33 in the longest string looked for, or put in its place. */
enum { LIMIT = 64 << 20, KEY_LONGEST = 64, WITH_LONGEST = 256 };

static int bad(const char *name, const char *why, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: precompiled_charsmap: %s", name, why);
}

/* Each string must be text by itself. */
static int check_strings(const struct attn_charsmap *m, const char *name, struct attn_err *err)
{
    for (size_t at = 0, len; at < m->bytes; at += len + 1) {
        len = strnlen(m->strings + at, m->bytes - at);
        if (len > WITH_LONGEST)
            return bad(name, "a string in it has more than 256 bytes", err);
        if (attn_utf8_valid(m->strings + at, len) != len)
            return bad(name, "a string in it is not UTF-8", err);
    }
    return ATTN_OK;
}

int attn_charsmap_read(struct attn_charsmap **out, const char *data, size_t len, const char *name, struct attn_err *err)
{
    uint32_t n = 0;
    if (len > 4)
        memcpy(&n, data, 4);
    n = le32toh(n);
    if (len > LIMIT || n == 0 || n % 4 != 0 || n > len - 4)
        return bad(name, "its first number is not the size of a table within it", err);
    struct attn_charsmap *m = calloc(1, sizeof *m);
    if (m)
        m->own = malloc(len);
    if (!m || !m->own) {
        free(m);
        return attn_no_memory(err, name, "for its precompiled_charsmap");
    }
    memcpy(m->own, data + 4, len - 4);
    m->own[len - 4] = '\0';             /* ends the last string in any case */
    m->unit = (uint32_t *)(void *)m->own;
    m->units = n / 4;
    for (size_t i = 0; i < m->units; i++)
        m->unit[i] = le32toh(m->unit[i]);
    m->strings = (const char *)m->own + n;
    m->bytes = len - 4 - n;
    int rc = check_strings(m, name, err);
    if (rc)
        attn_charsmap_free(m);
    else
        *out = m;
    return rc;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int attn_charsmap_read_base64(struct attn_charsmap **out, const char *text, const char *name, struct attn_err *err)
{
    size_t len = strlen(text), n = 0;
    uint32_t bits = 0;
    while (len > 0 && text[len - 1] == '=')
        len--;
    char *data = malloc(len + 1);
    if (!data)
        return attn_no_memory(err, name, "for its precompiled_charsmap");
    for (size_t i = 0; i < len; i++) {
        int d = digit(text[i]);
        if (d < 0) {
            free(data);
            return bad(name, "it is not base64", err);
        }
        bits = bits << 6 | (uint32_t)d;
        if (i % 4 > 0)
            data[n++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xFF);
    }
    int rc = attn_charsmap_read(out, data, n, name, err);
    free(data);
    return rc;
}

void attn_charsmap_free(struct attn_charsmap *m)
{
    if (!m)
        return;
    free(m->own);
    free(m);
}

static size_t offset(uint32_t u)
{
    return (size_t)(u >> 10) << ((u & 0x200) >> 6);
}

const char *attn_charsmap_find(const struct attn_charsmap *m, const char *s, size_t len, bool longest, size_t *found,
                               size_t *with_len)
{
    const char *with = NULL;
    size_t at = offset(m->unit[0]);
    for (size_t k = 0; k < len && k < KEY_LONGEST; k++) {
        unsigned char c = (unsigned char)s[k];
        at ^= c;
        if (at >= m->units || (m->unit[at] & 0x800000FF) != c)
            break;
        bool leaf = m->unit[at] >> 8 & 1;
        at ^= offset(m->unit[at]);
        if (at >= m->units)
            break;
        size_t value = m->unit[at] & 0x7FFFFFFF;
        if (!leaf || value >= m->bytes || (value > 0 && m->strings[value - 1]))
            continue;                   /* a string begins after the end of another */
        with = m->strings + value;
        *found = k + 1;
        if (!longest)
            break;
    }
    if (with)
        *with_len = strlen(with);
    return with;
}
