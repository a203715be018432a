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
 * attn_ask.h has what a model can be asked: edits, metrics, what heads do, gradients, patching.  attn_tools.h has the
 * rest: output in every format, pictures, many sentences, saved activations, training. All three also define the types
 * that all parts of the library share, so they include none of their headers.
 *
 * Dimensions have the letters papers use: L layers, T tokens, d width of the residual stream, H query heads,
 * Hkv key/value heads, dh width of a head's queries and keys, dv width of its values, m width of the MLP,
 * V size of the vocabulary.  Arrays are row-major float32, last index fastest.
 *
 * A function that can fail returns 0 (ATTN_OK) or an error code.  The code is also left in `err`,
 * with a message that names the file, the place, what was found and what was expected.
 * Nothing here prints or exits.  Models, tokenizers, selections, dumps and what attn_encode returns do not
 * change once they are there and may be shared between threads.  Everything else (runs, caches, samplers,
 * sinks, records, comparisons, trainings, gradients) belongs to one thread at a time.
 *
 * A child of fork() may use what it finds open of models, tokenizers, selections and dumps, and make
 * whatever it likes for itself.  Runs, sinks, trainings and gradients have threads and files of
 * the process that made them: in the child using one is an error (ATTN_EUSAGE), and freeing it leaves
 * the parent's files alone.
 *
 * Structs that may get more members end with `reserved`, so that these do not change their size: zero in those a caller
 * fills in, as with `= {0}`, where zero is the default of each member, and nothing to read in those that are results.
 * Structs without it stay as they are.
 *
 * The environment variables ATTN_SIMD and LIBXSMM_TARGET choose the instructions that compute; a value
 * that means nothing is an error (ATTN_EFORMAT) when a model is opened, or attention or training begins.
 * */
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
const char *attn_version(void);         /* of the library that is linked, and after + its commit: 0.1.0+5f07a8f6c1d2 */
/* How many bytes a struct of attn.h, attn_ask.h or attn_tools.h has in the library that is linked, by its name, as in
 * "attn_plan"; 0: it has none of that name whose members are public.  For those who declare structs in another
 * language, to compare. */
size_t attn_sizeof(const char *name);

/* ---- errors ---------------------------------------------------------------------------- */

/* Functions that can fail return ATTN_OK, which is 0, or why not, and leave a message in `err`; err may be NULL.  What
 * they would have made is then NULL, and may be given to the function that frees it. */
enum attn_status { ATTN_OK, ATTN_EIO, ATTN_EFORMAT, ATTN_EUSAGE, ATTN_ENOMEM };
struct attn_err { enum attn_status code; char msg[512]; };

/* ---- models ---------------------------------------------------------------------------- */

/* A `name` with a slash is a directory.  Any other is looked for, in this order, among the built-in
 * models, in the directories that the environment variable ATTN_MODEL_PATH lists (separated by colons),
 * among the installed models, and as ./name.  NULL is the default model. */
struct attn_model;
int attn_model_open(struct attn_model **out, const char *name, struct attn_err *err);
void attn_model_close(struct attn_model *m);                        /* NULL is fine */

struct attn_info {                      /* the strings live as long as the model */
    const char *name, *path, *family;   /* path NULL: a built-in model */
    const char *position, *norm, *mlp, *mask, *scale;       /* as a config.json of our own format spells them */
    bool residual, output_projection, tied, unembed;        /* residual connections; a matrix after the heads' contexts;
                                         * the output layer is the embedding matrix; there is an output layer */
    size_t L, d, H, Hkv, dh, dv, m, V, n_ctx;       /* n_ctx: the longest text, in tokens */
    bool parallel;                      /* attention and MLP read the same input and their outputs are added */
    size_t rotary;                      /* how many of a head's dh numbers rotary positions rotate; 0: none */
    size_t window, local;               /* in `local` of the layers a query sees only the last `window` keys; or 0 */
    double norm_eps, rope_theta;
    size_t tensors;
    uint64_t parameters, bytes;         /* how many numbers all tensors hold; how many bytes they take in the file */
    uint64_t reserved[4];
};
void attn_model_info(const struct attn_model *m, struct attn_info *out);

struct attn_tensor_info { const char *name, *dtype; int ndim; size_t shape[8]; uint64_t bytes; };
/* Describes tensor i < attn_info.tensors, in the order in which the forward pass uses them. */
void attn_model_tensor(const struct attn_model *m, size_t i, struct attn_tensor_info *out);

