/* edits.c - a list of edits, and the shorter ways to say some: files, ablations, patches, steering vectors. */
#include "ask/edit.h"

#include "ask/ranges.h"
#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/list_file.h"
#include "base/num.h"
#include "base/out.h"
#include "base/strings.h"
#include "io/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

static void drop(struct attn_edit *e)
{
    free(e->index);
    free(e->id);
    free(e->strings);
    free(e->text);
    free(e->origin);
}

void attn_edits_free(struct attn_edits *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        drop(&list->edit[i]);
    if (list)
        free(list->edit);
    free(list);
}

struct attn_edit *attn_edits_next(struct attn_edits *to, struct attn_err *err)
{
    struct attn_edit *more = attn_grow(to->edit, &to->room, to->n + 1, sizeof *more);
    if (!more) {
        attn_no_memory(err, NULL, "for %zu edits", to->n + 1);
        return NULL;
    }
    to->edit = more;
    more[to->n] = (struct attn_edit){0};
    return &more[to->n];
}

size_t attn_edits_count(const struct attn_edits *list)
{
    return list ? list->n : 0;
}

const char *attn_edits_text(const struct attn_edits *list, size_t i)
{
    return list->edit[i].text;
}

const char *attn_edits_file(const struct attn_edits *list, size_t i)
{
    const struct attn_edit *e = &list->edit[i];
    enum attn_origin_form form = e->value.of.form;
    return e->origin && (form == ATTN_ORIGIN_FILE || form == ATTN_ORIGIN_TEXTS) ? attn_edit_at(e, e->value.of.text) :
           NULL;
}

bool attn_edits_from(const struct attn_edits *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (list->edit[i].origin && list->edit[i].value.of.form == ATTN_ORIGIN_FROM)
            return true;
    return false;
}

/* A list that a call adds to; it becomes the caller's when that succeeds. */
struct growing { struct attn_edits *list; size_t before; };

static int begin(struct growing *g, struct attn_edits *const *list, struct attn_err *err)
{
    *g = (struct growing){*list ? *list : calloc(1, sizeof **list), *list ? (*list)->n : 0};
    return g->list ? ATTN_OK : attn_no_memory(err, NULL, "for a list of edits");
}

/* After a failure the list is as it was. */
static int end(struct attn_edits **list, struct growing *g, int rc)
{
    while (rc && g->list && g->list->n > g->before)
        drop(&g->list->edit[--g->list->n]);
    if (rc && g->list != *list)
        attn_edits_free(g->list);
    else
        *list = g->list;
    return rc;
}

static int add(struct attn_edits *list, const char *text, size_t len, const char *where, struct attn_err *err)
{
    struct attn_edit *e = attn_edits_next(list, err);
    if (!e)
        return ATTN_ENOMEM;
    int rc = attn_edit_read(e, text, len, where, err);
    if (rc)
        drop(e);
    else
        list->n++;
    return rc;
}

int attn_edits_parse(struct attn_edits **list, const char *text, struct attn_err *err)
{
    struct growing g;
    int rc = begin(&g, list, err);
    if (!rc)
        rc = add(g.list, text, strlen(text), "--edit", err);
    return end(list, &g, rc);
}

/* ---- a file of edits ---- */

int attn_edits_read(struct attn_edits **list, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct growing g;
    int rc = begin(&g, list, err);
    struct attn_list_file in = attn_list_file_begin(text, len);
    const char *edit;
    size_t n;
    while (!rc && attn_list_file_next(&in, &edit, &n)) {
        char where[512];
        snprintf(where, sizeof where, "%.480s:%zu:", path, in.line);
        rc = memchr(edit, '\0', n) ? attn_fail(err, ATTN_EFORMAT, "%s there is a NUL: expected text", where)
             : add(g.list, edit, n, where, err);
    }
    return end(list, &g, rc);
}

/* ---- shorter ways ---- */

