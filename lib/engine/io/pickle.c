#include "io/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"

/* A tensor takes about 50 instructions and 7 objects, so this is enough for over 100,000, in at most 600 MB. */
enum { STEPS_MAX = 1 << 23, BOXES_MAX = 1 << 20, PROTOCOL_MAX = 5 };

static const char no_memory[] = "no memory", cut[] = "the pickle is cut short",
                                empty[] = "an instruction finds too few values";

/* ---- values ---------------------------------------------------------------------------- */

struct attn_pickle_box attn_pickle_items(const struct attn_pickle *p, const struct attn_pickled *v)
{
    return v->type >= ATTN_PICKLED_TUPLE ? p->box[v->is.box] : (struct attn_pickle_box){0};
}

bool attn_pickle_is(const struct attn_pickled *v, const char *text)
{
    return v->type == ATTN_PICKLED_TEXT && v->len == strlen(text) && !memcmp(v->is.text, text, v->len);
}

const char *attn_pickle_kind(const struct attn_pickled *v)
{
    static const char *const kinds[] = {
        [ATTN_PICKLED_NONE] = "None", [ATTN_PICKLED_BOOL] = "a truth value", [ATTN_PICKLED_INT] = "a number",
        [ATTN_PICKLED_REAL] = "a number", [ATTN_PICKLED_TEXT] = "a string", [ATTN_PICKLED_LONG] = "a large number",
        [ATTN_PICKLED_NAME] = "a class", [ATTN_PICKLED_TUPLE] = "a tuple", [ATTN_PICKLED_LIST] = "a list",
        [ATTN_PICKLED_DICT] = "a dictionary", [ATTN_PICKLED_CALL] = "an object",
        [ATTN_PICKLED_REFERENCE] = "a storage"};
    return kinds[v->type];
}

/* Each of the functions below returns NULL, or what is wrong. */

static const char *push(struct attn_pickle *p, struct attn_pickled v)
{
    struct attn_pickled *stack = attn_grow(p->stack, &p->room, p->n + 1, sizeof *stack);
    if (!stack)
        return no_memory;
    p->stack = stack;
    stack[p->n++] = v;
    return NULL;
}

static const char *append(struct attn_pickle *p, size_t box, const struct attn_pickled *v, size_t n)
{
    struct attn_pickle_box *b = &p->box[box];
    if (n == 0)
        return NULL;
    struct attn_pickled *item = attn_grow(b->item, &b->room, b->n + n, sizeof *item);
    if (!item)
        return no_memory;
    b->item = item;
    memcpy(item + b->n, v, n * sizeof *v);
    b->n += n;
    return NULL;
}

/* Replaces the topmost `n` values by one that holds them. */
static const char *enclose(struct attn_pickle *p, enum attn_pickled_type type, size_t n)
{
    if (p->n < n)
        return empty;
    if (p->boxes == BOXES_MAX)
        return "the pickle has more objects than any model needs";
    struct attn_pickle_box *box = attn_grow(p->box, &p->box_room, p->boxes + 1, sizeof *box);
    if (!box)
        return no_memory;
    p->box = box;
    box[p->boxes] = (struct attn_pickle_box){0};
    if (n && !(box[p->boxes].item = malloc(n * sizeof *p->stack)))  /* exactly so many: a tuple does not grow */
        return no_memory;
    box[p->boxes].room = n;
    const char *wrong = append(p, p->boxes++, n ? &p->stack[p->n - n] : NULL, n);
    p->n -= wrong ? 0 : n;
    return wrong ? wrong : push(p, (struct attn_pickled){.type = type, .is.box = p->boxes - 1});
}

/* How many values lie above the last mark, which is removed. */
static bool above_mark(struct attn_pickle *p, size_t *n)
{
    if (!p->marks || p->mark[p->marks - 1] > p->n)
        return false;
    *n = p->n - p->mark[--p->marks];
    return true;
}

static const char *take(struct attn_pickle *p, size_t n, const unsigned char **bytes)
{
    if (n > p->len - p->at)
        return cut;
    *bytes = p->bytes + p->at;
    p->at += n;
    return NULL;
}

static const char *take_number(struct attn_pickle *p, size_t bytes, uint64_t *x)
{
    const unsigned char *b = NULL;
    const char *wrong = take(p, bytes, &b);
    *x = 0;
    for (size_t i = bytes; !wrong && i-- > 0;)
        *x = *x << 8 | b[i];
    return wrong;
}

/* ---- instructions ---------------------------------------------------------------------- */

struct instruction { const char *(*run)(struct attn_pickle *p, unsigned arg); unsigned arg; unsigned char code; };

