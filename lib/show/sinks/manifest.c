#include "sinks/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/sha256.h"

static const char manifest[] = "manifest.json", part[] = "manifest.json.part";
static const char tool[] = ATTN_LISTED_TOOL, opening[] = ATTN_LISTED_TOOL "\"unfinished\":[\n";

/* ---- reading: only what was written here, line by line: a name of our own characters, a SHA-256, a size ---- */

/* Both strings lie in the text, without NUL. */
struct listed { const char *name, *sha256; size_t len; uint64_t bytes; };

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
static bool read_end(struct listed *f, const char *start, const char *end)
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
static bool read_line(const char **at, const char *end, struct listed *f)
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

/* Reads the next file; false at the end of the list. */
static bool next_file(const char **at, const char *end, struct listed *f)
{
    const char *eol = *at;
    if (!read_line(&eol, end, f) || begins(eol, end, ATTN_LISTED_END) == (eol[-1] == ','))
        return false;
    *at = eol;
    return true;
}

/* Finds the next file in a text that may have been cut short and continued; false: there is none. */
static bool find_file(const char **at, const char *end, struct listed *f)
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

/* Where the list begins, if the text is a manifest of ours from its first to its last byte; else NULL. */
static const char *list_in(const struct attn_map *of)
{
    const char *text = of->len ? (const char *)of->data : "", *end = text + of->len;
    struct listed f;
    if (!begins(text, end, ATTN_LISTED_TOOL))
        return NULL;
    const char *list = memmem(text, of->len, ATTN_LISTED_FILES, strlen(ATTN_LISTED_FILES));
    if (!list)
        return NULL;
    list += strlen(ATTN_LISTED_FILES);
    const char *at = list;
    while (next_file(&at, end, &f))
        continue;
    return (size_t)(end - at) == strlen(ATTN_LISTED_END) && begins(at, end, ATTN_LISTED_END) ? list : NULL;
}

/* Maps DIR/FILE, which may be no link: what it lists is removed or copied.  After a failure the map is empty. */
static int open_listed(struct attn_map *out, const char *dir, const char *file, struct attn_err *err)
{
    char *path;
    *out = (struct attn_map){0};
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_no_memory(err, dir, "for the name of a file");
    int rc = attn_map_open_found(out, path, OLD_MAX, ATTN_LINKS_REFUSED, err);
    free(path);
    return rc;
}

/* Returns a malloc'd path. */
static char *path_of(const char *dir, const struct listed *f)
{
    char *path;
    return attn_asprintf(&path, "%s/%.*s", dir, (int)f->len, f->name) < 0 ? NULL : path;
}

static int hand_out(const struct listed *f, const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    char *name = strndup(f->name, f->len);
    struct attn_manifest_file file = {.file = name, .bytes = f->bytes};
    memcpy(file.sha256, f->sha256, HEX);
    int rc = name ? with(self, &file, err) : attn_no_memory(err, dir, "for the name of a file");
    free(name);
    return rc;
}

int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err)
{
    struct attn_map made;
    struct listed f;
    int rc = open_listed(&made, dir, manifest, err);
    const char *at = list_in(&made), *end = (const char *)made.data + made.len;
    if (!rc && !at)
        rc = attn_fail(err, ATTN_EFORMAT, "%s/%s: is not as it was written", dir, manifest);
    while (!rc && at && next_file(&at, end, &f))
        rc = hand_out(&f, dir, with, self, err);
    attn_map_close(&made);
    return rc;
}

struct attn_rewrite {
    const char *dir;
    char *manifest, *part;              /* their paths */
    int fd;                             /* the .part, to be appended to */
};

/* ---- removing -------------------------------------------------------------------------- */

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return compare(x->name, x->len, y->name, y->len);
}

static int by_file(const void *a, const void *b)
{
    return strcmp((*(struct attn_file *const *)a)->file, (*(struct attn_file *const *)b)->file);
}

