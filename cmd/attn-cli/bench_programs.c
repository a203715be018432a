/* bench_programs.c - whole processes, from fork to exit, and text to tokens. */
#include "bench.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- processes ---- */

enum { WORDS = 10 };
struct program { const char *argv[WORDS]; char threads[12]; };

static int wait_for(pid_t pid, const char *name, struct attn_err *err)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return fail_errno(err, name, "wait for");
    return WIFEXITED(status) && !WEXITSTATUS(status) ? ATTN_OK : fail(err, ATTN_EIO, "%s: failed when it was run", name);
}

static int program_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct program *p = self;
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    double start = bench_now();
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawn(&pid, p->argv[0], &quiet, NULL, (char *const *)p->argv, environ);
    int code = errno ? fail_errno(err, p->argv[0], "start") : wait_for(pid, p->argv[0], err);
    posix_spawn_file_actions_destroy(&quiet);
    out->seconds = bench_now() - start;
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

int empty_process_start(struct work *w, struct attn_err *err)
{
    *w = (struct work){0};
    return access(EMPTY, X_OK) ? ATTN_OK : new_program(w, EMPTY, 1, err);
}

/* ---- text to tokens ---- */

enum { TEXT = 1 << 20, TRIES = 1 << 22 };               /* bytes of text; random ids to make it of */

struct text { const struct stage *stage; const struct attn_tokenizer *tokenizer; char *text; size_t len; };

/* A word as it stands in a text: letters, which byte-level BPE keeps with the space before them. */
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
    double start = bench_now();
    int code = attn_encode(&tokens, t->tokenizer, t->text, t->len, err);
    out->seconds = bench_now() - start;
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

/* Words of the vocabulary, a space between, in a random order that is the same each time. */
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
        return fail(err, ATTN_ENOMEM, "no memory for %d bytes of text", TEXT);
    t->stage = s;
    t->tokenizer = b->tokenizer;
    fill(t);
    return ATTN_OK;
}

const struct stage_kind tokenize_kind = {tokenize_lacks, tokenize_start};
