/* attn.h - run GPT-style decoders and see everything attention does.
 *
 *     struct attn_err err = {0};
 *     struct attn_model *m = NULL;
 *     struct attn_run *run = NULL;
 *     int32_t ids[] = {0, 4, 5};
 *     struct attn_seq seq = {.T = 3};
 *     struct attn_plan plan = {.rows = 3, .seqs = 1};
 *     struct attn_observer obs = {.wants = my_wants, .watch = my_watch, .self = my_state};
 *
 *     if (attn_model_open(&m, "life", &err) ||
 *         attn_run_new(&run, m, &plan, &obs, 1, &err) ||
 *         attn_run_forward(run, ids, &seq, 1, &err))
 *         fprintf(stderr, "%s\n", err.msg);
 *     attn_run_free(run);
 *     attn_model_close(m);
 *
 * This is the only header users install, and the words every room of the library shares: it
 * includes nothing of ours.  Dimensions are the papers' letters: L layers, T tokens, d width,
 * H query heads, Hkv key/value heads, dh width of a head's queries and keys, dv of its values,
 * m width of the MLP, V vocabulary.  Arrays are row-major float32, last index fastest.
 *
 * Functions that can fail return 0 (ATTN_OK) or the code they also left in `err`, whose message
 * names file, place, what was found and what was expected.  Nothing here prints or exits.
 * A model is constant once open and may be shared between threads; a run belongs to one caller.
 */
#ifndef ATTN_H
#define ATTN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define ATTN_VERSION "0.1.0"

/* ---- errors ---------------------------------------------------------------------------- */

enum attn_status { ATTN_OK, ATTN_EIO, ATTN_EFORMAT, ATTN_EUSAGE, ATTN_ENOMEM };
struct attn_err { enum attn_status code; char msg[512]; };

/* ---- models ---------------------------------------------------------------------------- */

/* `name` with a slash is a directory.  Otherwise: a model built in, a directory of that name in
 * ATTN_MODEL_PATH (colons between), an installed one, then ./name.  NULL is the default model. */
struct attn_model;
int attn_model_open(struct attn_model **out, const char *name, struct attn_err *err);
void attn_model_close(struct attn_model *m);                        /* NULL is fine */

struct attn_info {                      /* strings live as long as the model */
    const char *name, *path, *family;   /* path NULL: built in */
    const char *position, *norm, *mlp, *mask, *scale;
    bool residual, output_projection, tied, unembed;
    size_t L, d, H, Hkv, dh, dv, m, V, n_ctx;
    bool parallel;                      /* attention and mlp side by side */
    size_t rotary;                      /* numbers of a head turned by position */
    size_t window, local;               /* keys a query sees in so many of the layers; 0: all */
    double norm_eps, rope_theta;
    size_t tensors;
    uint64_t parameters, bytes;         /* numbers; bytes of all tensors as stored */
};
void attn_model_info(const struct attn_model *m, struct attn_info *out);

struct attn_tensor_info { const char *name, *dtype; int ndim; size_t shape[8]; uint64_t bytes; };
/* Tensors in the order of the forward pass, i < attn_info.tensors. */
void attn_model_tensor(const struct attn_model *m, size_t i, struct attn_tensor_info *out);

/* "sampled:" or "sha256:" and 64 hex digits: what identifies the model's numbers.  full reads
 * every byte; sampled reads config, tokenizer, headers and the ends of each tensor. */
int attn_model_digest(const struct attn_model *m, bool full, char out[80], struct attn_err *err);
/* Something about the files that is odd and was decided; NULL: nothing.  Lives as long as the model. */
const char *attn_model_warning(const struct attn_model *m);
/* Looks at every weight; an error names the first tensor and index that is not finite. */
int attn_model_check(const struct attn_model *m, struct attn_err *err);

/* Fails, with the reason, unless the model tells the next token from those before it: causal with this kind of
 * attention (NULL: its own), with an output layer. */
struct attn_kind;
int attn_model_predicts(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err);
/* And unless, besides, a text can grow: no row changes, not by a rounding, when tokens come after it. */
int attn_model_continues(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err);
/* Whether a text ends with this token (eos_token_id). */
bool attn_model_ends(const struct attn_model *m, int32_t id);

/* Names of the models built in, NULL after the last; the first is the default. */
const char *const *attn_model_builtin(void);

/* ---- text and tokens ------------------------------------------------------------------- */

struct attn_token {
    int32_t id;
    bool known;                         /* false: made from an id alone, the rest is empty */
    const char *text, *raw;             /* what it reads as; as the vocabulary spells it */
    size_t text_len, raw_len;
    size_t start, end;                  /* bytes of the source text */
};
struct attn_tokens { size_t n; struct attn_token *tok; };           /* one block of memory */
void attn_tokens_free(struct attn_tokens *t);                       /* NULL is fine */

/* Needs no weights: a directory with vocab.json (words), vocab.json and merges.txt, or tokenizer.json
 * (both byte-level BPE) suffices; config.json and tokenizer_config.json are used if there. */
