/* typed.c - makes tokens of what is typed: a text, or ids, with tokens that were appended to it one by one. */
#include "live/talk.h"

#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "base/err.h"
#include "base/format.h"
#include "text/token_json.h"
#include "text/tokens.h"

void attn_typed_free(struct attn_typed *t)
{
    free(t->text);
    free(t->more);
    free(t->id);
    attn_tokens_free(t->all);
    attn_tokens_free(t->read);
    *t = (struct attn_typed){.text = NULL};
}

/* ---- reading ----------------------------------------------------------------------------- */

static int read_text(struct attn_tokens **out, const struct attn_typed *t, const struct attn_talk *talk,
                     struct attn_err *err)
{
    if (!talk->tokenizer)
        return attn_fail_as(err, &talk->no_tokenizer);
    return attn_encode(out, talk->tokenizer, t->text, t->base, err);
}

static int read_ids(struct attn_tokens **out, const struct attn_typed *t, struct attn_err *err)
{
    int32_t *ids;
    size_t n;
    int rc = attn_ids_parse(&ids, &n, t->text, err);
    if (!rc)
        rc = attn_tokens_from_ids(out, ids, n, err);
    free(ids);
    return rc;
}

/* ---- appending --------------------------------------------------------------------------- */

/* How a token stands behind a text: its own text, after a space where one parts words. */
static int spell(char **out, const struct attn_typed *t, const struct attn_talk *talk, int32_t id, struct attn_err *err)
{
    size_t len = 0;
    const char *s = talk->tokenizer ? attn_tokenizer_text(talk->tokenizer, id, &len) : NULL;
    const bool spaced = talk->tokenizer && attn_tokenizer_spaced(talk->tokenizer) && t->len;
    int n = t->ids ? attn_asprintf(out, "%s%d", t->len ? "," : "", (int)id)
                   : attn_asprintf(out, "%s%.*s", spaced ? " " : "", (int)len, s ? s : "");
    return n >= 0 ? ATTN_OK : attn_no_memory(err, NULL, "for a token");
}

static int add_text(struct attn_typed *t, const char *s, struct attn_err *err)
{
    const size_t len = strlen(s);
    char *more = realloc(t->text, t->len + len + 1);
    if (!more)
        return attn_no_memory(err, NULL, "for a text of %zu bytes", t->len + len);
    t->text = more;
    memcpy(more + t->len, s, len + 1);
    t->len += len;
    return ATTN_OK;
}