/* Identifies the model by a hash, "sha256:" or "sampled:" and 64 hex digits.  With `full` (sha256) every byte of its
 * files is hashed; else, which is fast, the config, the tokenizer, and of the weights only the headers and both ends
 * of each tensor. */
int attn_model_digest(const struct attn_model *m, bool full, char out[80], struct attn_err *err);
/* A contradiction in the model's files and how it was resolved; NULL: there is none.  Lives as long as the model. */
const char *attn_model_warning(const struct attn_model *m);
/* Checks that every weight is finite; the error names the first tensor and index that is not. */
int attn_model_check(const struct attn_model *m, struct attn_err *err);
/* Compares all numbers of an output layer with those of the embedding to which config.json ties it, of which opening a
 * large model compares only the first and the last; a difference becomes the model's warning, unless it has one. */
void attn_model_compare(struct attn_model *m);
/* Fails unless the model has the ids of all tokens; the error says what it can of why it has not. */
struct attn_tokens;
int attn_model_check_tokens(const struct attn_model *m, const struct attn_tokens *t, struct attn_err *err);

/* Fails, and says why, unless the model can predict the next token: it needs an output layer, and no token may see
 * later ones with this kind of attention (NULL: the model's own). */
struct attn_kind;
int attn_model_predicts(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err);
/* Fails also unless a text can be continued from cached keys and values: tokens that are appended must not change
 * any earlier row, not even by a rounding. */
int attn_model_continues(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err);
/* Whether keys that were cached when a text had `have` tokens still fit when it has n.  Where the angles of rotary
 * positions depend on the length of the text ("dynamic", "longrope") they may not: empty the cache, by attn_kv_copy of
 * 0 tokens, and run all. */
bool attn_model_keeps(const struct attn_model *m, size_t have, size_t n);
/* Whether `id` marks the end of a text (eos_token_id). */
bool attn_model_ends(const struct attn_model *m, int32_t id);

/* Names of the built-in models, the default first; the last name is followed by NULL. */
const char *const *attn_model_builtin(void);

/* ---- text and tokens ------------------------------------------------------------------- */

struct attn_token {
    int32_t id;
    bool known;                         /* false: made from an id alone; what follows is empty */
    bool named;                         /* the text labels an id: it is from no source text, and start = end = 0 */
    const char *text, *raw;             /* the text it stands for; its spelling in the vocabulary: \u0120is for " is" */
    size_t text_len, raw_len;
    size_t start, end;                  /* it comes from bytes start..end of the source text, without end */
    unsigned char part, parts;          /* which of so many tokens that are one character together, from 1; 0: it is no
                                         * part of one */
    char whole[6];                      /* that character */
};
/* What people read of a token that is known: its text, or where it is a part of a character, that one and which part:
 * "短·1/3".  Not NUL-terminated; buf has room for what is not there yet. */
enum { ATTN_READING = 40 };
const char *attn_token_reading(char buf[ATTN_READING], const struct attn_token *t, size_t *len);
struct attn_tokens { size_t n; struct attn_token *tok; };           /* all in one block of memory */
void attn_tokens_free(struct attn_tokens *t);                       /* NULL is fine */

/* Opens the tokenizer of a model, named as attn_model_open takes it.  Weights are not needed: the directory must have
 * tokenizer.json, or vocab.json and merges.txt (byte-level BPE), or tokenizer.model (sentencepiece), or tokenizer.bin
 * (llama2.c), the first of them that is there, or vocab.json alone (words); config.json and tokenizer_config.json, and
 * beside merges.txt added_tokens.json, are read if they are there. */
struct attn_tokenizer;
int attn_tokenizer_open(struct attn_tokenizer **out, const char *model, struct attn_err *err);
/* The same of a model that is open. */
int attn_model_tokenizer(struct attn_tokenizer **out, const struct attn_model *m, struct attn_err *err);
void attn_tokenizer_close(struct attn_tokenizer *t);                /* NULL is fine */
/* "word", "char", "bpe", "unigram", "wordlevel", "wordpiece" */
const char *attn_tokenizer_kind(const struct attn_tokenizer *t);
size_t attn_tokenizer_size(const struct attn_tokenizer *t);         /* entries of the vocabulary */
/* The text a token stands for, perhaps only part of a UTF-8 character.  NULL if there is no such id.  Lives as long as
 * the tokenizer does. */
const char *attn_tokenizer_text(const struct attn_tokenizer *t, int32_t id, size_t *len);
/* Its spelling in the vocabulary, likewise. */
const char *attn_tokenizer_raw(const struct attn_tokenizer *t, int32_t id, size_t *len);

