/* opts.c - from the command line to the rows of a command, and back: as a command, and as JSON.
 *
 * Accepts `--name value`, `--name=value`, `-n value`, `-nvalue` and flags together as in `-qh`, in any order; the last
 * one wins; `--` ends the options.  Names are never abbreviated, and numbers never rounded. */
#include "table.h"

#include "attn_tools.h"
#include "cli_print.h"
#include "outputs.h"
#include "say.h"
#include "texts.h"

#include "base/err.h"
#include "base/out.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    const struct command *command;
    char **next;                        /* arguments not yet read */
    char **words;                       /* where the next positional argument is stored */
    const struct option *input, *other; /* the option given for the text, and for the other text */
    bool late;                          /* the model that was named last is not that of -m */
    struct attn_err *err;
};

static const struct option *find_long(const struct command *c, const char *name, size_t len)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if (strlen(o->name) == len && !memcmp(o->name, name, len))
            return o;
    return NULL;
}

static const struct option *find_short(const struct command *c, char letter)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Why a command does not take an option that others have; NULL: it does not say. */
static const char *refusal(const struct command *c, const char *name)
{
    for (const struct pair *r = c->refused; r && r->term; r++)
        if (!strcmp(r->term, name))
            return r->text;
    return NULL;
}

/* A format in place of an option, as in `--csv out`: what to type for it; "": the command has no such format. */
static struct excerpt format_hint(const struct command *c, const char *name)
{
    struct excerpt hint = {""};
    const struct option *format = find_long(c, "format", strlen("format"));
    const struct attn_format *f = attn_format_find(name);
    const char *choice = NULL;
    for (size_t i = 0; format && (choice = option_choice(format, i)) && strcmp(choice, name);)
        i++;
    bool activations = find_long(c, "show", strlen("show"));
    bool written = f && f->ending && find_long(c, "output", strlen("output"));
    bool apart = written && activations && f->flags & (c == &batch_command ? ATTN_FORMAT_APART : ATTN_FORMAT_MANY);
    if (choice)
        snprintf(hint.text, sizeof hint.text, ": the format is --format %s%s%s", choice,
                 !written ? "" : apart ? " -o DIR" : " -o FILE", written && !apart ? f->ending : "");
    return hint;
}

/* The first command that has this option, for a command that lacks it; "": none has. */
static struct excerpt other_hint(const char *name)
{
    struct excerpt hint = {""};
    for (size_t i = 0; commands[i] && !*hint.text; i++)
        if (find_long(commands[i], name, strlen(name)))
            snprintf(hint.text, sizeof hint.text, ": attn-cli %s has it", commands[i]->name);
    return hint;
}

static int unknown_long(const struct parse *p, const char *name, size_t len)
{
    char typed[128];                    /* longer names are cut: more is neither shown nor compared */
    snprintf(typed, sizeof typed, "%.*s", (int)(len < sizeof typed ? len : sizeof typed - 1), name);
    const char *why = refusal(p->command, typed);
    if (why)
        return attn_fail(p->err, ATTN_EUSAGE, "--%s: %s", typed, why);
    if (wish_of(typed))
        return attn_fail(p->err, ATTN_EUSAGE, "unknown option '--%s': type %s", typed, wish_of(typed));
    struct nearest near = {.typed = typed};
    const struct option *o;
    for (size_t i = 0; (o = option_at(p->command, i)); i++)
        nearest_offer(&near, o->name);
    struct excerpt hint = {""};
    if (!near.means)
        hint = format_hint(p->command, typed);
    if (common.help && !strcmp(typed, "all"))
        snprintf(hint.text, sizeof hint.text, ": all options are in attn-cli help %s --all", p->command->name);
    if (!near.means && !*hint.text)
        hint = other_hint(typed);
    return attn_fail(p->err, ATTN_EUSAGE, "unknown option '--%s'%s", excerpt(typed).text, *hint.text ? hint.text
                     : nearest_hint(&near, "--").text);
}

