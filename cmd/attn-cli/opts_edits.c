#include "opts_edits.h"

#include "opts_attention.h"
#include "texts.h"

#include "base/err.h"
#include "base/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ----------------------------------------------------------------------------- */

static struct many given;
static const char *patch_from;
static bool no_compare;

/* Rows that edits_open finds again. */
enum { EDIT, EDITS, ABLATE, PATCH, STEER };

const struct option edit_options[] = {
    [EDIT] = {0, "edit", OPT_MANY, &given, "EDIT",
              "change an activation before the next step reads it, as in 'L1H2 = 0', 'L0.mlp.out[pos=-1] *= 0.5' or "
              "'L3.resid_post += 2*vector.npy'; see 'attn-cli help edits'.  May be given again: edits are applied in "
              "the order given", .section = OF_EDIT, .flags = OPT_COUNTS | OPT_USUAL},
    [EDITS] = {0, "edits", OPT_MANY_FILES, &given, "FILE",
               "the edits of a file, one a line; lines that begin with # are comments",
     .section = OF_EDIT, .flags = OPT_COUNTS},
    [ABLATE] = {0, "ablate", OPT_MANY, &given, "PLACES",
                "set these places to 0: L1H2,L0.mlp.out, or 1.2 for head 2 of layer 1; mean:PLACES to what they are "
                "on average, over the rows of all texts that the command is about",
     .section = OF_EDIT, .flags = OPT_COUNTS | OPT_USUAL},
    [PATCH] = {0, "patch", OPT_MANY, &given, "PLACES",
               "set these places to what they are in another run, that of --patch-from",
     .section = OF_EDIT, .flags = OPT_COUNTS},
    [STEER] = {0, "steer", OPT_MANY_FILES, &given, "FILE[:SCALE][@LAYERS]", "add a vector to the residual stream after "
     "these layers: a .npy file, as in happy.npy:2@3, or an .npz archive, whose direction.N acts on layer N",
     .section = OF_EDIT, .flags = OPT_COUNTS},
    {0, "patch-from", OPT_TEXT, &patch_from, "SOURCE",
     "where --patch takes values from: FILE.npz, text(\"...\"), ids(5,1,2), "
     "mean(...), or from, the text of --from (default: from)", .section = OF_EDIT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option from_options[] = {
    {0, "from", OPT_TEXT, &sourcing.text, "TEXT", "the other text, which runs unedited, for edits that say from",
     .section = OF_EDIT, .flags = OPT_COUNTS},
    {0, "from-ids", OPT_TEXT, &sourcing.ids, "IDS", "the same as token ids", .section = OF_EDIT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option compare_options[] = {
    {0, "no-compare", OPT_FLAG, &no_compare, NULL,
     "with edits: leave out the run without them, whose next tokens are shown "
     "beside those after them", .section = OF_EDIT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const char edit_title[] = "Edits (PLACE = VALUE, += VALUE, -= VALUE, *= NUMBER, -= proj(SOURCE))";

const struct pair edit_terms[] = {
    {"pattern, L3.mlp.out", "a place: an activation in every layer, by its name, short name or with wildcards; or in "
                            "layer 3"},
    {"L1H2, L1H2.pattern", "head 2 of layer 1: its context, before the output projection; another activation of it"},
    {"L1N37, L0-2H*", "neuron 37 of layer 1; all heads of layers 0 to 2"},
    {"[head=0,2]", "some of a place: these query heads"},
    {"[pos=3], [pos=-1]",
     "these rows, counted from 0, or from the end; also [pos=\" cat\"], rows of that token, prompt and new"},
    {"[key=0], [col=5]", "these keys, of dots, scores, pattern; these columns, of others"},
    {"[pos=3,key=2]", "several of these, in one pair of brackets"},
    {"0.5, -inf, uniform", "a value: a number; uniform: equal weights, of a pattern"},
    {"vector.npy, a.npz:rows", "a source: an array of a file, in an archive by its name or that of the activation; "
     "[columns] for all rows or [rows, columns]"},
    {"from, text(\"...\"), ids(1,2)", "the same activation in an unedited run of another text: rows correspond by "
                                      "position, and the row of a single token serves all; with --cross, its k and v "
                                      "are those it has by itself"},
    {"mean(SOURCE)", "its mean over rows; mean(texts(FILE)): and over the texts of a file, as batch reads them"},
    {"2*SOURCE", "a source times a number"},
    {"noise(0.1,7)", "normal noise of that size, seed 7"},
    {"proj(SOURCE)", "the component along each row of the source, with -=: head by head where heads are named or lie "
                     "apart (q, k, v), else over the columns that are chosen"},
    {NULL, NULL},
};

/* ---- reading ----------------------------------------------------------------------------- */

static int read_file(struct edits *e, const char *path, struct attn_err *err)
{
    char *text;
    size_t len;
    int code = file_read(&text, &len, path, err);
    if (!code)
        code = attn_edits_read(&e->list, text, len, strcmp(path, "-") ? path : "standard input", err);
    free(text);
    return code;
}

/* The texts that the command is about, as a source of edits. */
static int all_texts(struct attn_out *o, struct attn_err *err)
{
    const char *text = common.file ? common.file : common.sentence;
    if (common.ids) {
        attn_out_printf(o, "mean(ids(%s))", common.ids);
        return ATTN_OK;
    }
    if (!text || (common.file && !strcmp(common.file, "-")) || (!common.file && texts_typed() > 1))
        return attn_fail(err, ATTN_EUSAGE, "--ablate mean: takes the mean over the texts of a file, -f PATH, or of one "
                         "that is typed");
    attn_out_str(o, common.file ? "mean(texts(\"" : "mean(text(\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            attn_out_char(o, '\\');
        attn_out_char(o, *text);
    }
    attn_out_str(o, "\"))");
    return ATTN_OK;
}

/* PLACES, or mean:PLACES. */
static int ablate(struct attn_edits **list, const char *places, struct attn_err *err)
{
    static const char mean[] = "mean:";
    struct attn_out *o;
    char *source = NULL;
    size_t len;
    if (strncmp(places, mean, sizeof mean - 1))
        return attn_edits_ablate(list, places, err);
    int code = attn_out_open_memory(&o, err);
    if (code)
        return code;
    code = all_texts(o, err);
    if (!code)
        code = attn_out_take(o, &source, &len, err);
    if (!code)
        code = attn_edits_patch(list, places + sizeof mean - 1, source, err);
    attn_out_close(o);
    free(source);
    return code;
}

static int read_one(struct edits *e, const struct given *g, struct attn_err *err)
{
    switch (g->of - edit_options) {
    case EDIT:   return attn_edits_parse(&e->list, g->value, err);
    case EDITS:  return read_file(e, g->value, err);
    case ABLATE: return ablate(&e->list, g->value, err);
    case PATCH:  return attn_edits_patch(&e->list, g->value, patch_from ? patch_from : "from", err);
    default:     return attn_edits_steer(&e->list, g->value, err);
    }
}

static int read_from(struct edits *e, struct attn_tokenizer **tokenizer, struct attn_err *err)
{
    if (sourcing.text && sourcing.ids)
        return attn_fail(err, ATTN_EUSAGE,
                         "--from and --from-ids are both given: the text that values come from is one of them");
    int code = input_read_any(&e->input, sourcing.text, NULL, sourcing.ids, err);
    if (!code)
        code = input_tokens(&e->from, tokenizer, &e->input, err);
    return code || e->from->n ? code : attn_fail(err, ATTN_EFORMAT,
                                                 "the text of --from is empty: there is nothing to run");
}

bool edits_given(void)
{
    return given.n > 0;
}

int edits_take_patch(const char **name, struct attn_err *err)
{
    size_t at = given.n, found = 0;
    for (size_t i = 0; i < given.n; i++)
        if (given.item[i].of == &edit_options[PATCH]) {
            at = i;
            found++;
        }
    if (patch_from)
        return attn_fail(err, ATTN_EUSAGE, "--patch-from makes --patch an edit, and --over, --metric or --method make "
                                           "it a grid: give one or the other, and in a grid such an edit as --edit "
                                           "'PLACE = SOURCE'");
    if (found != 1)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: say with one --patch NAME what a grid takes from the other text of each record, as in "
                         "--patch resid_pre%s", found ? "there are several --patch" : "there is no --patch",
                         found ? "" : "; for a metric of each text without a grid: attn-cli run --metric, a text at a "
                         "time");
    *name = given.item[at].value;
    memmove(&given.item[at], &given.item[at + 1], (--given.n - at) * sizeof *given.item);
    return ATTN_OK;
}

int edits_open(struct edits *e, struct attn_tokenizer **tokenizer, struct attn_err *err)
{
    int code = ATTN_OK;
    for (size_t i = 0; i < given.n && !code; i++)
        code = read_one(e, &given.item[i], err);
    if (!code && !attn_edits_count(e->list)) {          /* a file without edits */
        attn_edits_free(e->list);
        e->list = NULL;
    }
    if (!code && patch_from && !option_given(&edit_options[PATCH]))
        code = attn_fail(err, ATTN_EUSAGE, "--patch-from says where values come from: say what they replace with "
                                           "--patch PLACES");
    if (!code && !given.n && !e->needs_from && (sourcing.text || sourcing.ids))
        code = attn_fail(err, ATTN_EUSAGE, "--from gives a text to take values from: say what they replace, as with "
                                           "--patch L1.resid_post or --edit 'L1H2 = from'");
    return code || !(sourcing.text || sourcing.ids) ? code : read_from(e, tokenizer, err);
}

/* ---- binding ----------------------------------------------------------------------------- */

static int make_editor(struct edits *e, const struct attn_model *m, const struct attn_tokens *cross,
                       struct attn_err *err)
{
    struct attn_editor_opts o = {
        .edits = e->list, .model = m, .encode = input_encode_opts(), .from = e->from,
        .cross = cross,
        .plan = plan_asked(), .rows = e->rows};
    return e->list ? attn_editor_new(&e->editor, &o, err) : ATTN_OK;
}

static void note_served(const struct edits *e, bool grows)
{
    for (size_t i = 0; i < attn_edits_count(e->list); i++) {
        size_t n = attn_editor_served(e->editor, 0, i);
        const struct excerpt edit = excerpt(attn_edits_text(e->list, i));
        if (n && grows)                 /* more will come */
            say_note("edit '%s': the source has one row, which serves all", edit.text);
        else if (n)
            say_note("edit '%s': the source has one row, which serves all %zu", edit.text, n);
    }
}

int edits_bind(struct edits *e, const struct attn_model *m, const struct attn_tokens *tokens,
               const struct attn_tokens *cross, enum edits_text how, struct attn_err *err)
{
    int32_t *ids = NULL;
    int code = e->list && how != EDITS_WINDOWS ? attn_run_check_tokens(m, tokens, cross, err) : ATTN_OK;
    if (!code)
        code = make_editor(e, m, cross, err);
    if (code || !e->list)
        return code;
    code = attn_tokens_to_ids(&ids, tokens, err);
    if (!code)
        code = attn_editor_text(e->editor, 0, ids, tokens->n, how == EDITS_PROMPT, err);
    if (!code && how != EDITS_UNRUN)
        code = attn_editor_start(e->editor, err);
    if (!code && how != EDITS_UNRUN)
        note_served(e, how == EDITS_PROMPT);
    free(ids);
    return code;
}

size_t edits_observe(const struct edits *e, struct attn_observer *list)
{
    if (e->editor)
        *list = attn_editor_observer(e->editor);
    return e->editor != NULL;
}

int edits_compare(struct edits *e, const struct attn_model *m, struct attn_err *err)
{
    struct attn_info info;
    attn_model_info(m, &info);
    return e->list && info.unembed && !no_compare ? attn_compare_new(&e->compare, m, err) : ATTN_OK;
}

/* ---- what they would change -------------------------------------------------------------- */

struct listing { const struct edits *edits; size_t next; };      /* next: the edit whose title comes next */

#define LINE "  %-23s %-7s %-12s %-16s "

static int print_touch(void *self, const struct attn_touch *t, struct attn_err *err)
{
    struct listing *l = self;
    (void)err;
    if (t->edit >= l->next) {
        size_t served = attn_editor_served(l->edits->editor, 0, t->edit);
        printf("%s%s", l->next ? "\n" : "", attn_edits_text(l->edits->list, t->edit));
        if (served)
            printf("  (one row, which serves all %zu)", served);
        printf("\n" LINE "%10s\n", "activation", "heads", "rows", t->keys ? "keys" : "columns", "numbers");
        l->next = t->edit + 1;
    }
    char heads[80];
    snprintf(heads, sizeof heads, "%s%s", t->kv ? "kv " : "", t->heads ? excerpt(t->heads).text : "-");
    printf(LINE "%10" PRIu64 "\n", t->name, heads, excerpt(t->rows).text, excerpt(t->cols).text, t->numbers);
    return ATTN_OK;
}

int edits_print(const struct edits *e, struct attn_err *err)
{
    struct listing l = {.edits = e};
    if (!e->editor)
        puts("no edits: nothing is changed");
    return e->editor ? attn_editor_touches(e->editor, 0, &(struct attn_touch_watch){print_touch, &l}, err) : ATTN_OK;
}

static unsigned both_want(void *self, int act, int layer)
{
    const struct edits_and_progress *both = self;
    unsigned flags = both->edit.wants ? both->edit.wants(both->edit.self, act, layer) : 0;
    return flags | both->progress.wants(both->progress.self, act, layer);
}

static int both_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    const struct edits_and_progress *both = self;
    return both->edit.edit(both->edit.self, p, data, err);
}

static int both_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct edits_and_progress *both = self;
    return both->progress.watch(both->progress.self, p, err);
}

static void both_overflow(void *self, const struct attn_lost *rows)
{
    const struct edits_and_progress *both = self;
    both->progress.overflow(both->progress.self, rows);
}

struct attn_observer edits_and_progress(struct edits_and_progress *both, const struct edits *e, struct progress *p)
{
    *both = (struct edits_and_progress){.progress = progress_observer(p)};
    edits_observe(e, &both->edit);
    return (struct attn_observer){.wants = both_want, .edit = both_edit, .watch = both_watch, .overflow = both_overflow,
                                  .self = both};
}

void edits_close(struct edits *e)
{
    attn_compare_free(e->compare);
    attn_editor_free(e->editor);
    attn_edits_free(e->list);
    attn_tokens_free(e->from);
    input_free(&e->input);
}
