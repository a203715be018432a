/* edit_value.c - reads the value of an edit: a number, or where numbers come from. */
#include "ask/reader.h"

#include "base/grow.h"
#include "base/num.h"

#include <math.h>

static const char a_value[] = "a value: a number, -inf, uniform, from, FILE.npy, FILE.npz:NAME, text(\"...\"), "
                              "ids(1,2), mean(...), noise(SIGMA,SEED) or NUMBER* and one of them";

static const char a_source[] = "from, FILE.npy, FILE.npz:NAME, text(\"...\") or ids(1,2), and no factor";

/* A number that ends before a blank, a comma, a bracket, * or the end: 2e3, but not the path 2e3.npy. */
static bool number_at(const struct attn_reader *r, size_t *len, double *out)
{
    static const char more[] = "+-.0123456789eE";
    size_t n = 0;
    while (r->at + n < r->len && r->text[r->at + n] && strchr(more, r->text[r->at + n]))
        n++;
    char next = '\0';
    if (r->at + n < r->len)
        next = r->text[r->at + n];
    *len = n;
    return n && strchr(" \t,)*", next) && attn_num_parse_f64(r->text + r->at, n, out);
}

static int read_number(struct attn_reader *r, double *out, const char *what)
{
    size_t n;
    if (!number_at(r, &n, out))
        return attn_reader_expected(r, r->at, what);
    if (!isfinite((float)*out))
        return attn_reader_expected(r, r->at, "a number that a float32 can hold");
    r->at += n;
    return ATTN_OK;
}

static int read_closing(struct attn_reader *r)
{
    skip_blanks(r);
    return take(r, ")") ? ATTN_OK : attn_reader_expected(r, r->at, ")");
}

/* A path, in quotes or as it is up to `end`, which is where the text or the bracket around it ends. */
static int read_path(struct attn_reader *r, size_t end, struct attn_edit_part *path, struct attn_edit_part *member)
{
    static const char archive[] = ".npz:";
    if (peek(r) == '"') {
        int rc = attn_reader_string(r, path);
        if (rc || !member || !take(r, ":"))
            return rc;
        rc = attn_reader_keep(r, member, r->text + r->at, end - r->at);
        r->at = end;
        return rc;
    }
    const char *s = r->text + r->at, *colon = member ? memmem(s, end - r->at, archive, strlen(archive)) : NULL;
    size_t len = colon ? (size_t)(colon - s) + strlen(archive) - 1 : end - r->at;
    int rc = attn_reader_keep(r, path, s, len);
    if (!rc && colon)
        rc = attn_reader_keep(r, member, colon + strlen(archive), end - r->at - len - 1);
    r->at = end;
    return rc;
}

static bool is_array(const char *path, size_t len)
{
    return len > 4 && (!strcmp(path + len - 4, ".npz") || !strcmp(path + len - 4, ".npy"));
}

static int read_file(struct attn_reader *r, size_t end, struct attn_origin *o)
{
    size_t start = r->at;
    bool wrapped = r->e->value.form == ATTN_VALUE_MEAN || r->e->value.form == ATTN_VALUE_PROJ;
    int rc = read_path(r, end, &o->text, &o->member);
    o->form = ATTN_ORIGIN_FILE;
    const char *path = attn_edit_at(r->e, o->text);
    if (!rc && (!is_array(path, o->text.len) || (o->member.at && (!o->member.len || path[o->text.len - 1] != 'z'))))
        rc = attn_reader_expected(r, start, wrapped ? a_source : a_value);
    return rc;
}

static int read_ids(struct attn_reader *r, struct attn_origin *o)
{
    struct attn_edit *e = r->e;
    int rc;
    o->form = ATTN_ORIGIN_IDS;
    o->first = e->ids;
    do {
        size_t id = 0;
        skip_blanks(r);
        rc = attn_reader_whole(r, &id);
        int32_t *more = rc ? NULL : attn_grow(e->id, &e->id_room, e->ids + 1, sizeof *more);
        if (rc || !more)
            return rc ? rc : attn_reader_no_memory(r);
        e->id = more;
        more[e->ids++] = (int32_t)id;
        skip_blanks(r);
    } while (take(r, ","));
    o->n = e->ids - o->first;
    return read_closing(r);
}

