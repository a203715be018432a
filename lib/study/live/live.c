/* live.c - takes a question apart, and answers it or says why not. */
#include "live/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "live/talk.h"

/* A page has one model, and asks one thing after another. */
static struct attn_talk talk;
static struct { char *text; size_t len; } answer;

/* ---- arrays ------------------------------------------------------------------------------ */

int attn_live_array(size_t *number, struct attn_talk *t, const float *x, size_t n, struct attn_err *err)
{
    struct attn_page_array *more = attn_grow(t->array, &t->arrays_room, t->n_arrays + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu arrays", t->n_arrays + 1);
    t->array = more;
    more[t->n_arrays] = (struct attn_page_array){.x = x, .n = n};
    *number = t->n_arrays++;
    return ATTN_OK;
}

float *attn_live_new_array(size_t *number, struct attn_talk *t, size_t n, struct attn_err *err)
{
    if (attn_live_array(number, t, NULL, n, err))
        return NULL;
    struct attn_page_array *a = &t->array[*number];
    a->x = a->own = calloc(n + 1, sizeof *a->own);
    if (!a->own)
        attn_no_memory(err, NULL, "for an array of %zu numbers", n);
    return a->own;
}

static void drop_arrays(struct attn_talk *t)
{
    for (size_t i = 0; i < t->n_arrays; i++)
        free(t->array[i].own);
    t->n_arrays = 0;
}

const float *live_array(size_t i) { return i < talk.n_arrays ? talk.array[i].x : NULL; }
size_t live_array_length(size_t i) { return i < talk.n_arrays ? talk.array[i].n : 0; }

/* ---- what can be asked ------------------------------------------------------------------- */

enum {
    TEXT = ATTN_HAS_TYPED | ATTN_HAS_IDS,
    RUN = TEXT | ATTN_HAS_APPEND | ATTN_HAS_OFF | ATTN_HAS_EDITS | ATTN_HAS_ATTENTION | ATTN_HAS_SCALE |
          ATTN_HAS_DROPOUT | ATTN_HAS_SEED | ATTN_HAS_KEEP | ATTN_HAS_BITS,
    HEAD = ATTN_HAS_LAYER | ATTN_HAS_HEAD,
    NEXT = ATTN_HAS_TEMPERATURE | ATTN_HAS_TOP_K | ATTN_HAS_TOP_P | ATTN_HAS_SEED | ATTN_HAS_FIRST
};

static const struct asking { const char *name; attn_live_answering *answer; unsigned needed, allowed; } askings[] = {
    {"open", attn_live_open, ATTN_HAS_MODEL, ATTN_HAS_AS | ATTN_HAS_VOCAB},
    {"run", attn_live_run, 0, RUN},
    {"tokens", attn_live_tokens, 0, TEXT},
    {"lens", attn_live_lens, 0, 0},
    {"heads", attn_live_heads, 0, 0},
    {"without", attn_live_without, HEAD, 0},
    {"weight", attn_live_weight, HEAD | ATTN_HAS_QUERY | ATTN_HAS_KEY, ATTN_HAS_TO},
    {"next", attn_live_next, 0, NEXT},
    {"metric", attn_live_metric, ATTN_HAS_METRIC, 0},
    {"score", attn_live_score, 0, 0},
    {"write", attn_live_write, ATTN_HAS_WHAT, ATTN_HAS_OPTIONS | ATTN_HAS_FROM | ATTN_HAS_FROM_IDS},
};
enum { ASKINGS = sizeof askings / sizeof *askings };

void attn_live_at(struct attn_talk *t, enum attn_live_member m, long at)
{
    t->in = attn_live_asked_name(m);
    t->at = at;
}

static const struct asking *find(const struct attn_live_asked *q, struct attn_err *err)
{
    for (size_t i = 0; i < ASKINGS && q->ask.s; i++)
        if (!strcmp(askings[i].name, q->ask.s))
            return &askings[i];
    attn_fail(err, ATTN_EUSAGE, "question: \"ask\" is %.*s, expected one of open, run, tokens, lens, heads, without, "
                                "weight, next, metric, score, write",
              q->ask.s ? attn_shown(q->ask.s, q->ask.len) : 7, q->ask.s ? q->ask.s : "missing");
    return NULL;
}

static int answer_one(struct attn_out *o, const struct attn_live_asked *q, struct attn_err *err)
{
    const struct asking *a = find(q, err);
    if (!a)
        return ATTN_EUSAGE;
    int rc = attn_live_asked_check(q, a->needed | ATTN_HAS_ASK, a->allowed, err);
    if (!rc && !talk.model && a->answer != attn_live_open)
        rc = attn_fail(err, ATTN_EUSAGE, "question: no model is open");
    return rc ? rc : a->answer(&talk, q, o, err);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void put_fault(struct attn_out *o, const struct attn_err *why)
{
    attn_out_str(o, "{\"error\":");
    attn_out_json(o, why->msg, strlen(why->msg));
    attn_out_printf(o, ",\"code\":%d,\"in\":", (int)why->code);
    if (talk.in)
        attn_out_json(o, talk.in, strlen(talk.in));
    else
        attn_out_str(o, "null");
    attn_out_printf(o, talk.at >= 0 ? ",\"at\":%ld}" : ",\"at\":null}", talk.at);
}

/* The members that `put` wrote, in braces, or what went wrong. */
static int finish(struct attn_out *o, int rc, const struct attn_err *why)
{
    struct attn_err full = {0};
    struct attn_out *fault = NULL;
    if (!rc) {
        attn_out_char(o, '}');
        rc = attn_out_take(o, &answer.text, &answer.len, &full);
        why = &full;
    }
    if (!rc || attn_out_open_memory(&fault, NULL))
        return rc;
    drop_arrays(&talk);
    put_fault(fault, why);
    if (attn_out_take(fault, &answer.text, &answer.len, NULL)) {
        answer.text = NULL;
        answer.len = 0;
    }
    attn_out_close(fault);
    return rc;
}

int live_ask(const char *question, size_t n)
{
    struct attn_err err = {0};
    struct attn_live_asked q = {.room = NULL};
    struct attn_out *o = NULL;
    free(answer.text);
    answer.text = NULL;
    answer.len = 0;
    drop_arrays(&talk);
    talk.in = NULL;
    talk.at = -1;
    int rc = attn_out_open_memory(&o, &err);
    if (rc)
        return rc;
    attn_out_char(o, '{');
    rc = attn_live_asked_read(&q, question, n, &err);
    if (!rc)
        rc = answer_one(o, &q, &err);
    rc = finish(o, rc, &err);
    attn_live_asked_free(&q);
    attn_out_close(o);
    return rc;
}

static const char no_room[] = "{\"error\":\"no memory for an answer\",\"code\":4,\"in\":null,\"at\":null}";

const char *live_answer(void) { return answer.text ? answer.text : no_room; }
size_t live_answer_length(void) { return answer.text ? answer.len : sizeof no_room - 1; }

void *live_room(size_t n) { return malloc(n ? n : 1); }
void live_drop(void *p) { free(p); }