/* The nearest of an unknown letter is the same letter in the other case, or a long option that starts with it. */
static int unknown_short(const struct parse *p, char letter)
{
    const struct option *o = find_short(p->command, (char)(letter ^ 0x20));
    if (isalpha((unsigned char)letter) && o)
        return attn_fail(p->err, ATTN_EUSAGE, "unknown option '-%c', the nearest is '-%c'", letter, o->letter);
    const char *why = NULL;
    for (size_t i = 0; commands[i] && !why; i++)
        why = (o = find_short(commands[i], letter)) ? refusal(p->command, o->name) : NULL;
    if (why)
        return attn_fail(p->err, ATTN_EUSAGE, "-%c: %s", letter, why);
    struct nearest near = {.typed = (char[]){letter, '\0'}};
    for (size_t i = 0; (o = option_at(p->command, i)); i++)
        nearest_offer(&near, o->name);
    return attn_fail(p->err, ATTN_EUSAGE, "unknown option '-%c'%s", letter, nearest_hint(&near, "--").text);
}

static int store_choice(const struct option *o, const char *value, struct attn_err *err)
{
    char list[320] = "";
    struct nearest near = {.typed = value};
    const char *c;
    for (size_t i = 0; (c = option_choice(o, i)); i++) {
        if (!strcmp(c, value)) {
            *(const char **)o->to = value;
            return ATTN_OK;
        }
        nearest_offer(&near, c);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", c);
    }
    const char *meant = o->mistaken ? o->mistaken(value) : NULL;
    if (meant)
        return attn_fail(err, ATTN_EUSAGE, "--%s %s: %s", o->name, value, meant);
    return attn_fail(err, ATTN_EUSAGE, "--%s: unknown value '%s'%s (%s)", o->name, excerpt(value).text,
                     nearest_hint(&near, "").text, list);
}

/* A number that is not whole may be for what others have under this letter: -t is often the temperature. */
static const struct option *real_of_letter(const struct command *c, char letter)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if (letter && o->type == OPT_REAL && o->name[0] == letter)
            return o;
    return NULL;
}

static int not_whole(const struct command *c, const struct option *o, const char *value, struct attn_err *err)
{
    char *end;
    bool real = isfinite(strtod(value, &end)) && *value && !*end;
    const struct option *meant = real ? real_of_letter(c, o->letter) : NULL;
    struct excerpt typed = excerpt(value);
    if (!meant)
        return attn_fail(err, ATTN_EUSAGE, "--%s: '%s' is not a whole number", o->name, typed.text);
    return attn_fail(err, ATTN_EUSAGE, "--%s: '%s' is not a whole number: -%c is --%s; you may mean --%s %s", o->name,
                     typed.text, o->letter, o->name, meant->name, typed.text);
}

static int outside(const struct option *o, const char *value, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "--%s: %s is not in %" PRIu64 "..%" PRIu64, o->name, excerpt(value).text, o->min,
                     o->max);
}

static int store_number(const struct command *c, const struct option *o, const char *value, struct attn_err *err)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(value, &end, 10);
    if (*value == '-' && isdigit((unsigned char)value[1]) && !*end)
        return attn_fail(err, ATTN_EUSAGE,
                         "--%s: found %s, expected at least %" PRIu64, o->name, excerpt(value).text, o->min);
    if (!isdigit((unsigned char)*value) || *end)        /* strtoull would accept signs and white space */
        return not_whole(c, o, value, err);
    if (errno || n < o->min || n > o->max)
        return outside(o, value, err);
    *(struct number *)o->to = (struct number){value, n};
    return ATTN_OK;
}

static int store_real(const struct option *o, const char *value, struct attn_err *err)
{
    char *end;
    double x = strtod(value, &end);
    if (!*value || *end || isspace((unsigned char)*value) || !isfinite(x))
        return attn_fail(err, ATTN_EUSAGE, "--%s: '%s' is not a number", o->name, excerpt(value).text);
    if (o->max && (x < (double)o->min || x > (double)o->max))
        return outside(o, value, err);
    *(struct real *)o->to = (struct real){value, x};
    return ATTN_OK;
}

