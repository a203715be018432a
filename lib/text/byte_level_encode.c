#include "base/err.h"
#include "base/utf8.h"
#include "text/byte_level.h"
#include "text/nfc.h"

#include <stdlib.h>
#include <string.h>

/* The state of an encoding.  Pieces lie in the view, the view in the stretch (which is normalised if `mapped` is
 * set), and the stretch in the text. */
struct encoder {
    const struct attn_byte_level *b;
    struct attn_spans *out;
    struct attn_bpe bpe;
    struct attn_nfc nfc;                /* the normalised stretch */
    bool mapped, special;
    size_t stretch;                     /* where the stretch begins in the text */
    struct view { const char *s, *end; size_t at, lead; } view;     /* at: in the stretch; `lead`: bytes of a prefix */
    char *prefixed; size_t prefixed_room;
    struct attn_err *err;
};

static int no_memory(struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory for the tokens of a text");
}

/* Converts a position in the stretch to one in the text. */
static size_t start_of(const struct encoder *e, size_t at)
{
    return e->stretch + (e->mapped ? attn_nfc_start(&e->nfc, at) : at);
}

static size_t end_of(const struct encoder *e, size_t at)
{
    return e->stretch + (e->mapped ? attn_nfc_end(&e->nfc, at) : at);
}

static size_t in_stretch(const struct encoder *e, const char *s)
{
    size_t at = (size_t)(s - e->view.s);
    return e->view.at + (at > e->view.lead ? at - e->view.lead : 0);
}

/* ---- pieces ---------------------------------------------------------------------------- */

static int lacks_byte(const struct encoder *e, const char *s)
{
    return attn_fail(e->err, ATTN_EFORMAT, "the vocabulary has no token for the byte 0x%02X at byte %zu of the text",
                     (unsigned char)*s, start_of(e, in_stretch(e, s)));
}

/* Sets the positions of the tokens that a piece has become. */
static void find_places(struct encoder *e, const char *s, const struct attn_piece_token *part, size_t n)
{
    struct attn_byte_range *place = e->out->place + e->out->n;
    size_t start, end = in_stretch(e, s);
    for (size_t i = 0; i < n; i++) {
        start = end;
        s += part[i].len;
        end = in_stretch(e, s);
        place[i] = (struct attn_byte_range){start_of(e, start), end_of(e, end)};
    }
}

static int encode_piece(struct encoder *e, const char *s, size_t len)
{
    const struct attn_piece_token *part;
    struct attn_spans *out = e->out;
    size_t n;
    int rc = attn_bpe_encode(&e->bpe, s, len, (size_t)(e->view.end - s), &part, &n);
    if (rc == ATTN_EFORMAT)
        return lacks_byte(e, s + n);
    if (rc || !attn_spans_reserve(out, n))
        return no_memory(e->err);
    for (size_t i = 0; i < n; i++)
        out->id[out->n + i] = part[i].id;
    if (!out->ids_only)
        find_places(e, s, part, n);
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
    e->view = (struct view){.s = t, .end = t + len + 1, .at = in_stretch(e, s), .lead = 1};
    return true;
}

static int cut_prefixed(struct encoder *e, size_t k, const char *s, size_t len)
{
    struct view outer = e->view;
    if (!prefix(e, s, len))
        return no_memory(e->err);
    int rc = cut(e, k, e->view.s, len + 1);
    e->view = outer;
    return rc;
}

/* Applies the cuts from number k on.  Each cut sees a piece of the one before as if it were the whole text. */
static int cut(struct encoder *e, size_t k, const char *s, size_t len)
{
    const struct attn_byte_level *b = e->b;
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
    struct attn_added_hit hit = {0};
    size_t done = 0;
    int rc = ATTN_OK;
    while (!rc && attn_added_find(added, s, len, e->special, &hit)) {
        if (done < hit.start)
            rc = encode(e, s + done, hit.start - done, done);
        if (!rc && !attn_spans_add(e->out, hit.token->id, start_of(e, hit.start), end_of(e, hit.end)))
            rc = no_memory(e->err);
        done = hit.end;
    }
    return !rc && done < len ? encode(e, s + done, len - done, done) : rc;
}

static int encode_stretch(struct encoder *e, const char *s, size_t len, size_t at)
{
    if (e->b->nfc) {
        if (!attn_nfc_make(&e->nfc, s, len))
            return no_memory(e->err);
        s = e->nfc.text;
        len = e->nfc.len;
    }
    e->stretch = at;
    e->mapped = e->b->nfc;
    int rc = encode_around(e, &e->b->added[1], s, len, encode_view);
    e->stretch = 0;
    e->mapped = false;
    return rc;
}

/* ---- the whole text -------------------------------------------------------------------- */

static int add_around(struct attn_spans *out, const struct attn_around *a, size_t at, struct attn_err *err)
{
    for (size_t i = 0; i < a->n; i++)
        if (!attn_spans_add(out, a->id[i], at, at))
            return no_memory(err);
    return ATTN_OK;
}

static int add_before(struct attn_spans *out, const struct attn_byte_level *b, enum attn_bos bos, struct attn_err *err)
{
    struct attn_around only = {.id = {b->bos}, .n = 1};
    if (bos != ATTN_BOS_YES || b->before.n > 0)
        return add_around(out, &b->before, 0, err);
    if (b->bos < 0)
        return attn_fail(err, ATTN_EFORMAT, "the model's files do not say which token begins a text (BOS)");
    return add_around(out, &only, 0, err);
}

int attn_byte_level_encode(struct attn_spans *out, const struct attn_byte_level *b, const char *text, size_t len,
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
        rc = encode_around(&e, &b->added[0], text, len, encode_stretch);
    if (!rc && around)
        rc = add_around(out, &b->after, len, err);
    attn_bpe_free(&e.bpe);
    attn_nfc_free(&e.nfc);
    free(e.prefixed);
    return rc;
}