enum attn_bos { ATTN_BOS_AUTO, ATTN_BOS_YES, ATTN_BOS_NO };
struct attn_encode_opts {
    bool special;                       /* <|endoftext|> and the like become special tokens; else they are plain text */
    bool empty;                         /* AUTO adds its tokens to an empty text, too */
    /* AUTO adds the tokens before and after the text that the tokenizer's own files ask for; YES adds a
     * beginning-of-sequence token (BOS) in any case; NO adds none.  Added tokens have start = end. */
    enum attn_bos bos;
    uint64_t reserved[2];
};
/* Splits a text into tokens, which own all they point to.  An empty text gives no tokens, except an added BOS.
 * Where the tokenizer changes the text first (NFC), start..end of a token cover all that it comes from.  With o NULL
 * all options are zero. */
int attn_encode_with(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                     const struct attn_encode_opts *o, struct attn_err *err);
/* The same with all options zero. */
int attn_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                struct attn_err *err);
/* The same for long texts, several times as fast: it gives the ids alone, malloc'd, or NULL when there are none. */
int attn_encode_ids(int32_t **ids, size_t *n, const struct attn_tokenizer *t, const char *text, size_t len,
                    const struct attn_encode_opts *o, struct attn_err *err);
/* Turns ids back into text, malloc'd and NUL-terminated.  Words are separated by one space; for other tokenizers their
 * files say how it is done: the texts of the tokens follow one another, perhaps without a space that was put in front,
 * and bytes that make no UTF-8 become U+FFFD. */
int attn_decode(char **out, size_t *len, const struct attn_tokenizer *t, const int32_t *ids, size_t n,
                struct attn_err *err);
/* Tokens that have an id and no text. */
int attn_tokens_from_ids(struct attn_tokens **out, const int32_t *ids, size_t n, struct attn_err *err);
/* Reads ids as they are typed, "5,1,2": blanks may stand for commas.  *ids is malloc'd; an empty list has none. */
int attn_ids_parse(int32_t **ids, size_t *n, const char *list, struct attn_err *err);
/* The ids of tokens, malloc'd. */
int attn_tokens_to_ids(int32_t **out, const struct attn_tokens *t, struct attn_err *err);

/* How many terminal columns UTF-8 text takes: 2 for a wide East Asian character, 0 for a combining mark. */
size_t attn_utf8_width(const char *s, size_t len);
/* Makes the first character of s (len > 0) safe to print on a terminal, so that a text cannot control it.  `form` gets
 * the character itself or, if it is invisible or changes the writing direction, its number (\x1B, \u{202E}); of invalid
 * UTF-8, the number of one byte.  Returns how many bytes of s that stands for. */
enum { ATTN_VISIBLE = 16 };
size_t attn_utf8_visible(char form[ATTN_VISIBLE], const char *s, size_t len);

/* How many bytes of a text that is still being generated can be printed already.  Held back are bytes at its end that
 * may be the beginning of a character or of the string `stop` (NULL: none), and all from the first `stop` on: if the
 * text has one, *stopped becomes true. */
size_t attn_text_ready(const char *text, size_t len, const char *stop, bool *stopped);

/* ---- activations and observers --------------------------------------------------------- */

/* Activations, in the order of the forward pass: ROW(id, name, heads, rows, columns, needs, title, help).  "blocks.*."
 * is any block; a model without the part that it needs does not have it; help NULL: its title says all.  From RESULT
 * on they are derived from those above, for those who ask for them: nothing reads these, so they cannot be edited. */
