/* metric.c - what does a metric say?  Its text is read into terms; for each text that is measured, tokens become ids
 * and positions rows.
 *
 *     METRIC := TERM { (+|-) TERM } | loss | kl
 *     TERM   := [NUMBER*] (logit|logprob|prob|rank)(TOKEN[,pos=P])
 *     TOKEN  := "text" | id | {field} */
#include "ask/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"
#include "model/model.h"
#include "text/tokens.h"

enum { TERMS_MOST = 1024 };
static const char *const kinds[ATTN_TERMS] = {"logit", "logprob", "prob", "rank"};

const char *attn_metric_form(char text[ATTN_METRIC_FORM], size_t i)
{
    static const char *const whole[] = {"loss", "kl"};
    if (i >= ATTN_TERMS + sizeof whole / sizeof *whole)
        return NULL;
    const bool term = i < ATTN_TERMS;
    snprintf(text, ATTN_METRIC_FORM, "%s%s", term ? kinds[i] : whole[i - ATTN_TERMS], term ? "(TOKEN)" : "");
    return text;
}

/* ---- reading ---- */

struct reader { const char *text, *at; struct attn_err *err; };

static int refuse(const struct reader *r, const char *expected)
{
    int shown = attn_shown(r->text, strlen(r->text));
    return attn_fail(r->err, ATTN_EUSAGE,
                     "metric '%.*s': column %zu: expected %s", shown, r->text, (size_t)(r->at - r->text) + 1,
                     expected);
}

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    bool there = *r->at == c;
    r->at += there;
    return there;
}

/* Digits, perhaps with a point and an exponent; false: there is no number here, or one that no double can hold. */
static bool take_number(struct reader *r, double *out)
{
    skip_blanks(r);
    size_t n = strspn(r->at, "0123456789."), sign;
    if (n && (r->at[n] == 'e' || r->at[n] == 'E')) {
        sign = r->at[n + 1] == '-' || r->at[n + 1] == '+';
        size_t digits = strspn(r->at + n + 1 + sign, "0123456789");
        n += digits ? 1 + sign + digits : 0;
    }
    if (!n || !attn_num_parse_f64(r->at, n, out) || *out > 1e300)
        return false;
    r->at += n;
    return true;
}

static bool take_whole(struct reader *r, uint64_t *out)
{
    size_t n = strspn(r->at, "0123456789");
    if (!n || !attn_num_parse_u64(r->at, n, out) || *out > INT32_MAX)
        return false;
    r->at += n;
    return true;
}

static int keep(struct attn_metric_term *t, const char *s, size_t len, struct attn_err *err)
{
    t->token = strndup(s, len);
    t->len = len;
    return t->token ? ATTN_OK : attn_no_memory(err, NULL, "for a token");
}

/* A string with the escapes of JSON. */
static int take_string(struct reader *r, struct attn_metric_term *t)
{
    struct attn_json j;
    const char *end = r->at + 1;
    while (*end && *end != '"')
        end += *end == '\\' && end[1] ? 2 : 1;
    if (!*end)
        return refuse(r, "a closing quote after this token");
    attn_json_start(&j, r->at, (size_t)(end + 1 - r->at), NULL);
    if (attn_json_next(&j) != ATTN_JSON_STRING)
        return refuse(r, "a token in quotes, with the escapes of JSON");
    int rc = keep(t, r->at + j.token, j.token_len, r->err);
    if (!rc)
        t->len = attn_json_string(&j, t->token);
    r->at = end + 1;
    return rc;
}

static int take_token(struct reader *r, struct attn_metric_term *t)
{
    uint64_t id = 0;
    skip_blanks(r);
    t->column = (size_t)(r->at - r->text) + 1;
    if (*r->at == '"')
        return take_string(r, t);
    if (*r->at == '{') {
        size_t n = strcspn(++r->at, "{}\"() ");
        if (!n || r->at[n] != '}')
            return refuse(r, "the name of a record's field, as in {answer}");
        t->field = true;
        r->at += n + 1;
        return keep(t, r->at - n - 1, n, r->err);
    }
    if (!take_whole(r, &id))
        return refuse(r, "a token: its text in quotes, as in \" the\", or its id");
    t->id = (int32_t)id;
    return ATTN_OK;
}

