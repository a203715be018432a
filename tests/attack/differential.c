/* differential.c - computes the same things in different ways and compares them, bit for bit where the
 * contract says so.
 *
 * Each case is a small random model of any family, random ids and a random kind of attention.  All activations of one
 * thread are the reference.  It is a finding when they differ
 *   - with 2, 3 or 5 threads; when only one name, or only the logits, are watched; in a pass with other sentences;
 *   - when the sentence is computed in pieces with a cache; in what attn_score says of it;
 *   - in another process with ATTN_SIMD=avx2 or LIBXSMM_TARGET=generic, whose bits must be the same, or with
 *     ATTN_SIMD=generic, which has other roundings and may differ by TOLERANCE of the largest number of the array;
 * or when the bytes of files differ: of every format with another number of threads; of a batch from a run of each
 * sentence alone; of merged shards from the whole.
 *
 * differential [SEED [SECONDS]]; differential numbers SEED writes the numbers of all cases for the
 * process that compares. */
#include "base/splitmix.h"
#include "attn_tools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 40, V_MOST = 40, CONFIG = 1024, RECORDS = 5 };

/* ATTN_SIMD=generic rounds products and sums once more, errors that a few layers multiply. */
static const double TOLERANCE = 2e-3;

static struct { uint64_t cases, compared, findings; } count;
static uint64_t seed, random_state;
static char dir[64], described[256];

static size_t draw(size_t below)
{
    return (size_t)(attn_splitmix_next(&random_state) % below);
}

static const char *in_dir(const char *leaf)
{
    static char path[8][256];
    static unsigned next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof *path, "%s/%s", dir, leaf);
    return p;
}

__attribute__((format(printf, 2, 3))) static void compare(bool same, const char *fmt, ...)
{
    va_list ap;
    count.compared++;
    if (same)
        return;
    count.findings++;
    printf("FINDING SEED=%" PRIu64 " (%s): ", seed, described);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

static void must(int rc, const struct attn_err *err, const char *what)
{
    if (!rc)
        return;
    printf("SEED=%" PRIu64 " (%s): %s: %s\n", seed, described, what, err->msg);
    exit(2);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    return at->level == 0 ? 0 : type == FTW_DP ? rmdir(path) : unlink(path);
}

static void empty(void) { nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS); }

/* ---- a random case ------------------------------------------------------------------------ */

struct subject {                        /* a model, a sentence, and how to run it */
    struct attn_model *m;
    struct attn_info info;
    struct attn_plan plan;
    int32_t ids[MOST];
    size_t T;
};

static const char *yes(void) { return draw(2) ? "true" : "false"; }

static const char *draw_mlp(void)
{
    const char *own[32];
    size_t n = 0;
    for (const struct attn_mlp_row *m = NULL; (m = attn_mlp_next(m));)
        if (m->own)
            own[n++] = m->name;
    return own[draw(n)];
}

static void native(char text[CONFIG])
{
    static const char *const position[] = {"none", "learned", "rope"}, *const norm[] = {"none", "layernorm", "rmsnorm"};
    size_t kv = 1 + draw(2), H = kv * (1 + draw(3)), dh = 2 * (1 + draw(9));
    const char *mlp = draw_mlp();
    snprintf(text, CONFIG, "{\"model_type\": \"attn-decoder\", \"vocab_size\": %zu, \"n_ctx\": %d, \"n_layer\": %zu, "
             "\"n_head\": %zu, \"n_kv_head\": %zu, \"d_model\": %zu, \"d_head\": %zu, \"d_mlp\": %zu, \"position\": "
             "\"%s\", \"norm\": \"%s\", \"mlp\": \"%s\", \"mask\": \"%s\", \"scale\": \"%s\", \"residual\": %s, "
             "\"output_projection\": true, \"bias\": %s, \"tied\": %s, \"unembed\": true}",
             2 + draw(V_MOST - 2), MOST, 1 + draw(3), H, kv, 1 + draw(40), dh, strcmp(mlp, "none") ? 1 + draw(50) : 0,
             position[draw(3)], norm[draw(3)], mlp,
             draw(4) ? "causal" : "none", draw(2) ? "sqrt" : "none", yes(), yes(), yes());
}