#define ATTN_ACT_ROWS(ROW) \
    ROW(EMBED, "embed", NONE, T, D, ANY, "token embeddings", NULL) \
    ROW(POS_EMBED, "pos_embed", NONE, T, D, POSITIONS, "position embeddings", NULL) \
    ROW(RESID_PRE, "blocks.*.resid_pre", NONE, T, D, ANY, "residual stream before the block", NULL) \
    ROW(NORM1, "blocks.*.norm1", NONE, T, D, NORM1, "input of attention", NULL) \
    ROW(Q, "blocks.*.attn.q", H, T, DH, ANY, "queries", "queries, after rotary positions, where the model has them") \
    ROW(K, "blocks.*.attn.k", HKV, TK, DH, ANY, "keys", "keys, after rotary positions, where the model has them") \
    ROW(V, "blocks.*.attn.v", HKV, TK, DV, ANY, "values", NULL) \
    ROW(DOTS, "blocks.*.attn.dots", H, T, TK, ANY, "dot products of queries and keys", \
        "q.k, neither scaled nor masked") \
    ROW(SCORES, "blocks.*.attn.scores", H, T, TK, ANY, "attention scores", "scaled and masked: -inf where hidden") \
    ROW(PATTERN, "blocks.*.attn.pattern", H, T, TK, ANY, "attention pattern", \
        "softmax of the scores: rows sum to 1, hidden keys are 0") \
    ROW(CONTEXT, "blocks.*.attn.context", NONE, T, HDV, ANY, "context vectors", \
        "the context vectors, always of all heads, side by side") \
    ROW(OUT, "blocks.*.attn.out", NONE, T, D, OUT, "output of attention", \
        "output of attention, after the output projection") \
    ROW(ADDED, "blocks.*.attn.added", NONE, T, D, APART, "what attention adds to the stream", \
        "what attention adds to the stream, where a norm or factor behind it makes that differ from its out") \
    ROW(RESID_MID, "blocks.*.resid_mid", NONE, T, D, MID, "residual stream between attention and MLP", NULL) \
    ROW(NORM2, "blocks.*.norm2", NONE, T, D, NORM2, "input of the MLP", NULL) \
    ROW(MLP_PRE, "blocks.*.mlp.pre", NONE, T, M, MLP, "MLP before its nonlinearity", NULL) \
    ROW(MLP_LINEAR, "blocks.*.mlp.linear", NONE, T, M, GATE, "MLP, linear branch", NULL) \
    ROW(MLP_POST, "blocks.*.mlp.post", NONE, T, M, MLP, "MLP after its nonlinearity", NULL) \
    ROW(MLP_OUT, "blocks.*.mlp.out", NONE, T, D, MLP, "output of the MLP", NULL) \
    ROW(MLP_ADDED, "blocks.*.mlp.added", NONE, T, D, MLP_APART, "what the MLP adds to the stream", \
        "what the MLP adds to the stream, where that differs from its out") \
    ROW(RESID_POST, "blocks.*.resid_post", NONE, T, BLOCK, ANY, "residual stream after the block", NULL) \
    ROW(NORM_FINAL, "norm_final", NONE, T, D, FINAL, "residual stream after the final norm", NULL) \
    ROW(LOGITS, "logits", NONE, T, V, UNEMBED, "logits", NULL) \
    ROW(RESULT, "blocks.*.attn.result", H, T, D, OUT, "part of each head in the output", \
        "each head's part of attn.out") \
    ROW(NORMS, "blocks.*.attn.norms", H, T, TK, ANY, "norms of the weighted values", \
        "pattern times the norm of what each value adds to attn.out") \
    ROW(ROLLOUT, "blocks.*.rollout", NONE, T, TK, ANY, "attention rollout", \
        "0.5 mean pattern + 0.5 I, multiplied over the layers up to this one") \
    ROW(LENS, "blocks.*.lens", NONE, T, V, UNEMBED, "logits of the residual stream", \
        "the logits if the model ended with this layer; in a page, a table of the likeliest tokens") \
    ROW(MASK, "blocks.*.attn.mask", NONE, T, TK, ANY, "attention mask", "which keys a query sees: 1 or 0") \
    ROW(MASK_INF, "blocks.*.attn.mask_inf", NONE, T, TK, ANY, "attention mask, as added to scores", \
        "the mask as it is added to scores: 0 or -inf") \
    ROW(DIVISORS, "blocks.*.attn.divisors", H, T, ONE, ANY, "divisors of renormalising", \
        "of --attention causal-renorm: what each row of weights is divided by")
#define ATTN_ACT_ID(id, ...) ATTN_ACT_##id,
enum attn_act { ATTN_ACT_ROWS(ATTN_ACT_ID) ATTN_ACTS, ATTN_ACT_DERIVED = ATTN_ACT_RESULT };
#undef ATTN_ACT_ID
/* How a list of activations selects this one in every layer: "pattern", or, where another has that last name, too,
 * "blocks.*.attn.out".  Returns buf. */
enum { ATTN_ACT_TEXT = 48 };
const char *attn_act_text(char buf[ATTN_ACT_TEXT], int act);
/* Its shape and what it is: "[H,T,dh] queries, ...".  Returns buf. */
enum { ATTN_ACT_HELP = 160 };
const char *attn_act_help(char buf[ATTN_ACT_HELP], int act);
/* The activation and layer of a whole name, as in "blocks.0.attn.pattern"; -1: it is no activation.  *layer is -1
 * outside the blocks. */
int attn_act_find(const char *name, int *layer);