/* Rows that share a list keep the order in which they were typed. */
static int store_many(const struct option *o, const char *value, struct attn_err *err)
{
    struct many *list = o->to;
    struct given *more = realloc(list->item, (list->n + 1) * sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for --%s", o->name);
    list->item = more;
    more[list->n++] = (struct given){o, value};
    return ATTN_OK;
}

/* Of other options the last one wins, but a second input is a mistake rather than a correction. */
static int note_input(struct parse *p, const struct option **seen, const struct option *o)
{
    if (*seen == o && o->to == &common.sentence && p->command->texts)
        return ATTN_OK;                 /* several texts */
    if (*seen == o)
        return attn_fail(p->err, ATTN_EUSAGE, "--%s is given twice", o->name);
    if (*seen)
        return attn_fail(p->err, ATTN_EUSAGE,
                         "--%s and --%s are both given: the %s is one of them", (*seen)->name, o->name,
                         seen == &p->input ? "input" : "other text");
    *seen = o;
    return ATTN_OK;
}

/* An empty path is that of a script whose variable is not set; - is a stream, and no directory. */
static int check_path(const struct option *o, const char *value, struct attn_err *err)
{
    if ((o->type == OPT_FILE || o->type == OPT_DIR) && !*value)
        return attn_fail(err, ATTN_EUSAGE, "--%s: the path is empty", o->name);
    if (o->type == OPT_DIR && !strcmp(value, "-"))
        return attn_fail(err, ATTN_EUSAGE,
                         "--%s: - is standard output, expected a directory; ./- is one of that name", o->name);
    return ATTN_OK;
}

static int store_value(const struct command *c, const struct option *o, const char *value, struct attn_err *err)
{
    switch (o->type) {
    case OPT_FLAG: *(bool *)o->to = true; return ATTN_OK;
    case OPT_SWITCH:
    case OPT_CHOICE: return store_choice(o, value, err);
    case OPT_NUMBER: return store_number(c, o, value, err);
    case OPT_REAL: return store_real(o, value, err);
    case OPT_MANY:
    case OPT_MANY_FILES: return store_many(o, value, err);
    default: *(const char **)o->to = value; return check_path(o, value, err);
    }
}

/* --as belongs to the model before it: that of -m, or another one. */
static int store_as(struct parse *p, const struct option *o, const char *value)
{
    const char **to = p->late ? &common.other_as : o->to;
    if (*to)
        return attn_fail(p->err, ATTN_EUSAGE, "--as is given twice for one model, as '%s' and '%s': expected one list, "
                                              "with commas", excerpt(*to).text, excerpt(value).text);
    if (!value || !*value)
        return attn_fail(p->err, ATTN_EUSAGE, "--as: the list is empty");
    *to = value;
    return ATTN_OK;
}

/* Notes which model an --as after it belongs to. */
static int note_model(struct parse *p, bool late)
{
    p->late = late;
    if (!late && common.as)
        return attn_fail(p->err, ATTN_EUSAGE, "--as %s stands before its model: expected it after it, as in -m FILE "
                                              "--as LIST", excerpt(common.as).text);
    return ATTN_OK;
}

static int store(struct parse *p, const struct option *o, const char *value)
{
    if (o->flags & OPT_AS)
        return store_as(p, o, value);
    if (o->type == OPT_MODEL && note_model(p, o->to != &common.model))
        return p->err->code;
    if (o->to == &common.model && p->command->model && common.word)
        return attn_fail(p->err, ATTN_EUSAGE, "'%s' and -m %s are both given: the model is one of them",
                         excerpt(common.word).text, excerpt(value).text);
    if ((o->flags & OPT_INPUT) && note_input(p, &p->input, o))
        return p->err->code;
    if ((o->flags & OPT_OTHER) && note_input(p, &p->other, o))
        return p->err->code;
    if (o->to == &common.sentence && p->command->texts)
        return texts_add(value, false, p->err);
    if (o->flags & OPT_OUTPUT && !strcmp(o->name, "output") && !p->command->product &&
        outputs_add(o, value, p->err))
        return p->err->code;
    int code = store_value(p->command, o, value, p->err);
    return code || !o->check ? code : o->check(o, p->err);
}

/* Whether the argument is a long option of the command, alone or with its value. */
static bool is_long(const struct parse *p, const char *arg)
{
    return arg[0] == '-' && arg[1] == '-' && find_long(p->command, arg + 2, strcspn(arg + 2, "="));
}

/* Whether an argument stands for itself: - is standard input or output, and a number may be negative.  What should be
 * a number or a choice, and is none, is refused as such. */
static bool may_be_value(const struct option *o, const char *arg)
{
    const char *digit = arg[1] == '.' ? arg + 2 : arg + 1;
    return arg[0] != '-' || !arg[1] || isdigit((unsigned char)*digit) || o->type == OPT_NUMBER || o->type == OPT_REAL ||
           o->type == OPT_CHOICE;
}

/* The value is attached ("--name=value", "-nvalue") or is the next argument.  Where that begins with a dash, the value
 * may have been forgotten: such a value is attached. */
static int take(struct parse *p, const struct option *o, const char *attached)
{
    if (o->type == OPT_FLAG)
        return attached ? attn_fail(p->err, ATTN_EUSAGE, "--%s takes no value", o->name) : store(p, o, NULL);
    if (attached)
        return store(p, o, attached);
    const char *next = *p->next;
    if (o->type == OPT_SWITCH && !(next && (!strcmp(next, "true") || !strcmp(next, "false"))))
        return store(p, o, "true");
    if (!next)
        return attn_fail(p->err, ATTN_EUSAGE, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
    if (is_long(p, next))
        return attn_fail(p->err, ATTN_EUSAGE,
                         "--%s needs a value, found the option %s: --%s %s; a value that begins so is --%s=%s", o->name,
                         excerpt(next).text, o->name, o->arg, o->name, excerpt(next).text);
    if (!may_be_value(o, next))
        return attn_fail(p->err, ATTN_EUSAGE, "--%s: found '%s', which begins as an option does; as a value it is "
                         "typed --%s=%s", o->name, excerpt(next).text, o->name, excerpt(next).text);
    p->next++;
    return store(p, o, next);
}

static int take_long(struct parse *p, const char *name)
{
    size_t len = strcspn(name, "=");
    const struct option *o = find_long(p->command, name, len);
    if (!o)
        return unknown_long(p, name, len);
    return take(p, o, name[len] ? name + len + 1 : NULL);
}

static int take_letters(struct parse *p, const char *letters)
{
    for (; *letters; letters++) {
        const struct option *o = find_short(p->command, *letters);
        if (!o)
            return unknown_short(p, *letters);
        if (o->type != OPT_FLAG)
            return take(p, o, letters[1] ? letters + 1 : NULL);
        int code = store(p, o, NULL);
        if (code)
            return code;
    }
    return ATTN_OK;
}

/* A hint where a stray argument may belong: after the option that comes first in the usage line. */
static const char *belongs(const struct command *c)
{
    const char *first = c->word ? NULL : strchr(c->usage, '-');
    switch (first ? first[1] : '\0') {
    case 's': return ": a text goes after -s, in quotes";
    case 'f': return ": a file goes after -f";
    case 'm': return ": a model goes after -m";
    case '-': return strncmp(first, "--q NUMBERS", 11) ? "" : ": numbers go after --q, --k, --v and so on, in quotes";
    default: return "";
    }
}

/* Whether the argument before this one ends in a comma, as in `--ids 634, 1085`. */
static bool continues_list(const struct parse *p)
{
    const char *before = p->next - 2 >= p->words ? p->next[-2] : "";
    return *before && before[strlen(before) - 1] == ',';
}

/* Whether a word is an activation behind those of --show, as in `--show pattern scores`. */
static bool is_shown(const struct parse *p, const char *word)
{
    char text[ATTN_ACT_TEXT];
    bool is = false;
    for (int act = 0; act < ATTN_ACTS && selection.show && p->next - 2 >= p->words && !is; act++)
        is = p->next[-2] == selection.show && !strcmp(attn_act_text(text, act), word);
    return is;
}

/* Whether a word is a head and nothing else, as in `explain L4H3`. */
static bool is_head(const char *word)
{
    size_t layer = *word == 'L' ? strspn(word + 1, "0123456789") : 0;
    size_t head = layer && word[1 + layer] == 'H' ? strspn(word + 2 + layer, "0123456789") : 0;
    return head && !word[2 + layer + head];
}

/* A text that was typed without -s, of which it is another way. */
static int take_text(struct parse *p, const char *word)
{
    const struct option *o = find_long(p->command, "sentence", strlen("sentence"));
    if (!strcmp(word, "-"))
        return attn_fail(p->err, ATTN_EUSAGE, "'-' is no text: standard input is -f -");
    if (continues_list(p) && !texts_end_with(p->next[-2]))
        return attn_fail(p->err, ATTN_EUSAGE, "unexpected argument '%s': leave out the blank after the comma, or "
                         "put the list in quotes", excerpt(word).text);
    if (is_shown(p, word))
        return attn_fail(p->err, ATTN_EUSAGE, "'%s' is an activation behind --show %s: a list has commas and no "
                         "blanks, as in --show %s,%s; -s takes it as a text", word, selection.show, selection.show,
                             word);
    if (is_head(word))
        return attn_fail(p->err, ATTN_EUSAGE, "'%s' is a place, and '%s' takes texts: type --head %s, or -s %s", word,
                         p->command->name, word, word);
    int code = note_input(p, &p->input, o);
    return code ? code : texts_add(word, true, p->err);
}

static int take_word(struct parse *p, char *word)
{
    if (p->command->texts)
        return take_text(p, word);
    if (p->command->paths && !*word)
        return attn_fail(p->err, ATTN_EUSAGE,
                         "%s: the path is empty", common.word && p->command->second ? p->command->second
                         : p->command->word);
    if (p->command->model && !common.word) {
        common.word = word;
        if (common.model && common.model != getenv(model_options[0].env))
            return attn_fail(p->err, ATTN_EUSAGE, "'%s' and -m %s are both given: the model is one of them",
                             excerpt(word).text, excerpt(common.model).text);
        common.model = word;
        return note_model(p, false);
    }
    if (p->command->many) {
        p->words[common.n_words++] = word;
        return ATTN_OK;
    }
    if (p->command->word && !common.word) {
        common.word = word;
        return p->command->second ? note_model(p, false) : ATTN_OK;
    }
    if (p->command->second && !common.second) {
        common.second = word;
        return note_model(p, true);
    }
    if (find_short(p->command, 'f') && !strcmp(word, "-"))
        return attn_fail(p->err, ATTN_EUSAGE, "unexpected argument '-': standard input is -f -");
    return attn_fail(p->err, ATTN_EUSAGE, "unexpected argument '%s'%s", excerpt(word).text,
                     continues_list(p) ?
                     ": leave out the blank after the comma, or put the list in quotes" : belongs(p->command));
}

static void take_environment(const struct parse *p)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(p->command, i)); i++) {
        const char *value = o->env ? getenv(o->env) : NULL;
        if (value && *value)
            *(const char **)o->to = value;
    }
}