struct attn_tokenizer;
int attn_tokenizer_open(struct attn_tokenizer **out, const char *model, struct attn_err *err);
void attn_tokenizer_close(struct attn_tokenizer *t);                /* NULL is fine */
const char *attn_tokenizer_kind(const struct attn_tokenizer *t);    /* "word", "bpe" */
size_t attn_tokenizer_size(const struct attn_tokenizer *t);         /* entries */
/* How a token reads, which may be part of a character; NULL: no such id.  Lives as long as the tokenizer. */
const char *attn_tokenizer_text(const struct attn_tokenizer *t, int32_t id, size_t *len);
const char *attn_tokenizer_raw(const struct attn_tokenizer *t, int32_t id, size_t *len);    /* as the vocabulary spells it */

enum attn_bos { ATTN_BOS_AUTO, ATTN_BOS_YES, ATTN_BOS_NO };
struct attn_encode_opts {
    bool special;                       /* special tokens such as <|endoftext|> are found in the text */
    /* AUTO: what the tokenizer's own files say, before the text and after it; YES: a BOS in any case;
     * NO: neither.  Such tokens have start = end. */
    enum attn_bos bos;
};
/* The tokens own all they point to.  An empty text gives zero tokens, but for a BOS that was asked for.
 * Where the tokenizer normalises (NFC), a token's bytes are those of the whole characters it comes from. */
int attn_encode_with(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                     const struct attn_encode_opts *o, struct attn_err *err);
/* All options zero. */
int attn_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                struct attn_err *err);
/* The ids alone, malloc'd, NULL when there are none: for long texts, several times as fast. */
int attn_encode_ids(int32_t **ids, size_t *n, const struct attn_tokenizer *t, const char *text, size_t len,
                    const struct attn_encode_opts *o, struct attn_err *err);
/* Malloc'd text, NUL-terminated for convenience; words are joined by one space,
 * bytes of BPE tokens by nothing. */
int attn_decode(char **out, size_t *len, const struct attn_tokenizer *t, const int32_t *ids, size_t n,
                struct attn_err *err);
/* Tokens without text. */
int attn_tokens_from_ids(struct attn_tokens **out, const int32_t *ids, size_t n, struct attn_err *err);

/* Columns UTF-8 takes on a terminal: 2 for wide East Asian characters, 0 for combining marks. */
size_t attn_utf8_width(const char *s, size_t len);
/* How the first character of s, len > 0, looks where it must not steer a terminal, NUL-terminated: as it is, or its number
 * (\x1B, \u{202E}) where it would show nothing or turn the direction; of what is no UTF-8 one byte.  Returns the bytes it
 * stands for. */
enum { ATTN_VISIBLE = 16 };
size_t attn_utf8_visible(char form[ATTN_VISIBLE], const char *s, size_t len);

/* Of a text that is still growing, how many bytes can be shown: none that may turn out to be part of a
 * character or of `stop`, and none from where stop begins (*stopped).  stop NULL: there is none. */
size_t attn_text_ready(const char *text, size_t len, const char *stop, bool *stopped);

/* A file that is whole or as it was, as all here are; "-" or NULL is standard output, and a closed pipe no error. */
int attn_write_file(const char *path, const char *data, size_t len, struct attn_err *err);

struct attn_vocab_opts { const char *drop; bool lowercase; const char *unknown; };
/* The distinct words of a text sorted by code point, as a JSON object in malloc'd memory; an
 * `unknown` word comes after them. */
int attn_vocab_build(char **json, size_t *len, size_t *words, const char *text, size_t text_len,
                     const struct attn_vocab_opts *o, struct attn_err *err);

enum { ATTN_BPE_LEAST = 257, ATTN_BPE_MOST = 1 << 20 };
/* Learns a byte-level BPE of at most `size` tokens, ATTN_BPE_LEAST to ATTN_BPE_MOST, and writes it into directory
 * `path` as GPT-2's is: vocab.json and merges.txt.  The last token is <|endoftext|>, which the text may have between
 * documents; where it has no two neighbours twice there are fewer than `size`.  *tokens: how many. */
int attn_bpe_learn(const char *path, size_t *tokens, const char *text, size_t len, size_t size, struct attn_err *err);

/* ---- activations and observers --------------------------------------------------------- */

/* In the order of the forward pass. */
enum attn_act {
    ATTN_ACT_EMBED, ATTN_ACT_POS_EMBED,
    ATTN_ACT_RESID_PRE, ATTN_ACT_NORM1, ATTN_ACT_Q, ATTN_ACT_K, ATTN_ACT_V,
    ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN, ATTN_ACT_CONTEXT, ATTN_ACT_OUT,
    ATTN_ACT_RESID_MID, ATTN_ACT_NORM2, ATTN_ACT_MLP_PRE, ATTN_ACT_MLP_LINEAR, ATTN_ACT_MLP_POST,
    ATTN_ACT_MLP_OUT, ATTN_ACT_RESID_POST,
    ATTN_ACT_NORM_FINAL, ATTN_ACT_LOGITS,
    ATTN_ACTS
};

/* A probe is a band of one named activation of one sentence: some heads, some rows.  Element
 * (h, t, j) of the band is data[h * ld_head + t * ld + j]; arrays without a head axis have
 * heads = 1.  Valid only during the call. */