/* A SOURCE that ends at `end`; `texts`: where texts(FILE) may stand. */
static int read_origin(struct attn_reader *r, size_t end, struct attn_origin *o, bool texts)
{
    int rc;
    size_t start = r->at;
    if (end - r->at == 4 && take(r, "from")) {
        o->form = ATTN_ORIGIN_FROM;
        return ATTN_OK;
    }
    if (take(r, "ids("))
        return read_ids(r, o);
    if (take(r, "text(")) {
        o->form = ATTN_ORIGIN_TEXT;
        skip_blanks(r);
        rc = attn_reader_string(r, &o->text);
        return rc ? rc : read_closing(r);
    }
    if (!take(r, "texts("))
        return read_file(r, end, o);
    if (!texts)
        return attn_reader_expected(r, start, "one text: the records of a file are a source inside mean(...)");
    o->form = ATTN_ORIGIN_TEXTS;
    if (end == r->at || r->text[end - 1] != ')')
        return attn_reader_expected(r, r->len, ")");
    rc = read_path(r, end - 1, &o->text, NULL);
    if (!rc && !o->text.len)
        rc = attn_reader_expected(r, r->at, "the path of a file of texts");
    return rc ? rc : read_closing(r);
}

/* mean(SOURCE) and proj(SOURCE), behind the bracket. */
static int read_wrapped(struct attn_reader *r, size_t end, struct attn_value *v)
{
    skip_blanks(r);
    if (end <= r->at || r->text[end - 1] != ')')
        return attn_reader_expected(r, end, ")");
    end--;
    while (end > r->at && (r->text[end - 1] == ' ' || r->text[end - 1] == '\t'))
        end--;
    int rc = read_origin(r, end, &v->of, v->form == ATTN_VALUE_MEAN);
    return rc ? rc : read_closing(r);
}

static int read_noise(struct attn_reader *r, struct attn_value *v)
{
    size_t start;
    v->form = ATTN_VALUE_NOISE;
    skip_blanks(r);
    start = r->at;
    int rc = read_number(r, &v->sigma, "SIGMA, a number, as in noise(0.1,7)");
    if (!rc && v->sigma < 0)
        rc = attn_reader_expected(r, start, "a standard deviation, which is not below 0, as in noise(0.1,7)");
    skip_blanks(r);
    if (!rc && !take(r, ","))
        rc = attn_reader_expected(r, r->at, "a comma and a seed, as in noise(0.1,7)");
    if (rc)
        return rc;
    skip_blanks(r);
    for (start = r->at; is_digit(peek(r));)
        r->at++;
    if (!attn_num_parse_u64(r->text + start, r->at - start, &v->seed))
        return attn_reader_expected(r, start, "a seed, a whole number below 2^64");
    return read_closing(r);
}

/* What may stand behind NUMBER*. */
static int read_scaled(struct attn_reader *r, size_t end, struct attn_value *v, bool subtracts)
{
    size_t start = r->at;
    if (end - r->at == 7 && take(r, "uniform")) {
        v->form = ATTN_VALUE_UNIFORM;
        return ATTN_OK;
    }
    if (take(r, "noise("))
        return read_noise(r, v);
    if (take(r, "mean(")) {
        v->form = ATTN_VALUE_MEAN;
        return read_wrapped(r, end, v);
    }
    if (take(r, "proj(")) {
        v->form = ATTN_VALUE_PROJ;
        return subtracts ? read_wrapped(r, end, v) : attn_reader_expected(r, start,
                                                                          "-= before proj(...), and no factor");
    }
    v->form = ATTN_VALUE_SOURCE;
    return read_origin(r, end, &v->of, false);
}

int attn_reader_value(struct attn_reader *r)
{
    struct attn_value *v = &r->e->value;
    enum attn_edit_op op = r->e->op;
    size_t end = r->len, n;
    double factor;
    int rc;
    skip_blanks(r);
    while (end > r->at && (r->text[end - 1] == ' ' || r->text[end - 1] == '\t' || r->text[end - 1] == '\r'))
        end--;
    r->len = end;
    v->number = 1;
    if (op == ATTN_EDIT_TIMES) {
        rc = read_number(r, &v->number, "a number: *= takes nothing else");
    } else if (end - r->at == 4 && take(r, "-inf")) {
        v->number = -(double)INFINITY;
        rc = op == ATTN_EDIT_SUBTRACT ? attn_reader_expected(r, end - 4,
                                                             "a number: without -inf there would be inf, which no "
                                                             "softmax takes")
                                      : ATTN_OK;
    } else if (number_at(r, &n, &factor)) {
        rc = read_number(r, &v->number, a_value);
        skip_blanks(r);
        if (!rc && take(r, "*")) {
            skip_blanks(r);
            rc = read_scaled(r, end, v, false);
        }
    } else {
        rc = r->at < end ? read_scaled(r, end, v, op == ATTN_EDIT_SUBTRACT) : attn_reader_expected(r, end, a_value);
    }
    return rc || r->at == end ? rc : attn_reader_expected(r, r->at, "the end of the edit");
}
