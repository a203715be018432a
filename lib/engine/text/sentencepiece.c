/* sentencepiece.c - reads sentencepiece's tokenizer.model, a protocol buffer (sentencepiece_model.proto).
 *
 *     ModelProto      1 pieces (repeated), 2 trainer_spec, 3 normalizer_spec, 5 denormalizer_spec
 *     piece           1 piece, 2 score (float), 3 type
 *     trainer_spec    3 model_type, 24 treat_whitespace_as_suffix, 35 byte_fallback, 41 bos_id, 42 eos_id,
 *                     44 unk_surface
 *     normalizer_spec 2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces, 5 escape_whitespaces
 *
 * A field is a varint, number << 3 | wire type, and its value: a varint (0), 8 bytes (1), a length and as many
 * bytes (2), 4 bytes (5).  Fields that are not listed say nothing about tokens.  A length is believed only once its
 * bytes are there. */
#include "text/subword.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

enum { UNIGRAM = 1, BPE = 2 };

/* ---- fields ---------------------------------------------------------------------------- */

struct proto { const unsigned char *at, *end, *file; const char *name; struct attn_err *err; };
struct field { unsigned number, wire; uint64_t whole; const char *bytes; size_t len; };

static int malformed(const struct proto *p, const char *why)
{
    return attn_fail(p->err, ATTN_EFORMAT,
                     "%s: byte %zu: %s, expected a sentencepiece model", p->name, (size_t)(p->at - p->file), why);
}

static int read_varint(struct proto *p, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 70 && p->at < p->end; shift += 7) {
        unsigned char c = *p->at++;
        *out |= shift < 64 ? (uint64_t)(c & 0x7F) << shift : 0;
        if (c < 0x80)
            return ATTN_OK;
    }
    return malformed(p, "a number does not end");
}

static int read_value(struct proto *p, struct field *f)
{
    size_t left;
    if (f->wire == 0)
        return read_varint(p, &f->whole);
    if (f->wire != 1 && f->wire != 2 && f->wire != 5)
        return malformed(p, "a field of an unknown wire type");
    uint64_t len = f->wire == 1 ? 8 : 4;
    int rc = f->wire == 2 ? read_varint(p, &len) : ATTN_OK;
    left = (size_t)(p->end - p->at);
    if (!rc && len > left)
        rc = malformed(p, "a field is longer than what is left");
    if (rc)
        return rc;
    f->bytes = (const char *)p->at;
    f->len = (size_t)len;
    p->at += len;
    return ATTN_OK;
}

/* Reads the next field; *more is false at the end. */
static int next_field(struct proto *p, struct field *f, bool *more)
{
    uint64_t tag;
    *more = p->at < p->end;
    if (!*more)
        return ATTN_OK;
    int rc = read_varint(p, &tag);
    *f = (struct field){.number = (unsigned)(tag >> 3 & 0x1FFFFFFF), .wire = (unsigned)(tag & 7)};
    return rc ? rc : read_value(p, f);
}

/* Begins to read what is in a field. */
static int enter(const struct proto *outer, const struct field *f, struct proto *in)
{
    *in = *outer;
    if (f->wire != 2)
        return malformed(outer, "a number, expected a message");
    in->at = (const unsigned char *)f->bytes;
    in->end = in->at + f->len;
    return ATTN_OK;
}

/* ---- messages -------------------------------------------------------------------------- */

struct model {
    struct attn_subword *b;
    size_t score_room, type_room;
    uint64_t model_type;
    bool suffix, fallback, dummy, squeeze, escape;
    int64_t bos, eos;
    struct field map, unknown_text;
};

static int each_field(const struct proto *outer, const struct field *message, struct model *m,
                      int (*take)(struct proto *p, const struct field *f, struct model *m))
{
    struct proto p;
    struct field f;
    bool more = true;
    int rc = enter(outer, message, &p);
    while (!rc && (rc = next_field(&p, &f, &more)) == ATTN_OK && more)
        rc = take(&p, &f, m);
    return rc;
}