/* A probe shows an observer one band of a named activation of one sentence: heads head0.. and rows row0.. of it.
 * Element (h, t, j) of the band is data[h * ld_head + t * ld + j]; arrays without a head axis have heads = 1.  A probe
 * and its data are valid only during the call. */
struct attn_probe {
    const char *name;                   /* "blocks.0.attn.pattern" */
    int act, layer;                     /* enum attn_act; layer -1: outside the blocks */
    size_t seq;                         /* which sentence of the run, from 0 */
    int ndim; size_t shape[3];          /* of the whole activation: [T,n] or [H,T,n] */
    size_t head0, heads, row0, rows, cols, ld_head, ld;     /* the band; floats from head to head, from row to row */
    const float *data;
    const double *f64;                  /* the same numbers before they were rounded to float32, laid out alike: of
                                         * numbers that were given (attn_attend_open); NULL: they were computed so */
};
/* Copies the band to its place in `to`, the whole activation: the bands of a pass fill it. */
void attn_probe_copy(float *to, const struct attn_probe *p);

enum {                                  /* what an observer wants of an activation */
    ATTN_WATCH = 1,                     /* to see it */
    ATTN_EDIT = 2,                      /* to change it before the next step reads it */
    ATTN_WHOLE = 4,                     /* to get all heads and rows of a sentence in one band */
    ATTN_LAST = 8,                      /* of norm_final and logits each sentence's last row is enough: saves computing
                                         * the others, unless another observer wants them; then all come */
    ATTN_DERIVE = 16                    /* of a derived activation: to have it computed.  Without this flag the others
                                         * mean nothing there, so that who watches everything does not pay for these */
};

/* An observer watches or edits activations of a run.  `wants` is called once for each activation and layer, when the
 * run is planned, and returns the flags above.  In the forward pass, bands come one at a time, by ascending head, then
 * row. For each band all edits run first, in the order of the observers, then all watchers: these see what the next
 * step will read.  Watching changes no bit of any result.  If `edit` or `watch` returns non-zero, the run ends with the
 * error that it left in `err`.  After a pass in which dots overflowed (attn_run_overflow), even one that failed later,
 * `overflow` is told so.  Members that are not used may be NULL. */
struct attn_lost;
struct attn_observer {
    unsigned (*wants)(void *self, int act, int layer);
    int (*edit)(void *self, const struct attn_probe *p, float *data, struct attn_err *err);
    int (*watch)(void *self, const struct attn_probe *p, struct attn_err *err);
    void *self;
    void (*overflow)(void *self, const struct attn_lost *rows);
    uint64_t reserved[2];
};

/* ---- kinds of attention ---------------------------------------------------------------- */

/* Which keys a query sees, and how attention weights are computed from them.  q is the position of a query's token, k
 * that of a key's; w, s, r, b and seed are members of struct attn_kind. */
enum attn_form {
    ATTN_MODEL,                         /* what the model's config says for each layer */
    ATTN_FULL,                          /* sees all keys */
    ATTN_CAUSAL,                        /* sees k <= q */
    ATTN_CAUSAL_RENORM,                 /* sees k <= q, but masks after the softmax: this goes over all keys, then the
                                         * weights of later keys become 0 and the others are divided by their sum */
    ATTN_WINDOW,                        /* sees 0 <= q - k < w */
    ATTN_STRIDED,                       /* sees k <= q where q - k < w or (q - k) % s == 0 */
    ATTN_RANDOM,                        /* sees the window, and min(r, n) random ones of the n = q - w + 1 keys before
                                         * it, the same in every head: the list 0, 1, ..., n - 1 is shuffled from its
                                         * start, item i swapped with item i + next % (n - i), next from splitmix64
                                         * seeded with seed + q */
    ATTN_LINEAR,                        /* no softmax and no scale: the weight is phi(q).phi(k) divided by the sum of
                                         * these over all keys seen, where phi(x) = x + 1 for x > 0, else exp(x).  Where
                                         * the sum is below FLT_MIN all weights are 0: the row is lost */
    ATTN_BLOCK,                         /* causal or full, but b keys at a time, with a running maximum and sum */
    ATTN_MASKED                         /* sees what attn_attention.mask allows: for attn_attention only */
};
/* What dots are multiplied by: the layer's own scale, 1, 1 / sqrt(dh), attn_kind.scale. */
enum attn_scaling { ATTN_SCALE_MODEL, ATTN_SCALE_NONE, ATTN_SCALE_SQRT, ATTN_SCALE_VALUE };

