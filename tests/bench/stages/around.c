/* around.c - stages around the passes: writing files, encoding text, starting whole processes. */
#include "attn_tools.h"
#include "stages.h"

#include "base/clock.h"
#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- writing every pattern of a text to files ------------------------------------------------
 *
 * One run is recorded, then its patterns are sent to the writers again and again. */

static const size_t MOST = (size_t)64 << 20;            /* numbers to record, at most */
enum { TEXT_BYTES = 16 };                               /* of a number as text, with its comma, at most */

struct tape {
    const struct stage *stage;
    const struct bench *bench;
    struct attn_tokens *tokens;
    struct attn_select *select;
    float *data;                        /* [L, H, T, T] */
    struct attn_probe *probe;           /* [L], pointing into data */
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

static unsigned wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH | ATTN_WHOLE : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct tape *t = self;
    struct attn_probe *mine = &t->probe[p->layer];
    float *to = t->data + (size_t)p->layer * p->heads * p->rows * p->cols;
    (void)err;
    *mine = *p;
    mine->name = "";                    /* it lives as long as the call; the formats that are measured do not read it */
    mine->data = to;
    mine->ld = p->cols;
    mine->ld_head = p->rows * p->cols;
    attn_probe_copy(to, p);
    return ATTN_OK;
}

static int record(struct tape *t, const int32_t *ids, size_t T, struct attn_err *err)
{
    const struct attn_observer recorder = {.wants = wants, .watch = watch, .self = t};
    const struct attn_plan plan = {.rows = T, .seqs = 1, .threads = t->bench->threads};
    int code = attn_tokens_from_ids(&t->tokens, ids, T, err);
    return code ? code : attn_run_tokens(t->bench->model, &plan, t->tokens, NULL, &recorder, 1, err);
}

static int play(const struct tape *t, struct attn_sink *sink, struct attn_err *err)
{
    struct attn_observer writer = attn_sink_observer(sink);
    for (size_t layer = 0; layer < t->bench->info.L; layer++)
        writer.wants(writer.self, ATTN_ACT_PATTERN, (int)layer);
    for (size_t layer = 0; layer < t->bench->info.L; layer++)
        if (writer.watch(writer.self, &t->probe[layer], err))
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
    double start = attn_clock_now();
    int code = attn_sink_open(&sink, &o, err);
    if (!code)
        code = play(t, sink, err);
    attn_sink_close(sink);
    out->seconds = attn_clock_now() - start;
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
    snprintf(t->out, sizeof t->out, "%s/out", b->dir);
    t->data = malloc(numbers(&b->info, T) * sizeof *t->data);
    t->probe = calloc(b->info.L, sizeof *t->probe);
    if (!t->data || !t->probe)
        return attn_no_memory(err, NULL, "to record the patterns of %zu tokens", T);
    if (attn_select_new(&t->select, b->model, NULL, "pattern", NULL, NULL, err))
        return err->code;
    int32_t *ids = bench_ids(&b->info, T, err);
    int code = ids ? record(t, ids, T, err) : (int)err->code;
    free(ids);
    return code;
}

const struct stage_kind files_kind = {files_lacks, files_start};

/* ---- encoding text made of words of the vocabulary --------------------------------------- */

enum { TEXT = 1 << 20, TRIES = 1 << 22 };               /* bytes of text; random ids tried to fill it */

struct text { const struct stage *stage; const struct attn_tokenizer *tokenizer; char *text; size_t len; };

/* Letters of the token if it is a whole word, else 0.  Byte-level BPE keeps the space before a word in its token. */
static size_t word_length(const struct attn_tokenizer *t, const char **word, int32_t id)
{
    size_t len, letters = 0;
    const char *s = attn_tokenizer_text(t, id, &len);
    bool space = s && len && s[0] == ' ';
    if (!s || len == 0 || len > 64 || (!strcmp(attn_tokenizer_kind(t), "bpe") && !space))
        return 0;
    *word = s + space;
    while (letters < len - space && ((*word)[letters] | 0x20) >= 'a' && ((*word)[letters] | 0x20) <= 'z')
        letters++;
    return letters == len - space ? letters : 0;
}

static const char *tokenize_lacks(const struct stage *s, const struct bench *b)
{
    const char *word;
    (void)s;
    for (size_t i = 0; b->tokenizer && i < attn_tokenizer_size(b->tokenizer); i++)
        if (word_length(b->tokenizer, &word, (int32_t)i))
            return NULL;
    return b->tokenizer ? "the vocabulary has no words to make a text of" : "there is no tokenizer";
}