struct attn_probe {
    const char *name;                   /* "blocks.0.attn.pattern" */
    int act, layer;                     /* layer -1: outside the blocks */
    size_t seq;                         /* which sentence of the run */
    int ndim; size_t shape[3];          /* of the whole activation: [T,n] or [H,T,n] */
    size_t head0, heads, row0, rows, cols, ld_head, ld;
    const float *data;
};

enum {
    ATTN_WATCH = 1,                     /* be shown it */
    ATTN_EDIT = 2,                      /* may change it before the next step reads it */
    ATTN_WHOLE = 4,                     /* all heads and rows of a layer in one band */
    ATTN_LAST = 8                       /* the last row of each sentence is enough (norm_final, logits) */
};

/* `wants` is asked once per plan for each activation and layer and answers with flags; watching
 * leaves every result bit-identical.  Bands come one at a time, heads then rows ascending.  All
 * edits run in the order of the observers, then all watchers.  A non-zero return ends the run
 * with the error the observer left in `err`.  Members that are not used may be NULL. */
struct attn_observer {
    unsigned (*wants)(void *self, int act, int layer);
    int (*edit)(void *self, const struct attn_probe *p, float *data, struct attn_err *err);
    int (*watch)(void *self, const struct attn_probe *p, struct attn_err *err);
    void *self;
};

/* ---- kinds of attention ---------------------------------------------------------------- */

/* Which keys a query sees, and how weights come of them.  Query q is the position of a token, key k too. */
enum attn_form {
    ATTN_MODEL,                         /* as the model has it, layer by layer */
    ATTN_FULL,                          /* all keys */
    ATTN_CAUSAL,                        /* k <= q */
    ATTN_CAUSAL_RENORM,                 /* the same keys: softmax over all, then those are kept and divided by their sum */
    ATTN_WINDOW,                        /* 0 <= q - k < w */
    ATTN_STRIDED,                       /* k <= q, and q - k < w or (q - k) % s == 0 */
    ATTN_RANDOM,                        /* the window, and min(r, q - w + 1) distinct keys of 0 .. q - w: positions 0, 1, ... of
                                         * them are swapped in turn with one of those not yet passed, i with i + next % (n - i),
                                         * next from splitmix64 seeded with seed + q; the same in every head */
    ATTN_LINEAR,                        /* phi(q).phi(k) over their sum, phi(x) = x + 1 above 0, else exp(x); no scale.  All 0
                                         * where the sum is below FLT_MIN: the row is lost */
    ATTN_BLOCK,                         /* exact, b keys at a time: sums are rescaled when a larger score comes */
    ATTN_MASKED                         /* attn_attention only: by its mask */
};
enum attn_scaling { ATTN_SCALE_MODEL, ATTN_SCALE_NONE, ATTN_SCALE_SQRT, ATTN_SCALE_VALUE };

/* All zero: the model's own.  A form takes the place of every layer's mask. */
struct attn_kind {
    enum attn_form form;
    size_t w, s, r, b; uint64_t seed;   /* those of the form; at least 1, r may be 0 */
    bool causal;                        /* linear and block: k <= q.  A run asks the model */
    enum attn_scaling scaling; double scale;    /* scale: ATTN_SCALE_VALUE */
    /* A weight becomes 0 with probability `dropout`, from 0 to below 1, else is divided by 1 - dropout.  Which ones
     * depends on dropout_seed, layer, head, q and k alone: u = S(S(S(S(dropout_seed + layer) + head) + q) + k), S(x) the
     * first number of splitmix64 seeded with x; those whose u, its 53 high bits read as a number from 0 to 1, is below
     * dropout become 0. */
    double dropout; uint64_t dropout_seed;
};
/* "window:4", "strided:4,16", "random:4,2,7", "block:64", or a name alone: sets the form and its numbers, nothing else. */
int attn_kind_parse(struct attn_kind *k, const char *text, struct attn_err *err);
enum { ATTN_KIND_TEXT = 96 };
const char *attn_kind_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k);   /* the other way round; returns buf */
/* All that is not the model's own, for titles: ", window:4, scale 0.5, dropout 0.1 (seed 7)", or "". */
enum { ATTN_KIND_NOTE = 192 };
const char *attn_kind_note(char buf[ATTN_KIND_NOTE], const struct attn_kind *k);

/* ---- running --------------------------------------------------------------------------- */

/* Keys and values of one sentence so far, so that it can be continued token by token. */
struct attn_kv;
int attn_kv_new(struct attn_kv **out, const struct attn_model *m, size_t capacity, struct attn_err *err);
void attn_kv_free(struct attn_kv *kv);
size_t attn_kv_length(const struct attn_kv *kv);

struct attn_seq {
    size_t T;
    struct attn_kv *kv;                 /* of no other sentence of the call; NULL: starts at position 0, keeps nothing */
    const struct attn_seq *keys;        /* cross-attention: another one of the same call, without caches, whose keys and
                                         * values this one looks at, all of them; k and v of its own are not announced */
};
struct attn_plan {
    size_t rows, seqs;                  /* at most: tokens of all sentences together, sentences */
    size_t keys;                        /* the longest a sentence gets with its cache; 0: no caches */
    int threads;                        /* 0: as many as this process may use */
    bool bf16;                          /* weights and what they multiply are rounded to bf16; sums, attention and all
                                         * between products stay in float32 */
    struct attn_kind kind;              /* of attention, of all sentences; zero: the model's own.  With attn_seq.keys its form
                                         * is the model's own: scaling and dropout hold for those who look and for whom they look at */
};