/* A kind of attention; all zero is the model's own.  Any form but ATTN_MODEL replaces the mask of every layer. */
struct attn_kind {
    enum attn_form form;
    size_t w, s, r, b; uint64_t seed;   /* the numbers the form needs: at least 1, only r may be 0 */
    bool causal;                        /* linear and block see k <= q only.  Runs set it from the model */
    enum attn_scaling scaling; double scale;    /* scale: of ATTN_SCALE_VALUE */
    /* Each weight becomes 0 with probability `dropout` (0 or more, below 1), and is divided by 1 - dropout otherwise.
     * Which ones become 0 depends on dropout_seed, layer, head, q and k alone: let S(x) be the first number of
     * splitmix64 seeded with x and u = S(S(S(S(dropout_seed + layer) + head) + q) + k); the weight becomes 0 if the 53
     * high bits of u, read as a number from 0 to 1, are below dropout. */
    double dropout; uint64_t dropout_seed;
    uint64_t reserved[2];
};
/* The kinds that have a text are the rows of one table, in the order of enum attn_form. */
struct attn_kind_method;
struct attn_kind_row {
    const char *form;                   /* how it is written: its name, or with its numbers, as in "window:W" */
    const char *note;                   /* some words for a list of forms; NULL: none */
    const char *help;                   /* which keys a query sees, and how weights are computed */
    const struct attn_kind_method *method;      /* for the library */
};
/* The row after this one, the first for NULL; NULL: there are no more. */
const struct attn_kind_row *attn_kind_next(const struct attn_kind_row *row);
/* Reads a form and the numbers for its letters, as in "window:4", or a name alone.  The rest of *k stays. */
int attn_kind_parse(struct attn_kind *k, const char *text, struct attn_err *err);
/* Sets what dots are multiplied by: "none" (1), "sqrt" (1 over the square root of a head's width) or a number, which
 * linear attention cannot have. */
int attn_scale_parse(struct attn_kind *k, const char *text, struct attn_err *err);
enum { ATTN_KIND_TEXT = 96 };
/* the text that parses to k; returns buf */
const char *attn_kind_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k);
/* How the kind differs from the model's own, for titles: ", window:4, scale 0.5, dropout 0.1 (seed 7)", or "" if it
 * does not; returns buf. */
enum { ATTN_KIND_NOTE = 192 };
const char *attn_kind_note(char buf[ATTN_KIND_NOTE], const struct attn_kind *k);

/* ---- running --------------------------------------------------------------------------- */

/* The key/value cache of one sentence: with it, a later pass continues the sentence without computing what came before
 * again.  capacity: tokens it can hold; length: tokens it holds. */
struct attn_kv;
int attn_kv_new(struct attn_kv **out, const struct attn_model *m, size_t capacity, struct attn_err *err);
void attn_kv_free(struct attn_kv *kv);                              /* NULL is fine */
size_t attn_kv_length(const struct attn_kv *kv);
/* Makes `to` the same as the first n tokens of `from`, a cache of the same model, or the same one; `to` has room for
 * them.  Later passes continue from there.  What linear attention caches cannot be cut: n is all of `from` then. */
int attn_kv_copy(struct attn_kv *to, const struct attn_kv *from, size_t n, struct attn_err *err);

struct attn_seq {                       /* one sentence of a forward pass */
    size_t T;                           /* its tokens in this pass */
    struct attn_kv *kv;                 /* the cache it continues, its own alone; NULL: it starts at position 0 */
    const struct attn_seq *keys;        /* cross-attention: it looks at all keys and values of this other sentence of
                                         * the same pass (neither may have a cache), and its own k and v are not
                                         * announced; else NULL */
    uint64_t reserved[2];
};
/* Whether a run copies weights into panels, the order in which they are multiplied fastest, with the same bits: where
 * twice the memory that this takes is available, the weights once more. */
enum attn_copies {
    ATTN_COPY_REPAID,                   /* after some thousand rows, or some tens of tokens that continue a text: as
                                         * many again are likely to come */
    ATTN_COPY_NEVER,
    ATTN_COPY_FIRST,                    /* when the first pass begins */
};
struct attn_plan {
    size_t rows, seqs;                  /* the most tokens (of all sentences together) and sentences of a pass */
    size_t keys;                        /* the most tokens of a sentence with a cache, cached ones included; less than
                                         * rows: as many */
    int threads;                        /* 0: as many as this process may use */
    bool bf16;                          /* products with weights round both factors to bf16; their sums, attention and
                                         * everything else stay in float32 */
    enum attn_copies copies;            /* of weights; zero: once they are repaid */
    struct attn_kind kind;              /* of attention, for all sentences; zero: the model's own.  With attn_seq.keys
                                         * the form must be that too; scaling and dropout apply to both sentences */
    uint64_t reserved[4];
};