static int set_places(struct attn_edits **list, const char *places, const char *where, const char *value,
                      const char *value_where, struct attn_err *err)
{
    struct growing g;
    int rc = begin(&g, list, err);
    if (!rc)
        rc = attn_edit_read_places(g.list, places, where, value, value_where, err);
    return end(list, &g, rc);
}

int attn_edits_ablate(struct attn_edits **list, const char *places, struct attn_err *err)
{
    return set_places(list, places, "--ablate", "0", "--ablate", err);
}

int attn_edits_patch(struct attn_edits **list, const char *places, const char *source, struct attn_err *err)
{
    return set_places(list, places, "--patch", source, "--patch-from", err);
}

/* ---- steering: FILE[:SCALE][@LAYERS] ---- */

struct steer { const char *text; size_t path; double scale; const char *layers; struct attn_edits *to; };

/* Finds where the path ends: at the first .npy or .npz that a part of the grammar or nothing follows. */
static int read_steer(struct steer *s, const char *text, struct attn_err *err)
{
    const char *at = text;
    *s = (struct steer){.text = text, .scale = 1, .to = s->to};
    while ((at = strstr(at, ".np")) && !((at[3] == 'y' || at[3] == 'z') && strchr(":@", at[4])))
        at++;
    if (!at || at == text)
        return attn_fail(err, ATTN_EUSAGE, "--steer '%.*s': expected FILE.npy@LAYERS or FILE.npz, with a factor "
                         "FILE.npy:2@LAYERS", attn_shown(text, strlen(text)), text);
    s->path = (size_t)(at + 4 - text);
    at += 4;
    if (*at == ':') {
        size_t n = strcspn(++at, "@");
        if (!attn_num_parse_f64(at, n, &s->scale) || !(s->scale < 1e38 && s->scale > -1e38))
            return attn_fail(err, ATTN_EUSAGE, "--steer '%.*s', column %zu: expected a factor, a number",
                             attn_shown(text, strlen(text)),
                             text, (size_t)(at - text) + 1);
        at += n;
    }
    s->layers = *at == '@' ? at + 1 : NULL;
    if (s->layers && (!*s->layers || s->layers[strspn(s->layers, "0123456789,-*")]))
        return attn_fail(err, ATTN_EUSAGE, "--steer '%.*s', column %zu: expected layers such as 3, 0,2-4 or *",
                         attn_shown(text, strlen(text)), text, (size_t)(s->layers - text) + 1);
    return ATTN_OK;
}

/* Adds "L<layers>.resid_post += SCALE*FILE". */
static int steer_at(const struct steer *s, const char *layers, const char *member, struct attn_err *err)
{
    char *text = NULL;
    struct attn_out *o;
    size_t len;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    attn_out_printf(o, "L%s.resid_post += ", layers);
    attn_out_f64(o, s->scale);
    attn_out_str(o, "*\"");
    for (size_t i = 0; i < s->path; i++) {
        if (s->text[i] == '"' || s->text[i] == '\\')
            attn_out_char(o, '\\');
        attn_out_char(o, s->text[i]);
    }
    attn_out_printf(o, "\"%s%s", member ? ":" : "", member ? member : "");
    rc = attn_out_take(o, &text, &len, err);
    if (!rc)
        rc = add(s->to, text, len, "--steer", err);
    attn_out_close(o);
    free(text);
    return rc;
}

/* Which layers an archive has a direction for. */
static int directions(struct attn_ranges *out, const struct steer *s, struct attn_err *err)
{
    static const char prefix[] = "direction.";
    char *path = strndup(s->text, s->path);
    struct attn_dump *d = NULL;
    int rc = path ? attn_dump_open_some(&d, path, err) : attn_no_memory(err, NULL, "for a path");
    for (size_t i = 0; !rc && i < d->n; i++) {
        const char *name = d->item[i].name;
        uint64_t layer;
        if (!strncmp(name, prefix, strlen(prefix)) &&
            attn_num_parse_u64(name + strlen(prefix), strlen(name) - strlen(prefix),
                               &layer) &&
            layer <= INT32_MAX && !attn_ranges_add(out, (size_t)layer, (size_t)layer + 1))
            rc = attn_no_memory(err, NULL, "for directions");
    }
    attn_ranges_join(out);
    if (!rc && !out->n)
        rc = attn_fail(err, ATTN_EFORMAT, "--steer: %s has no array direction.N, which would act on layer N: name one "
                                          "in an edit, as in L3.resid_post += %s:NAME", path, path);
    attn_dump_free(d);
    free(path);
    return rc;
}