int opts_parse(const struct command *c, char **argv, struct attn_err *err)
{
    /* words overwrite arguments already read */
    struct parse p = {.command = c, .next = argv, .words = argv, .err = err};
    bool words_only = false;
    int code = ATTN_OK;
    common.words = (const char *const *)argv;
    take_environment(&p);
    while (!code && *p.next) {
        char *arg = *p.next++;
        if (words_only || arg[0] != '-' || !arg[1])
            code = take_word(&p, arg);
        else if (!strcmp(arg, "--"))
            words_only = true;
        else
            code = arg[1] == '-' ? take_long(&p, arg + 2) : take_letters(&p, arg + 1);
    }
    if (!code && common.as && !common.model && !common.word)
        code = attn_fail(err, ATTN_EUSAGE, "--as %s: of which model? name its file before it, with -m",
                         excerpt(common.as).text);
    return code;
}

/* ---- the command again ------------------------------------------------------------------- */

static void quote(struct attn_out *o, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
    if (*s && !s[strspn(s, plain)]) {
        attn_out_str(o, s);
        return;
    }
    attn_out_char(o, '\'');
    for (; *s; s++)
        if (*s == '\'')
            attn_out_str(o, "'\\''");
        else
            attn_out_char(o, *s);
    attn_out_char(o, '\'');
}