/* Reads what a plan says of how to compute, as in "threads=2,kind=window:4,scale=sqrt": threads, compute (f32 or bf16),
 * kind, scale (none, sqrt or a number), dropout, seed (of dropout), each of which changes that member alone.  NULL and
 * "" change nothing, nor does a text with an error. */
int attn_plan_parse(struct attn_plan *p, const char *text, struct attn_err *err);

/* Allocates everything that passes within the plan need and asks the observers what they want: a forward pass allocates
 * nothing.  The observers are copied. */
struct attn_run;
int attn_run_new(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                 const struct attn_observer *obs, size_t n_obs, struct attn_err *err);
/* Runs n sentences through the model; ids are their tokens, one after the other.  The calling thread computes alongside
 * the run's own threads: with less than 192 KB of its stack left, this and calls like it fail.  Blocks after the last
 * one that an observer reads are not run, unless logits or a cache need them. */
int attn_run_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n,
                     struct attn_err *err);
/* The same without what comes before block `layer`.  x[i] is what that block reads of sentence i, its resid_pre of
 * [T, width] numbers; for layer L it is what the final norm reads.  If x has the numbers of a whole run, everything
 * after it has the bits of that run; x may also be its last rows alone, where a cache has the earlier ones.  The cache
 * then counts these rows, but blocks before `layer` have put nothing of them there: restore it before another pass. */
int attn_run_restart(struct attn_run *r, size_t layer, const float *const *x, const struct attn_seq *seq, size_t n,
                     struct attn_err *err);
/* Lost rows of attention in the last pass.  All weights of a lost row are 0, and so is its context: causal-renorm
 * rounded the weights of all keys it sees to 0, linear would have divided by too small a sum, or, in any other kind, no
 * key is seen: a mask or an observer hides all of them. */
/* rows: how many; the others say where the first one is */
struct attn_lost { size_t rows, seq, head, row; int layer; };
struct attn_lost attn_run_lost(const struct attn_run *r);
/* Rows of attention in the last pass with a dot, or with that dot times the scale, beyond what a float32 can hold: inf,
 * or NaN, which is inf - inf.  They are judged as computed, before a mask or an observer changes them; of linear
 * attention, the sum a row is divided by.  NaN that comes of them in later layers counts, too.  Weights become what
 * follows: NaN beside inf, 0 for -inf, but NaN if all are -inf. */
struct attn_lost attn_run_overflow(const struct attn_run *r);
bool attn_run_overflowed(const struct attn_run *r, size_t seq);     /* whether sentence seq of it has such rows */
void attn_run_free(struct attn_run *r);                             /* NULL is fine */

/* Runs one sentence, from attn_run_new to attn_run_free.  Unless `cross` is NULL, it looks at the keys and values of
 * that other sentence, which observers see as seq 1.  Of the plan, only threads, bf16 and kind matter. */
int attn_run_tokens(const struct attn_model *m, const struct attn_plan *plan, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs,
                    struct attn_err *err);
/* Fails where attn_run_tokens would because of the number of tokens or of an id: for callers who must know before they
 * begin to write. */
int attn_run_check_tokens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_tokens *cross,
                          struct attn_err *err);

int attn_threads_available(void);       /* how many threads this process may use: CPU affinity and cgroup quota */
const char *attn_cpu_target(void);      /* what computes: "avx512", "avx2", "neon" or "generic"; on processors with
                                         * bf16 products "avx512-amx" (by tiles) or "avx512-bf16" (by dot products) */

/* ---- predicting ------------------------------------------------------------------------ */

/* The natural logarithm of the probability of token `id`: the softmax over logits[V], in double precision.  A logit of
 * -inf rules a token out; NaN or inf, -inf for all tokens, and no tokens, are an error, here and below. */
int attn_logprob(double *out, const float *logits, size_t V, int32_t id, struct attn_err *err);

/* The likeliest next tokens: out[*n], at most k of them, likeliest first, of equally likely ones the lower id first. */
struct attn_likely { int32_t id; double p; };       /* p: its probability, from a softmax in double precision */
int attn_logits_top(struct attn_likely *out, size_t *n, size_t k, const float *logits, size_t V, struct attn_err *err);