static int take_position(struct reader *r, struct attn_metric_term *t)
{
    uint64_t pos = 0;
    skip_blanks(r);
    if (strncmp(r->at, "pos=", 4) != 0)
        return refuse(r, "pos=P, the row of this term");
    r->at += 4;
    bool back = take(r, '-');
    if (!take_whole(r, &pos) || (back && !pos))
        return refuse(r, "a position: 0 is the first token, -1 the last one");
    t->pos = back ? -(int64_t)pos : (int64_t)pos;
    return ATTN_OK;
}

static int take_term(struct reader *r, struct attn_metric_term *t, double sign)
{
    static const char expected[] = "loss, kl, logit(TOKEN), logprob(TOKEN), prob(TOKEN) or rank(TOKEN), perhaps a "
                                   "number and * before it";
    const char *first = r->at;
    double factor = 1;
    size_t kind = 0;
    bool number = take_number(r, &factor);
    if (number && !take(r, '*'))
        return refuse(r, "* after this number");
    if (!number && *r->at && strchr(".0123456789", *r->at))
        return refuse(r, "a factor up to 1e300");
    skip_blanks(r);
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyz");
    while (kind < ATTN_TERMS && (strlen(kinds[kind]) != n || strncmp(r->at, kinds[kind], n) != 0))
        kind++;
    if (kind == ATTN_TERMS)
        return refuse(r, n == 4 && !strncmp(r->at, "loss", 4) ? "a term: loss and kl stand alone"
                         : first == r->text ? expected : strstr(expected, "logit"));
    r->at += n;
    *t = (struct attn_metric_term){.factor = sign * factor, .of = (enum attn_term_of)kind, .pos = -1};
    if (!take(r, '('))
        return refuse(r, "( and a token");
    int rc = take_token(r, t);
    if (!rc && take(r, ','))
        rc = take_position(r, t);
    return rc || take(r, ')') ? rc : refuse(r, ") or ,pos=P");
}

static int take_terms(struct reader *r, struct attn_metric *m)
{
    double sign = take(r, '-') ? -1 : 1;
    for (int rc;;) {
        if (m->n == TERMS_MOST)
            return refuse(r, "the end: a metric has at most 1024 terms");
        struct attn_metric_term *more = realloc(m->term, (m->n + 1) * sizeof *more);
        if (!more)
            return attn_no_memory(r->err, NULL, "for a metric");
        m->term = more;
        more[m->n] = (struct attn_metric_term){0};
        rc = take_term(r, &more[m->n++], sign);
        if (rc)
            return rc;
        skip_blanks(r);
        if (!*r->at)
            return ATTN_OK;
        if (*r->at != '+' && *r->at != '-')
            return refuse(r, "+ or - and another term, or the end");
        sign = *r->at++ == '-' ? -1 : 1;
    }
}

static int read_text(struct attn_metric *m, struct attn_err *err)
{
    struct reader r = {m->text, m->text, err};
    skip_blanks(&r);
    size_t n = strcspn(r.at, " \t"), rest = strspn(r.at + n, " \t");
    bool alone = !r.at[n + rest];
    if (alone && n == 4 && !strncmp(r.at, "loss", n))
        m->form = ATTN_METRIC_LOSS;
    else if (alone && n == 2 && !strncmp(r.at, "kl", n))
        m->form = ATTN_METRIC_KL;
    else if (!*r.at)
        return refuse(&r, "loss, kl, or terms such as logit(\" the\")");
    else
        return take_terms(&r, m);
    return ATTN_OK;
}

int attn_metric_new(struct attn_metric **out, const char *text, struct attn_err *err)
{
    *out = NULL;
    struct attn_metric *m = calloc(1, sizeof *m);
    if (!m || !(m->text = strdup(text))) {
        free(m);
        return attn_no_memory(err, NULL, "for a metric");
    }
    int rc = read_text(m, err);
    if (rc)
        attn_metric_free(m);
    else
        *out = m;
    return rc;
}

void attn_metric_free(struct attn_metric *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        free(m->term[i].token);
    free(m->term);
    free(m->reference);
    free(m->text);
    free(m);
}

const char *attn_metric_text(const struct attn_metric *m)
{
    return m->text;
}

bool attn_metric_has_words(const struct attn_metric *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->term[i].token && !m->term[i].field)
            return true;
    return false;
}

const char *attn_metric_word(const struct attn_metric *m, size_t i)
{
    for (size_t k = 0; k < m->n; k++)
        if (m->term[k].token && !m->term[k].field && i-- == 0)
            return m->term[k].token;
    return NULL;
}