/* The length of the character at s; *as_is: it is seen as it is. */
static size_t character(const char *s, bool *as_is)
{
    char form[ATTN_VISIBLE];
    size_t n = attn_utf8_visible(form, s, strlen(s));
    *as_is = strlen(form) == n && !memcmp(form, s, n);
    return n;
}

static bool is_visible(const char *s)
{
    bool as_is = true;
    while (*s && as_is)
        s += character(s, &as_is);
    return as_is;
}

/* As $'a\nb': what would not show as it is, or has a meaning there, becomes an escape for each of its bytes. */
static void quote_bytes(struct attn_out *o, const char *s)
{
    bool as_is;
    attn_out_str(o, "$'");
    for (size_t n; *s; s += n) {
        n = character(s, &as_is);
        if (*s == '\n')
            attn_out_str(o, "\\n");
        else if (as_is && *s != '\'' && *s != '\\')
            attn_out_write(o, s, n);
        else
            for (size_t i = 0; i < n; i++)
                attn_out_printf(o, "\\%03o", (unsigned)(unsigned char)s[i]);
    }
    attn_out_char(o, '\'');
}

enum { LONG = 60 };                     /* a longer value is not typed twice: its name stands for it */

static char *command_again(const struct command *c, bool brief)
{
    char *text = NULL;
    struct attn_out *to;
    size_t len;
    if (attn_out_open_memory(&to, NULL))
        return NULL;
    attn_out_printf(to, "attn-cli %s", c->name);
    const struct option *o;
    struct given given;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        for (size_t k = 0; o->flags & OPT_COUNTS && option_each(&given, c, o, k); k++) {
            if (brief && given.of->letter)
                attn_out_printf(to, " -%c", given.of->letter);
            else
                attn_out_printf(to, " --%s", given.of->name);
            if (o->type == OPT_FLAG)
                continue;
            attn_out_char(to, ' ');
            if (brief && strlen(given.value) > LONG)
                attn_out_str(to, o->arg);
            else if (brief && !is_visible(given.value))
                quote_bytes(to, given.value);
            else
                quote(to, given.value);
        }
    attn_out_take(to, &text, &len, NULL);
    attn_out_close(to);
    return text;
}

/* It is written into manifests, so it must not depend on how the options were typed: it has long names, in the order of
 * the rows, quoted for a shell, and only options that change a number or a file. */
char *repro_command(const struct command *c)
{
    return command_again(c, false);
}

char *brief_command(const struct command *c)
{
    return command_again(c, true);
}

/* ---- keys of JSON ------------------------------------------------------------------------ */

static void write_key(FILE *f, const struct option *row)
{
    fputc('"', f);
    for (const char *c = row->name; *c; c++)
        fputc(*c == '-' ? '_' : *c, f);
    fputs("\": ", f);
    switch (row->type) {
    case OPT_NUMBER: fprintf(f, "%" PRIu64, ((const struct number *)row->to)->n); break;
    case OPT_REAL: json_real(f, ((const struct real *)row->to)->x); break;
    case OPT_SWITCH: fputs(option_given(row), f); break;
    default: json_text(f, option_given(row));
    }
    fputs(", ", f);
}

void opts_write_keys(FILE *f, const struct option *rows)
{
    for (; rows->name; rows++)
        if (option_given(rows))
            write_key(f, rows);
}
