#include "io/dump.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/num.h"
#include "base/utf8.h"
#include "io/npy.h"
#include "io/zip.h"

/* ---- the list -------------------------------------------------------------------------- */

void attn_dump_drop(struct attn_dumped *what)
{
    free(what->name);
    attn_array_free(&what->of);
    free(what->heads);
    free(what->wrong);
}

const struct attn_dumped *attn_dump_item(const struct attn_dump *d, const char *name)
{
    size_t i = attn_strings_find(&d->names, name, strlen(name));
    return i == ATTN_STRINGS_NONE ? NULL : &d->item[i];
}

static int no_memory(const struct attn_dump *d, size_t n, struct attn_err *err)
{
    return attn_no_memory(err, d->path, "to list %zu arrays", n);
}

/* Numbers the name of item i, which must be the next one, with i. */
static int enter(struct attn_dump *d, const char *name, size_t i, struct attn_err *err)
{
    size_t number = attn_strings_add(&d->names, name, strlen(name));
    return number == i ? ATTN_OK
           : number == ATTN_STRINGS_NONE ? no_memory(d, i + 1, err)
           : attn_fail(err, ATTN_EFORMAT, "%s: '%s' is there twice", d->path, name);
}

int attn_dump_index(struct attn_dump *d, struct attn_err *err)
{
    int rc = ATTN_OK;
    attn_strings_clear(&d->names);
    for (size_t i = 0; i < d->n && !rc; i++)
        rc = enter(d, d->item[i].name, i, err);
    return rc;
}

int attn_dump_add(struct attn_dump *d, const char *name, size_t len, const struct attn_dumped *what,
                  struct attn_err *err)
{
    struct attn_dumped add = *what;
    struct attn_dumped *more = attn_grow(d->item, &d->room, d->n + 1, sizeof *more);
    if (!more) {
        attn_dump_drop(&add);
        return no_memory(d, d->n + 1, err);
    }
    d->item = more;
    add.name = attn_utf8_readable(name, len);
    int rc = add.name ? enter(d, add.name, d->n, err) : no_memory(d, d->n + 1, err);
    if (rc)
        attn_dump_drop(&add);
    else
        more[d->n++] = add;
    return rc;
}

int attn_dump_add_token(struct attn_dump *d, struct attn_dump_list *to, int32_t id, const char *text, size_t len,
                        struct attn_err *err)
{
    struct attn_dump_token *more = attn_grow(to->item, &to->room, to->n + 1, sizeof *more);
    if (more)
        to->item = more;
    char *copy = more && text ? malloc(len + 1) : NULL;
    if (!more || (text && !copy))
        return attn_no_memory(err, d->path, "to list %zu tokens", to->n + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    to->item[to->n++] = (struct attn_dump_token){id, copy, len};
    return ATTN_OK;
}

const char *attn_dump_warning(const struct attn_dump *d) { return d->warning; }

size_t attn_dump_tokens(const struct attn_dump *d) { return d->tokens.n; }

int attn_dump_find(const struct attn_dump *d, const char *name, struct attn_dump_array *out)
{
    const struct attn_dumped *item = attn_dump_item(d, name);
    return attn_dump_array(d, item ? (size_t)(item - d->item) : d->n, out);
}

int attn_dump_array(const struct attn_dump *d, size_t i, struct attn_dump_array *out)
{
    *out = (struct attn_dump_array){0};
    if (i >= d->n)
        return -1;
    const struct attn_array *of = &d->item[i].of;
    out->name = d->item[i].name;
    out->data = of->data;
    out->f64 = of->f64;
    memcpy(out->shape, of->shape, (size_t)of->ndim * sizeof *of->shape);
    return of->ndim;
}

const char *attn_dump_token(const struct attn_dump *d, size_t i, int32_t *id, size_t *len)
{
    *id = d->tokens.item[i].id;
    *len = d->tokens.item[i].len;
    return d->tokens.item[i].text;
}

void attn_dump_list_free(struct attn_dump_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->item[i].text);
    free(list->item);
}

void attn_dump_free(struct attn_dump *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        attn_dump_drop(&d->item[i]);
    attn_dump_list_free(&d->tokens);
    attn_dump_list_free(&d->keys);
    attn_dump_list_free(&d->rows);
    attn_dump_list_free(&d->cols);
    attn_strings_free(&d->names);
    free(d->warning);
    free(d->steps);
    free(d->item);
    free(d);
}

/* ---- matrices of one head each, joined -------------------------------------------------- */