struct piece { struct field text; float score; uint64_t type; };

static int read_piece(const struct proto *outer, const struct field *message, struct piece *out)
{
    struct proto p;
    struct field f;
    bool more = true;
    int rc = enter(outer, message, &p);
    *out = (struct piece){.type = ATTN_PIECE_NORMAL};
    while (!rc && (rc = next_field(&p, &f, &more)) == ATTN_OK && more) {
        if (f.number == 1 && f.wire == 2) {
            out->text = f;
        } else if (f.number == 2 && f.wire == 5) {
            uint32_t bits;
            memcpy(&bits, f.bytes, sizeof bits);
            bits = le32toh(bits);
            memcpy(&out->score, &bits, sizeof bits);
        } else if (f.number == 3 && f.wire == 0) {
            out->type = f.whole;
        }
    }
    return rc;
}

static int check_piece(const struct proto *p, const struct piece *k, size_t n)
{
    const char *why = NULL;
    if (k->text.len == 0 || k->text.len > ATTN_PIECE_LONGEST)
        why = "is empty or has more than 4096 bytes";
    else if (!isfinite(k->score))
        why = "has a score that is no finite number";
    else if (k->type < ATTN_PIECE_NORMAL || k->type > ATTN_PIECE_BYTE)
        why = "has an unknown type";
    else if (k->type == ATTN_PIECE_BYTE && attn_byte_of(k->text.bytes, k->text.len) < 0)
        why = "is a byte that is not spelled <0xHH>";
    return why ? attn_fail(p->err, ATTN_EFORMAT, "%s: piece %zu %s", p->name, n, why) : ATTN_OK;
}

static int take_piece(const struct proto *p, const struct field *f, struct model *m)
{
    struct attn_subword *b = m->b;
    struct piece k;
    size_t n = attn_vocab_size(b->rules.vocab);
    int rc = read_piece(p, f, &k);
    if (rc || (rc = check_piece(p, &k, n)) ||
        (rc = attn_vocab_append(b->rules.vocab, k.text.bytes, k.text.len, p->name, p->err)))
        return rc;
    float *score = attn_grow(b->score, &m->score_room, n + 1, sizeof *score);
    b->score = score ? score : b->score;
    unsigned char *type = attn_grow(b->type, &m->type_room, n + 1, 1);
    b->type = type ? type : b->type;
    if (!score || !type)
        return attn_no_memory(p->err, p->name, "for its pieces");
    score[n] = k.score;
    type[n] = (unsigned char)k.type;
    return ATTN_OK;
}

static int take_trainer(struct proto *p, const struct field *f, struct model *m)
{
    (void)p;
    if (f->number == 44 && f->wire == 2)
        m->unknown_text = *f;
    if (f->wire != 0)
        return ATTN_OK;
    switch (f->number) {
    case 3: m->model_type = f->whole; break;
    case 24: m->suffix = f->whole != 0; break;
    case 35: m->fallback = f->whole != 0; break;
    case 41: m->bos = (int64_t)f->whole; break;
    case 42: m->eos = (int64_t)f->whole; break;
    default: break;
    }
    return ATTN_OK;
}

static int take_normalizer(struct proto *p, const struct field *f, struct model *m)
{
    (void)p;
    if (f->number == 2 && f->wire == 2)
        m->map = *f;
    else if (f->number == 3 && f->wire == 0)
        m->dummy = f->whole != 0;
    else if (f->number == 4 && f->wire == 0)
        m->squeeze = f->whole != 0;
    else if (f->number == 5 && f->wire == 0)
        m->escape = f->whole != 0;
    return ATTN_OK;
}

static int refuse_map(struct proto *p, const struct field *f, struct model *m)
{
    (void)m;
    if (f->number != 2 || f->len == 0)
        return ATTN_OK;
    return attn_fail(p->err, ATTN_EFORMAT,
                     "%s: a denormalizer with rules is not supported; token ids can be given with --ids",
                     p->name);
}

