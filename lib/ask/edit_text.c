/* edit_text.c - the canonical form of an edit: the same for all ways to type it, and what documents and manifests record. */
#include "ask/edit.h"

#include "base/err.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(FILE *f, double x)
{
    char text[ATTN_NUM_MAX] = "";
    fwrite(text, 1, attn_num_f64(text, x), f);
}

static void put_string(FILE *f, const char *s, size_t len)
{
    fputc('"', f);
    for (size_t i = 0; i < len; i++)
        if (s[i] == '"' || s[i] == '\\')
            fprintf(f, "\\%c", s[i]);
        else if ((unsigned char)s[i] < ' ')
            fprintf(f, "\\u%04x", (unsigned)s[i]);
        else
            fputc(s[i], f);
    fputc('"', f);
}

/* ---- places ---- */

static void put_index(FILE *f, const struct attn_edit *e, const struct attn_edit_index *i)
{
    switch (i->form) {
    case ATTN_INDEX_ALL:    fputc('*', f); break;
    case ATTN_INDEX_BACK:   fprintf(f, "-%zu", i->lo); break;
    case ATTN_INDEX_TOKEN:  put_string(f, attn_edit_at(e, i->token), i->token.len); break;
    case ATTN_INDEX_PROMPT: fputs("prompt", f); break;
    case ATTN_INDEX_NEW:    fputs("new", f); break;
    case ATTN_INDEX_RANGE:
        fprintf(f, "%zu", i->lo);
        if (i->hi > i->lo)
            fprintf(f, "-%zu", i->hi);
    }
}

static void put_list(FILE *f, const struct attn_edit *e, const char *before, struct attn_indices list)
{
    for (size_t i = 0; i < list.n; i++) {
        fputs(i ? "," : before, f);
        put_index(f, e, &e->index[list.first + i]);
    }
}

static void put_place(FILE *f, const struct attn_edit *e)
{
    const struct attn_place *p = &e->place;
    const char *comma = "[";
    put_list(f, e, "L", p->layers);
    put_list(f, e, "H", p->heads);
    put_list(f, e, "N", p->neurons);
    if (p->layered && p->name.at)
        fputc('.', f);
    if (p->name.at)
        fputs(attn_edit_at(e, p->name), f);
    for (size_t i = 0; i < p->selectors; i++) {
        enum attn_selector s = p->order[i];
        fprintf(f, "%s%s=", comma, attn_selector_names[s]);
        put_list(f, e, "", p->by[s]);
        comma = ",";
    }
    fputs(*comma == ',' ? "]" : "", f);
}

/* ---- values ---- */

/* A path as it is where no character of it could mean something else, otherwise in quotes. */
static void put_path(FILE *f, const char *path, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@%~";
    if (strspn(path, plain) == len)
        fputs(path, f);
    else
        put_string(f, path, len);
}

static void put_origin(FILE *f, const struct attn_edit *e)
{
    const struct attn_origin *o = &e->value.of;
    const char *text = attn_edit_at(e, o->text);
    switch (o->form) {
    case ATTN_ORIGIN_FROM:
        fputs("from", f);
        break;
    case ATTN_ORIGIN_TEXT:
    case ATTN_ORIGIN_TEXTS:
        fputs(o->form == ATTN_ORIGIN_TEXT ? "text(" : "texts(", f);
        put_string(f, text, o->text.len);
        fputc(')', f);
        break;
    case ATTN_ORIGIN_IDS:
        for (size_t i = 0; i < o->n; i++)
            fprintf(f, "%s%d", i ? "," : "ids(", (int)e->id[o->first + i]);
        fputc(')', f);
        break;
    case ATTN_ORIGIN_FILE:
        put_path(f, text, o->text.len);
        if (o->member.at)
            fprintf(f, ":%s", attn_edit_at(e, o->member));
    }
}

static void put_value(FILE *f, const struct attn_edit *e)
{
    const struct attn_value *v = &e->value;
    if (v->form == ATTN_VALUE_NUMBER || v->number < 1 || v->number > 1)
        put_number(f, v->number);
    if (v->form != ATTN_VALUE_NUMBER && (v->number < 1 || v->number > 1))
        fputc('*', f);
    switch (v->form) {
    case ATTN_VALUE_NUMBER:  break;
    case ATTN_VALUE_UNIFORM: fputs("uniform", f); break;
    case ATTN_VALUE_NOISE:
        fputs("noise(", f);
        put_number(f, v->sigma);
        fprintf(f, ",%llu)", (unsigned long long)v->seed);
        break;
    case ATTN_VALUE_SOURCE:  put_origin(f, e); break;
    case ATTN_VALUE_MEAN:
    case ATTN_VALUE_PROJ:
        fputs(v->form == ATTN_VALUE_MEAN ? "mean(" : "proj(", f);
        put_origin(f, e);
        fputc(')', f);
    }
}

/* ---- both ---- */

static void put_edit(FILE *f, const struct attn_edit *e)
{
    static const char *const ops[] = {" = ", " += ", " -= ", " *= "};
    put_place(f, e);
    fputs(ops[e->op], f);
    put_value(f, e);
}

static int spell(char **out, const struct attn_edit *e, void (*put)(FILE *f, const struct attn_edit *e), struct attn_err *err)
{
    size_t len;
    FILE *f = open_memstream(out, &len);
    if (f)
        put(f, e);
    bool ok = f && !ferror(f);
    if (f && fclose(f))
        ok = false;
    return ok ? ATTN_OK : attn_no_memory(err, NULL, "for the text of an edit");
}

int attn_edit_spell(struct attn_edit *e, struct attn_err *err)
{
    int rc = spell(&e->text, e, put_edit, err);
    bool of = e->value.form == ATTN_VALUE_SOURCE || e->value.form == ATTN_VALUE_MEAN || e->value.form == ATTN_VALUE_PROJ;
    return rc || !of ? rc : spell(&e->origin, e, put_origin, err);
}