/* Splits "blocks.0.attn.q.head12" into the length of its name and the head's number; false if it names no head. */
static bool head_of(const char *name, size_t *len, uint64_t *head)
{
    const char *dot = strrchr(name, '.');
    if (!dot || strncmp(dot, ".head", 5) || !attn_num_parse_u64(dot + 5, strlen(dot + 5), head))
        return false;
    *len = (size_t)(dot - name);
    return true;
}

static int by_head(const void *a, const void *b)
{
    const struct attn_dumped *x = a, *y = b;
    size_t xl = strlen(x->name), yl = strlen(y->name);
    uint64_t xh = 0, yh = 0;
    head_of(x->name, &xl, &xh);
    head_of(y->name, &yl, &yh);
    int order = strncmp(x->name, y->name, xl < yl ? xl : yl);
    if (order || xl != yl)
        return order ? order : xl < yl ? -1 : 1;
    return (xh > yh) - (xh < yh);
}

/* Joins n matrices, the heads of one activation, into one array named by the first `len` bytes of their names. */
static int join(struct attn_dumped *out, const struct attn_dumped *head, size_t n, size_t len, const char *dir,
                struct attn_err *err)
{
    const struct attn_array *first = &head[0].of;
    struct attn_dumped all = {.n_heads = n, .of = {.ndim = 3, .shape = {n, first->shape[0], first->shape[1]}}};
    size_t room = 0;
    for (size_t i = 1; i < n; i++)
        if (memcmp(head[i].of.shape, first->shape, sizeof first->shape) != 0)
            return attn_fail(err, ATTN_EFORMAT,
                             "%s: '%s' and '%s' are heads of one activation and differ in shape", dir,
                             head[0].name, head[i].name);
    all.name = strndup(head[0].name, len);
    all.heads = calloc(n, sizeof *all.heads);
    bool fits = all.name && all.heads;
    for (size_t i = 0; i < n && fits; i++) {
        uint64_t number = 0;
        size_t ignored;
        head_of(head[i].name, &ignored, &number);
        all.heads[i] = (size_t)number;
        for (size_t k = 0; k < first->n && fits; k++)
            fits = attn_array_add(&all.of, &room, head[i].of.f64 ? head[i].of.f64[k] : (double)head[i].of.data[k]);
    }
    if (!fits) {
        attn_dump_drop(&all);
        return attn_no_memory(err, dir, "for the heads of '%s'", head[0].name);
    }
    *out = all;
    return ATTN_OK;
}

int attn_dump_join_heads(struct attn_dump *d, struct attn_err *err)
{
    size_t kept = 0;
    int rc = ATTN_OK;
    if (d->n)
        qsort(d->item, d->n, sizeof *d->item, by_head);
    for (size_t i = 0, n; i < d->n; i += n) {
        size_t len = 0, other;
        uint64_t head;
        bool split = head_of(d->item[i].name, &len, &head);
        for (n = 1; split && i + n < d->n; n++) {
            const char *next = d->item[i + n].name;
            if (!head_of(next, &other, &head) || other != len || strncmp(d->item[i].name, next, len))
                break;
        }
        struct attn_dumped whole = d->item[i];
        if (split && !rc)
            rc = join(&whole, &d->item[i], n, len, d->path, err);
        for (size_t k = 0; k < n && split && !rc; k++)
            attn_dump_drop(&d->item[i + k]);
        for (size_t k = 0; k < n && rc; k++)            /* on failure keep all, to be freed later */
            d->item[kept++] = d->item[i + k];
        if (!rc)
            d->item[kept++] = whole;
    }
    d->n = kept;
    return rc ? rc : attn_dump_index(d, err);
}

/* ---- one file -------------------------------------------------------------------------- */

size_t attn_dump_stem(const char *file, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && !strncasecmp(file + len - n, ending, n) ? len - n : 0;
}

int attn_dump_add_npy(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    struct attn_dumped what = {0};
    int rc = attn_npy_read(&what.of, m->data, m->len, path, err);
    return rc ? rc : attn_dump_add(d, name, len, &what, err);
}

/* What run calls the tokens of its sentence, and of the other one. */
static struct attn_dump_list *list_called(struct attn_dump *d, const char *name, size_t len)
{
    return len == 6 && !memcmp(name, "tokens", 6) ? &d->tokens : len == 14 &&
           !memcmp(name, "context_tokens", 14) ? &d->keys : NULL;
}

static int add_texts(struct attn_dump *d, struct attn_dump_list *to, const struct attn_npy_texts *t,
                     struct attn_err *err)
{
    char *text = malloc(4 * t->width);
    int rc = text ? ATTN_OK : attn_no_memory(err, t->name, "for a text");
    if (!rc && to->n)
        rc = attn_fail(err, ATTN_EFORMAT, "%s is there twice", t->name);
    for (size_t i = 0; i < t->n && !rc; i++) {
        size_t len;
        rc = attn_npy_text(text, &len, t, i, err);
        if (!rc)
            rc = attn_dump_add_token(d, to, -1, text, len, err);
    }
    free(text);
    return rc;
}

