#include "text/subword.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "text/bytes.h"

/* ---- added tokens ----------------------------------------------------------------------
 *
 * Their text always becomes that token, whatever the merges say.  Where several match, the longest wins.  Tokens
 * marked special are found only when the caller asks; otherwise their text is ordinary text, within which no other
 * added token is looked for. */

bool attn_added_put(struct attn_added *a, const struct attn_added_token *t)
{
    struct attn_added_token *token = attn_grow(a->token, &a->room, a->n + 1, sizeof *token);
    if (!token) {
        free(t->text);
        return false;
    }
    a->token = token;
    token[a->n++] = *t;
    a->first[(unsigned char)t->text[0]] = true;
    a->ordinary = a->ordinary || !t->special;
    return true;
}

static int by_text(const void *a, const void *b)
{
    const struct attn_added_token *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* Call it after the last put and before the first search. */
static void sort_added(struct attn_added *a)
{
    if (a->n > 0)
        qsort(a->token, a->n, sizeof *a->token, by_text);
}

static void free_added(struct attn_added *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->token[i].text);
    free(a->token);
    *a = (struct attn_added){0};
}

/* Among the sorted tokens lo..hi, which agree in their first k bytes: the first one whose byte k is at least c. */
static size_t lower(const struct attn_added *a, size_t lo, size_t hi, size_t k, unsigned c)
{
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if ((unsigned char)a->token[middle].text[k] < c)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The longest token that s begins with, or NULL.  Narrows the range of tokens that agree with s byte by byte. */
static const struct attn_added_token *longest(const struct attn_added *a, const char *s, size_t len)
{
    const struct attn_added_token *best = NULL;
    size_t lo = 0, hi = a->n;
    for (size_t k = 0; k < len && s[k]; k++) {                      /* no token contains a NUL */
        unsigned c = (unsigned char)s[k];
        lo = lower(a, lo, hi, k, c);
        hi = lower(a, lo, hi, k, c + 1);
        if (lo == hi)
            break;
        if (a->token[lo].len == k + 1)
            best = &a->token[lo];
    }
    return best;
}

static size_t spaces_before(const char *s, size_t at, size_t least)
{
    while (at > least) {
        size_t last = at - 1, step;
        while (last > least && ((unsigned char)s[last] & 0xC0) == 0x80)
            last--;
        if (!attn_utf8_space(attn_utf8_next(s + last, at - last, &step)))
            break;
        at = last;
    }
    return at;
}

static size_t spaces_after(const char *s, size_t len, size_t at)
{
    size_t step;
    while (at < len && attn_utf8_space(attn_utf8_next(s + at, len - at, &step)))
        at += step;
    return at;
}

/* A match in a text.  It is zeroed before the first call for a text; each call continues after the last match. */
struct hit { const struct attn_added_token *token; size_t start, end, next; };

static bool find_added(const struct attn_added *a, const char *s, size_t len, bool special, struct hit *hit)
{
    size_t at = hit->next, done = hit->end;
    bool any = special ? a->n > 0 : a->ordinary;
    while (any && at < len) {
        const struct attn_added_token *t = a->first[(unsigned char)s[at]] ? longest(a, s + at, len - at) : NULL;
        if (t && (special || !t->special)) {
            *hit = (struct hit){
                .token = t, .start = t->lstrip ? spaces_before(s, at, done) : at, .next = at + t->len,
                .end = t->rstrip ? spaces_after(s, len, at + t->len) : at + t->len,
            };
            return true;
        }
        at += t ? t->len : 1;
    }
    return false;
}

/* ---- the tokenizer ----------------------------------------------------------------------- */

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_no_memory(err, name, "for a tokenizer");
}

void attn_subword_free(struct attn_subword *b)
{
    if (!b)
        return;
    attn_vocab_free(b->rules.vocab);
    attn_merges_free(&b->rules.merges);
    free_added(&b->added[0]);
    free_added(&b->added[1]);
    attn_readings_free(b->readings);
    free(b);
}

void attn_subword_set_bos(struct attn_subword *b, int32_t id)
{
    if (b->bos < 0 && attn_vocab_rank(b->rules.vocab, id) != SIZE_MAX)
        b->bos = id;
}

static void find_bytes(struct attn_bpe_rules *r)
{
    char spelled[4];
    for (int i = 0; i < 256; i++) {
        size_t len = attn_bytes_spell(spelled, (unsigned char)i);
        r->byte[i] = attn_vocab_own_id(r->vocab, spelled, len);
    }
}