bool attn_metric_has_fields(const struct attn_metric *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->term[i].field)
            return true;
    return false;
}

bool attn_metric_is_smooth(const struct attn_metric *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->term[i].of == ATTN_TERM_RANK)
            return false;
    return true;
}

/* ---- one token ---- */

/* Adds the tokens of a text to a message, as far as there is room: ' "Ma" (5) "ry" (17)'. */
static void list_tokens(char *list, size_t size, const struct attn_tokens *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n && n + 8 < size; i++) {
        const struct attn_token *k = &t->tok[i];
        int len = attn_shown(k->text, k->text_len);
        n += (size_t)snprintf(list + n, size - n, "%s\"%.*s\" (%d)", i ? ", " : "", len, k->text, (int)k->id);
    }
}

/* Whether the token stands for what the vocabulary lacks, and was not asked for by its own name. */
static bool stands_in(int32_t id, const struct attn_tokenizer *tokenizer, const char *text, size_t len)
{
    size_t n = 0;
    const char *name = attn_tokenizer_raw(tokenizer, id, &n);
    return id == attn_tokenizer_unknown(tokenizer) && name && (n != len || memcmp(name, text, n));
}

static int only_token(int32_t *id, const struct attn_tokenizer *tokenizer, const struct attn_tokens *t,
                      const char *text, size_t len, struct attn_err *err)
{
    char list[200] = "";
    int shown = attn_shown(text, len);
    if (t->n == 1 && stands_in(t->tok[0].id, tokenizer, text, len))
        return attn_fail(err, ATTN_EFORMAT, "\"%.*s\" is not in the vocabulary and becomes \"%s\", as any such text: "
                                            "expected one of the model's tokens, or this one by its id, %d", shown,
                         text, attn_tokenizer_raw(tokenizer, t->tok[0].id, &len), (int)t->tok[0].id);
    if (t->n == 1) {
        *id = t->tok[0].id;
        return ATTN_OK;
    }
    list_tokens(list, sizeof list, t);
    return attn_fail(err, ATTN_EFORMAT, "\"%.*s\" is %zu tokens: %s; expected a text that is one token, often with its "
                                        "blank before it, as in \" the\"", shown, text, t->n, t->n ? list : "none");
}

int attn_token_check(const struct attn_model *m, int64_t id, struct attn_err *err)
{
    if (id >= 0 && (size_t)id < m->w.n.V)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT,
                     "token id %lld: model %s has ids 0 to %zu (vocab_size %zu)", (long long)id, m->source.name,
                     m->w.n.V - 1, m->w.n.V);
}

int attn_token_of_text(int32_t *id, const char *text, size_t len, const struct attn_model *m,
                       const struct attn_tokenizer *t, struct attn_err *err)
{
    struct attn_tokens *tokens = NULL;
    struct attn_encode_opts plain = {.special = true, .bos = ATTN_BOS_NO};
    int shown = attn_shown(text, len);
    if (!t)
        return attn_fail(err, ATTN_EUSAGE,
                         "\"%.*s\": there is no tokenizer to make a token of a text: give its id", shown, text);
    int rc = attn_encode_with(&tokens, t, text, len, &plain, err);
    if (!rc)
        rc = only_token(id, t, tokens, text, len, err);
    if (!rc)
        rc = attn_token_check(m, *id, err);
    attn_tokens_free(tokens);
    return rc;
}

int attn_token_parse(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t,
                     struct attn_err *err)
{
    struct reader r = {text, text, err};
    struct attn_metric_term term = {0};
    size_t n = strlen(text);
    uint64_t number;
    int rc;
    if (n && strspn(text, "0123456789") == n) {
        number = attn_num_parse_u64(text, n, &number) && number < INT64_MAX ? number : INT64_MAX;
        rc = attn_token_check(m, (int64_t)number, err);
        *id = (int32_t)number;
        return rc;
    }
    if (n < 2 || text[0] != '"' || text[n - 1] != '"')
        return attn_token_of_text(id, text, n, m, t, err);
    rc = take_string(&r, &term);
    if (!rc && *r.at)
        rc = refuse(&r, "the end after this token");
    if (!rc)
        rc = attn_token_of_text(id, term.token, term.len, m, t, err);
    free(term.token);
    return rc;
}

/* ---- binding ---- */