static void gpt(char text[CONFIG], size_t H, size_t dh, size_t V, size_t L)
{
    size_t d = H * dh;
    switch (draw(3)) {
    case 0:
        snprintf(text, CONFIG, "{\"model_type\": \"gpt2\", \"vocab_size\": %zu, \"n_positions\": %d, \"n_embd\": %zu, "
                 "\"n_layer\": %zu, \"n_head\": %zu, \"scale_attn_by_inverse_layer_idx\": %s, "
                 "\"tie_word_embeddings\": %s}", V, MOST, d, L, H, yes(), yes());
        break;
    case 1:
        snprintf(text, CONFIG, "{\"model_type\": \"gpt_neo\", \"vocab_size\": %zu, \"max_position_embeddings\": %d, "
                 "\"hidden_size\": %zu, \"num_layers\": %zu, \"num_heads\": %zu, \"window_size\": %zu, "
                 "\"attention_types\": [[[\"global\", \"local\"], %zu]]}", V, MOST, d,
                 2 * L, H, 1 + draw(9), L);
        break;
    default:
        snprintf(text, CONFIG, "{\"model_type\": \"gpt_neox\", \"vocab_size\": %zu, \"max_position_embeddings\": %d, "
                 "\"hidden_size\": %zu, \"num_hidden_layers\": %zu, \"num_attention_heads\": %zu, "
                 "\"intermediate_size\": %zu, \"rotary_pct\": %s, \"use_parallel_residual\": %s}", V, MOST, d, L, H,
                 1 + draw(50), draw(2) ? "1.0" : "0.5", yes());
    }
}

static void llama(char text[CONFIG], size_t dh, size_t V, size_t L)
{
    size_t kv = 1 + draw(2), H = kv * (1 + draw(3));
    snprintf(text, CONFIG,
             "{\"model_type\": \"%s\", \"vocab_size\": %zu, \"max_position_embeddings\": %d, \"hidden_size\": %zu, "
             "\"num_hidden_layers\": %zu, \"num_attention_heads\": %zu, \"num_key_value_heads\": %zu, "
             "\"intermediate_size\": %zu, \"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-6, "
             "\"tie_word_embeddings\": %s}", draw(2) ? "llama" : "qwen2", V, MOST, H * dh, L, H, kv,
             1 + draw(50), yes());
}

static void make_model(struct subject *s)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    char config[CONFIG];
    struct attn_err err = {0};
    size_t which = draw(3), H = 1 + draw(4), dh = 4 * (1 + draw(5)), V = 2 + draw(V_MOST - 2), L = 1 + draw(2);
    which == 0 ? native(config) : which == 1 ? gpt(config, H, dh, V, L) : llama(config, dh, V, L);
    struct attn_init_opts o = {.config = config, .config_len = strlen(config), .config_name = "config", .seed = seed,
                               .dtype = dtypes[draw(3)]};
    snprintf(described, sizeof described, "%.200s %s", config, o.dtype);
    int rc = attn_init(in_dir("m"), &o, &err);
    if (rc && which == 0 && strstr(err.msg, "residual")) {      /* sizes that do not go together */
        random_state += 77;
        make_model(s);
        return;
    }
    must(rc, &err, config);
    must(attn_model_open(&s->m, in_dir("m"), &err), &err, "open");
    attn_model_info(s->m, &s->info);
}