static int tokenize_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct text *t = self;
    struct attn_tokens *tokens;
    double start = attn_clock_now();
    int code = attn_encode(&tokens, t->tokenizer, t->text, t->len, err);
    out->seconds = attn_clock_now() - start;
    out->value = (double)t->len / out->seconds / t->stage->scale;
    if (!code)
        attn_tokens_free(tokens);
    return code;
}

static void tokenize_end(void *self)
{
    struct text *t = self;
    free(t->text);
    free(t);
}

/* Words of the vocabulary with spaces between them, in a pseudorandom order that is the same every time. */
static void fill(struct text *t)
{
    size_t size = attn_tokenizer_size(t->tokenizer);
    uint64_t state = 1;
    const char *word;
    for (size_t i = 0; i < TRIES && t->len < TEXT - 80; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t len = word_length(t->tokenizer, &word, (int32_t)((state >> 33) % size));
        if (!len)
            continue;
        if (t->len)
            t->text[t->len++] = ' ';
        memcpy(t->text + t->len, word, len);
        t->len += len;
    }
}

static int tokenize_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct text *t = bench_work(w, sizeof *t, tokenize_once, tokenize_end, err);
    if (!t)
        return err->code;
    if (!(t->text = malloc(TEXT)))
        return attn_no_memory(err, NULL, "for %d bytes of text", TEXT);
    t->stage = s;
    w->blocks.bytes = TEXT;
    t->tokenizer = b->tokenizer;
    fill(t);
    return ATTN_OK;
}

const struct stage_kind tokenize_kind = {tokenize_lacks, tokenize_start};

/* ---- whole processes, from start to exit ------------------------------------------------- */

extern char **environ;

enum { WORDS = 10 };
struct program { const char *argv[WORDS]; char threads[12]; };

static int wait_for(pid_t pid, const char *name, struct attn_err *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return attn_fail_errno(err, name, "wait for");
    return WIFEXITED(status) && !WEXITSTATUS(status) ? ATTN_OK : attn_fail(err, ATTN_EIO,
                                                                           "%s: failed when it was run", name);
}

static int program_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct program *p = self;
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    double start = attn_clock_now();
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawnp(&pid, p->argv[0], &quiet, NULL, (char *const *)p->argv, environ);
    int code = errno ? attn_fail_errno(err, p->argv[0], "start") : wait_for(pid, p->argv[0], err);
    posix_spawn_file_actions_destroy(&quiet);
    out->seconds = attn_clock_now() - start;
    out->value = 1e3 * out->seconds;
    return code;
}

static int new_program(struct work *w, const char *path, int threads, struct attn_err *err)
{
    struct program *p = bench_work(w, sizeof *p, program_once, free, err);
    if (!p)
        return err->code;
    snprintf(p->threads, sizeof p->threads, "%d", threads);
    p->argv[0] = path;
    return ATTN_OK;
}

static const char *program_lacks(const struct stage *s, const struct bench *b)
{
    return !strcmp(s->what, "model") && b->info.n_ctx < s->n ? "the model takes fewer tokens (n_ctx)" : NULL;
}

static int program_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    static const char *const version[] = {"--version", NULL};
    static const char *const sentence[] = {"run", "-m", "life", "-s", "Life is short, eat dessert first", "-t1", NULL};
    const char *const model[] = {"run", "-m", b->name, "--ids", "0,0,0,0,0,0", "-t", NULL};
    const char *const *words = !strcmp(s->what, "model") ? model : !strcmp(s->what, "sentence") ? sentence : version;
    if (new_program(w, b->program, b->threads, err))
        return err->code;
    struct program *p = w->self;
    size_t n = 1;
    for (; *words; words++)
        p->argv[n++] = *words;
    if (!strcmp(s->what, "model"))
        p->argv[n] = p->threads;
    return ATTN_OK;
}

const struct stage_kind program_kind = {program_lacks, program_start};

static const char EMPTY[] = "/bin/true";

int bench_empty_process(struct work *w, struct attn_err *err)
{
    *w = (struct work){0};
    return access(EMPTY, X_OK) ? ATTN_OK : new_program(w, EMPTY, 1, err);
}
