/* pack.c - packs the languages while attn-cli is built, for lib/show/language/language.c, and checks them as msgfmt -c does.
 *
 *     pack zh.po ... >languages
 *
 * Read are comments, msgid and msgstr, whose strings may go on in further lines.  The entry of the empty msgid is the
 * header, of which "Language: zh" is the code and "X-Language-Name: 中文" what its speakers call it.  An entry that is
 * marked fuzzy, or has an empty msgstr, is left out: its text stays English. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "language/language.h"

enum { LIMIT = 16 << 20, ARGUMENTS = 16 };

struct entry { char *english, *other; size_t line; };
struct language { const char *path; struct entry *entry; size_t n, room; char *code, *name; };
struct reader { struct language *l; const char *s, *end; size_t line; struct entry now; bool fuzzy, in_other; };

static int wrong(const struct reader *r, size_t line, const char *what, const char *found, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s:%zu: %s%.80s", r->l->path, line, what, found);
}

/* ---- conversions of a printf ------------------------------------------------------------ */

/* What argument i is printed with, as "zu"; * stands for one, too.  All are numbered, or none. */
struct conversions { char of[ARGUMENTS][8]; size_t n; bool numbered, plain; };

/* Reads what follows a %, and returns what follows it; NULL: it is no conversion. */
static const char *conversion(struct conversions *c, const char *s)
{
    size_t at = c->n, digits = strspn(s, "0123456789"), flags, len;
    if (digits && s[digits] == '$') {
        at = strtoul(s, NULL, 10) - 1;
        c->numbered = true;
        s += digits + 1;
    } else
        c->plain = true;
    flags = strspn(s, "-+ #0123456789.");
    if (s[flags] == '*' && c->n < ARGUMENTS && !c->numbered) {
        snprintf(c->of[c->n++], sizeof *c->of, "*");
        at++;
        flags += 1 + strspn(s + flags + 1, "0123456789.");
    }
    len = flags + strspn(s + flags, "hlzjt") + 1;
    if (at >= ARGUMENTS || len >= sizeof *c->of || !s[len - 1] || !strchr("diouxXeEfFgGcs", s[len - 1]))
        return NULL;
    if (c->numbered && c->plain)
        return NULL;
    memcpy(c->of[at], s, len);
    c->of[at][len] = '\0';
    c->n = at + 1 > c->n ? at + 1 : c->n;
    return s + len;
}

static bool read_conversions(struct conversions *c, const char *s)
{
    *c = (struct conversions){.n = 0};
    while (s && (s = strchr(s, '%')))
        s = s[1] == '%' ? s + 2 : conversion(c, s + 1);
    return !s;
}

/* A text that is no format may have a % that is none. */
static int check(const struct reader *r, struct attn_err *err)
{
    struct conversions a, b;
    bool format = read_conversions(&a, r->now.english), other = read_conversions(&b, r->now.other);
    bool same = format == other && (!format || a.n == b.n);
    for (size_t i = 0; same && format && i < a.n; i++)
        same = !strcmp(a.of[i], b.of[i]);
    return same ? ATTN_OK : wrong(r, r->now.line, "msgstr has other conversions than its msgid: ", r->now.other, err);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* The quoted string at s, appended to *text. */
static int string(struct reader *r, char **text, const char *s, const char *stop, struct attn_err *err)
{
    static const char escapes[] = "nt\"\\", meant[] = "\n\t\"\\";
    size_t len = *text ? strlen(*text) : 0;
    char *more = realloc(*text, len + (size_t)(stop - s) + 1);
    if (!more)
        return attn_no_memory(err, NULL, "for a text");
    *text = more;
    for (s++; s < stop && *s != '"'; s++) {
        const char *escape = *s == '\\' ? strchr(escapes, s[1]) : NULL;
        if (*s == '\\' && (s + 1 == stop || !escape))
            return wrong(r, r->line, "a backslash stands before something else than n, t, \" or \\", "", err);
        s += escape != NULL;
        if (escape)
            more[len++] = meant[escape - escapes];
        else
            more[len++] = *s;
    }
    more[len] = '\0';
    return s + 1 == stop ? ATTN_OK : wrong(r, r->line, "expected a string in quotes that ends the line", "", err);
}

static char *field(const char *header, const char *name)
{
    const char *at = strstr(header, name);
    return at ? strndup(at + strlen(name), strcspn(at + strlen(name), "\n")) : NULL;
}

static void drop(struct entry *e)
{
    free(e->english);
    free(e->other);
    *e = (struct entry){.line = 0};
}

/* The entry that has been read becomes the language's, unless it is to be left out. */
static int take(struct reader *r, struct attn_err *err)
{
    struct language *l = r->l;
    struct entry *e = &r->now, *more;
    if (!e->english)
        return ATTN_OK;
    if (!e->other)
        return wrong(r, e->line, "a msgid without a msgstr", "", err);
    if (check(r, err))
        return err->code;
    if (!*e->english && !l->code && !l->name) {
        l->code = field(e->other, "Language: ");
        l->name = field(e->other, "X-Language-Name: ");
    }
    if (*e->english && !r->fuzzy && *e->other) {
        if (!(more = attn_grow(l->entry, &l->room, l->n + 1, sizeof *more)))
            return attn_no_memory(err, NULL, "for a text");
        l->entry = more;
        more[l->n++] = *e;
        *e = (struct entry){.line = 0};
    }
    drop(e);
    r->in_other = r->fuzzy = false;
    return ATTN_OK;
}

static int line(struct reader *r, const char *s, const char *stop, struct attn_err *err)
{
    const size_t id = strlen("msgid "), str = strlen("msgstr "), len = (size_t)(stop - s);
    if (!len || *s == '#') {
        int rc = r->in_other ? take(r, err) : ATTN_OK;
        r->fuzzy = len && (r->fuzzy || (s[1] == ',' && memmem(s, len, "fuzzy", 5)));
        return rc;
    }
    if (*s == '"' && r->now.english)
        return string(r, r->in_other ? &r->now.other : &r->now.english, s, stop, err);
    if (len > str && !memcmp(s, "msgstr \"", str + 1) && r->now.english && !r->in_other) {
        r->in_other = true;
        return string(r, &r->now.other, s + str, stop, err);
    }
    if (len <= id || memcmp(s, "msgid \"", id + 1))
        return wrong(r, r->line, "expected a comment, msgid \"...\", msgstr \"...\" or \"...\"", "", err);
    if (take(r, err))
        return err->code;
    r->now.line = r->line;
    return string(r, &r->now.english, s + id, stop, err);
}

static int by_english(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->english, ((const struct entry *)b)->english);
}