/* Lays out all memory and asks the observers; the forward pass allocates nothing. */
struct attn_run;
int attn_run_new(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                 const struct attn_observer *obs, size_t n_obs, struct attn_err *err);
/* ids: those of all n sentences, one after the other.  The calling thread computes as those of the run do, and needs a
 * stack of 1 MB; theirs have 2. */
int attn_run_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n,
                     struct attn_err *err);
/* Rows of attention without any weight in the last pass, so that their contexts are 0: causal-renorm rounded all that
 * are seen to 0, linear had too little to divide by, any other kind saw no score but -inf. */
struct attn_lost { size_t rows, seq, head, row; int layer; };       /* the rest: which was the first; rows 0: none */
struct attn_lost attn_run_lost(const struct attn_run *r);
void attn_run_free(struct attn_run *r);                             /* NULL is fine */

/* All of it for one sentence; `cross`, unless NULL, is sentence 1 of the run, and sentence 0 looks at its keys.  Of the
 * plan threads and bf16 count. */
int attn_run_tokens(const struct attn_model *m, const struct attn_plan *how, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs, struct attn_err *err);
/* Whether it would take them: how many they are, and their ids.  For those who write before they run. */
int attn_run_check_tokens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_tokens *cross,
                          struct attn_err *err);

int attn_threads_available(void);       /* affinity and cgroup quota */
const char *attn_cpu_target(void);      /* which instruction set computes: "avx512", "avx2", "generic"; in bf16
                                         * with tiles "avx512-amx", with dot products "avx512-bf16" */

/* ---- predicting ------------------------------------------------------------------------ */

/* The natural logarithm of a token's softmax over logits[V], in double precision.  Logits that are
 * not finite are an error. */
int attn_logprob(double *out, const float *logits, size_t V, int32_t id, struct attn_err *err);

/* The log-probability of each token given those before it; out[0] is 0.  A text longer than n_ctx is
 * read in windows that start `stride` tokens apart, 1 to n_ctx - 1: whatever is not in the first has
 * at least n_ctx - stride tokens before it, and is scored once.  kind NULL: the model's own attention; `beside` observes
 * all windows, unless it is NULL. */
int attn_score(double *out, const struct attn_model *m, const int32_t *ids, size_t n, size_t stride, const struct attn_kind *kind,
               int threads, bool bf16, const struct attn_observer *beside, struct attn_err *err);

/* Chooses tokens.  Temperature 0 takes the likeliest; else probabilities are the softmax of
 * logits / temperature over the top_k likeliest (0: all) of which the fewest stay that together reach
 * top_p of the whole (1: all).  Of equals the lower id comes first. */
struct attn_sampler;
struct attn_sampling { double temperature, top_p; size_t top_k; uint64_t seed; };
int attn_sampler_new(struct attn_sampler **out, size_t V, const struct attn_sampling *how, struct attn_err *err);
void attn_sampler_free(struct attn_sampler *s);                     /* NULL is fine */
/* One draw: the next number of the seed's sequence.  Logits that are not finite are an error. */
int attn_sampler_next(struct attn_sampler *s, int32_t *id, const float *logits, struct attn_err *err);

/* ---- attention over plain arrays ------------------------------------------------------- */

struct attn_attention {
    size_t batch, H, Hkv, Tq, Tk, dh, dv;
    size_t pos;                         /* of the first query among the keys */
    float scale;                        /* scores = dots * scale, where the kind says nothing else */
    struct attn_kind kind;              /* ATTN_MODEL: ATTN_FULL */
    const uint8_t *mask;                /* ATTN_MASKED: [Tq, Tk], not 0 = may look */
    bool refuse_empty;                  /* a row that sees nothing, or is lost: error, else all zeros */
    float *dots, *scores, *pattern;     /* [batch, H, Tq, Tk] or NULL; linear has a pattern only */
    int threads;
};
/* context [batch, H, Tq, dv] from q [batch, H, Tq, dh], k [batch, Hkv, Tk, dh], v [batch, Hkv, Tk, dv]. */
int attn_attention(float *context, const float *q, const float *k, const float *v,
                   const struct attn_attention *a, struct attn_err *err);

/* ---- what to show, and how ------------------------------------------------------------- */

/* Which activations, layers and heads of a model: --show, --layer and --head as the command
 * takes them; NULL is the default (pattern,context; all; all).  kind NULL: the model's own attention. */
struct attn_select;
int attn_select_new(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind, const char *show,
                    const char *layers, const char *heads, struct attn_err *err);
void attn_select_free(struct attn_select *s);