static int bind_field(struct attn_metric_term *t, const struct attn_metric_of *of, struct attn_err *err)
{
    struct attn_err why = {0};
    for (size_t i = 0; i < of->n_fields; i++) {
        const struct attn_metric_field *f = &of->field[i];
        if (strlen(f->name) != t->len || memcmp(f->name, t->token, t->len) != 0)
            continue;
        t->id = (int32_t)(f->id >= 0 && f->id < INT32_MAX ? f->id : INT32_MAX);
        int rc = f->text ? attn_token_of_text(&t->id, f->text, f->len, of->model, of->tokenizer, &why)
                         : attn_token_check(of->model, f->id, &why);
        return rc ? attn_fail(err, why.code, "{%s}: %s", t->token, why.msg) : ATTN_OK;
    }
    return attn_fail(err, ATTN_EFORMAT, "the metric names {%s}: there is no such field%s", t->token, of->n_fields ? "" :
                     "; fields are those of a batch's records, elsewhere name the token, as in logit(\" the\")");
}

static int check_predicts(const struct attn_model *m, struct attn_err *err)
{
    return m->config.unembed ? ATTN_OK : attn_fail(err, ATTN_EFORMAT,
                                                   "model %s has no output layer (\"unembed\": false), so no "
                                                   "logits to measure", m->source.name);
}

/* A token that is the same for every text. */
static int bind_token(const struct attn_metric *m, struct attn_metric_term *t, const struct attn_metric_of *of,
                      struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = t->token ? attn_token_of_text(&t->id, t->token, t->len, of->model, of->tokenizer, &why)
        : attn_token_check(of->model, t->id, &why);
    return rc ? attn_fail(err, why.code, "metric '%s': column %zu: %s", m->text, t->column, why.msg) : ATTN_OK;
}

static int bind_term(const struct attn_metric *m, struct attn_metric_term *t, const struct attn_metric_of *of,
                     struct attn_err *err)
{
    int64_t T = (int64_t)of->T, row = t->pos < 0 ? T + t->pos : t->pos;
    if (row < 0 || row >= T)
        return attn_fail(err, ATTN_EFORMAT, "metric '%s': column %zu: pos=%lld, but the text has %zu tokens: 0 to %zu, "
                                            "or -1 to -%zu", m->text, t->column, (long long)t->pos, of->T, of->T - 1,
                         of->T);
    t->row = (size_t)row;
    return t->field ? bind_field(t, of, err) : bind_token(m, t, of, err);
}

int attn_metric_check(const struct attn_metric *m, const struct attn_model *model, const struct attn_tokenizer *t,
                      struct attn_err *err)
{
    const struct attn_metric_of of = {.model = model, .tokenizer = t};
    int rc = check_predicts(model, err);
    for (size_t i = 0; i < m->n && !rc; i++)
        rc = m->term[i].field ? ATTN_OK : bind_token(m, &m->term[i], &of, err);
    return rc;
}

int attn_metric_bind(struct attn_metric *m, const struct attn_metric_of *of, struct attn_err *err)
{
    int rc = check_predicts(of->model, err);
    if (rc)
        return rc;
    if (m->form == ATTN_METRIC_LOSS && of->T < 2)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu token%s, expected at least 2: a loss is how well tokens "
                         "predict those after them", of->T, of->T == 1 ? "" : "s");
    for (size_t i = 0; i < m->n && !rc; i++)
        rc = bind_term(m, &m->term[i], of, err);
    m->ids = of->ids;
    m->T = of->T;
    m->V = of->model->w.n.V;
    return rc;
}

int attn_metric_refer(struct attn_metric *m, const float *logits, struct attn_err *err)
{
    if (!m->reference && !(m->reference = calloc(m->V + 1, sizeof *m->reference)))
        return attn_no_memory(err, NULL, "for a row of %zu logits", m->V);
    memcpy(m->reference, logits, m->V * sizeof *logits);
    return ATTN_OK;
}

int attn_metric_fits(const struct attn_metric *m, const struct attn_model *model, size_t T, struct attn_err *err)
{
    if (m->T == T && m->V == model->w.n.V)
        return ATTN_OK;
    return m->T ? attn_fail(err, ATTN_EUSAGE, "metric '%s' is bound to a text of %zu tokens and a model of %zu, and is "
                                              "asked of %zu and %zu",
                            m->text, m->T, m->V, T, model->w.n.V)
                : attn_fail(err, ATTN_EUSAGE, "metric '%s' is not bound to a text", m->text);
}

bool attn_metric_refers(const struct attn_metric *m)
{
    return m->form == ATTN_METRIC_KL;
}
