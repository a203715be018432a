#include "text/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/bytes.h"

#define BROKEN "\ufffd"

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' &&
           c <= 'f' ? c - 'a' + 10 : -1;
}

int attn_byte_of(const char *s, size_t len)
{
    if (len != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>' || hex(s[3]) < 0 || hex(s[4]) < 0)
        return -1;
    return hex(s[3]) * 16 + hex(s[4]);
}

/* ---- lists of tokens ------------------------------------------------------------------- */

/* Tokens as bytes one behind the other, and where each ends. */
struct list {
    char *text; size_t used, room;
    struct end { size_t at; unsigned char type; } *end; size_t n, end_room;
    bool failed;
};

static void add_text(struct list *l, const char *s, size_t len)
{
    char *text = l->failed ? NULL : attn_grow(l->text, &l->room, l->used + len + 1, 1);
    l->failed = !text;
    if (!text)
        return;
    l->text = text;
    if (len)                            /* an empty token has no address */
        memcpy(text + l->used, s, len);
    l->used += len;
}

static void end_token(struct list *l, unsigned char type)
{
    struct end *end = l->failed ? NULL : attn_grow(l->end, &l->end_room, l->n + 1, sizeof *end);
    l->failed = !end;
    if (!end)
        return;
    l->end = end;
    end[l->n++] = (struct end){l->used, type};
}

static void add(struct list *l, const char *s, size_t len)
{
    add_text(l, s, len);
    end_token(l, 0);
}

static struct attn_spelled at(const struct list *l, size_t i)
{
    size_t start = i > 0 ? l->end[i - 1].at : 0;
    return (struct attn_spelled){l->text + start, l->end[i].at - start, l->end[i].type};
}

/* ---- steps ----------------------------------------------------------------------------- */

static void replace(struct list *out, const struct attn_spelled *t, const char *find, const char *with)
{
    const char *s = t->len ? t->s : "", *end = s + t->len, *found;     /* an empty token has no address */
    size_t len = strlen(find);
    while (len > 0 && (found = memmem(s, (size_t)(end - s), find, len))) {
        add_text(out, s, (size_t)(found - s));
        add_text(out, with, strlen(with));
        s = found + len;
    }
    add_text(out, s, (size_t)(end - s));
    end_token(out, t->type);
}

/* Bytes as text, with one U+FFFD for each maximal broken sequence. */
static void add_readable(struct list *out, const char *s, size_t len)
{
    while (len > 0) {
        size_t valid = attn_utf8_valid(s, len), step = 0;
        add_text(out, s, valid);
        if (valid < len) {
            attn_utf8_next(s + valid, len - valid, &step);
            add_text(out, BROKEN, strlen(BROKEN));
        }
        s += valid + step;
        len -= valid + step;
    }
}

static void byte_level(struct list *out, const struct list *in)
{
    struct list raw = {0};
    for (size_t i = 0; i < in->n; i++) {
        struct attn_spelled t = at(in, i);
        size_t before = raw.used;
        add_text(&raw, t.s, t.len);     /* the bytes take no more room than their spelling */
        size_t n = t.type == ATTN_PIECE_USER || raw.failed ? SIZE_MAX : attn_bytes_read(raw.text + before, t.s, t.len);
        raw.used = n == SIZE_MAX ? raw.used : before + n;       /* of which a character stands for no byte: it is text,
                                                                 * all of it */
    }
    out->failed = raw.failed;
    add_readable(out, raw.used > 0 ? raw.text : "", raw.used);
    end_token(out, 0);
    free(raw.text);
    free(raw.end);
}

/* Ends a run of bytes, which lies at the end of the text from byte `start` on. */
static void end_bytes(struct list *out, size_t start)
{
    size_t n = out->used - start;
    if (n == 0 || out->failed)
        return;
    if (attn_utf8_valid(out->text + start, n) == n) {
        end_token(out, 0);
        return;
    }
    out->used = start;
    for (size_t i = 0; i < n; i++)
        add(out, BROKEN, strlen(BROKEN));
}

static void bytes(struct list *out, const struct list *in)
{
    size_t start = 0;
    bool run = false;
    for (size_t i = 0; i < in->n; i++) {
        struct attn_spelled t = at(in, i);
        int byte = attn_byte_of(t.s, t.len);
        if (byte >= 0) {
            start = run ? start : out->used;
            run = true;
            add_text(out, &(char){(char)byte}, 1);
            continue;
        }
        if (run)
            end_bytes(out, start);
        run = false;
        add(out, t.s, t.len);
    }
    if (run)
        end_bytes(out, start);
}

static void strip(struct list *out, const struct attn_spelled *t, const struct attn_decode_step *step)
{
    size_t len = strlen(step->find), from = 0, to = t->len;
    for (size_t n = 0; len > 0 && n < step->start && to - from >= len && memcmp(t->s + from, step->find, len) == 0; n++)
        from += len;
    for (size_t n = 0; len > 0 && n < step->stop && to - from >= len &&
         memcmp(t->s + to - len, step->find, len) == 0; n++)
        to -= len;
    add(out, t->s + from, to - from);
}

/* ---- WordPiece ------------------------------------------------------------------------- */

/* One after the other, in a token, which begins with a space. */
static const struct { const char *find, *with; } tidied[] = {
    {" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
    {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

static size_t replace_in(char *s, size_t len, size_t room, const char *find, const char *with);

static void word_piece(struct list *out, const struct attn_spelled *t, const struct attn_decode_step *step, bool first)
{
    size_t lead = strlen(step->find), start = out->used;
    bool inner = !first && t->len >= lead && memcmp(t->s, step->find, lead) == 0;
    add_text(out, " ", !first && !inner);
    add_text(out, inner ? t->s + lead : t->s, inner ? t->len - lead : t->len);
    for (size_t i = 0; step->drop && !out->failed && i < sizeof tidied / sizeof *tidied; i++)
        out->used = start + replace_in(out->text + start, out->used - start, out->used - start, tidied[i].find,
                                       tidied[i].with);
    end_token(out, 0);
}

/* ---- sentencepiece --------------------------------------------------------------------- */

/* Whether text has come out already decides what becomes of leading spaces. */
static void spaced(struct list *out, const struct attn_spelled *t, const struct attn_decode_step *step, bool *begun)
{
    size_t lead = strlen(step->find), len = t->len;
    const char *s = t->s;
    if (!*begun && (step->drop || step->squeeze) && len >= lead && memcmp(s, step->find, lead) == 0) {
        s += lead;
        len -= lead;
    }
    *begun = *begun || !step->squeeze || len > 0;
    replace(out, &(struct attn_spelled){s, len, 0}, step->find, " ");
}

/* A run of bytes, character by character; one U+FFFD for each byte that belongs to none. */
static void end_run(struct list *out, struct list *run)
{
    for (size_t k = 0, size; k < run->used; k += size) {
        attn_utf8_next(run->text + k, run->used - k, &size);
        bool whole = attn_utf8_valid(run->text + k, size) == size;
        for (size_t b = 0; !whole && b < size; b++)
            add_text(out, BROKEN, strlen(BROKEN));
        add_text(out, run->text + k, whole ? size : 0);
    }
    run->used = 0;
}

static void sentencepiece(struct list *out, const struct list *in, const struct attn_decode_step *step)
{
    struct list run = {0};
    bool begun = false;
    for (size_t i = 0; i < in->n; i++) {
        struct attn_spelled t = at(in, i);
        if (t.type == ATTN_PIECE_BYTE) {
            char byte = (char)attn_byte_of(t.s, t.len);
            add_text(&run, &byte, 1);
            continue;
        }
        begun = begun || run.used > 0;
        end_run(out, &run);
        if (t.type == ATTN_PIECE_UNKNOWN)
            add_text(out, step->with, strlen(step->with));
        else if (t.type != ATTN_PIECE_CONTROL)
            spaced(out, &t, step, &begun);
        begun = begun || t.type == ATTN_PIECE_UNKNOWN;
    }
    end_run(out, &run);
    end_token(out, 0);
    out->failed = out->failed || run.failed;
    free(run.text);
    free(run.end);
}

/* ---- the chain ------------------------------------------------------------------------- */

static void each(struct list *out, const struct list *in, const struct attn_decode_step *step)
{
    for (size_t i = 0; i < in->n; i++) {
        struct attn_spelled t = at(in, i);
        bool first = i == 0, last = i + 1 == in->n;
        switch (step->kind) {
        case ATTN_DECODE_REPLACE: replace(out, &t, step->find, step->with); break;
        case ATTN_DECODE_STRIP: strip(out, &t, step); break;
        case ATTN_DECODE_METASPACE: replace(out, &t, step->find, first && step->drop ? "" : " "); break;
        case ATTN_DECODE_SUFFIX: replace(out, &t, step->find, last ? "" : " "); break;
        case ATTN_DECODE_JOIN:
            add_text(out, " ", !first);
            add(out, t.s, t.len);
            break;
        case ATTN_DECODE_WORD_PIECE: word_piece(out, &t, step, first); break;
        default: add_text(out, t.s, t.len); break;                  /* FUSE: one token, ended by its caller */
        }
    }
}

static void run_step(struct list *out, const struct list *in, const struct attn_decode_step *step)
{
    if (step->kind == ATTN_DECODE_BYTE_LEVEL) {
        byte_level(out, in);
    } else if (step->kind == ATTN_DECODE_BYTES) {
        bytes(out, in);
    } else if (step->kind == ATTN_DECODE_SENTENCEPIECE) {
        sentencepiece(out, in, step);
    } else {
        each(out, in, step);
        if (step->kind == ATTN_DECODE_FUSE)
            end_token(out, 0);
    }
}

int attn_decoder_run(char **out, size_t *len, const struct attn_decoder *d, const struct attn_spelled *token, size_t n,
                     struct attn_err *err)
{
    struct list now = {0};
    for (size_t i = 0; i < n; i++) {
        add_text(&now, token[i].s, token[i].len);
        end_token(&now, token[i].type);
    }
    for (size_t i = 0; i < d->n && !now.failed; i++) {
        struct list next = {0};
        run_step(&next, &now, &d->step[i]);
        free(now.text);
        free(now.end);
        now = next;
    }
    add_text(&now, "", 0);
    free(now.end);
    if (now.failed) {
        free(now.text);
        return attn_no_memory(err, NULL, "for the text of %zu tokens", n);
    }
    now.text[now.used] = '\0';
    *out = now.text;
    *len = now.used;
    return ATTN_OK;
}

void attn_decoder_free(struct attn_decoder *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->step[i].find);
        free(d->step[i].with);
    }
    *d = (struct attn_decoder){0};
}

/* ---- one token by itself --------------------------------------------------------------- */

static size_t grown(size_t len, const char *find, const char *with)
{
    size_t a = strlen(find), b = strlen(with);
    return a > 0 && b > a ? len / a * b + len % a : len;
}

size_t attn_decoder_room(const struct attn_decoder *d, size_t len)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->step[i].kind == ATTN_DECODE_REPLACE)
            len = grown(len, d->step[i].find, d->step[i].with);
        else if (d->step[i].kind == ATTN_DECODE_METASPACE || d->step[i].kind == ATTN_DECODE_SUFFIX ||
                 d->step[i].kind == ATTN_DECODE_SENTENCEPIECE)
            len = grown(len, d->step[i].find, " ");
    return len;
}

