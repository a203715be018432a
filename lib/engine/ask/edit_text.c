/* edit_text.c - the canonical form of an edit, however it was typed; documents and manifests record this form. */
#include "ask/edit.h"

#include "base/num.h"
#include "base/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_number(struct attn_out *o, double x)
{
    char text[ATTN_NUM_MAX] = "";
    attn_out_write(o, text, attn_num_f64(text, x));
}

static void put_string(struct attn_out *o, const char *s, size_t len)
{
    attn_out_char(o, '"');
    for (size_t i = 0; i < len; i++)
        if (s[i] == '"' || s[i] == '\\')
            attn_out_printf(o, "\\%c", s[i]);
        else if ((unsigned char)s[i] < ' ')
            attn_out_printf(o, "\\u%04x", (unsigned)s[i]);
        else
            attn_out_char(o, s[i]);
    attn_out_char(o, '"');
}

/* ---- places ---- */

static void put_index(struct attn_out *o, const struct attn_edit *e, const struct attn_edit_index *i)
{
    switch (i->form) {
    case ATTN_INDEX_ALL:    attn_out_char(o, '*'); break;
    case ATTN_INDEX_BACK:   attn_out_printf(o, "-%zu", i->lo); break;
    case ATTN_INDEX_TOKEN:  put_string(o, attn_edit_at(e, i->token), i->token.len); break;
    case ATTN_INDEX_PROMPT: attn_out_str(o, "prompt"); break;
    case ATTN_INDEX_NEW:    attn_out_str(o, "new"); break;
    case ATTN_INDEX_RANGE:
        attn_out_printf(o, "%zu", i->lo);
        if (i->hi > i->lo)
            attn_out_printf(o, "-%zu", i->hi);
    }
}

static void put_list(struct attn_out *o, const struct attn_edit *e, const char *before, struct attn_indices list)
{
    for (size_t i = 0; i < list.n; i++) {
        attn_out_str(o, i ? "," : before);
        put_index(o, e, &e->index[list.first + i]);
    }
}

static void put_place(struct attn_out *o, const struct attn_edit *e)
{
    const struct attn_place *p = &e->place;
    const char *comma = "[";
    put_list(o, e, "L", p->layers);
    put_list(o, e, "H", p->heads);
    put_list(o, e, "N", p->neurons);
    if (p->layered && p->name.at)
        attn_out_char(o, '.');
    if (p->name.at)
        attn_out_str(o, attn_edit_at(e, p->name));
    for (size_t i = 0; i < p->selectors; i++) {
        enum attn_selector s = p->order[i];
        attn_out_printf(o, "%s%s=", comma, attn_selector_names[s]);
        put_list(o, e, "", p->by[s]);
        comma = ",";
    }
    attn_out_str(o, *comma == ',' ? "]" : "");
}

/* ---- values ---- */

/* A path as it is where no character of it could mean something else, otherwise in quotes. */
static void put_path(struct attn_out *o, const char *path, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@%~";
    if (strspn(path, plain) == len)
        attn_out_str(o, path);
    else
        put_string(o, path, len);
}

static void put_origin(struct attn_out *o, const struct attn_edit *e)
{
    const struct attn_origin *of = &e->value.of;
    const char *text = attn_edit_at(e, of->text);
    switch (of->form) {
    case ATTN_ORIGIN_FROM:
        attn_out_str(o, "from");
        break;
    case ATTN_ORIGIN_TEXT:
    case ATTN_ORIGIN_TEXTS:
        attn_out_str(o, of->form == ATTN_ORIGIN_TEXT ? "text(" : "texts(");
        put_string(o, text, of->text.len);
        attn_out_char(o, ')');
        break;
    case ATTN_ORIGIN_IDS:
        for (size_t i = 0; i < of->n; i++)
            attn_out_printf(o, "%s%d", i ? "," : "ids(", (int)e->id[of->first + i]);
        attn_out_char(o, ')');
        break;
    case ATTN_ORIGIN_FILE:
        put_path(o, text, of->text.len);
        if (of->member.at)
            attn_out_printf(o, ":%s", attn_edit_at(e, of->member));
    }
}

static void put_value(struct attn_out *o, const struct attn_edit *e)
{
    const struct attn_value *v = &e->value;
    if (v->form == ATTN_VALUE_NUMBER || v->number < 1 || v->number > 1)
        put_number(o, v->number);
    if (v->form != ATTN_VALUE_NUMBER && (v->number < 1 || v->number > 1))
        attn_out_char(o, '*');
    switch (v->form) {
    case ATTN_VALUE_NUMBER:  break;
    case ATTN_VALUE_UNIFORM: attn_out_str(o, "uniform"); break;
    case ATTN_VALUE_NOISE:
        attn_out_str(o, "noise(");
        put_number(o, v->sigma);
        attn_out_printf(o, ",%llu)", (unsigned long long)v->seed);
        break;
    case ATTN_VALUE_SOURCE:  put_origin(o, e); break;
    case ATTN_VALUE_MEAN:
    case ATTN_VALUE_PROJ:
        attn_out_str(o, v->form == ATTN_VALUE_MEAN ? "mean(" : "proj(");
        put_origin(o, e);
        attn_out_char(o, ')');
    }
}

/* ---- both ---- */

static void put_edit(struct attn_out *o, const struct attn_edit *e)
{
    put_place(o, e);
    attn_out_printf(o, " %s ", attn_edit_op_names[e->op]);
    put_value(o, e);
}

static int spell(char **out, const struct attn_edit *e, void (*put)(struct attn_out *o, const struct attn_edit *e),
                 struct attn_err *err)
{
    struct attn_out *o;
    size_t len;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    put(o, e);
    rc = attn_out_take(o, out, &len, err);
    attn_out_close(o);
    return rc;
}

int attn_edit_spell(struct attn_edit *e, struct attn_err *err)
{
    int rc = spell(&e->text, e, put_edit, err);
    bool of = e->value.form == ATTN_VALUE_SOURCE || e->value.form == ATTN_VALUE_MEAN ||
              e->value.form == ATTN_VALUE_PROJ;
    return rc || !of ? rc : spell(&e->origin, e, put_origin, err);
}