int attn_subword_finish(struct attn_subword *b, const char *name, struct attn_err *err)
{
    find_bytes(&b->rules);
    sort_added(&b->added[0]);
    sort_added(&b->added[1]);
    b->readings = attn_readings_new(b->rules.vocab, b->added);
    return b->readings ? ATTN_OK : no_memory(name, err);
}

/* ---- encoding -------------------------------------------------------------------------- */

/* The state of an encoding.  Pieces lie in the view, the view in the section between two added tokens (which
 * is normalised if `mapped` is set), and the section in the text. */
struct encoder {
    const struct attn_subword *b;
    struct attn_encoding *out;
    struct attn_bpe bpe;
    struct attn_nfc nfc;                /* the normalised section */
    bool mapped, special;
    size_t section;                     /* where the section begins in the text */
    struct view { const char *s, *end; size_t at, lead; } view;     /* at: in the section; `lead`: bytes of a prefix */
    char *prefixed; size_t prefixed_room;
    struct attn_err *err;
};

static int no_memory_for_tokens(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the tokens of a text");
}

/* Converts a position in the section to one in the text. */
static size_t start_of(const struct encoder *e, size_t at)
{
    return e->section + (e->mapped ? attn_nfc_start(&e->nfc, at) : at);
}

static size_t end_of(const struct encoder *e, size_t at)
{
    return e->section + (e->mapped ? attn_nfc_end(&e->nfc, at) : at);
}

static size_t in_section(const struct encoder *e, const char *s)
{
    size_t at = (size_t)(s - e->view.s);
    return e->view.at + (at > e->view.lead ? at - e->view.lead : 0);
}

/* ---- pieces ---------------------------------------------------------------------------- */

static int lacks_byte(const struct encoder *e, const char *s)
{
    return attn_fail(e->err, ATTN_EFORMAT, "the vocabulary has no token for the byte 0x%02X at byte %zu of the text",
                     (unsigned char)*s, start_of(e, in_section(e, s)));
}

/* Sets the positions of the tokens that a piece has become. */
static void find_ranges(struct encoder *e, const char *s, const struct attn_piece_token *part, size_t n)
{
    struct attn_byte_range *range = e->out->range + e->out->n;
    size_t start, end = in_section(e, s);
    for (size_t i = 0; i < n; i++) {
        start = end;
        s += part[i].len;
        end = in_section(e, s);
        range[i] = (struct attn_byte_range){start_of(e, start), end_of(e, end)};
    }
}

static int encode_piece(struct encoder *e, const char *s, size_t len)
{
    const struct attn_piece_token *part;
    struct attn_encoding *out = e->out;
    size_t n;
    int rc = attn_bpe_encode(&e->bpe, s, len, (size_t)(e->view.end - s), &part, &n);
    if (rc == ATTN_EFORMAT)
        return lacks_byte(e, s + n);
    if (rc || !attn_encoding_reserve(out, n))
        return no_memory_for_tokens(e->err);
    for (size_t i = 0; i < n; i++)
        out->id[out->n + i] = part[i].id;
    if (!out->ids_only)
        find_ranges(e, s, part, n);
    out->n += n;
    return ATTN_OK;
}

static int cut(struct encoder *e, size_t k, const char *s, size_t len);

/* Makes a space followed by s the new view. */
static bool prefix(struct encoder *e, const char *s, size_t len)
{
    char *t = attn_grow(e->prefixed, &e->prefixed_room, len + 1, 1);
    if (!t)
        return false;
    e->prefixed = t;
    t[0] = ' ';
    memcpy(t + 1, s, len);
    e->view = (struct view){.s = t, .end = t + len + 1, .at = in_section(e, s), .lead = 1};
    return true;
}

static int cut_prefixed(struct encoder *e, size_t k, const char *s, size_t len)
{
    struct view outer = e->view;
    if (!prefix(e, s, len))
        return no_memory_for_tokens(e->err);
    int rc = cut(e, k, e->view.s, len + 1);
    e->view = outer;
    return rc;
}

/* Applies the cuts from number k on.  Each cut sees a piece of the one before as if it were the whole text. */
static int cut(struct encoder *e, size_t k, const char *s, size_t len)
{
    const struct attn_subword *b = e->b;
    int rc = ATTN_OK;
    if (b->prefix && k == b->prefix_cut && s[0] != ' ')
        return cut_prefixed(e, k, s, len);
    if (k == b->cuts)
        return encode_piece(e, s, len);
    for (size_t n; len > 0 && !rc; s += n, len -= n) {
        n = attn_pretoken_next(b->cut[k], s, len);
        rc = cut(e, k + 1, s, n);
    }
    return rc;
}