static void choose_kind(struct attn_kind *k)
{
    static const char *const kinds[] = {"model", "model", "model", "full", "causal", "causal-renorm", "window:3",
                                        "strided:2,3", "random:2,2,5",
                                        "linear", "block:3", "block:16"};
    struct attn_err err = {0};
    const char *text = kinds[draw(sizeof kinds / sizeof *kinds)];
    must(attn_kind_parse(k, text, &err), &err, "kind");
    if (draw(6) == 0) {
        k->dropout = 0.25;
        k->dropout_seed = draw(1000);
    }
    snprintf(described + strlen(described), sizeof described - strlen(described),
             " %s%s", text, k->dropout > 0 ? " dropout" : "");
}

static void begin(struct subject *s)
{
    memset(s, 0, sizeof *s);
    random_state = seed * UINT64_C(0xD1342543DE82EF95);
    empty();
    make_model(s);
    s->T = 1 + draw(MOST);
    for (size_t i = 0; i < MOST; i++)
        s->ids[i] = (int32_t)draw(s->info.V);
    s->plan = (struct attn_plan){.rows = s->T, .seqs = 1, .threads = 1, .bf16 = draw(8) == 0};
    choose_kind(&s->plan.kind);
}

/* ---- all numbers of a run ------------------------------------------------------------------- */

enum { ARRAYS = 256 };

struct capture {
    size_t n, used, room, seq;          /* seq: the sentence of the pass that is kept */
    int only_act, only_layer;           /* -1: all of them */
    struct array { char name[48]; int act, layer; size_t heads, rows, cols, at; } array[ARRAYS];
    float *data;
};

static unsigned wants(void *self, int act, int layer)
{
    const struct capture *c = self;
    return c->only_act < 0 || (c->only_act == act && (c->only_layer < -1 || c->only_layer == layer)) ? ATTN_WATCH : 0;
}

static struct array *array_of(struct capture *c, const struct attn_probe *p)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->array[i].act == p->act && c->array[i].layer == p->layer)
            return &c->array[i];
    struct array *a = &c->array[c->n++];
    *a = (struct array){.act = p->act, .layer = p->layer, .heads = p->ndim == 3 ? p->shape[0] : 1,
                        .rows = p->shape[p->ndim - 2], .cols = p->shape[p->ndim - 1], .at = c->used};
    snprintf(a->name, sizeof a->name, "%s", p->name);
    c->used += a->heads * a->rows * a->cols;
    if (c->used > c->room)
        c->data = realloc(c->data, (c->room = 2 * c->used) * sizeof *c->data);
    return a;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct capture *c = self;
    (void)err;
    if (p->seq != c->seq)
        return 0;
    const struct array *a = array_of(c, p);
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            memcpy(c->data + a->at + ((p->head0 + h) * a->rows + p->row0 + t) * a->cols,
                   p->data + h * p->ld_head + t * p->ld, p->cols * sizeof(float));
    return 0;
}

static struct attn_observer capturing(struct capture *c, int act, int layer, size_t seq)
{
    c->n = c->used = 0;
    c->only_act = act;
    c->only_layer = layer;
    c->seq = seq;
    return (struct attn_observer){.wants = wants, .watch = watch, .self = c};
}

static void run(const struct subject *s, struct capture *c, int act, int layer, int threads)
{
    struct attn_observer o = capturing(c, act, layer, 0);
    struct attn_plan plan = s->plan;
    struct attn_seq seq = {.T = s->T};
    struct attn_run *r = NULL;
    struct attn_err err = {0};
    plan.threads = threads;
    must(attn_run_new(&r, s->m, &plan, &o, 1, &err) || attn_run_forward(r, s->ids, &seq, 1, &err), &err, "run");
    attn_run_free(r);
}

/* Each array that the other capture has. */
static void compare_captures(const struct capture *a, const struct capture *b, const char *how)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < a->n; k++) {
            const struct array *x = &a->array[k], *y = &b->array[i];
            if (x->act == y->act && x->layer == y->layer)
                compare(x->heads * x->rows * x->cols == y->heads * y->rows * y->cols &&
                        !memcmp(a->data + x->at, b->data + y->at, x->heads * x->rows * x->cols * sizeof(float)),
                        "%s: %s", how, y->name);
        }
}