static int take_top(struct proto *p, const struct field *f, struct model *m)
{
    switch (f->number) {
    case 1: return take_piece(p, f, m);
    case 2: return each_field(p, f, m, take_trainer);
    case 3: return each_field(p, f, m, take_normalizer);
    case 5: return each_field(p, f, m, refuse_map);
    default: return ATTN_OK;
    }
}

/* ---- what follows from them ------------------------------------------------------------ */

/* Checks what sentencepiece does: one unknown piece, and all bytes or none. */
static int check_types(const struct proto *p, struct model *m)
{
    struct attn_subword *b = m->b;
    size_t unknown = 0, bytes = 0;
    for (size_t i = 0; i < attn_vocab_size(b->rules.vocab); i++) {
        bytes += b->type[i] == ATTN_PIECE_BYTE;
        if (b->type[i] != ATTN_PIECE_UNKNOWN)
            continue;
        b->rules.unknown = (int32_t)i;
        unknown++;
    }
    if (unknown != 1)
        return attn_fail(p->err, ATTN_EFORMAT,
                         "%s: %zu pieces are for what is unknown, expected one", p->name, unknown);
    if (bytes != (m->fallback ? 256 : 0))
        return attn_fail(p->err, ATTN_EFORMAT,
                         "%s: %zu pieces are bytes, expected %s since byte_fallback is %s", p->name, bytes,
                         m->fallback ? "256" : "none", m->fallback ? "set" : "not set");
    if (m->model_type != UNIGRAM && m->model_type != BPE)
        return attn_fail(p->err, ATTN_EFORMAT, "%s: model_type %llu is not supported, expected 1 (Unigram) or 2 (BPE); "
                                               "token ids can be given with --ids", p->name,
                         (unsigned long long)m->model_type);
    return ATTN_OK;
}

/* Control pieces are found in a text if the caller asks; user's pieces always, though Unigram finds them by itself. */
static bool add_tokens(struct model *m)
{
    struct attn_subword *b = m->b;
    bool ok = true;
    for (size_t i = 0; i < attn_vocab_size(b->rules.vocab) && ok; i++) {
        bool control = b->type[i] == ATTN_PIECE_CONTROL;
        if (!control && (b->type[i] != ATTN_PIECE_USER || m->model_type == UNIGRAM))
            continue;
        struct attn_added_token t = {.id = (int32_t)i, .special = control};
        const char *word = attn_vocab_at(b->rules.vocab, i, &t.len);
        if (t.len > ATTN_ADDED_LONGEST)
            continue;
        t.text = strdup(word);
        ok = t.text && attn_added_put(&b->added[!control], &t);
    }
    return ok;
}

/* The strings that normalisation leaves alone. */
static bool keep_users(struct model *m)
{
    struct attn_subword *b = m->b;
    size_t size = attn_vocab_size(b->rules.vocab), n = 0;
    if (!memchr(b->type, ATTN_PIECE_USER, size))
        return true;
    struct attn_str_view *s = malloc(size * sizeof *s);
    int32_t *id = malloc(size * sizeof *id);
    for (size_t i = 0; s && id && i < size; i++)
        if (b->type[i] == ATTN_PIECE_USER) {
            s[n].s = attn_vocab_at(b->rules.vocab, i, &s[n].len);
            id[n++] = (int32_t)i;
        }
    bool ok = s && id && attn_trie_make(&b->kept, s, id, n);
    free(s);
    free(id);
    return ok;
}