/* Copies a list of files, sorted by name; NULL without memory. */
static struct attn_file **sorted(struct attn_file *const *files, size_t n)
{
    struct attn_file **copy = malloc((n + 1) * sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = files[i];
    if (copy && n)
        qsort(copy, n, sizeof *copy, by_file);
    return copy;
}

static int no_memory(const char *dir, struct attn_err *err)
{
    return attn_no_memory(err, dir, "for the files that an older run wrote there");
}

/* Maps one of the two files; the map is empty if it is not there or is none of ours. */
static int open_list(struct attn_map *out, const char *dir, const char *file, const char *path, struct attn_err *err)
{
    struct stat st;
    *out = (struct attn_map){0};
    if (lstat(path, &st))
        return errno == ENOENT ? ATTN_OK : attn_fail_errno(err, path, "read");
    return S_ISREG(st.st_mode) ? open_listed(out, dir, file, err) : ATTN_OK;
}

/* Sets *is to whether a file is as it was written.  Its size is compared first: most others need not be read. */
static int as_written(bool *is, const char *path, const struct stat *st, const struct listed *f, struct attn_err *err)
{
    struct attn_map m;
    char hex[65];
    *is = S_ISREG(st->st_mode) && (uint64_t)st->st_size == f->bytes;
    if (!*is)
        return ATTN_OK;
    int rc = attn_map_open_found(&m, path, SIZE_MAX, ATTN_LINKS_REFUSED, err);
    if (rc)
        return rc;
    attn_sha256_of(hex, m.data, m.len);
    attn_map_close(&m);
    *is = !memcmp(hex, f->sha256, sizeof hex - 1);
    return ATTN_OK;
}

/* Removes the file of n listings, all of one name; *left becomes true if it is there and none describes it. */
static int remove_file(const char *dir, const struct listed *f, size_t n, bool changed_too, bool *left,
                       struct attn_err *err)
{
    struct stat st;
    bool as_listed = changed_too;
    char *path = path_of(dir, f);
    *left = false;
    if (!path)
        return no_memory(dir, err);
    bool there = lstat(path, &st) == 0;
    int rc = there || errno == ENOENT ? ATTN_OK : attn_fail_errno(err, path, "read");
    for (size_t i = 0; there && !as_listed && i < n && !rc; i++)
        rc = as_written(&as_listed, path, &st, &f[i], err);
    *left = there && (!as_listed || S_ISDIR(st.st_mode));
    if (!rc && there && !*left && unlink(path) && errno != ENOENT)
        rc = attn_fail_errno(err, path, "remove");
    free(path);
    return rc;
}

/* Lists all files that a text names, sorted by name; false without memory. */
static bool list_files(struct listed **list, size_t *n, const struct attn_map *text)
{
    const char *at = (const char *)text->data, *end = at + text->len;
    struct listed f;
    size_t room = 0;
    for (*list = NULL, *n = 0; text->len && find_file(&at, end, &f);) {
        struct listed *more = attn_grow(*list, &room, *n + 1, sizeof *more);
        if (!more)
            return false;
        *list = more;
        more[(*n)++] = f;
    }
    if (*n)
        qsort(*list, *n, sizeof **list, by_name);
    return true;
}

static bool is_reserved(const struct listed *f)
{
    return !compare(f->name, f->len, manifest, strlen(manifest)) || !compare(f->name, f->len, part, strlen(part));
}

/* Whether a file is among n sorted ones; those before *at come before it, too. */
static bool is_among(struct attn_file *const *files, size_t n, size_t *at, const struct listed *f)
{
    int order = 1;
    for (; files && *at < n; ++*at)
        if ((order = compare(files[*at]->file, strlen(files[*at]->file), f->name, f->len)) >= 0)
            break;
    return order == 0;
}

/* Removes the files that a text lists, except the n sorted ones of `kept`, and unseen those that `instead` has, too. */
static int remove_listed(const char *dir, const struct attn_map *text, struct attn_file *const *kept, size_t n,
                         const char *instead, char **changed, struct attn_err *err)
{
    struct listed *list;
    size_t listed, at = 0;
    int rc = list_files(&list, &listed, text) ? ATTN_OK : no_memory(dir, err);
    for (size_t i = 0, same; !rc && i < listed; i += same) {
        const struct listed *f = &list[i];
        bool left = false;
        for (same = 1; i + same < listed && !by_name(f, &list[i + same]); same++)
            ;
        if (is_reserved(f) || is_among(kept, n, &at, f))
            continue;
        char *name = strndup(f->name, f->len);
        rc = name ? remove_file(dir, f, same, instead && attn_folder_has(instead, name), &left, err) :
             no_memory(dir, err);
        if (!rc && left && changed && !*changed) {
            *changed = name;
            name = NULL;
        }
        free(name);
    }
    free(list);
    return rc;
}

static int remove_list(const char *dir, const char *file, bool whole, const char *instead, struct attn_err *err)
{
    struct attn_map old;
    char *path;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return no_memory(dir, err);
    int rc = open_list(&old, dir, file, path, err);
    bool lists = !rc && (whole ? list_in(&old) != NULL : old.len > 0);
    if (lists)
        rc = remove_listed(dir, &old, NULL, 0, instead, NULL, err);
    if (lists && !rc && unlink(path))
        rc = attn_fail_errno(err, path, "remove");
    attn_map_close(&old);
    free(path);
    return rc;
}

int attn_rewrite_remove(const char *dir, const char *instead, struct attn_err *err)
{
    int rc = remove_list(dir, manifest, true, instead, err);
    return rc ? rc : remove_list(dir, part, false, instead, err);
}

/* ---- from one manifest to the next ----------------------------------------------------- */

static int append(struct attn_rewrite *r, const char *text, size_t len, struct attn_err *err)
{
    while (len > 0) {
        ssize_t n = write(r->fd, text, len);
        if (n < 0 && errno != EINTR)
            return attn_fail_errno(err, r->part, "write");
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return ATTN_OK;
}

/* Opens the .part for appending; one that is there must have been left by a run. */
static int open_part(struct attn_rewrite *r, struct attn_err *err)
{
    struct stat st;
    char begins[sizeof tool - 1];
    r->fd = attn_disk_open(r->part, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (r->fd < 0 || fstat(r->fd, &st))
        return attn_fail_errno(err, r->part, "write");
    ssize_t n = S_ISREG(st.st_mode) ? pread(r->fd, begins, sizeof begins, 0) : -1;
    if (n < 0 || memcmp(begins, tool, (size_t)n) != 0)
        return attn_fail(err, ATTN_EIO,
                         "%s: is no file that a run left there: move it, or choose another directory", r->part);
    return n ? append(r, "\n", 1, err) : append(r, opening, strlen(opening), err);  /* a line may have been cut short */
}

/* Of what could not be begun nothing stays: the manifest is as it was. */
static void put_back(const struct attn_rewrite *r, size_t bytes)
{
    if (r->fd < 0 || !ftruncate(r->fd, (off_t)bytes))
        rename(r->part, r->manifest);
}

/* Makes the manifest the .part.  If a killed run left one while it removed files, the .part gets both lists. */
static int put_aside(struct attn_rewrite *r, struct attn_err *err)
{
    struct attn_map old;
    int rc = open_list(&old, r->dir, manifest, r->manifest, err);
    bool lists = list_in(&old) != NULL, there = attn_folder_has(r->dir, part), moved = false;
    if (!rc && lists && euidaccess(r->manifest, W_OK))
        rc = attn_fail_errno(err, r->manifest, "replace");      /* its owner protected it */
    if (!rc && lists && !there && !(moved = !rename(r->manifest, r->part)))
        rc = attn_fail_errno(err, r->manifest, "replace");
    if (!rc)
        rc = open_part(r, err);
    if (rc && moved)
        put_back(r, old.len);
    else if (rc && !there && r->fd >= 0)
        unlink(r->part);
    if (!rc && lists && there)
        rc = append(r, (const char *)old.data, old.len, err);
    if (!rc && lists && there && unlink(r->manifest))
        rc = attn_fail_errno(err, r->manifest, "replace");
    attn_map_close(&old);
    return rc;
}

int attn_rewrite_begin(struct attn_rewrite **out, const char *dir, struct attn_err *err)
{
    struct attn_rewrite *r = *out = calloc(1, sizeof *r);
    if (r) {
        *r = (struct attn_rewrite){.dir = dir, .fd = -1};
        if (attn_asprintf(&r->manifest, "%s/%s", dir, manifest) < 0)
            r->manifest = NULL;
        if (attn_asprintf(&r->part, "%s/%s", dir, part) < 0)
            r->part = NULL;
    }
    int rc = r && r->manifest && r->part ? put_aside(r, err) : attn_no_memory(err, dir, "for paths");
    if (rc) {
        attn_rewrite_close(r);
        *out = NULL;
    }
    return rc;
}

int attn_rewrite_add(struct attn_rewrite *r, struct attn_file *const *files, size_t n, struct attn_err *err)
{
    struct attn_out *o;
    char *text = NULL;
    size_t len = 0;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        attn_out_printf(o, ATTN_LISTED_FILE "%s\",\"sha256\":\"%s\",\"bytes\":%" PRIu64 "}\n", files[i]->file,
                        files[i]->sha256, files[i]->bytes);
    rc = attn_out_take(o, &text, &len, err);
    if (!rc)
        rc = append(r, text, len, err);
    free(text);
    attn_out_close(o);
    return rc;
}

int attn_rewrite_end(struct attn_rewrite *r, struct attn_file *const *files, size_t n, char **changed,
                     struct attn_err *err)
{
    struct attn_map old = {0};
    struct attn_file **kept = sorted(files, n);
    int rc = kept ? open_list(&old, r->dir, part, r->part, err) : no_memory(r->dir, err);
    if (!rc)
        rc = remove_listed(r->dir, &old, kept, n, NULL, changed, err);
    if (!rc && unlink(r->part))
        rc = attn_fail_errno(err, r->part, "remove");
    attn_map_close(&old);
    free(kept);
    return rc;
}

void attn_rewrite_withdraw(struct attn_rewrite *r)
{
    unlink(r->part);
}

void attn_rewrite_close(struct attn_rewrite *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    free(r->manifest);
    free(r->part);
    free(r);
}
