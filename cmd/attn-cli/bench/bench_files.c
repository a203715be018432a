/* bench_files.c - writes every pattern of a text to files: one run is recorded, then its bands are sent to the writers again
 * and again. */
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const size_t MOST = (size_t)64 << 20;            /* numbers to record, at most */
enum { TEXT_BYTES = 16 };                               /* of a number as text, with its comma, at most */

struct tape {
    const struct stage *stage;
    const struct bench *bench;
    struct attn_tokens *tokens;
    struct attn_select *select;
    float *data;                        /* [used of room] */
    size_t used, room;
    struct attn_probe *probe;           /* [probes], pointing into data */
    size_t probes, probe_room;
    char out[512];                      /* the directory to write to */
};

static size_t numbers(const struct attn_info *n, size_t T)
{
    return n->L * n->H * T * T;
}

/* The longest text, of at most T tokens, whose patterns fit into the model's context, into memory and on the disk. */
static size_t tokens(const struct bench *b, size_t T)
{
    struct statvfs disk;
    double space = statvfs(b->dir, &disk) ? 0 : (double)disk.f_bavail * (double)disk.f_frsize;
    T = T < b->info.n_ctx ? T : b->info.n_ctx;
    while (T > 1 && (numbers(&b->info, T) > MOST || (double)numbers(&b->info, T) * TEXT_BYTES > space / 2))
        T /= 2;
    return T;
}

static const char *files_lacks(const struct stage *s, const struct bench *b)
{
    (void)s;
    return tokens(b, 2) < 2 ? "there is no room for files" : NULL;
}

/* ---- recording ---- */

static unsigned wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH : 0;
}

static int note_probe(struct tape *t, const struct attn_probe *p, struct attn_err *err)
{
    if (t->probes == t->probe_room) {
        size_t room = 2 * t->probe_room + 64;
        struct attn_probe *more = realloc(t->probe, room * sizeof *more);
        if (!more)
            return fail(err, ATTN_ENOMEM, "no memory to record %zu bands", room);
        t->probe = more;
        t->probe_room = room;
    }
    struct attn_probe *mine = &t->probe[t->probes++];
    *mine = *p;
    mine->data = t->data + t->used;
    mine->ld = p->cols;
    mine->ld_head = p->rows * p->cols;
    return ATTN_OK;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct tape *t = self;
    if (p->heads * p->rows * p->cols > t->room - t->used)
        return fail(err, ATTN_EFORMAT, "%s has more numbers than its shape", p->name);
    if (note_probe(t, p, err))
        return err->code;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t i = 0; i < p->rows; i++, t->used += p->cols)
            memcpy(t->data + t->used, p->data + h * p->ld_head + i * p->ld, p->cols * sizeof *t->data);
    return ATTN_OK;
}

/* The names in the recorded probes outlive the run: they belong to the model. */
static int record(struct tape *t, const int32_t *ids, size_t T, struct attn_err *err)
{
    const struct attn_observer recorder = {.wants = wants, .watch = watch, .self = t};
    const struct attn_plan plan = {.rows = T, .seqs = 1, .threads = t->bench->threads};
    const struct attn_seq seq = {.T = T};
    struct attn_run *run = NULL;
    int code = attn_tokens_from_ids(&t->tokens, ids, T, err);
    if (!code)
        code = attn_run_new(&run, t->bench->model, &plan, &recorder, 1, err);
    if (!code)
        code = attn_run_forward(run, ids, &seq, 1, err);
    attn_run_free(run);
    return code;
}

/* ---- writing ---- */

static int play(const struct tape *t, struct attn_sink *sink, struct attn_err *err)
{
    struct attn_observer writer = attn_sink_observer(sink);
    for (size_t layer = 0; layer < t->bench->info.L; layer++)
        writer.wants(writer.self, ATTN_ACT_PATTERN, (int)layer);
    for (size_t i = 0; i < t->probes; i++)
        if (writer.watch(writer.self, &t->probe[i], err))
            return err->code;
    return attn_sink_finish(sink, err);
}

/* Removes the files of a directory, then the directory; returns the bytes the files had. */
static double clear(const char *path)
{
    DIR *dir = opendir(path);
    struct stat st;
    double bytes = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
            bytes += (double)st.st_size;
            unlinkat(dirfd(dir), e->d_name, 0);
        }
    if (dir)
        closedir(dir);
    rmdir(path);
    return bytes;
}

static int tape_once(void *self, struct sample *out, struct attn_err *err)
{
    struct tape *t = self;
    struct attn_sink_opts o = {
        .format = t->stage->what, .path = t->out, .model = t->bench->model, .select = t->select, .tokens = t->tokens,
        .command = "bench", .threads = t->bench->threads};
    struct attn_sink *sink = NULL;
    double start = clock_now();
    int code = attn_sink_open(&sink, &o, err);
    if (!code)
        code = play(t, sink, err);
    attn_sink_close(sink);
    out->seconds = clock_now() - start;
    out->value = clear(t->out) / out->seconds / t->stage->scale;
    return code;
}

static void tape_end(void *self)
{
    struct tape *t = self;
    attn_select_free(t->select);
    attn_tokens_free(t->tokens);
    free(t->probe);
    free(t->data);
    free(t);
}

static int files_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct tape *t = bench_work(w, sizeof *t, tape_once, tape_end, err);
    size_t T = tokens(b, s->n);
    if (!t)
        return err->code;
    t->stage = s;
    t->bench = b;
    t->room = numbers(&b->info, T);
    snprintf(t->out, sizeof t->out, "%s/out", b->dir);
    if (!(t->data = malloc(t->room * sizeof *t->data)))
        return fail(err, ATTN_ENOMEM, "no memory to record the patterns of %zu tokens", T);
    if (attn_select_new(&t->select, b->model, NULL, "pattern", NULL, NULL, err))
        return err->code;
    int32_t *ids = bench_ids(&b->info, T, err);
    int code = ids ? record(t, ids, T, err) : (int)err->code;
    free(ids);
    return code;
}

const struct stage_kind files_kind = {files_lacks, files_start};
