/* dump_directory.c - reads the arrays of a directory.
 *
 * A manifest of attn-cli says which files belong together: others are not read, and a warning tells of them, as of
 * files that are listed and missing.  Without such a manifest all .npy files are read, or, if there are none, all .csv
 * files, or else the only .npz archive: a batch writes a directory with one for each record. A manifest.json.part in
 * place of the manifest is a run's that has not finished: what is there may be of two runs. */
#include "io/dump.h"
#include "attn_tools.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "base/utf8.h"

static const char manifest[] = "manifest.json";

struct directory {
    struct attn_dump *d;
    const char *path;
    struct dirent **list; int n;
    struct attn_dump_listing listing;
    size_t strange;                     /* files that the manifest does not list */
    const char *first_strange;
};

/* ---- one file -------------------------------------------------------------------------- */

/* Maps a file of the directory and gives it to `take`. */
static int open_entry(struct directory *in, const char *file, struct attn_err *err,
                      int (*take)(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                      struct attn_err *err))
{
    char *path;
    if (attn_asprintf(&path, "%s/%s", in->path, file) < 0)
        return attn_no_memory(err, in->path, "for the path of %s", file);
    struct attn_map m = {0};
    /* as git-annex and DVC keep arrays */
    int rc = attn_map_open_found(&m, path, ATTN_DUMP_LARGEST, ATTN_LINKS_FOLLOWED, err);
    if (!rc)
        rc = take(in, file, &m, path, err);
    attn_map_close(&m);
    free(path);
    return rc;
}

static int take_npy(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                    struct attn_err *err)
{
    return attn_dump_add_npy(in->d, file, attn_dump_stem(file, strlen(file), ".npy"), m, path, err);
}

static int take_csv(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                    struct attn_err *err)
{
    return attn_dump_add_csv(in->d, file, attn_dump_stem(file, strlen(file), ".csv"), m, path, err);
}

static int take_npz(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                    struct attn_err *err)
{
    (void)file;
    return attn_dump_add_npz(in->d, m, path, err);
}

static int take_listing(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                        struct attn_err *err)
{
    (void)file;
    return attn_dump_read_listing(&in->listing, (const char *)m->data, m->len, path, err);
}

static int take_manifest(struct directory *in, const char *file, const struct attn_map *m, const char *path,
                         struct attn_err *err)
{
    (void)file;
    return attn_dump_read_manifest(in->d, (const char *)m->data, m->len, path, err);
}

/* ---- which files ----------------------------------------------------------------------- */

static bool is_token_table(const char *file)
{
    return !strcmp(file, "tokens.csv") || !strcmp(file, "context_tokens.csv");
}

/* Whether a file ends like an array; hidden files and tables of tokens are none. */
static bool is_array(const char *file, const char *ending)
{
    return file[0] != '.' && attn_dump_stem(file, strlen(file), ending) && !is_token_table(file);
}

static bool is_listed(const struct directory *in, const char *file)
{
    const struct attn_dump_listing *l = &in->listing;
    return !l->native || attn_strings_find(&l->files, file, strlen(file)) != ATTN_STRINGS_NONE ||
           (!l->of_run && !strcmp(file, "steps.npy"));
}

static int read_files(struct directory *in, const char *ending, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (int i = 0; i < in->n && !rc; i++) {
        const char *file = in->list[i]->d_name;
        if (!is_array(file, ending))
            continue;
        if (is_listed(in, file))
            rc = open_entry(in, file, err, strcmp(ending, ".npy") ? take_csv : take_npy);
        else if (!in->strange++)
            in->first_strange = file;
    }
    return rc;
}

static bool is_there(const struct directory *in, const char *file)
{
    bool there = false;
    for (int i = 0; i < in->n && !there; i++)
        there = !strcmp(in->list[i]->d_name, file);
    return there;
}

/* Reads which files belong to the dump. */
static int read_listing(struct directory *in, struct attn_err *err)
{
    int rc = is_there(in, manifest) ? open_entry(in, manifest, err, take_listing) : ATTN_OK;
    if (!rc && !in->listing.native && is_there(in, "manifest.json.part"))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: a run that writes to it has not finished, and its files may be of two "
                                          "runs: run it again, or remove manifest.json.part there to read them all the "
                                          "same", in->path);
    return rc;
}

/* ---- what is to be said ---------------------------------------------------------------- */

static void warn(struct directory *in, const char *what, size_t n, const char *file)
{
    char *before = in->d->warning, *name = attn_utf8_readable(file, strlen(file));
    if (!name || attn_asprintf(&in->d->warning,
                               "%s%s%s: %zu file%s %s, such as %s", before ? before : "", before ? "; " : "",
                          in->path, n, n == 1 ? "" : "s", what, name) < 0)
        in->d->warning = before;
    else
        free(before);
    free(name);
}

/* Tells of the arrays that the manifest lists and the directory lacks. */
static int warn_of_missing(struct directory *in, struct attn_err *err)
{
    const struct attn_strings *listed = &in->listing.files;
    size_t missing = 0, at;
    const char *first = NULL;
    bool *there = calloc(listed->n + 1, sizeof *there);
    if (!there)
        return attn_no_memory(err, in->path, "for the files that its manifest lists");
    for (int i = 0; i < in->n; i++)
        if ((at = attn_strings_find(listed, in->list[i]->d_name, strlen(in->list[i]->d_name))) != ATTN_STRINGS_NONE)
            there[at] = true;
    for (size_t i = 0; i < listed->n; i++) {
        const char *file = attn_strings_at(listed, i, NULL);
        if (!there[i] && (is_array(file, ".npy") || is_array(file, ".csv")) && !missing++)
            first = file;
    }
    free(there);
    if (missing)
        warn(in, missing == 1 ? "that its manifest lists is missing" :
             "that its manifest lists are missing", missing, first);
    return ATTN_OK;
}