static int read_member(struct attn_dump *d, const char *name, size_t len, const struct attn_map *m, const char *called,
                       struct attn_err *err)
{
    struct attn_npy_texts texts = {0};
    struct attn_dump_list *to = list_called(d, name, len);
    int rc = to ? attn_npy_texts(&texts, m->data, m->len, called, err) : ATTN_OK;
    if (rc)
        return rc;
    return texts.at ? add_texts(d, to, &texts, err) : attn_dump_add_npy(d, name, len, m, called, err);
}

/* Reads "1,3" as the numbers of n heads, malloc'd; NULL: it is no such list, or there is no memory. */
static size_t *numbers(const char *text, size_t len, size_t n)
{
    size_t *list = n > 0 && n <= len ? calloc(n, sizeof *list) : NULL;
    const char *end = text + len;
    for (size_t i = 0; list && i < n; i++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        uint64_t x;
        if (!comma == (i + 1 < n) || !attn_num_parse_u64(text, (size_t)((comma ? comma : end) - text), &x)) {
            free(list);
            return NULL;
        }
        list[i] = (size_t)x;
        text = comma ? comma + 1 : end;
    }
    return list;
}

/* Takes what stands behind `mask` at the end of a comment, and cuts it off. */
static void note_mask(struct attn_dumped *a, const char *comment, size_t *len)
{
    const size_t begin = strlen(ATTN_NPZ_MASK);
    const char *at = *len ? memmem(comment, *len, ATTN_NPZ_MASK, begin) : NULL;
    size_t rest = at ? *len - (size_t)(at - comment) - begin : 0;
    if (!at || rest >= sizeof a->mask)
        return;
    memcpy(a->mask, at + begin, rest);
    *len = (size_t)(at - comment) - (at > comment);
}

/* The member's comment may say which heads its array has, and what hid keys. */
static void note_comment(struct attn_dumped *a, const struct attn_unzipped *m)
{
    const size_t begin = strlen(ATTN_NPZ_HEADS);
    size_t len = m->comment_len;
    note_mask(a, m->comment, &len);
    if (a->of.ndim != 3 || len < begin || memcmp(m->comment, ATTN_NPZ_HEADS, begin) != 0)
        return;
    a->heads = numbers(m->comment + begin, len - begin, a->of.shape[0]);
    a->n_heads = a->heads ? a->of.shape[0] : 0;
}

int attn_dump_add_wrong(struct attn_dump *d, const char *name, size_t len, const char *why, struct attn_err *err)
{
    struct attn_dumped what = {.wrong = strdup(why)};
    return what.wrong ? attn_dump_add(d, name, len, &what, err) : no_memory(d, d->n + 1, err);
}

int attn_dump_add_npz(struct attn_dump *d, const struct attn_map *m, const char *path, struct attn_err *err)
{
    struct attn_unzip z;
    struct attn_unzipped member;
    int rc = attn_unzip_start(&z, m->data, m->len, path, err);
    while (!rc && !(rc = attn_unzip_next(&z, &member, err)) && member.name) {
        char called[256];
        size_t n = attn_dump_stem(member.name, member.name_len, ".npy"), arrays = d->n;
        snprintf(called, sizeof called,
                 "%s: %.*s", path, (int)(member.name_len < 128 ? member.name_len : 128), member.name);
        struct attn_map inside = {.data = member.data, .len = member.size};
        struct attn_err why = {0};
        rc = n ? read_member(d, member.name, n, &inside, called, &why)
               : attn_fail(&why, ATTN_EFORMAT, "%s: expected arrays in an .npz archive, as in NAME.npy", called);
        if (rc == ATTN_EFORMAT && d->some)
            rc = attn_dump_add_wrong(d, member.name, n ? n : member.name_len, why.msg, err);
        else if (rc)
            attn_fail(err, why.code, "%s", why.msg);
        if (!rc && d->n > arrays)
            note_comment(&d->item[arrays], &member);
    }
    return rc;
}

int attn_dump_add_csv(struct attn_dump *d, const char *file, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    const char *text = (const char *)m->data;
    struct attn_dumped what = {0};
    int rc = attn_dump_read_csv(&what.of, text, m->len, path, err);
    if (!rc && !d->n)
        rc = attn_dump_read_labels(d, text, m->len, err);
    if (rc)
        attn_array_free(&what.of);
    return rc ? rc : attn_dump_add(d, file, len, &what, err);
}