static struct capture all, other;

static void in_threads(const struct subject *s)
{
    static const int threads[] = {2, 3, 5};
    for (size_t i = 0; i < 3; i++) {
        char how[32];
        snprintf(how, sizeof how, "%d threads", threads[i]);
        run(s, &other, -1, -1, threads[i]);
        compare(other.n == all.n, "%s: as many arrays", how);
        compare_captures(&all, &other, how);
    }
}

static void one_name(const struct subject *s)
{
    const struct array *a = &all.array[draw(all.n)];
    run(s, &other, a->act, a->layer, 1 + (int)draw(3));
    compare(other.n == 1, "one name: one array");
    compare_captures(&all, &other, "one name");
    run(s, &other, ATTN_ACT_LOGITS, -1, 1);
    compare_captures(&all, &other, "logits alone");
}

static void with_others(const struct subject *s)
{
    int32_t ids[3 * MOST];
    size_t before = 1 + draw(MOST), after = 1 + draw(MOST);
    struct attn_plan plan = s->plan;
    struct attn_seq seq[3] = {{.T = before}, {.T = s->T}, {.T = after}};
    struct attn_observer o = capturing(&other, -1, -1, 1);
    struct attn_run *r = NULL;
    struct attn_err err = {0};
    for (size_t i = 0; i < before + after; i++)
        ids[i < before ? i : i + s->T] = (int32_t)draw(s->info.V);
    memcpy(ids + before, s->ids, s->T * sizeof *ids);
    plan.rows = before + s->T + after;
    plan.seqs = 3;
    plan.threads = 1 + (int)draw(3);
    must(attn_run_new(&r, s->m, &plan, &o, 1, &err) || attn_run_forward(r, ids, seq, 3, &err), &err, "others");
    attn_run_free(r);
    compare_captures(&all, &other, "with other sentences");
}

/* Rows of arrays without heads: a cached pass announces only its own. */
static void compare_rows(size_t from, const char *how)
{
    for (size_t i = 0; i < other.n; i++)
        for (size_t k = 0; k < all.n; k++) {
            const struct array *x = &all.array[k], *y = &other.array[i];
            if (x->act == y->act && x->layer == y->layer && x->heads == 1 && y->heads == 1 && x->cols == y->cols &&
                x->act != ATTN_ACT_PATTERN &&
                x->act != ATTN_ACT_SCORES && x->act != ATTN_ACT_DOTS && x->act != ATTN_ACT_K && x->act != ATTN_ACT_V &&
                x->act != ATTN_ACT_Q)
                compare(!memcmp(all.data + x->at + from * x->cols, other.data + y->at,
                                y->rows * y->cols * sizeof(float)), "%s: %s", how, y->name);
        }
}

static void in_pieces(const struct subject *s)
{
    struct attn_err err = {0};
    struct attn_kv *kv = NULL;
    if (attn_model_continues(s->m, &s->plan.kind, &err) || s->T < 2)
        return;
    must(attn_kv_new(&kv, s->m, s->T, &err), &err, "cache");
    for (size_t at = 0, n; at < s->T; at += n) {
        n = 1 + draw(s->T - at);
        struct attn_plan plan = s->plan;
        struct attn_seq seq = {.T = n, .kv = kv};
        struct attn_observer o = capturing(&other, -1, -1, 0);
        struct attn_run *r = NULL;
        plan.rows = n;
        plan.keys = s->T;
        plan.threads = 1 + (int)draw(3);
        must(attn_run_new(&r, s->m, &plan, &o, 1, &err) || attn_run_forward(r, s->ids + at, &seq, 1, &err),
             &err, "pieces");
        attn_run_free(r);
        compare_rows(at, "in pieces");
    }
    attn_kv_free(kv);
}