static const char *skip(struct attn_pickle *p, unsigned bytes)
{
    const unsigned char *ignored;
    return take(p, bytes, &ignored);
}

static const char *check_protocol(struct attn_pickle *p, unsigned bytes)
{
    uint64_t version = 0;
    const char *wrong = take_number(p, bytes, &version);
    return wrong ? wrong : version > PROTOCOL_MAX ? "a protocol after 5, which no Python writes" : NULL;
}

static const char *put_mark(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    size_t *mark = attn_grow(p->mark, &p->mark_room, p->marks + 1, sizeof *mark);
    if (!mark)
        return no_memory;
    p->mark = mark;
    mark[p->marks++] = p->n;
    return NULL;
}

static const char *put_none(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    return push(p, (struct attn_pickled){.type = ATTN_PICKLED_NONE});
}

static const char *put_bool(struct attn_pickle *p, unsigned value)
{
    return push(p, (struct attn_pickled){.type = ATTN_PICKLED_BOOL, .is.whole = value});
}

static const char *put_int(struct attn_pickle *p, unsigned bytes)
{
    uint64_t x = 0;
    const char *wrong = take_number(p, bytes, &x);
    int64_t value = bytes == 4 ? (int32_t)(uint32_t)x : (int64_t)x;
    return wrong ? wrong : push(p, (struct attn_pickled){.type = ATTN_PICKLED_INT, .is.whole = value});
}

static const char *put_long(struct attn_pickle *p, unsigned bytes)
{
    const unsigned char *b = NULL;
    uint64_t n = 0, x = 0;
    const char *wrong = take_number(p, bytes, &n);
    if (!wrong)
        wrong = take(p, n, &b);
    if (wrong)
        return wrong;
    if (n > sizeof x)
        return push(p,
                    (struct attn_pickled){.type = ATTN_PICKLED_LONG, .len = (uint32_t)n, .is.text = (const char *)b});
    for (size_t i = sizeof x; i-- > 0;)
        x = x << 8 | (i < n ? b[i] : n && b[n - 1] & 0x80 ? 0xFF : 0);
    return push(p, (struct attn_pickled){.type = ATTN_PICKLED_INT, .is.whole = (int64_t)x});
}

static const char *put_real(struct attn_pickle *p, unsigned bytes)
{
    const unsigned char *b = NULL;
    uint64_t x = 0;
    struct attn_pickled v = {.type = ATTN_PICKLED_REAL};
    const char *wrong = take(p, bytes, &b);
    for (size_t i = 0; !wrong && i < bytes; i++)
        x = x << 8 | b[i];
    memcpy(&v.is.real, &x, sizeof x);
    return wrong ? wrong : push(p, v);
}

static const char *put_text(struct attn_pickle *p, unsigned bytes)
{
    const unsigned char *b = NULL;
    uint64_t n = 0;
    const char *wrong = take_number(p, bytes, &n);
    if (!wrong)
        wrong = n > UINT32_MAX ? cut : take(p, n, &b);
    return wrong ? wrong :
           push(p, (struct attn_pickled){.type = ATTN_PICKLED_TEXT, .len = (uint32_t)n, .is.text = (const char *)b});
}

static const char *enclose_some(struct attn_pickle *p, unsigned n)
{
    return enclose(p, ATTN_PICKLED_TUPLE, n);
}

static const char *enclose_marked(struct attn_pickle *p, unsigned arg)
{
    size_t n;
    (void)arg;
    return above_mark(p, &n) ? enclose(p, ATTN_PICKLED_TUPLE, n) : empty;
}

static const char *put_empty(struct attn_pickle *p, unsigned type)
{
    return enclose(p, type, 0);
}

/* Moves the topmost `n` values into the list or dictionary below them. */
static const char *fill(struct attn_pickle *p, enum attn_pickled_type type, size_t n)
{
    if (p->n < n + 1)
        return empty;
    const struct attn_pickled *to = &p->stack[p->n - n - 1];
    if (to->type != type || (type == ATTN_PICKLED_DICT && n % 2))
        return type == ATTN_PICKLED_LIST ? "adds to what is no list" : "adds to what is no dictionary";
    const char *wrong = append(p, to->is.box, p->stack + p->n - n, n);
    p->n -= n;
    return wrong;
}

static const char *fill_one(struct attn_pickle *p, unsigned type)
{
    return fill(p, type, type == ATTN_PICKLED_LIST ? 1 : 2);
}