/* The layers of @LAYERS, which read as those of L<n>. */
static int asked_layers(struct attn_ranges *out, const struct steer *s, const struct attn_ranges *have,
                        struct attn_err *err)
{
    struct attn_edits *one = NULL;
    char *place = NULL;
    int rc = attn_asprintf(&place, "L%s.resid_post", s->layers) < 0 ? attn_no_memory(err, NULL, "for a place")
                                                               : set_places(&one, place, "--steer", "0",
                                                                            "--steer", err);
    for (size_t i = 0; !rc && i < one->edit->place.layers.n; i++) {
        const struct attn_edit_index *x = &one->edit->index[one->edit->place.layers.first + i];
        bool all = x->form == ATTN_INDEX_ALL;
        if (x->form == ATTN_INDEX_BACK) {
            rc = attn_fail(err, ATTN_EUSAGE, "--steer: found layer -%zu, expected layers counted from 0, as in @0,2-4: "
                           "the file has directions for some layers, and its last need not be the model's", x->lo);
            break;
        }
        for (size_t k = 0; all && k < have->n; k++)
            all = attn_ranges_add(out, have->r[k].lo, have->r[k].hi);
        if (!all && (x->form == ATTN_INDEX_ALL || !attn_ranges_add(out, x->lo, x->hi + 1)))
            rc = attn_no_memory(err, NULL, "for layers");
    }
    attn_ranges_join(out);
    attn_edits_free(one);
    free(place);
    return rc;
}

static int steer_each(const struct steer *s, struct attn_err *err)
{
    struct attn_ranges have = {0}, want = {0};
    int rc = directions(&have, s, err);
    if (!rc && s->layers)
        rc = asked_layers(&want, s, &have, err);
    const struct attn_ranges *layers = s->layers ? &want : &have;
    for (size_t i = 0; !rc && i < layers->n; i++)
        for (size_t n = layers->r[i].lo; !rc && n < layers->r[i].hi; n++) {
            char layer[ATTN_NUM_MAX] = "", member[ATTN_NUM_MAX + 16];
            layer[attn_num_u64(layer, n)] = '\0';
            snprintf(member, sizeof member, "direction.%s", layer);
            rc = attn_ranges_has(&have, n) ? steer_at(s, layer, member, err)
                                           : attn_fail(err, ATTN_EFORMAT,
                                                       "--steer: %.*s has no direction.%zu, for layer %zu",
                                                       (int)s->path, s->text, n, n);
        }
    attn_ranges_free(&have);
    attn_ranges_free(&want);
    return rc;
}

static int steer(struct steer *s, const char *spec, struct attn_err *err)
{
    int rc = read_steer(s, spec, err);
    if (rc)
        return rc;
    if (spec[s->path - 1] == 'z')
        return steer_each(s, err);
    return s->layers ? steer_at(s, s->layers, NULL, err)
                     : attn_fail(err, ATTN_EUSAGE, "--steer '%.*s': a .npy file needs layers, as in %.*s@3",
                                 attn_shown(spec, strlen(spec)), spec, attn_shown(spec, s->path), spec);
}

int attn_edits_steer(struct attn_edits **list, const char *spec, struct attn_err *err)
{
    struct growing g;
    int rc = begin(&g, list, err);
    struct steer s = {.to = g.list};
    if (!rc)
        rc = steer(&s, spec, err);
    return end(list, &g, rc);
}