/* ---- between added tokens -------------------------------------------------------------- */

static int encode_view(struct encoder *e, const char *s, size_t len, size_t at)
{
    e->view = (struct view){.s = s, .end = s + len, .at = at};
    return cut(e, 0, s, len);
}

/* Calls `encode` for the text between added tokens and adds those tokens. */
static int encode_around(struct encoder *e, const struct attn_added *added, const char *s, size_t len,
                         int (*encode)(struct encoder *e, const char *s, size_t len, size_t at))
{
    struct hit hit = {0};
    size_t done = 0;
    int rc = ATTN_OK;
    while (!rc && find_added(added, s, len, e->special, &hit)) {
        if (done < hit.start)
            rc = encode(e, s + done, hit.start - done, done);
        if (!rc && !attn_encoding_add(e->out, hit.token->id, start_of(e, hit.start), end_of(e, hit.end)))
            rc = no_memory_for_tokens(e->err);
        done = hit.end;
    }
    return !rc && done < len ? encode(e, s + done, len - done, done) : rc;
}

static int encode_section(struct encoder *e, const char *s, size_t len, size_t at)
{
    if (e->b->nfc) {
        if (!attn_nfc_make(&e->nfc, s, len))
            return no_memory_for_tokens(e->err);
        s = e->nfc.text;
        len = e->nfc.len;
    }
    e->section = at;
    e->mapped = e->b->nfc;
    int rc = encode_around(e, &e->b->added[1], s, len, encode_view);
    e->section = 0;
    e->mapped = false;
    return rc;
}

/* ---- the whole text -------------------------------------------------------------------- */

static int add_around(struct attn_encoding *out, const struct attn_around *a, size_t at, struct attn_err *err)
{
    for (size_t i = 0; i < a->n; i++)
        if (!attn_encoding_add(out, a->id[i], at, at))
            return no_memory_for_tokens(err);
    return ATTN_OK;
}

static int add_before(struct attn_encoding *out, const struct attn_subword *b, enum attn_bos bos, struct attn_err *err)
{
    struct attn_around only = {.id = {b->bos}, .n = 1};
    if (bos != ATTN_BOS_YES || b->before.n > 0)
        return add_around(out, &b->before, 0, err);
    if (b->bos < 0)
        return attn_fail(err, ATTN_EFORMAT, "the model's files do not say which token begins a text (BOS)");
    return add_around(out, &only, 0, err);
}

int attn_subword_encode(struct attn_encoding *out, const struct attn_subword *b, const char *text, size_t len,
                           const struct attn_encode_opts *o, struct attn_err *err)
{
    struct encoder e = {.b = b, .out = out, .bpe = {.rules = &b->rules}, .special = o->special, .err = err};
    size_t valid = attn_utf8_valid(text, len);
    bool around = o->bos == ATTN_BOS_YES || (o->bos == ATTN_BOS_AUTO && len > 0);
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    int rc = around ? add_before(out, b, o->bos, err) : ATTN_OK;
    if (!rc)
        rc = encode_around(&e, &b->added[0], text, len, encode_section);
    if (!rc && around)
        rc = add_around(out, &b->after, len, err);
    attn_bpe_free(&e.bpe);
    attn_nfc_free(&e.nfc);
    free(e.prefixed);
    return rc;
}

/* ---- as a tokenizer -------------------------------------------------------------------- */

static int encode(struct attn_encoding *out, const void *self, const char *text, size_t len, const struct attn_encode_opts *o,
                  struct attn_err *err)
{
    return attn_subword_encode(out, self, text, len, o, err);
}

static size_t text_room(const void *self, size_t rank)
{
    return attn_readings_room(((const struct attn_subword *)self)->readings, rank);
}

static size_t spell(const void *self, size_t rank, char *out)
{
    return attn_readings_spell(((const struct attn_subword *)self)->readings, rank, out);
}

static const char *text_of(const void *self, size_t rank, size_t *len)
{
    return attn_readings_at(((const struct attn_subword *)self)->readings, rank, len);
}

static void free_bytes(void *self) { attn_subword_free(self); }

static const struct attn_tokenizing by_bytes = {
    .kind = "bpe", .encode = encode, .room = text_room, .spell = spell, .text = text_of, .close = free_bytes};

int attn_tokenizer_subword(struct attn_tokenizer **out, struct attn_subword *b, const char *name, struct attn_err *err)
{
    return attn_tokenizer_new(out, &by_bytes, b, b->rules.vocab, name, err);
}