static const char *fill_marked(struct attn_pickle *p, unsigned type)
{
    size_t n;
    return above_mark(p, &n) ? fill(p, type, n) : empty;
}

/* Whether "MODULE.NAME" is `allowed`. */
static bool is_called(const char *allowed, const char *module, size_t m, const char *name, size_t n)
{
    return strlen(allowed) == m + 1 + n && !memcmp(allowed, module, m) && allowed[m] == '.' &&
           !memcmp(allowed + m + 1, name, n);
}

static const char *put_name(struct attn_pickle *p, const char *module, size_t m, const char *name, size_t n)
{
    for (size_t i = 0; p->allowed[i]; i++)
        if (is_called(p->allowed[i], module, m, name, n))
            return push(p, (struct attn_pickled){.type = ATTN_PICKLED_NAME, .is.whole = (int64_t)i});
    p->refused[0] = (struct attn_str_view){module, m};
    p->refused[1] = (struct attn_str_view){name, n};
    return "asks for a function or class that tensors do not need";
}

static const char *take_line(struct attn_pickle *p, const char **line, size_t *len)
{
    const unsigned char *from = p->bytes + p->at, *end = memchr(from, '\n', p->len - p->at);
    if (!end)
        return cut;
    *line = (const char *)from;
    *len = (size_t)(end - from);
    p->at += *len + 1;
    return NULL;
}

static const char *put_global(struct attn_pickle *p, unsigned arg)
{
    const char *module = NULL, *name = NULL;
    size_t m = 0, n = 0;
    (void)arg;
    const char *wrong = take_line(p, &module, &m);
    if (!wrong)
        wrong = take_line(p, &name, &n);
    return wrong ? wrong : put_name(p, module, m, name, n);
}

static const char *put_stacked(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    if (p->n < 2 || p->stack[p->n - 1].type != ATTN_PICKLED_TEXT || p->stack[p->n - 2].type != ATTN_PICKLED_TEXT)
        return empty;
    p->n -= 2;
    const struct attn_pickled *s = &p->stack[p->n];
    return put_name(p, s[0].is.text, s[0].len, s[1].is.text, s[1].len);
}

/* An OrderedDict without arguments is a dictionary that the next instructions fill. */
static const char *call(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    if (p->n < 2 || p->stack[p->n - 1].type != ATTN_PICKLED_TUPLE || p->stack[p->n - 2].type != ATTN_PICKLED_NAME)
        return "calls what is no function";
    const char *called = p->allowed[p->stack[p->n - 2].is.whole];
    if (strcmp(called, "collections.OrderedDict"))
        return enclose(p, ATTN_PICKLED_CALL, 2);
    if (attn_pickle_items(p, &p->stack[p->n - 1]).n)
        return "makes an OrderedDict from a list";
    p->n -= 2;
    return put_empty(p, ATTN_PICKLED_DICT);
}

static const char *refer(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    return enclose(p, ATTN_PICKLED_REFERENCE, 1);
}

/* Whether a value is what a call of this function gives. */
static bool calls(const struct attn_pickle *p, const struct attn_pickled *v, const char *name)
{
    return v->type == ATTN_PICKLED_CALL && !strcmp(p->allowed[p->box[v->is.box].item[0].is.whole], name);
}

/* A state_dict has an attribute, _metadata, with the versions of its modules, and a dtype of NumPy its byte order;
 * nothing else may have any. */
static const char *drop_attributes(struct attn_pickle *p, unsigned arg)
{
    (void)arg;
    if (p->n < 2 || (p->stack[p->n - 2].type != ATTN_PICKLED_DICT && !calls(p, &p->stack[p->n - 2], "numpy.dtype")))
        return "gives attributes to what is no dictionary";
    p->n--;
    return NULL;
}

static const char *remember_as(struct attn_pickle *p, uint64_t i)
{
    if (p->n == 0)
        return empty;
    if (i >= p->steps)                  /* so that memory stays bounded by what was read */
        return "remembers a value under too large a number";
    struct attn_pickled *memo = attn_grow(p->memo, &p->memo_room, i + 1, sizeof *memo);
    if (!memo)
        return no_memory;
    p->memo = memo;
    for (; p->memos <= i; p->memos++)
        memo[p->memos] = (struct attn_pickled){0};
    memo[i] = p->stack[p->n - 1];
    return NULL;
}

static const char *remember(struct attn_pickle *p, unsigned bytes)
{
    uint64_t i = p->memos;
    const char *wrong = bytes ? take_number(p, bytes, &i) : NULL;
    return wrong ? wrong : remember_as(p, i);
}