static int append(struct attn_typed *t, const struct attn_talk *talk, int32_t id, struct attn_err *err)
{
    char *piece = NULL;
    int rc = attn_model_check_ids(talk->model, &id, 1, err);
    if (!rc)
        rc = spell(&piece, t, talk, id, err);
    if (!rc)
        rc = add_text(t, piece, err);
    free(piece);
    if (rc || t->ids) {
        t->base = t->len;
        return rc;
    }
    int32_t *more = realloc(t->more, (t->n_more + 1) * sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu tokens", t->n_more + 1);
    t->more = more;
    more[t->n_more++] = id;
    return ATTN_OK;
}

/* ---- all tokens -------------------------------------------------------------------------- */

/* Where the appended ones stand in the text. */
static void place(struct attn_typed *t, const struct attn_talk *talk)
{
    const bool spaced = talk->tokenizer && attn_tokenizer_spaced(talk->tokenizer);
    size_t at = t->base;
    for (size_t i = t->read->n; i < t->all->n; i++) {
        struct attn_token *k = &t->all->tok[i];
        k->named = false;
        k->start = at;
        at += k->text_len + (spaced && at);
        k->end = at;
    }
}

static int name_all(struct attn_typed *t, const struct attn_talk *talk, struct attn_err *err)
{
    const size_t n = t->read->n + t->n_more;
    struct attn_tokens *all = NULL;
    int32_t *id = calloc(n + 1, sizeof *id);
    if (!id)
        return attn_no_memory(err, NULL, "for %zu tokens", n);
    for (size_t i = 0; i < n; i++)
        id[i] = i < t->read->n ? t->read->tok[i].id : t->more[i - t->read->n];
    int rc = attn_tokens_from_ids(&all, id, n, err);
    t->id = id;
    t->all = all;
    for (size_t i = 0; i < t->read->n && !rc && !t->ids; i++)
        t->all->tok[i] = t->read->tok[i];
    if (!rc && talk->labels)
        rc = attn_tokens_label(t->all, talk->labels, err);
    if (!rc && !t->ids)
        place(t, talk);
    return rc;
}

/* The text as it is asked for; of one that had tokens appended, how it came about. */
static int take(struct attn_typed *t, const struct attn_live_asked *q, const struct attn_typed *before,
                struct attn_err *err)
{
    const struct attn_live_text *s = q->text.s ? &q->text : &q->ids;
    const bool same = before && before->text && before->ids == !q->text.s && before->len == s->len &&
                      !memcmp(before->text, s->s, s->len);
    const size_t n = same ? before->n_more : 0;
    *t = (struct attn_typed){.ids = !q->text.s, .len = s->len, .base = same ? before->base : s->len, .n_more = n,
                             .text = malloc(s->len + 1), .more = n ? calloc(n, sizeof *t->more) : NULL};
    if (!t->text || (n && !t->more))
        return attn_no_memory(err, NULL, "for a text of %zu bytes", s->len);
    memcpy(t->text, s->s, s->len + 1);
    if (n)
        memcpy(t->more, before->more, n * sizeof *t->more);
    return ATTN_OK;
}

int attn_live_type(struct attn_typed *t, struct attn_talk *talk, const struct attn_live_asked *q,
                   const struct attn_typed *before, struct attn_err *err)
{
    *t = (struct attn_typed){.text = NULL};
    attn_live_at(talk, q->text.s ? ATTN_MEMBER_TYPED : ATTN_MEMBER_IDS, -1);
    if (!q->text.s == !q->ids.s)
        return attn_fail(err, ATTN_EUSAGE, q->text.s ? "a text and token ids are both given, expected one of them"
                                                     : "there is neither a text nor token ids");
    int rc = take(t, q, before, err);
    if (!rc && q->given & ATTN_HAS_APPEND) {
        attn_live_at(talk, ATTN_MEMBER_APPEND, -1);
        rc = append(t, talk, (int32_t)q->append, err);
        if (!rc)
            attn_live_at(talk, q->text.s ? ATTN_MEMBER_TYPED : ATTN_MEMBER_IDS, -1);
    }
    struct attn_tokens *read = NULL;
    if (!rc)
        rc = t->ids ? read_ids(&read, t, err) : read_text(&read, t, talk, err);
    t->read = read;
    if (!rc)
        rc = name_all(t, talk, err);
    if (!rc && !t->all->n)
        rc = attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    return rc;
}

/* ---- as JSON ----------------------------------------------------------------------------- */

void attn_live_put_tokens(struct attn_out *o, const struct attn_tokens *tokens)
{
    attn_out_str(o, "\"tokens\":[");
    for (size_t i = 0; i < tokens->n; i++) {
        attn_out_str(o, i ? "," : "");
        attn_token_json(o, &tokens->tok[i]);
    }
    attn_out_char(o, ']');
}

void attn_live_put_likely(struct attn_out *o, const struct attn_talk *t, const struct attn_likely *of, size_t n)
{
    attn_out_char(o, '[');
    for (size_t i = 0; i < n; i++) {
        size_t len = 0;
        const char *s = t->tokenizer ? attn_tokenizer_text(t->tokenizer, of[i].id, &len) : NULL;
        attn_out_printf(o, "%s{\"id\":%d", i ? "," : "", (int)of[i].id);
        attn_token_text_json(o, s, len);
        attn_out_str(o, ",\"p\":");
        attn_out_f64(o, of[i].p);
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
}

int attn_live_tokens(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct attn_typed typed;
    int rc = attn_live_type(&typed, t, q, &t->last.typed, err);
    if (!rc)
        attn_live_put_tokens(o, typed.all);
    attn_typed_free(&typed);
    return rc;
}