static int warn_of_all(struct directory *in, struct attn_err *err)
{
    if (in->strange)
        warn(in, in->strange == 1 ? "not in its manifest was not read" :
             "not in its manifest were not read", in->strange, in->first_strange);
    return in->listing.native ? warn_of_missing(in, err) : ATTN_OK;
}

/* ---- a history ------------------------------------------------------------------------- */

static bool are_counts(const struct attn_array *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (!(a->data[i] >= 0 && a->data[i] < 0x1p53f))
            return false;
    return true;
}

/* The number of times that all arrays have; 0: there is no history.  Those of a training that was interrupted while it
 * wrote them may differ in age, but begin alike. */
static size_t count_times(const struct directory *in, const struct attn_dumped *steps)
{
    size_t n = steps && steps->of.ndim == 1 && in->d->n > 1 && are_counts(&steps->of) ? steps->of.n : 0;
    bool training = in->listing.native && !in->listing.of_run;
    for (size_t i = 0; i < in->d->n && n; i++) {
        const struct attn_dumped *item = &in->d->item[i];
        size_t times = item->of.ndim > 2 ? item->of.shape[0] : 0;
        if (item != steps && times != n)
            n = training ? smaller(n, times) : 0;
    }
    return n;
}

/* Takes steps.npy out of the list, if it is there and fits the first axis of every other array. */
static int take_steps(struct directory *in, struct attn_err *err)
{
    struct attn_dump *d = in->d;
    struct attn_dumped *steps = (struct attn_dumped *)attn_dump_item(d, "steps");
    size_t n = count_times(in, steps);
    if (!n)
        return ATTN_OK;
    d->steps = steps->of.data;
    d->n_steps = n;
    steps->of.data = NULL;
    attn_dump_drop(steps);
    *steps = d->item[--d->n];
    for (size_t i = 0; i < d->n; i++) {
        struct attn_array *of = &d->item[i].of;
        of->n = of->n / of->shape[0] * n;
        of->shape[0] = n;
    }
    return attn_dump_index(d, err);
}

/* Whether the directory belongs to a training, which is no dump itself but may contain one. */
static bool holds_history(const char *dir)
{
    char *path = NULL;
    bool there = attn_asprintf(&path, "%s/watch/%s", dir, manifest) >= 0 && access(path, R_OK) == 0;
    free(path);
    return there;
}

/* ---- all of it ------------------------------------------------------------------------- */

static int read_archive(struct directory *in, struct attn_err *err)
{
    const char *archive = NULL;
    size_t n = 0;
    for (int i = 0; i < in->n; i++)
        if (is_array(in->list[i]->d_name, ".npz") && !n++)
            archive = in->list[i]->d_name;
    if (n > 1)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: has %zu archives: name one of them, as %s/%s", in->path, n, in->path, archive);
    return n ? open_entry(in, archive, err, take_npz) : ATTN_OK;
}

static int read_arrays(struct directory *in, struct attn_err *err)
{
    int rc = read_files(in, ".npy", err);
    if (!rc && !in->d->n && holds_history(in->path))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: no .npy file in it, but a history of patterns: plot %s/watch", in->path, in->path);
    if (!rc && !in->d->n) {
        rc = read_files(in, ".csv", err);
        if (!rc)
            rc = attn_dump_join_heads(in->d, err);
    }
    if (!rc && !in->d->n && !in->listing.native)
        rc = read_archive(in, err);
    return rc ? rc : take_steps(in, err);
}

static int check_found(const struct directory *in, struct attn_err *err)
{
    if (in->d->n)
        return ATTN_OK;
    if (is_there(in, "records.ndjson"))
        return attn_fail(err, ATTN_EFORMAT, "%s: holds a batch, a directory a record: name one of them, as %s/000000",
                         in->path, in->path);
    return attn_fail(err, ATTN_EFORMAT, "%s: no .npy and no .csv file in it%s: expected a dump, as run --format npy -o "
                                        "DIR writes it", in->path, in->strange ? " that its manifest lists" : "");
}

int attn_dump_read_directory(struct attn_dump *d, const char *path, struct attn_err *err)
{
    struct directory in = {.d = d, .path = path};
    in.n = scandir(path, &in.list, NULL, alphasort);
    if (in.n < 0)
        return attn_fail_errno(err, path, "list the directory");
    int rc = read_listing(&in, err);
    if (!rc)
        rc = read_arrays(&in, err);
    bool lists = in.listing.native || in.listing.lists;         /* another program's may be about something else */
    if (!rc && lists && is_there(&in, manifest))
        rc = open_entry(&in, manifest, err, take_manifest);
    if (!rc)
        rc = check_found(&in, err);
    if (!rc)
        rc = warn_of_all(&in, err);
    attn_strings_free(&in.listing.files);
    for (int i = 0; i < in.n; i++)
        free(in.list[i]);
    free(in.list);
    return rc;
}
