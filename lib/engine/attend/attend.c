#include "attend/attend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "base/strings.h"
#include "model/kind.h"
#include "model/model.h"

/* ---- what rows are called -------------------------------------------------------------- */

/* The length of a blank, U+3000 among them, at s; 0: there is none. */
static size_t blank_at(const char *s)
{
    static const char wide[] = "\xE3\x80\x80";
    return *s && strchr(" \t\r\n", *s) ? 1 : strncmp(s, wide, strlen(wide)) ? 0 : strlen(wide);
}

/* The next word, and *text behind it; false: there is none. */
static bool next_word(const char **text, struct attn_str_view *word)
{
    const char *s = *text;
    for (size_t n; (n = blank_at(s));)
        s += n;
    *word = (struct attn_str_view){s, 0};
    while (s[word->len] && !blank_at(s + word->len))
        word->len++;
    *text = s + word->len;
    return word->len > 0;
}

static size_t count_words(const char *text)
{
    struct attn_str_view word;
    size_t n = 0;
    while (text && next_word(&text, &word))
        n++;
    return n;
}

/* Row i is called by word i, or label i, or its number. */
static struct attn_str_view name_of(const char **words, const struct attn_dump_list *labels, size_t i, char number[24])
{
    struct attn_str_view name;
    if (*words && next_word(words, &name))
        return name;
    if (labels && i < labels->n && labels->item[i].text)
        return (struct attn_str_view){labels->item[i].text, labels->item[i].len};
    return (struct attn_str_view){number, (size_t)snprintf(number, 24, "%zu", i)};
}

/* Tokens with ids from `first` on, in one block of memory. */
static int make_tokens(struct attn_tokens **out, size_t n, size_t first, const char *words,
                       const struct attn_dump_list *labels, struct attn_err *err)
{
    size_t bytes = sizeof **out + n * (sizeof *(*out)->tok + 24) + (words ? strlen(words) : 0);
    for (size_t i = 0; labels && i < labels->n; i++)
        bytes += labels->item[i].len;
    struct attn_tokens *t = *out = malloc(bytes);
    if (!t)
        return attn_no_memory(err, NULL, "for %zu rows", n);
    *t = (struct attn_tokens){n, (struct attn_token *)(t + 1)};
    char *to = (char *)(t->tok + n);
    for (size_t i = 0; i < n; i++) {
        char number[24];
        struct attn_str_view name = name_of(&words, labels, i, number);
        memcpy(to, name.s, name.len);
        t->tok[i] = (struct attn_token){.id = (int32_t)(first + i), .known = true, .named = true, .text = to, .raw = to,
                                        .text_len = name.len, .raw_len = name.len};
        to += name.len;
    }
    return ATTN_OK;
}

/* The first labels of so many rows among some inputs; NULL: there are none. */
static const struct attn_dump_list *labels_of(const struct attn_attend *a, const int *inputs, size_t n, size_t rows)
{
    for (size_t i = 0; i < n; i++)
        if (a->numbers[inputs[i]].rows.n == rows)
            return &a->numbers[inputs[i]].rows;
    return NULL;
}

static const struct attn_dump_list *labels_of_columns(const struct attn_attend *a)
{
    static const int square[] = {ATTN_ATTEND_SCORES, ATTN_ATTEND_DOTS, ATTN_ATTEND_MASK};
    for (size_t i = 0; i < 3; i++)
        if (a->numbers[square[i]].cols.n == a->Tk)
            return &a->numbers[square[i]].cols;
    return NULL;
}

static bool same_labels(const struct attn_dump_list *a, const struct attn_dump_list *b)
{
    size_t i = 0;
    while (i < a->n && i < b->n && a->item[i].text && b->item[i].text && !strcmp(a->item[i].text, b->item[i].text))
        i++;
    return i == a->n && i == b->n;
}

static int check_names(const char *option, const char *words, size_t n, struct attn_err *err)
{
    size_t found = count_words(words);
    if (!words || found == n)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: found %zu word%s, expected %zu, one for each row, with blanks between "
                                         "them", option, found, found == 1 ? "" : "s", n);
}

/* Keys are of another text where they differ in number or in name, or were made of another. */
static int name_rows(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    static const int queries[] = {ATTN_ATTEND_Q, ATTN_ATTEND_X, ATTN_ATTEND_SCORES, ATTN_ATTEND_DOTS, ATTN_ATTEND_MASK},
                     keys[] = {ATTN_ATTEND_K, ATTN_ATTEND_CROSS, ATTN_ATTEND_V, ATTN_ATTEND_X};
    const struct attn_dump_list *rows = labels_of(a, queries, 5, a->Tq), *cols = labels_of(a, keys, 4, a->Tk);
    cols = cols ? cols : labels_of_columns(a);
    a->cross = a->view[ATTN_ATTEND_CROSS].x || o->key_names || a->Tq != a->Tk ||
               (rows && cols && !same_labels(rows, cols));
    rows = rows || a->cross ? rows : cols;
    if (check_names("--names", o->names, a->Tq, err) || check_names("--key-names", o->key_names, a->Tk, err) ||
        make_tokens(&a->tokens, a->Tq, 0, o->names, rows, err))
        return err->code;
    return a->cross ? make_tokens(&a->keys, a->Tk, a->Tq, o->key_names, cols, err) : ATTN_OK;
}

