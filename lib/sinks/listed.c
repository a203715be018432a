#include "sinks/listed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { OLD_MAX = 1 << 28, HEX = 64 };   /* a larger older manifest is not read; digits of a SHA-256 */

static bool begins(const char *at, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - at) >= n && !memcmp(at, with, n);
}

/* Whether `what` stands before *at; if so, *at goes back to its start. */
static bool back(const char **at, const char *start, const char *what)
{
    size_t n = strlen(what);
    if ((size_t)(*at - start) < n || memcmp(*at - n, what, n) != 0)
        return false;
    *at -= n;
    return true;
}

static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }

/* Takes apart the end of a line, "sha256":"...","bytes":14}, between start and end. */
static bool read_end(struct attn_listed *f, const char *start, const char *end)
{
    if (!back(&end, start, "}"))
        return false;
    while (end > start && is_one_of(end[-1], "0123456789"))
        end--;
    f->bytes = strtoull(end, NULL, 10);
    if (*end == '}' || !back(&end, start, "\",\"bytes\":") || end - start < HEX)
        return false;
    f->sha256 = end -= HEX;
    return strspn(f->sha256, "0123456789abcdef") == HEX && back(&end, start, ",\"sha256\":\"");
}

/* Reads the line of a file at *at, which then is at its end; false if it is none. */
static bool read_line(const char **at, const char *end, struct attn_listed *f)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *p = *at, *eol;
    if (!begins(p, end, ATTN_LISTED_FILE))
        return false;
    f->name = p += strlen(ATTN_LISTED_FILE);
    while (p < end && is_one_of(*p, allowed))
        p++;
    f->len = (size_t)(p - f->name);
    if (!f->len || *f->name == '.' || !begins(p, end, "\",\"") || !(eol = memchr(p, '\n', (size_t)(end - p))))
        return false;
    *at = eol;
    return read_end(f, p, eol - (eol[-1] == ','));
}

bool attn_listed_next(const char **at, const char *end, struct attn_listed *f)
{
    const char *eol = *at;
    if (!read_line(&eol, end, f) || begins(eol, end, ATTN_LISTED_END) == (eol[-1] == ','))
        return false;
    *at = eol;
    return true;
}

bool attn_listed_find(const char **at, const char *end, struct attn_listed *f)
{
    const char *p = *at;
    for (*at = end; (p = memmem(p, (size_t)(end - p), ATTN_LISTED_FILE, strlen(ATTN_LISTED_FILE))); p++) {
        const char *next = p;
        if (read_line(&next, end, f)) {
            *at = next;
            return true;
        }
    }
    return false;
}

const char *attn_listed_in(const struct attn_map *manifest)
{
    const char *text = (const char *)manifest->data, *end = text + manifest->len;
    struct attn_listed f;
    if (!manifest->len || !begins(text, end, ATTN_LISTED_TOOL))
        return NULL;
    const char *list = memmem(text, manifest->len, ATTN_LISTED_FILES, strlen(ATTN_LISTED_FILES));
    if (!list)
        return NULL;
    list += strlen(ATTN_LISTED_FILES);
    const char *at = list;
    while (attn_listed_next(&at, end, &f))
        continue;
    return (size_t)(end - at) == strlen(ATTN_LISTED_END) && begins(at, end, ATTN_LISTED_END) ? list : NULL;
}

int attn_listed_open(struct attn_map *out, const char *dir, const char *file, struct attn_err *err)
{
    char *path;
    *out = (struct attn_map){0};
    if (asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
    int rc = attn_map_open_found(out, path, OLD_MAX, ATTN_LINKS_REFUSED, err);
    free(path);
    return rc;
}

char *attn_listed_path(const char *dir, const struct attn_listed *f)
{
    char *path;
    return asprintf(&path, "%s/%.*s", dir, (int)f->len, f->name) < 0 ? NULL : path;
}