/* What a run of one sentence of p->rows tokens takes that shows `what`, without making it. */
struct attn_cost {
    uint64_t memory, scratch;           /* bytes; scratch is the part of memory for bands of attention and logits */
    uint64_t activations, numbers;      /* shown */
    uint64_t npy, csv;                  /* bytes of them as .npy; as CSV, an estimate */
};
int attn_cost_of(struct attn_cost *out, const struct attn_model *m, const struct attn_select *what, const struct attn_plan *p,
                 struct attn_err *err);

/* How matrices are drawn; all zero is the default. */
struct attn_picture_opts {
    const char *palette;                /* viridis (NULL), magma, cividis, gray, balance */
    const char *scale;                  /* "linear" (NULL), "log", "row": each row against its largest number */
    bool hide_first;                    /* leave column 0 blank and out of the scale; nothing is renormalised */
    size_t cell;                        /* pixels a number takes, on a terminal columns; 0: as fits */
    int colors;                         /* of a terminal: 0 (shades), 256, 1 << 24 */
};

struct attn_sink_opts {
    const char *format;                 /* text json ndjson csv tidy npy npz term png svg html */
    const char *path;                   /* NULL or "-": standard output */
    const struct attn_model *model;
    const struct attn_select *select;
    const struct attn_tokens *tokens;   /* of sentence 0 of the run, which is shown */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    const struct attn_tokens *cross;    /* of sentence 1, whose keys it looks at: k and v are hers; NULL: its own */
    const char *cross_text; size_t cross_len;
    const struct attn_tokenizer *tokenizer; /* to spell the likeliest next tokens; may be NULL */
    const char *command;                /* canonical command line, for the manifest */
    struct attn_kind kind;              /* of attention, for titles and documents */
    int threads;                        /* 0: as many as this process may use; the bytes are the same */
    int precision;                      /* text only */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    size_t limit;                       /* text only: summarise beyond so many numbers; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
};
/* A sink is an observer that writes.  Files appear under their names when finished, and not at
 * all when the sink is closed before. */
struct attn_sink;
int attn_sink_open(struct attn_sink **out, const struct attn_sink_opts *o, struct attn_err *err);
struct attn_observer attn_sink_observer(struct attn_sink *s);
int attn_sink_finish(struct attn_sink *s, struct attn_err *err);
void attn_sink_close(struct attn_sink *s);                          /* NULL is fine */

/* ---- many sentences -------------------------------------------------------------------- */

/* The part of an input that one of `count` processes takes, index 0..count-1: of N records those in
 * [N*index/count, N*(index+1)/count), or with stride each count-th one.  Zeroed: all of it. */
struct attn_share { uint64_t index, count; bool stride; };
/* "2/7"; "auto": what Slurm, Open MPI or PMI say in their variables, as `get`, such as getenv, knows them.
 * Leaves stride alone. */
int attn_share_parse(struct attn_share *out, const char *text, char *(*get)(const char *name), struct attn_err *err);

/* Sentences out of a file, one after the other, in memory of the longest one; see `batch` in the manual. */
struct attn_records_opts {
    const char *path;                   /* NULL or "-": standard input */
    const char *format;                 /* text ndjson csv tsv; NULL: what the path ends in, else text */
    const char *column;                 /* csv, tsv: where the text is, by name or else by index; NULL: "text", or the only one */
    bool headless;                      /* csv, tsv: the first row is a record, too */
    struct attn_share share;
    bool (*stop)(void *self);           /* asked some times a second while input is awaited; NULL: never stop */
    void *self;
};
struct attn_record {
    uint64_t number, line;              /* in the whole input, from 0; where it begins, from 1 */
    const char *id; size_t id_len;      /* what the input calls it, which others may be called, too; NULL: nothing */
    bool id_is_number;                  /* of JSON, as written there; else the id is a string */
    const char *text; size_t text_len;  /* UTF-8; a NUL is a character like any other.  NULL: ids or an error */
    const int32_t *ids; size_t n;
    const char *error;                  /* NULL, or what is wrong with it, without file and line */
};
enum attn_records_event { ATTN_RECORDS_NEXT, ATTN_RECORDS_END, ATTN_RECORDS_STOPPED };

struct attn_records;
/* Reads nothing of a pipe yet.  A share without stride is counted first, which takes a regular file. */
int attn_records_open(struct attn_records **out, const struct attn_records_opts *o, struct attn_err *err);
void attn_records_close(struct attn_records *r);                    /* NULL is fine */
/* What `out` points to lives until the next call here.  Fails only where there is no going on. */
int attn_records_next(struct attn_records *r, struct attn_record *out, enum attn_records_event *what, struct attn_err *err);
/* Passes over records of the share, without a look into them, until one numbered `to` or above comes next. */
int attn_records_skip(struct attn_records *r, uint64_t to, struct attn_err *err);
/* Whether attn_records_next has something to say at once; takes in what there is to read. */
bool attn_records_ready(struct attn_records *r);
const char *attn_records_format(const struct attn_records *r);      /* "text", "ndjson"... */
const char *attn_records_path(const struct attn_records *r);        /* for messages; "standard input" */
/* Of the whole input; UINT64_MAX: not known before the end is seen. */
uint64_t attn_records_total(const struct attn_records *r);
uint64_t attn_records_blank(const struct attn_records *r);          /* lines passed over so far as they were blank */
/* Bytes of the input read so far and all it has; 0: not known. */
uint64_t attn_records_bytes(const struct attn_records *r, uint64_t *all);

/* A model over many sentences.  Each becomes a record of the output, in the order of the input, and those that
 * cannot be run become records that say why. */
struct attn_batch_state {
    uint64_t records, failed;           /* done, earlier runs included */
    uint64_t before;                    /* of them by earlier runs */
    uint64_t tokens;                    /* of this run */
    uint64_t total;                     /* of this share; UINT64_MAX: not known */
    uint64_t read, all;                 /* bytes of the input; all 0: not known */
    bool complete;                      /* else it was stopped and can be continued */
    bool unread;                        /* complete, as nobody reads on */
};
struct attn_batch_option { const char *name, *value; };
struct attn_batch_opts {
    const struct attn_model *model;
    const char *tokenizer;              /* the model whose tokenizer it is; opened when there is a text */
    const struct attn_select *select;
    const struct attn_records_opts *records;    /* its stop is asked between passes, too */
    struct attn_encode_opts encode;
    const char *format;                 /* ndjson (NULL), tidy, summary: a stream; csv, npy, npz, png, svg: a directory with one
                                         * a record; stack: a directory with one array a name */
    const char *path;                   /* NULL or "-": standard output, of streams */
    const char *summary;                /* also a summary, in this file; NULL: none */
    const struct attn_batch_option *options; size_t n_options;    /* what changes a number or a file, as it was given */
    const char *command;                /* canonical command line, for manifests */
    struct attn_picture_opts picture;
    struct attn_plan plan;              /* all but rows, seqs and keys; at any number of threads the bytes are the same */
    bool resume, force;                 /* continue an output; start anew over one that was not finished */
    bool fail_fast;                     /* the first bad record is an error */
    void (*progress)(void *self, const struct attn_batch_state *state);     /* after each pass; may be NULL */
    void (*failed)(void *self, const struct attn_record *r, const char *why);   /* in order; may be NULL */
    void *self;
};
int attn_batch(struct attn_batch_state *out, const struct attn_batch_opts *o, struct attn_err *err);

/* What it would be: reads all of the input, and runs some of it to tell how long it takes. */
struct attn_batch_estimate {
    uint64_t records, failed, tokens;
    uint64_t numbers, bytes;            /* shown; bytes of the output, an estimate */
    uint64_t memory;                    /* bytes, about */
    double seconds;                     /* about; 0: nothing to run */
};
int attn_batch_estimate(struct attn_batch_estimate *out, const struct attn_batch_opts *o, struct attn_err *err);

/* Joins outputs of batches that are the shards of one into what one process would have written, byte for byte,
 * once it is sure that they are all of them and were made alike. */
struct attn_merge_opts {
    const char *const *shard; size_t n; /* paths of the outputs, in any order */
    const char *path;                   /* NULL or "-": standard output, of streams */
    const char *summary;                /* their summaries, joined; NULL: not asked for */
};
int attn_merge(const struct attn_merge_opts *o, struct attn_err *err);

/* ---- saved activations ----------------------------------------------------------------- */

/* The activations of one run: read back from what a run wrote, or kept while a model runs. */
struct attn_dump;
/* A directory of .npy or .csv files or its manifest.json, an .npz archive, one .npy or .csv file, the JSON document or
 * the tidy table of a run. */
int attn_dump_open(struct attn_dump **out, const char *path, struct attn_err *err);
/* `cross` and `how` are those of attn_run_tokens; `beside` observes, too, unless it is NULL. */
int attn_dump_run(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                  const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *how,
                  const struct attn_observer *beside, struct attn_err *err);
void attn_dump_free(struct attn_dump *d);                           /* NULL is fine */
size_t attn_dump_tokens(const struct attn_dump *d);                 /* 0: not known */
/* The text of a token, NUL-terminated; NULL: only the id is known. */
const char *attn_dump_token(const struct attn_dump *d, size_t i, int32_t *id, size_t *len);

/* Pictures of what a dump holds. */
struct attn_plot_opts {
    const char *format;                 /* term png svg html */
    const char *path;                   /* NULL or "-": standard output */
    const char *title;
    const char *show, *layers, *heads;  /* as attn_select_new takes them, but names are those in the dump; show NULL: pattern,
                                         * or everything where there is none */
    int width;                          /* columns of the terminal; 0: no limit */
    size_t frames;                      /* of what was watched in training: times side by side, at most; 0: 8 */
    struct attn_picture_opts picture;
};
int attn_plot(const struct attn_dump *d, const struct attn_plot_opts *o, struct attn_err *err);

/* ---- comparing ------------------------------------------------------------------------- */

enum attn_diff_kind {
    ATTN_DIFF_SAME, ATTN_DIFF_CLOSE,    /* bit for bit; within the tolerance */
    ATTN_DIFF_NUMBERS, ATTN_DIFF_SHAPE, ATTN_DIFF_ONLY_A, ATTN_DIFF_ONLY_B
};
struct attn_diff_row {
    const char *name;                   /* lives as long as both dumps */
    int act, layer;                     /* act -1: no activation of ours */
    enum attn_diff_kind kind;
    int ndim[2]; size_t shape[2][8];    /* of a and of b */
    /* The rest of numbers that could be compared. */
    size_t count, differing;            /* numbers; those beyond the tolerance */
    double max_abs, mean_abs;
    double nmse;                        /* mean square of the difference over the variance of b */
    uint64_t max_ulp;                   /* float32 numbers between the two, at most */
    size_t at[3]; float a, b;           /* head, row and column of the largest difference */
};
struct attn_diff_opts {
    double atol, rtol;                  /* they agree when |a - b| <= atol + rtol * |b| */
    bool exact;                         /* ... or only when their bits do */
    const struct attn_model *model_a, *model_b; /* their weights help to find a cause; may be NULL */
};
/* b is the reference.  An error when there is no name that both have. */
struct attn_diff;
int attn_diff_new(struct attn_diff **out, const struct attn_dump *a, const struct attn_dump *b,
                  const struct attn_diff_opts *o, struct attn_err *err);
void attn_diff_free(struct attn_diff *d);                           /* NULL is fine */
/* In the order of the forward pass; names that are none of ours come last. */
const struct attn_diff_row *attn_diff_rows(const struct attn_diff *d, size_t *n);
const struct attn_diff_row *attn_diff_first(const struct attn_diff *d);         /* NULL: nothing differs */
/* Why the first one may differ, in words that call the sides A and B; kind, unless NULL, gets one word for scripts.
 * NULL: it looks like no mistake we know. */
const char *attn_diff_cause(const struct attn_diff *d, const char **kind);

/* ---- explaining ------------------------------------------------------------------------ */

#define ATTN_KEY_LARGEST SIZE_MAX
struct attn_explain_opts {
    size_t layer, head, query, key;     /* which weight; key ATTN_KEY_LARGEST: the query's largest */
    const struct attn_tokens *cross;    /* the keys are those of this other text; NULL: of the sentence itself */
    bool all;                           /* long vectors are not abridged */
    const char *format;                 /* text md html; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int precision;                      /* digits after the point */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color;                         /* text only */
    int threads;
    struct attn_kind kind;              /* of attention */
    const struct attn_observer *beside; /* observes the run; NULL: nobody */
    const char *run;                    /* the command line "attn-cli run ..." for the same input, to be quoted; NULL: none */
};
/* How one attention weight and the context vector of its query come about, step by step, with the numbers of a run. */
int attn_explain(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_explain_opts *o,
                 struct attn_err *err);
/* From the sentence of an article to its context vectors, and which of its printed numbers each step gives.
 * "life"; layer, head, query and key are the article's. */
int attn_explain_article(const char *article, const struct attn_explain_opts *o, struct attn_err *err);

/* ---- comparing kinds of attention ------------------------------------------------------ */

struct attn_variants_opts {
    const char *kinds;                  /* as attn_kind_parse takes them, with blanks or commas between; NULL: one of each */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    size_t layer, head;                 /* whose pattern is drawn; compared are all */
    const char *format;                 /* text, json, or a picture: term png svg html; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text and term; 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    int threads;
    bool bf16;
    const struct attn_observer *beside; /* observes all runs; NULL: nobody */
};
/* One sentence under each kind, on the same weights: what changes against the model's own attention, what it costs,
 * how long it takes. */
int attn_variants(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_variants_opts *o,
                  struct attn_err *err);

/* ---- making models --------------------------------------------------------------------- */

struct attn_init_opts {
    const char *config; size_t config_len; /* text of a config.json of any family */
    const char *config_name;            /* what messages call it; NULL: config */
    const char *draw;                   /* native models: how each tensor is drawn, see the help of init; NULL: as torch
                                         * builds modules.  Other families: norms ones, biases zeros, all else normal(0, 0.02) */
    uint64_t seed;
    bool scalar;                        /* torch's code path without AVX2 */
    const char *dtype;                  /* "F32", "F16", "BF16" */
    const char *vocab; size_t vocab_len;/* text of vocab.json, or NULL */
};
/* Writes config.json, model.safetensors and, where one is given, vocab.json into directory `path`. */
int attn_init(const char *path, const struct attn_init_opts *o, struct attn_err *err);

/* ---- training -------------------------------------------------------------------------- */

struct attn_train_opts {
    const char *text; size_t text_len;  /* <|endoftext|> parts documents */
    const char *also; size_t also_len;  /* more to train on, none of it held out; NULL: nothing */
    /* What a new training needs; of one that goes on it must be the same, or NULL. */
    const char *tokenizer;              /* directory with vocab.json and, for BPE, merges.txt: they are copied */
    const char *config; size_t config_len; const char *config_name; /* text of a config.json of our own format; what
                                         * messages call it, NULL: config */
    const char *draw;                   /* as attn_init_opts has it; NULL: normal(0,0.02), less for what a branch adds */
    /* Text of a train.json, the second on top of the first; NULL: as it was, or the defaults. */
    const char *settings; size_t settings_len; const char *settings_name;
    const char *changes; size_t changes_len;
    bool resume;                        /* go on from the checkpoint in the directory; without one begin */
    int threads;                        /* 0: as many as this process may use */
};
struct attn_train_state {
    size_t step, steps;                 /* done; in all */
    size_t tokens, step_tokens;         /* predicted so far; in the last step */
    size_t parameters, text_tokens, also_tokens, held_out_tokens;
    double lr, loss, gradient;          /* of the last step */
    double held_out, bits_per_byte;     /* after it; NaN: not measured */
};

/* A training in directory `path`, which holds the model it makes (config.json, vocab.json, merges.txt, model.safetensors),
 * train.json, checkpoint.safetensors, loss.csv and loss.png.  Each step depends on those before, the seed and the texts alone:
 * threads and interruptions change no bit. */
struct attn_train;
/* Fails where a training is, or another process writes one: what took hours is not written over. */
int attn_train_spare(const char *path, struct attn_err *err);
bool attn_train_exists(const char *path);                           /* a checkpoint is there */
int attn_train_may_begin(const char *path, struct attn_err *err);   /* fails where a model is that no training made */
/* The settings and, where it is given, the config by themselves: what can be wrong with them before there is a vocabulary. */
int attn_train_check(const struct attn_train_opts *o, struct attn_err *err);
int attn_train_open(struct attn_train **out, const char *path, const struct attn_train_opts *o, struct attn_err *err);
void attn_train_close(struct attn_train *t);                        /* without saving; NULL is fine */
void attn_train_get(const struct attn_train *t, struct attn_train_state *out);
/* One step, and the held-out loss when it is due.  An error names the step; what was saved stays. */
int attn_train_step(struct attn_train *t, struct attn_err *err);
/* The checkpoint, the model and the curve as they are now, each whole or not at all. */
int attn_train_save(struct attn_train *t, struct attn_err *err);
/* As it is now, until the next step. */
const struct attn_model *attn_train_model(const struct attn_train *t);

struct attn_train_watch_opts {
    const char *text; size_t len;       /* a sentence */
    const char *show, *layers, *heads;  /* as attn_select_new takes them; show NULL: pattern */
    size_t every;                       /* steps, at least 1; the first and the last besides */
    int threads;
};
/* From now on notes activations of a sentence, and saves them with the rest: watch/NAME.npy, whose first axis is time,
 * watch/steps.npy and watch/manifest.json.  attn_plot draws them side by side.  Call it before the first step. */
int attn_train_watch(struct attn_train *t, const struct attn_train_watch_opts *o, struct attn_err *err);

/* The loss of a model and its gradient by each of its tensors, which are left as they are.  rows: tokens of all sentences
 * together, at most.  The model must outlive it. */
struct attn_gradient;
int attn_gradient_new(struct attn_gradient **out, const struct attn_model *m, size_t rows, int threads, struct attn_err *err);
void attn_gradient_free(struct attn_gradient *g);                   /* NULL is fine */
/* Of n sentences of T[i] tokens, one after the other in ids: the mean of -log p(token given those before it in its sentence),
 * over all tokens but the first ones, as the model predicts them when all are read at once.  A loss that is not finite is an
 * error that names the place. */
int attn_gradient_run(struct attn_gradient *g, double *loss, const int32_t *ids, const size_t *T, size_t n, struct attn_err *err);
/* Of the last run: by tensor i of attn_model_tensor, in its layout; the length of all of it as one vector. */
const float *attn_gradient_of(const struct attn_gradient *g, size_t tensor, size_t *count);
double attn_gradient_norm(const struct attn_gradient *g);
/* As .safetensors, float32 under the tensors' own names; path NULL or "-": standard output. */
int attn_gradient_save(const struct attn_gradient *g, const char *path, struct attn_err *err);

/* ---- measuring ------------------------------------------------------------------------- */

/* What this machine can do at most, to hold what was measured against. */
enum attn_limit {
    ATTN_LIMIT_F32, ATTN_LIMIT_BF16,    /* operations a second: multiply-adds in registers that wait for nothing, by the
                                         * instructions that products in float32 and in bf16 use */
    ATTN_LIMIT_PRODUCTS,                /* the same of the inner loop of products in float32, of what the nearest cache holds:
                                         * many processors lower their clock for arithmetic on what is loaded */
    ATTN_LIMIT_READ,                    /* bytes a second read from memory behind the caches */
    ATTN_LIMIT_WRITE                    /* bytes a second written to new files, one a thread, by write() */
};
struct attn_limits;                     /* the threads, and the memory to read */
/* dir: where the files of ATTN_LIMIT_WRITE go, each for as long as it is measured. */
int attn_limits_new(struct attn_limits **out, const char *dir, struct attn_err *err);
void attn_limits_free(struct attn_limits *l);                       /* NULL is fine */
/* A short measurement, some 10 ms, to be repeated. */
int attn_limits_measure(double *out, struct attn_limits *l, enum attn_limit which, int threads, struct attn_err *err);
size_t attn_limits_caches(const struct attn_limits *l);             /* bytes of the last-level caches; 0: not known */
size_t attn_limits_buffer(const struct attn_limits *l);             /* bytes that ATTN_LIMIT_READ reads in turn */

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