/* Replaces in place, from the end on if it gets longer; returns the new length. */
static size_t replace_in(char *s, size_t len, size_t room, const char *find, const char *with)
{
    size_t a = strlen(find), b = strlen(with), n = 0;
    char *from = s;
    if (a == 0)
        return len;
    if (b > a) {                        /* there is room for it in front of what is read */
        from = s + room - len;
        memmove(from, s, len);
    }
    for (const char *end = from + len; from < end;) {
        bool here = (size_t)(end - from) >= a && memcmp(from, find, a) == 0;
        if (here)
            memcpy(s + n, with, b);
        else
            s[n] = *from;
        n += here ? b : 1;
        from += here ? a : 1;
    }
    return n;
}

size_t attn_decoder_read(const struct attn_decoder *d, const char *s, size_t len, bool added, char *out)
{
    size_t room = attn_decoder_room(d, len);
    int byte = attn_byte_of(s, len);
    memcpy(out, s, len);
    for (size_t i = 0; i < d->n; i++) {
        const struct attn_decode_step *step = &d->step[i];
        if (step->kind == ATTN_DECODE_BYTE_LEVEL) {
            /* what was added is text, and spells no bytes */
            size_t n = added ? SIZE_MAX : attn_bytes_read(out, out, len);
            len = n == SIZE_MAX ? len : n;
        } else if ((step->kind == ATTN_DECODE_BYTES || step->kind == ATTN_DECODE_SENTENCEPIECE) && byte >= 0) {
            out[0] = (char)byte;
            return 1;
        } else if (step->kind == ATTN_DECODE_REPLACE) {
            len = replace_in(out, len, room, step->find, step->with);
        } else if (step->kind == ATTN_DECODE_METASPACE || step->kind == ATTN_DECODE_SUFFIX ||
                   step->kind == ATTN_DECODE_SENTENCEPIECE) {
            len = replace_in(out, len, room, step->find, " ");
        } else if (step->kind == ATTN_DECODE_WORD_PIECE && !added && len > strlen(step->find) &&
                   memcmp(out, step->find, strlen(step->find)) == 0) {
            len -= strlen(step->find);
            memmove(out, out + strlen(step->find), len);
        }
    }
    return len;
}