struct attn_score_opts {                /* all zero is the default */
    size_t stride;                      /* see below; 0: half of n_ctx */
    struct attn_kind kind;              /* of attention; zero: the model's own */
    int threads;                        /* 0: as many as this process may use */
    bool bf16;                          /* as in attn_plan */
    const struct attn_observer *observers; size_t n_observers;      /* of all windows */
    uint64_t reserved[4];
};
/* out[n]: the log-probability of each token given those before it; out[0] is 0.  A text longer than n_ctx is read in
 * overlapping windows of n_ctx tokens that start `stride` tokens apart, 1 to n_ctx - 1.  Each token is scored once, and
 * beyond the first window at least n_ctx - stride tokens before it are seen.  o NULL: the defaults. */
int attn_score(double *out, const struct attn_model *m, const int32_t *ids, size_t n, const struct attn_score_opts *o,
               struct attn_err *err);

/* Chooses the next token.  Temperature 0 takes the likeliest.  Otherwise one is drawn from the softmax of
 * logits / temperature over the top_k likeliest tokens (0: all), of which only the fewest are kept that have top_p of
 * their probability (1: all).  Of equally likely tokens the lower id comes first. */
struct attn_sampler;
struct attn_sampling { double temperature, top_p; size_t top_k; uint64_t seed; };
int attn_sampler_new(struct attn_sampler **out, size_t V, const struct attn_sampling *sampling, struct attn_err *err);
void attn_sampler_free(struct attn_sampler *s);                     /* NULL is fine */
/* Chooses one token from logits[V], with the next random number of the seed's sequence. */
int attn_sampler_next(struct attn_sampler *s, int32_t *id, const float *logits, struct attn_err *err);

/* ---- attention over plain arrays ------------------------------------------------------- */

struct attn_attention {
    size_t batch, H, Hkv, Tq, Tk, dh, dv;
    size_t pos;                         /* position of the first query; the first key is at 0 */
    float scale;                        /* scores = dots * scale, unless kind.scaling says otherwise */
    struct attn_kind kind;              /* ATTN_MODEL means ATTN_FULL, or with kind.causal ATTN_CAUSAL */
    const uint8_t *mask;                /* for ATTN_MASKED: [Tq, Tk], not 0 where the query sees the key */
    bool refuse_empty;                  /* a row that sees no key, or is lost, is an error; else its context is 0 */
    float *dots, *scores, *pattern;     /* also results, [batch, H, Tq, Tk] or NULL; linear has only a pattern */
    int threads;                        /* 0: as many as this process may use */
    struct attn_lost *overflow;         /* also a result, or NULL: rows whose dots overflow, as in attn_run_overflow */
    uint64_t reserved[4];
};
/* Computes context [batch, H, Tq, dv] from q [batch, H, Tq, dh], k [batch, Hkv, Tk, dh] and v [batch, Hkv, Tk, dv]. */
int attn_attention(float *context, const float *q, const float *k, const float *v,
                   const struct attn_attention *a, struct attn_err *err);

/* ---- what to show ------------------------------------------------------------------- */

/* Which activations, layers and heads of a model to show.  The texts are those of the command's options --show, --layer
 * and --head; NULL is the default (pattern,context; all layers; all heads).  kind NULL: the model's own attention. */
struct attn_select;
int attn_select_new(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind,
                    const char *show, const char *layers, const char *heads, struct attn_err *err);
void attn_select_free(struct attn_select *s);                       /* NULL is fine */
/* The one head that --layer and --head mean, the first if both are NULL; a set of them is refused. */
int attn_select_one(size_t *layer, size_t *head, const struct attn_model *m, const char *layers, const char *heads,
                    struct attn_err *err);
/* Says that a wildcard finds nothing, which is no error if another name does; NULL: all find something.  Lives as long
 * as the selection. */
const char *attn_select_note(const struct attn_select *s);
/* Whether an activation of a layer (-1: outside the blocks) is selected: for the `wants` of an observer of your own,
 * which then returns ATTN_WATCH | ATTN_DERIVE. */
bool attn_select_wants(const struct attn_select *s, int act, int layer);

/* What it would cost to run one sentence of p->rows tokens and show `what` of it; nothing is run. */
struct attn_cost {
    uint64_t memory, scratch;           /* bytes; scratch is the part of memory for bands of attention and logits */
    uint64_t activations, numbers;      /* how many are shown, and how many numbers they have */
    uint64_t npy, csv;                  /* bytes of these as .npy files; as CSV, an estimate */
    uint64_t copies;                    /* bytes of weights that a run copies, sooner or later: see attn_copies */
    double libxsmm;                     /* share of the products of two rows and more that libxsmm's kernels compute */
    uint64_t reserved[2];
};
int attn_cost_of(struct attn_cost *out, const struct attn_model *m, const struct attn_select *what,
                 const struct attn_plan *p, struct attn_err *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