static void scored(const struct subject *s)
{
    struct attn_err err = {0};
    double score[MOST], p;
    if (attn_model_predicts(s->m, &s->plan.kind, &err))
        return;
    must(attn_score(score, s->m, s->ids,
                    s->T, &(struct attn_score_opts){.stride = 1, .kind = s->plan.kind, .threads = 1 + (int)draw(3),
                                                    .bf16 = s->plan.bf16}, &err), &err, "score");
    for (size_t k = 0; k < all.n; k++)
        for (size_t t = 1; all.array[k].act == ATTN_ACT_LOGITS && t < s->T; t++) {
            must(attn_logprob(&p, all.data + all.array[k].at + (t - 1) * s->info.V, s->info.V, s->ids[t], &err),
                 &err, "logprob");
            compare(p == score[t], "score of token %zu: %.17g, by the logits %.17g", t, score[t], p);
        }
}

/* ---- files ---------------------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    *len = 0;
    if (!f)
        return NULL;
    for (size_t room = 0, got = 1; got > 0; *len += got) {
        if (room - *len < 4096)
            text = realloc(text, room = 2 * room + 8192);
        got = fread(text + *len, 1, room - *len, f);
    }
    fclose(f);
    return text;
}

static void compare_files(const char *a, const char *b, const char *how)
{
    size_t n, m;
    char *x = slurp(a, &n), *y = slurp(b, &m);
    compare(x && y && n == m && !memcmp(x, y, n), "%s: %s and %s", how, strrchr(a, '/') + 1, b);
    free(x);
    free(y);
}

/* Files, or directories one file after the other. */
static void compare_trees(const char *a, const char *b, const char *how)
{
    struct dirent *e;
    DIR *d = opendir(a);
    if (!d) {
        compare_files(a, b, how);
        return;
    }
    while ((e = readdir(d))) {
        char x[512], y[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(x, sizeof x, "%s/%s", a, e->d_name);
        snprintf(y, sizeof y, "%s/%s", b, e->d_name);
        compare_trees(x, y, how);
    }
    closedir(d);
}

static void write_run(const struct subject *s, const struct attn_select *what, const int32_t *ids, size_t T,
                      const char *format, const char *path, int threads)
{
    struct attn_err err = {0};
    struct attn_tokens *tokens = NULL;
    struct attn_sink *sink = NULL;
    struct attn_plan plan = s->plan;
    plan.threads = threads;
    must(attn_tokens_from_ids(&tokens, ids, T, &err), &err, "tokens");
    struct attn_sink_opts o = {.format = format, .path = path, .model = s->m, .select = what, .tokens = tokens,
                               .command = "attn-cli run", .kind = s->plan.kind, .threads = threads, .precision = 4};
    must(attn_sink_open(&sink, &o, &err), &err, format);
    struct attn_observer seen = attn_sink_observer(sink);
    must(attn_run_tokens(s->m, &plan, tokens, NULL, &seen, 1, &err) || attn_sink_finish(sink, &err), &err, format);
    attn_sink_close(sink);
    attn_tokens_free(tokens);
}

static void every_format(const struct subject *s, const struct attn_select *what)
{
    static const char *const formats[] = {"text", "json", "csv", "tidy", "npy", "npz", "svg", "html"};
    const char *f = formats[draw(8)];
    write_run(s, what, s->ids, s->T, f, in_dir("one"), 1);
    write_run(s, what, s->ids, s->T, f, in_dir("many"), 2 + (int)draw(4));
    compare_trees(in_dir("one"), in_dir("many"), f);
}

static void batch(const struct subject *s, const struct attn_select *what, const char *format, const char *path,
                  struct attn_share share)
{
    struct attn_records_opts records = {.path = in_dir("in.ndjson"), .share = share};
    struct attn_batch_opts o = {.model = s->m, .select = what, .records = &records, .format = format, .path = path,
                                .command = "attn-cli batch", .plan = s->plan};
    struct attn_batch_state state = {0};
    struct attn_err err = {0};
    o.plan.threads = 1 + (int)draw(4);
    must(attn_batch(&state, &o, &err), &err, "batch");
    compare(state.complete && !state.failed, "batch: all records");
}

static void batches(const struct subject *s, const struct attn_select *what)
{
    static const char *const formats[] = {"ndjson", "tidy", "summary", "csv", "npy", "npz"};
    const char *f = formats[draw(6)];
    size_t from[RECORDS], T[RECORDS], n = 1 + draw(RECORDS), shards = 1 + draw(n);
    char shard[RECORDS][32], alone[64], member[64];
    const char *named[RECORDS];
    FILE *in = fopen(in_dir("in.ndjson"), "w");
    for (size_t i = 0; i < n; i++) {
        T[i] = 1 + draw(s->T);
        from[i] = draw(MOST - T[i] + 1);
        for (size_t t = 0; t < T[i]; t++)
            fprintf(in, "%s%d", t ? "," : "{\"ids\":[", s->ids[from[i] + t]);
        fprintf(in, "]}\n");
    }
    fclose(in);
    batch(s, what, f, in_dir("whole"), (struct attn_share){0});
    struct attn_share share = {.count = shards, .stride = draw(2)};
    for (; share.index < shards; share.index++) {
        snprintf(shard[share.index], sizeof *shard, "shard.%d", (int)share.index);
        batch(s, what, f, in_dir(shard[share.index]), share);
        named[share.index] = strdup(in_dir(shard[share.index]));
    }
    struct attn_merge_opts merge = {.shard = named, .n = shards, .path = in_dir("merged")};
    struct attn_err err = {0};
    must(attn_merge(&merge, &err), &err, "merge");
    for (size_t i = 0; i < shards; i++)
        free((char *)named[i]);
    compare_trees(in_dir("whole"), in_dir("merged"), f);
    for (size_t i = 0; i < n && !strcmp(f, "npz"); i++) {
        snprintf(alone, sizeof alone, "alone.%zu", i);
        snprintf(member, sizeof member, "whole/%06zu/activations.npz", i);
        write_run(s, what, s->ids + from[i], T[i], "npz", in_dir(alone), 1);
        compare_files(in_dir(alone), in_dir(member), "batch and run");
    }
}

static void files(const struct subject *s)
{
    struct attn_select *what = NULL;
    struct attn_err err = {0};
    must(attn_select_new(&what, s->m, &s->plan.kind, draw(2) ? "*" : "pattern", NULL, NULL, &err), &err, "select");
    every_format(s, what);
    batches(s, what);
    attn_select_free(what);
}

/* ---- other processes ------------------------------------------------------------------------ */

static struct peer { const char *name, *set; bool exact; FILE *from; pid_t pid; } peers[] = {
    {"ATTN_SIMD=avx2", "ATTN_SIMD", true, NULL, 0}, {"LIBXSMM_TARGET=generic", "LIBXSMM_TARGET", true, NULL, 0},
    {"ATTN_SIMD=generic", "ATTN_SIMD", false, NULL, 0},
};
enum { PEERS = sizeof peers / sizeof *peers };

static void start(struct peer *p, const char *self, uint64_t first)
{
    int ends[2];
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, first);
    if (pipe2(ends, O_CLOEXEC) != 0 || (p->pid = fork()) < 0) {
        perror("differential");
        exit(2);
    }
    if (p->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        setenv(p->set, strchr(p->name, '=') + 1, 1);
        execl(self, self, "numbers", number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    p->from = fdopen(ends[0], "rb");
}

static void put_numbers(void)
{
    fwrite(&all.n, sizeof all.n, 1, stdout);
    fwrite(&all.used, sizeof all.used, 1, stdout);
    fwrite(all.array, sizeof *all.array, all.n, stdout);
    fwrite(all.data, sizeof *all.data, all.used, stdout);
    if (fflush(stdout) != 0)
        exit(0);                        /* whom it is for has seen enough */
}

static bool take_numbers(FILE *from)
{
    other.n = other.used = 0;
    if (fread(&other.n, sizeof other.n, 1, from) != 1 || fread(&other.used, sizeof other.used, 1, from) != 1 ||
        other.n > ARRAYS)
        return false;
    if (other.used > other.room)
        other.data = realloc(other.data, (other.room = other.used) * sizeof *other.data);
    return fread(other.array, sizeof *other.array, other.n, from) == other.n &&
           fread(other.data, sizeof *other.data, other.used, from) == other.used;
}

/* How far apart the numbers of an array are, in units of its largest one. */
static double distance(const struct array *a)
{
    double most = 1e-30, far = 0;
    for (size_t i = a->at; i < a->at + a->heads * a->rows * a->cols; i++) {
        double x = (double)all.data[i], y = (double)other.data[i];
        if (isfinite(x) && isfinite(y)) {
            most = fmax(most, fabs(x));
            far = fmax(far, fabs(x - y));
        } else if (memcmp(&all.data[i], &other.data[i], sizeof(float)) != 0)
            return INFINITY;
    }
    return far / most;
}

static void compare_peer(struct peer *p, bool bf16)
{
    bool got = take_numbers(p->from);
    compare(got && other.n == all.n && other.used == all.used, "%s: as many numbers", p->name);
    if (!got || other.used != all.used)
        exit(2);
    /* other instructions add up products of bf16 in another order */
    bool rounds = bf16 && !strcmp(p->set, "ATTN_SIMD");
    if (p->exact && !rounds)
        compare_captures(&all, &other, p->name);
    for (size_t i = 0; !p->exact && !rounds && i < all.n; i++) {
        double far = distance(&all.array[i]);
        compare(far <= TOLERANCE, "%s: %s differs by %.2g of its largest number", p->name, all.array[i].name, far);
    }
}

/* ---- all cases ------------------------------------------------------------------------------ */

static void one_case(void)
{
    struct subject s;
    begin(&s);
    run(&s, &all, -1, -1, 1);
    in_threads(&s);
    one_name(&s);
    with_others(&s);
    in_pieces(&s);
    scored(&s);
    for (size_t i = 0; i < PEERS; i++)
        compare_peer(&peers[i], s.plan.bf16);
    files(&s);
    attn_model_close(s.m);
    count.cases++;
}

static void numbers(void)
{
    for (;; seed++) {
        struct subject s;
        begin(&s);
        run(&s, &all, -1, -1, 1);
        put_numbers();
        attn_model_close(s.m);
    }
}

static void leave(void)
{
    empty();
    rmdir(dir);
}

static void stop(int signal)
{
    (void)signal;
    exit(0);
}

int main(int argc, char **argv)
{
    bool child = argc > 1 && !strcmp(argv[1], "numbers");
    time_t seconds = argc > 2 ? atoi(argv[2]) : 60, end = time(NULL) + seconds;
    seed = argc > 1 + child ? strtoull(argv[1 + child], NULL, 10) : 1;
    snprintf(dir, sizeof dir, "%s/attn-differential-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(dir))
        return perror(dir), 2;
    atexit(leave);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, stop);
    if (child)
        numbers();
    for (size_t i = 0; i < PEERS; i++)
        start(&peers[i], argv[0], seed);
    uint64_t first = seed;
    for (; time(NULL) < end; seed++)
        one_case();
    for (size_t i = 0; i < PEERS; i++) {
        fclose(peers[i].from);
        waitpid(peers[i].pid, NULL, 0);
    }
    printf("differential: seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " cases, %" PRIu64 " comparisons, "
           "%" PRIu64 " findings\n", first, seed - 1, count.cases, count.compared, count.findings);
    return count.findings ? 1 : 0;
}