/* Reads a table: either the long format or one matrix. */
static int read_table(struct attn_dump *d, const char *file, size_t len, const struct attn_map *m, const char *path,
                      struct attn_err *err)
{
    if (attn_dump_is_tidy((const char *)m->data, m->len))
        return attn_dump_read_tidy(d, (const char *)m->data, m->len, path, err);
    int rc = attn_dump_add_csv(d, file, len, m, path, err);
    return rc ? rc : attn_dump_join_heads(d, err);
}

/* Where it does not even begin like a document, an error in its first column would tell nobody what is expected. */
static bool looks_like_json(const struct attn_map *m)
{
    const unsigned char *s = m->data;
    size_t at = 0;
    while (at < m->len && s[at] && strchr(" \t\r\n", s[at]))
        at++;
    return at < m->len && s[at] == '{';
}

/* Whether its first line is a whole document and another follows, as in what batch writes. */
static bool looks_like_records(const struct attn_map *m)
{
    const unsigned char *s = m->data, *end = memchr(s, '\n', m->len);
    return end && end > s && end[-1] == '}' && end + 1 < s + m->len && end[1] == '{';
}

static int refuse_text(const struct attn_map *m, const char *path, struct attn_err *err)
{
    int rc = attn_dump_refuse_answers((const char *)m->data, m->len, path, err);
    return rc ? rc : attn_fail(err, ATTN_EFORMAT,
                               "%s: no dump: it is neither .npy nor .npz nor .safetensors, no table (.csv, "
                               ".tidy) and no JSON document of run", path);
}

static int read_file(struct attn_dump *d, const char *path, struct attn_err *err)
{
    struct attn_map m = {0};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t len = strlen(file), n = attn_dump_stem(file, len, ".npy"), table = attn_dump_stem(file, len, ".csv");
    int rc = attn_map_open(&m, path, ATTN_DUMP_LARGEST, err);
    if (rc)
        return rc;
    d->single = m.len > 6 && !memcmp(m.data, "\x93NUMPY", 6);
    if (d->single)
        rc = attn_dump_add_npy(d, file, n ? n : len, &m, path, err);
    else if (m.len > 4 && !memcmp(m.data, "PK", 2))
        rc = attn_dump_add_npz(d, &m, path, err);
    else if (attn_dump_stem(file, len, ".npy") || attn_dump_stem(file, len, ".npz"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: neither an .npy file nor a zip archive, whatever it is called", path);
    else if (attn_ends_with(file, ".safetensors"))
        rc = attn_dump_read_tensors(d, &m, path, err);
    else if (table || attn_dump_is_tidy((const char *)m.data, m.len))
        rc = read_table(d, file, table, &m, path, err);
    else if (!looks_like_json(&m))
        rc = refuse_text(&m, path, err);
    else if (looks_like_records(&m))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: a document in each line, as batch writes them, expected one: take the "
                                          "first, as in sed -n 1p %s >one.json", path, path);
    else
        rc = attn_dump_read_document(d, (const char *)m.data, m.len, path, err);
    attn_map_close(&m);
    return rc;
}

/* ---- any path -------------------------------------------------------------------------- */

/* The directory of a path that ends in manifest.json, malloc'd.  NULL for other paths, or without memory (then the
 * file is read as a document, and refused). */
static char *manifest_directory(const char *path)
{
    static const char leaf[] = "manifest.json";
    size_t len = strlen(path), n = len < sizeof leaf - 1 ? 0 : len - (sizeof leaf - 1);
    bool manifest = len >= sizeof leaf - 1 && !strcmp(path + n, leaf) && (n == 0 || path[n - 1] == '/');
    return !manifest ? NULL : n ? strndup(path, n) : strdup(".");
}

static int open_dump(struct attn_dump **out, const char *path, bool some, struct attn_err *err)
{
    struct stat st;
    *out = NULL;
    struct attn_dump *d = calloc(1, sizeof *d);
    if (!d)
        return attn_no_memory(err, path, "for a dump");
    d->path = path;
    d->some = some;
    char *around = manifest_directory(path);
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int rc = around || directory ? attn_dump_read_directory(d, around ? around : path, err) : read_file(d, path, err);
    d->path = NULL;
    free(around);
    if (rc)
        attn_dump_free(d);
    else
        *out = d;
    return rc;
}

int attn_dump_open(struct attn_dump **out, const char *path, struct attn_err *err)
{
    return open_dump(out, path, false, err);
}

int attn_dump_open_some(struct attn_dump **out, const char *path, struct attn_err *err)
{
    return open_dump(out, path, true, err);
}