static int add_steps(const struct proto *p, struct model *m)
{
    struct attn_subword *b = m->b;
    struct attn_normal *n = attn_subword_normal(b, ATTN_NORMAL_SENTENCEPIECE);
    struct attn_decode_step *d = attn_subword_decode(b, ATTN_DECODE_SENTENCEPIECE);
    n->dummy = d->drop = m->dummy;
    n->dummy_behind = m->suffix;
    n->squeeze = d->squeeze = m->squeeze;
    n->escape = m->escape;
    d->find = strdup("\u2581");
    d->with = m->unknown_text.bytes ? strndup(m->unknown_text.bytes, m->unknown_text.len) : strdup(" \u2047 ");
    if (!d->find || !d->with || !keep_users(m) || !add_tokens(m))
        return attn_no_memory(p->err, p->name, "for its pieces");
    n->kept = b->kept.n > 0 ? &b->kept : NULL;
    return m->map.len > 0 ? attn_charsmap_read(&n->map, m->map.bytes, m->map.len, p->name, p->err) : ATTN_OK;
}

/* The user's pieces have about -0.1; sentencepiece computes it this way. */
static bool fill_unigram(struct model *m)
{
    struct attn_subword *b = m->b;
    struct attn_unigram *u = b->unigram = calloc(1, sizeof *u);
    size_t size = attn_vocab_size(b->rules.vocab);
    float most = FLT_MIN;
    if (!u || !(u->score = malloc(size * sizeof *u->score)))
        return false;
    for (size_t i = 0; i < size; i++)
        most = b->type[i] == ATTN_PIECE_NORMAL && b->score[i] > most ? b->score[i] : most;
    for (size_t i = 0; i < size; i++)
        u->score[i] = b->type[i] == ATTN_PIECE_USER ?
                      (double)((float)strlen(attn_vocab_at(b->rules.vocab, i, &(size_t){0})) * most) - 0.1 :
                      (double)b->score[i];
    u->vocab = b->rules.vocab;
    u->byte = m->fallback ? b->rules.byte : NULL;
    u->unknown = b->rules.unknown;
    u->single = true;
    return attn_unigram_index(u, b->type);
}

static int make_model(const struct proto *p, struct model *m)
{
    struct attn_bpe_rules *r = &m->b->rules;
    int rc = attn_vocab_index(r->vocab, p->name, p->err);
    if (rc || (rc = check_types(p, m)) || (rc = add_steps(p, m)))
        return rc;
    if (m->fallback)
        attn_bpe_rules_bytes(r);
    r->chars = m->model_type == BPE;
    r->fallback = m->fallback;
    r->score = m->b->score;
    r->type = m->b->type;
    r->unused = memchr(r->type, ATTN_PIECE_UNUSED, attn_vocab_size(r->vocab));
    if (!(r->chars ? attn_bpe_rules_index(r) : fill_unigram(m)))
        return attn_no_memory(p->err, p->name, "for its pieces");
    size_t size = attn_vocab_size(r->vocab);
    m->b->bos = m->bos >= 0 && (uint64_t)m->bos < size && r->type[m->bos] == ATTN_PIECE_CONTROL ? (int32_t)m->bos : -1;
    m->b->eos = m->eos >= 0 && (uint64_t)m->eos < size && r->type[m->eos] == ATTN_PIECE_CONTROL ? (int32_t)m->eos : -1;
    return attn_subword_finish(m->b, p->name, p->err);
}

int attn_sentencepiece_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err)
{
    const unsigned char *bytes = (const unsigned char *)file->text;
    struct proto p = {bytes, bytes + file->len, bytes, file->name, err};
    struct model m = {.b = attn_subword_new(), .model_type = UNIGRAM, .dummy = true, .squeeze = true, .escape = true,
                      .bos = 1, .eos = 2};
    struct field f;
    bool more = true;
    if (!m.b || !(m.b->rules.vocab = attn_vocab_new())) {
        attn_subword_free(m.b);
        return attn_no_memory(err, file->name, "for a tokenizer");
    }
    int rc = ATTN_OK;
    while (!rc && (rc = next_field(&p, &f, &more)) == ATTN_OK && more)
        rc = take_top(&p, &f, &m);
    if (!rc)
        rc = make_model(&p, &m);
    if (rc)
        attn_subword_free(m.b);
    else
        *out = m.b;
    return rc;
}