static const char *recall(struct attn_pickle *p, unsigned bytes)
{
    uint64_t i = 0;
    const char *wrong = take_number(p, bytes, &i);
    if (!wrong && i >= p->memos)
        wrong = "recalls a value that was never remembered";
    return wrong ? wrong : push(p, p->memo[i]);
}

static const struct instruction instructions[] = {
    {check_protocol, 1, 0x80}, {skip, 8, 0x95}, {put_mark, 0, '('},
    {put_none, 0, 'N'}, {put_bool, 1, 0x88}, {put_bool, 0, 0x89},
    {put_int, 1, 'K'}, {put_int, 2, 'M'}, {put_int, 4, 'J'}, {put_long, 1, 0x8a}, {put_long, 4, 0x8b},
    {put_real, 8, 'G'},
    {put_text, 4, 'X'}, {put_text, 1, 0x8c}, {put_text, 8, 0x8d}, {put_text, 1, 'U'}, {put_text, 4, 'T'},
    {put_text, 1, 'C'}, {put_text, 4, 'B'},
    {enclose_some, 0, ')'}, {enclose_some, 1, 0x85}, {enclose_some, 2, 0x86}, {enclose_some, 3, 0x87},
    {enclose_marked, 0, 't'},
    {put_empty, ATTN_PICKLED_DICT, '}'}, {put_empty, ATTN_PICKLED_LIST, ']'},
    {fill_one, ATTN_PICKLED_DICT, 's'}, {fill_marked, ATTN_PICKLED_DICT, 'u'},
    {fill_one, ATTN_PICKLED_LIST, 'a'}, {fill_marked, ATTN_PICKLED_LIST, 'e'},
    {put_global, 0, 'c'}, {put_stacked, 0, 0x93}, {call, 0, 'R'}, {refer, 0, 'Q'}, {drop_attributes, 0, 'b'},
    {remember, 1, 'q'}, {remember, 4, 'r'}, {remember, 0, 0x94}, {recall, 1, 'h'}, {recall, 4, 'j'},
};

static const struct instruction *instruction_of(unsigned char code)
{
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (instructions[i].code == code)
            return &instructions[i];
    return NULL;
}

/* ---- the program ----------------------------------------------------------------------- */

static int refuse(const struct attn_pickle *p, size_t at, const char *wrong, struct attn_err *err)
{
    const struct attn_str_view *module = &p->refused[0], *name = &p->refused[1];
    if (wrong == no_memory)
        return attn_no_memory(err, p->name, "for its pickle");
    if (!module->s)
        return attn_fail(err, ATTN_EFORMAT, "%s: byte %zu of the pickle: %s", p->name, at, wrong);
    return attn_fail(err, ATTN_EFORMAT, "%s: byte %zu of the pickle asks for '%.*s.%.*s', which is not run: expected "
                                        "only tensors, dictionaries, tuples, strings and numbers, as in a state_dict",
                     p->name, at,
                     attn_shown(module->s, module->len), module->s, attn_shown(name->s, name->len), name->s);
}

static int run(struct attn_pickle *p, struct attn_err *err)
{
    for (;;) {
        size_t at = p->at;
        if (at == p->len || p->steps++ == STEPS_MAX)
            return refuse(p, at, at == p->len ? cut : "the pickle is longer than any model needs", err);
        unsigned char code = p->bytes[p->at++];
        if (code == '.')
            break;
        const struct instruction *i = instruction_of(code);
        if (!i)
            return attn_fail(err, ATTN_EFORMAT, "%s: byte %zu of the pickle: instruction 0x%02x is not run: expected "
                                                "only those that build tensors", p->name, at, code);
        const char *wrong = i->run(p, i->arg);
        if (wrong)
            return refuse(p, at, wrong, err);
    }
    if (p->n != 1 || p->marks)
        return refuse(p, p->at - 1, "the pickle ends with values left over", err);
    p->root = p->stack[0];
    return ATTN_OK;
}

int attn_pickle_read(struct attn_pickle *p, const unsigned char *bytes, size_t len, size_t at,
                     const char *const *allowed, const char *name, struct attn_err *err)
{
    *p = (struct attn_pickle){.name = name, .bytes = bytes, .len = len, .at = at, .allowed = allowed};
    int rc = run(p, err);
    if (rc)
        attn_pickle_free(p);
    return rc;
}

void attn_pickle_free(struct attn_pickle *p)
{
    for (size_t i = 0; i < p->boxes; i++)
        free(p->box[i].item);
    free(p->box);
    free(p->stack);
    free(p->mark);
    free(p->memo);
    *p = (struct attn_pickle){0};
}