/* ---- all of it ------------------------------------------------------------------------- */

static int read_all(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    int standard = -1;
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++) {
        if (!o->given[i] || strcmp(o->given[i], "-") != 0)
            continue;
        if (standard >= 0)
            return attn_fail(err, ATTN_EUSAGE, "%s and %s: only one can be standard input",
                             attn_attend_option(standard), attn_attend_option(i));
        standard = i;
    }
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++)
        if (o->given[i] &&
            attn_numbers_read(&a->numbers[i], o->given[i], attn_attend_option(i), attn_attend_name(i), err))
            return err->code;
    return ATTN_OK;
}

/* What is given of a text alone takes the place of what would be made of it. */
static int copy_rows(struct attn_attend *a, int to, int from, struct attn_err *err)
{
    const struct attn_labelled *rows = &a->numbers[from];
    struct attn_labelled *copy = &a->numbers[to];
    *copy = (struct attn_labelled){.name = strdup(rows->name)};
    if (!copy->name || !attn_array_copy(&copy->of, &rows->of))
        return attn_no_memory(err, attn_attend_option(from), "for %zu numbers", rows->of.n);
    return ATTN_OK;
}

/* Without weights, as in the simplest attention, rows are their own queries, keys and values. */
static int take_rows(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    const int keys = o->given[ATTN_ATTEND_CROSS] ? ATTN_ATTEND_CROSS : ATTN_ATTEND_X;
    a->plain = o->given[ATTN_ATTEND_X] && !o->vectors;
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++)
        a->plain &= !o->given[i] || i == ATTN_ATTEND_X || i == ATTN_ATTEND_CROSS || i == ATTN_ATTEND_MASK ||
                    i == ATTN_ATTEND_WO || i == ATTN_ATTEND_BO;
    if (!a->plain)
        return ATTN_OK;
    int rc = copy_rows(a, ATTN_ATTEND_Q, ATTN_ATTEND_X, err);
    if (!rc)
        rc = copy_rows(a, ATTN_ATTEND_K, keys, err);
    return rc ? rc : copy_rows(a, ATTN_ATTEND_V, keys, err);
}

const char *attn_attend_given(char buf[ATTN_ATTEND_GIVEN], const struct attn_attend *a, const char *separator)
{
    char shape[ATTN_SHAPE_TEXT];
    size_t n = 0;
    *buf = '\0';
    for (int i = a->plain ? ATTN_ATTEND_MASK : 0; i < ATTN_ATTEND_INPUTS && n < ATTN_ATTEND_GIVEN; i++)
        if (a->numbers[i].name)
            n += (size_t)snprintf(buf + n, ATTN_ATTEND_GIVEN - n, "%s%s %s", n ? separator : "",
                                  attn_attend_option(i) + 2, attn_shape_text(shape, &a->numbers[i].of));
    return buf;
}

static void say_about(struct attn_attend *a)
{
    size_t n = strlen(attn_attend_given(a->about, a, ", ")), room = sizeof a->about;
    if (a->scored && n < room)
        n += (size_t)snprintf(a->about + n, room - n, ": pattern [%zu, %zu, %zu]", a->H, a->Tq, a->Tk);
    if (a->scored && a->valued && n < room)
        n += (size_t)snprintf(a->about + n, room - n, ", context [%zu, %zu]", a->Tq, a->H * a->dv);
    if (a->out && n < room)
        snprintf(a->about + n, room - n, ", out [%zu, %zu]", a->Tq, a->out);
}

int attn_attend_open(struct attn_attend **out, const struct attn_attend_opts *o, struct attn_err *err)
{
    struct attn_err local = {0};
    err = err ? err : &local;
    *out = NULL;
    int rc = attn_cpu_check(err);
    if (!rc)
        rc = attn_kind_check(&o->kind, err);
    if (rc)
        return rc;
    struct attn_attend *a = calloc(1, sizeof *a);
    if (!a)
        return attn_no_memory(err, NULL, "for numbers");
    rc = read_all(a, o, err);
    if (!rc)
        rc = take_rows(a, o, err);
    if (!rc)
        rc = attn_attend_fit(a, o, err);
    if (!rc)
        rc = name_rows(a, o, err);
    if (!rc)
        rc = attn_attend_make(a, o, err);
    say_about(a);
    if (rc)
        attn_attend_close(a);
    else
        *out = a;
    return rc;
}

void attn_attend_close(struct attn_attend *a)
{
    if (!a)
        return;
    attn_model_close(a->model);
    attn_tokens_free(a->tokens);
    attn_tokens_free(a->keys);
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++)
        attn_numbers_free(&a->numbers[i]);
    free(a);
}

const struct attn_model *attn_attend_model(const struct attn_attend *a) { return a->model; }
const struct attn_tokens *attn_attend_tokens(const struct attn_attend *a) { return a->tokens; }
const struct attn_tokens *attn_attend_keys(const struct attn_attend *a) { return a->keys; }
const char *attn_attend_about(const struct attn_attend *a) { return a->about; }