static int complete(struct reader *r, struct attn_err *err)
{
    struct language *l = r->l;
    if (take(r, err))
        return err->code;
    if (!l->code || !l->name)
        return wrong(r, 1, "the header needs Language and X-Language-Name", "", err);
    if (l->n)                           /* nothing is sorted at NULL */
        qsort(l->entry, l->n, sizeof *l->entry, by_english);
    for (size_t i = 1; i < l->n; i++)
        if (!strcmp(l->entry[i - 1].english, l->entry[i].english))
            return wrong(r, l->entry[i].line, "this msgid is there twice: ", l->entry[i].english, err);
    return ATTN_OK;
}

static int read_po(struct language *l, const char *path, struct attn_err *err)
{
    struct attn_map map;
    struct reader r = {.l = l};
    l->path = path;
    int rc = attn_map_open(&map, path, LIMIT, err);
    if (rc)
        return rc;
    r.end = (r.s = (const char *)map.data) + map.len;
    for (const char *stop; !rc && r.s < r.end; r.s = stop + 1) {
        stop = memchr(r.s, '\n', (size_t)(r.end - r.s));
        stop = stop ? stop : r.end;
        r.line++;
        rc = line(&r, r.s, stop, err);
    }
    rc = rc ? rc : complete(&r, err);
    drop(&r.now);
    attn_map_close(&map);
    return rc;
}

/* ---- writing ---------------------------------------------------------------------------- */

static void put(uint32_t x) { fwrite(&x, sizeof x, 1, stdout); }

/* Writes the offset of a string, which stands there in the end. */
static void place(uint32_t *at, const char *s)
{
    put(*at);
    *at += (uint32_t)strlen(s) + 1;
}

static void write_pack(const struct language *l, size_t n)
{
    uint32_t first = (uint32_t)(sizeof(struct attn_languages) + n * sizeof(struct attn_language)), at = first;
    for (size_t i = 0; i < n; i++)
        at += (uint32_t)(l[i].n * sizeof(struct attn_language_pair));
    put((uint32_t)n);
    for (size_t i = 0; i < n; first += (uint32_t)(l[i++].n * sizeof(struct attn_language_pair))) {
        place(&at, l[i].code);
        place(&at, l[i].name);
        put(first);
        put((uint32_t)l[i].n);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l[i].n; k++) {
            place(&at, l[i].entry[k].english);
            place(&at, l[i].entry[k].other);
        }
    for (size_t i = 0; i < n; i++)
        printf("%s%c%s%c", l[i].code, 0, l[i].name, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < l[i].n; k++)
            printf("%s%c%s%c", l[i].entry[k].english, 0, l[i].entry[k].other, 0);
}

static void release(struct language *l)
{
    for (size_t k = 0; k < l->n; k++)
        drop(&l->entry[k]);
    free(l->entry);
    free(l->code);
    free(l->name);
}

int main(int argc, char **argv)
{
    struct attn_err err = {0};
    const size_t n = (size_t)argc - 1;
    struct language *l = calloc(n + 1, sizeof *l);
    int rc = l ? ATTN_OK : attn_no_memory(&err, NULL, "for languages");
    for (size_t i = 0; i < n && !rc; i++)
        rc = read_po(&l[i], argv[i + 1], &err);
    if (!rc)
        write_pack(l, n);
    if (!rc && (fflush(stdout) || ferror(stdout)))
        rc = attn_fail(&err, ATTN_EIO, "cannot write the languages");
    if (rc)
        fprintf(stderr, "pack: %s\n", err.msg);
    for (size_t i = 0; i < n && l; i++)
        release(&l[i]);
    free(l);
    return rc != ATTN_OK;
}
