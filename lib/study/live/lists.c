/* lists.c - what a model, and the library, can be asked for: the rows of its tables, so that a page knows no list. */
#include "live/talk.h"

#include <string.h>

#include "answers/question.h"
#include "ask/edit.h"
#include "ask/metric.h"
#include "ask/scores.h"
#include "model/kind.h"

enum { KEYS = 8, EXAMPLES = 512 };      /* how many keys an example of a kind sees, more or less */

static void put_text(struct attn_out *o, const char *s, size_t len)
{
    if (s)
        attn_out_json(o, s, len);
    else
        attn_out_str(o, "null");
}

static void put_word(struct attn_out *o, const char *key, const char *s)
{
    attn_out_printf(o, "\"%s\":", key);
    put_text(o, s, s ? strlen(s) : 0);
}

static void put_flag(struct attn_out *o, const char *key, bool is)
{
    attn_out_printf(o, ",\"%s\":%s", key, is ? "true" : "false");
}

/* The examples are in the order of the rows. */
static void put_kinds(struct attn_out *o)
{
    char examples[EXAMPLES];
    const char *example = examples;
    attn_kind_each(examples, sizeof examples, KEYS);
    attn_out_str(o, ",\"kinds\":[");
    for (const struct attn_kind_row *row = NULL; (row = attn_kind_next(row));) {
        size_t len = strcspn(example, " ");
        attn_out_str(o, example > examples ? ",{" : "{");
        put_word(o, "form", row->form);
        attn_out_char(o, ',');
        put_word(o, "note", row->note);
        attn_out_char(o, ',');
        put_word(o, "help", row->help);
        attn_out_str(o, ",\"example\":");
        put_text(o, example, len);
        attn_out_char(o, '}');
        example += len + (example[len] == ' ');
    }
    attn_out_char(o, ']');
}

/* The word that the axes have after `side`. */
static void put_axis(struct attn_out *o, const char *key, const char *axes, const char *side)
{
    const char *at = strstr(axes, side);
    at = at ? at + strlen(side) : NULL;
    attn_out_printf(o, ",\"%s\":", key);
    put_text(o, at, at ? strcspn(at, ",)") : 0);
}

static void put_activation(struct attn_out *o, const struct attn_hook_points *hooks, int act)
{
    const char *axes = attn_act_axes(act);
    attn_out_char(o, '{');
    put_word(o, "name", attn_act_tail(act));
    attn_out_char(o, ',');
    put_word(o, "brief", attn_act_short(act));
    attn_out_char(o, ',');
    put_word(o, "title", attn_act_title(act));
    put_axis(o, "rows", axes, "rows: ");
    put_axis(o, "columns", axes, "columns: ");
    put_flag(o, "layers", attn_act_per_layer(act));
    attn_out_printf(o, ",\"heads\":%zu", attn_act_heads(hooks, act));
    put_flag(o, "kv", attn_act_kv_heads(act));
    put_flag(o, "square", attn_act_square(act));
    put_flag(o, "derived", attn_act_derived(act));
    put_flag(o, "has", hooks->has[act]);
    attn_out_char(o, '}');
}

static void put_activations(struct attn_out *o, const struct attn_model *m)
{
    const struct attn_kind own = {.form = ATTN_MODEL};
    const struct attn_hook_points hooks = attn_model_hook_points(m, &own);
    attn_out_str(o, ",\"activations\":[");
    for (int act = 0; act < ATTN_ACTS; act++) {
        attn_out_str(o, act ? "," : "");
        put_activation(o, &hooks, act);
    }
    attn_out_char(o, ']');
}

static void put_scores(struct attn_out *o)
{
    attn_out_str(o, ",\"scores\":");
    char before = '[';
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s)); before = ',') {
        attn_out_printf(o, "%c{", before);
        put_word(o, "name", s->name);
        attn_out_char(o, ',');
        put_word(o, "brief", s->brief);
        attn_out_char(o, ',');
        put_word(o, "help", s->help);
        put_flag(o, "share", s->flags & ATTN_SCORE_SHARE);
        put_flag(o, "ifAny", s->flags & ATTN_SCORE_IF_ANY);
        put_flag(o, "noText", s->flags & ATTN_SCORE_NO_TEXT);
        attn_out_char(o, '}');
    }
    attn_out_printf(o, "],\"roles\":{\"times\":%g,\"above\":%g,\"rows\":%d}", ATTN_ROLE_TIMES, ATTN_ROLE_ABOVE,
                    ATTN_ROLE_ROWS);
}

static void put_metrics(struct attn_out *o)
{
    char form[ATTN_METRIC_FORM];
    attn_out_str(o, ",\"metrics\":[");
    for (size_t i = 0; attn_metric_form(form, i); i++) {
        attn_out_str(o, i ? ",{" : "{");
        put_word(o, "form", form);
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
}

static void put_operators(struct attn_out *o)
{
    attn_out_str(o, ",\"edits\":{\"operators\":[");
    for (size_t i = 0; i < ATTN_EDIT_OPS; i++) {
        attn_out_str(o, i ? "," : "");
        put_text(o, attn_edit_op_names[i], strlen(attn_edit_op_names[i]));
    }
    attn_out_str(o, "]}");
}

static void put_answers(struct attn_out *o)
{
    const char *what, *option;
    unsigned of;
    attn_out_str(o, ",\"answers\":[");
    for (size_t i = 0; (what = attn_answer_document(i, &of)); i++) {
        attn_out_str(o, i ? ",{" : "{");
        put_word(o, "what", what);
        attn_out_str(o, ",\"options\":[");
        for (size_t k = 0; (option = attn_answer_option(k, of)); k++) {
            attn_out_str(o, k ? "," : "");
            put_text(o, option, strlen(option));
        }
        attn_out_str(o, "]}");
    }
    attn_out_char(o, ']');
}

void attn_live_lists(struct attn_out *o, const struct attn_talk *t)
{
    put_kinds(o);
    put_activations(o, t->model);
    put_scores(o);
    put_metrics(o);
    put_operators(o);
    put_answers(o);
}
