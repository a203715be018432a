#include "input.h"
#include "attn_tools.h"

#include "opts_attention.h"
#include "say.h"
#include "texts.h"

#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- models and their tokenizers --------------------------------------------------------- */

/* The model that the command works on, and what was said of it; NULL: none is open. */
static struct { const struct attn_model *model; const char *command; bool doubted; } opened;

/* While a command answers many texts, one after the other, what it opened stays so for the next. */
static struct { struct attn_model *model; struct attn_tokenizer *tokenizer; } kept;

static void warn(const char *command, const char *odd)
{
    if (odd)
        say_note("attn-cli %s: warning: %s", command, odd);
}

/* An error of a model that nobody typed says what named it. */
static int named(int code, struct attn_err *err)
{
    const struct attn_err why = *err;
    const char *variable = model_options[0].env;
    return code && common.model && common.model == getenv(variable) ? attn_fail(err, code,
                                                                                "%s: %s", variable, why.msg) : code;
}

const struct attn_lacking *given_of(bool other)
{
    static struct attn_lacking given[2];
    given[other].as = other ? common.other_as : common.as;
    return given[other].as ? &given[other] : NULL;
}

void note_assumed(const char *file, const struct attn_assumed *assumed, size_t n)
{
    char keys[64] = "", values[128] = "";
    for (size_t i = 0; i < n; i++) {
        attn_snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", i ? ", " : "", assumed[i].key);
        attn_snprintf(values + strlen(values), sizeof values - strlen(values), "%s%s=%s", i ? ", " : "",
                      assumed[i].key, assumed[i].value);
    }
    if (n)
        say_note("%s does not say %s: assumed %s (--as changes that)", file, keys, values);
}

int open_model(struct attn_model **out, const struct command *c, struct attn_err *err)
{
    return open_model_with(out, c, given_of(false), err);
}

int open_model_with(struct attn_model **out, const struct command *c, const struct attn_lacking *given,
                    struct attn_err *err)
{
    if (kept.model) {
        *out = kept.model;
        return ATTN_OK;
    }
    int code = named(attn_model_open_with(out, common.model, given, err), err);
    if (code)
        return code;
    kept.model = texts_are_many() ? *out : NULL;
    opened.model = *out;
    opened.command = c->name;
    warn(c->name, attn_model_warning(*out));
    struct attn_info info;
    size_t n;
    const struct attn_assumed *assumed = attn_model_assumed(*out, &n);
    attn_model_info(*out, &info);
    note_assumed(info.path ? info.path : info.name, assumed, n);
    return ATTN_OK;
}

void close_model(struct attn_model *m)
{
    if (m && m == kept.model)
        return;
    if (opened.model == m)
        opened.model = NULL;
    attn_model_close(m);
}

void close_tokenizer(struct attn_tokenizer *t)
{
    if (t != kept.tokenizer)
        attn_tokenizer_close(t);
}

void compare_model(struct attn_model *m)
{
    const char *before = attn_model_warning(m);
    attn_model_compare(m);
    if (!before)
        warn(opened.command, attn_model_warning(m));
}

static void doubt(const struct attn_tokenizer *t, size_t T)
{
    char text[ATTN_DOUBT];
    for (size_t i = 0; opened.model && !opened.doubted && attn_model_doubt(text, i, opened.model, t, T); i++)
        warn(opened.command, text);
    opened.doubted = true;
}

void doubt_tokenizer(void *unused, const struct attn_tokenizer *t)
{
    (void)unused;
    doubt(t, 0);
}

void doubt_side(const struct command *c, const char *side, const struct attn_model *m, const struct attn_tokenizer *t)
{
    char text[ATTN_DOUBT];
    for (size_t i = 0; t && attn_model_doubt(text, i, m, t, 0); i++)
        say_note("attn-cli %s: warning: of %s: %s", c->name, side, text);
}

/* The tokenizer of the open model or, where none is open, of the one that is named; unless *out is one already. */
static int own_tokenizer(struct attn_tokenizer **out, struct attn_err *err)
{
    *out = *out ? *out : kept.tokenizer;
    if (*out)
        return ATTN_OK;
    int code = opened.model ? attn_model_tokenizer(out, opened.model, err) :
               named(attn_tokenizer_open_with(out, common.model, given_of(false), err), err);
    kept.tokenizer = texts_are_many() && !code ? *out : NULL;
    return code;
}

int open_tokenizer(struct attn_tokenizer **out, struct attn_err *err)
{
    int code = own_tokenizer(out, err);
    if (!code)
        doubt(*out, 0);
    return code;
}

int try_tokenizer(struct attn_tokenizer **out, const struct attn_model *m, struct attn_err *err)
{
    struct attn_err why = {0};
    if (!*out && !attn_model_spells(m))
        return ATTN_OK;
    int code = open_tokenizer(out, &why);
    if (code == ATTN_EFORMAT)
        say_note("no labels: %s", why.msg);
    return code == ATTN_EFORMAT ? ATTN_OK : attn_fail_as(err, &why);
}

int open_dump(struct attn_dump **out, const char *path, const struct command *c, struct attn_err *err)
{
    int code = attn_dump_open(out, path, err);
    if (!code)
        warn(c->name, attn_dump_warning(*out));
    return code;
}

/* ---- files ------------------------------------------------------------------------------- */

static int read_all(int fd, const char *name, char **text, size_t *len, struct attn_err *err)
{
    const size_t limit = (size_t)FILE_LIMIT_MB << 20;
    size_t size = 0;
    for (;;) {
        if (size - *len < 2) {                          /* room for a byte and the NUL */
            size = size ? 2 * size : 1 << 16;
            char *more = realloc(*text, size);
            if (!more)
                return attn_no_memory(err, name, "for %zu bytes", size);
            *text = more;
        }
        ssize_t n = read(fd, *text + *len, size - *len - 1);
        if (n < 0 && errno == EAGAIN)   /* whoever started us made standard input non-blocking */
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return attn_fail_errno(err, name, "read");
        if (n == 0)
            break;
        *len += (size_t)n;
        if (*len > limit)
            return attn_fail(err, ATTN_EFORMAT, "%s: longer than %d MiB", name, FILE_LIMIT_MB);
    }
    (*text)[*len] = '\0';
    return ATTN_OK;
}

int file_read(char **text, size_t *len, const char *path, struct attn_err *err)
{
    static bool was_read;
    bool standard = !strcmp(path, "-"), for_texts = common.file && path != common.file && !strcmp(common.file, "-");
    const char *name = standard ? "standard input" : path;
    *text = NULL;
    *len = 0;
    if (standard && (was_read || for_texts))
        return attn_fail(err, ATTN_EUSAGE,
                         "two options read standard input, which can be read once: give one of them a file");
    was_read = was_read || standard;
    int fd = standard ? STDIN_FILENO : attn_disk_open(path, O_RDONLY, 0);
    if (fd < 0)
        return attn_fail_errno(err, name, "open");
    int code = read_all(fd, name, text, len, err);
    if (!standard)
        close(fd);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

/* ---- texts and ids ----------------------------------------------------------------------- */

int input_parse_ids(struct input *in, const char *list, struct attn_err *err)
{
    return attn_ids_parse(&in->ids, &in->n, list, err);
}

/* Removes what editors add and nobody means as text: a byte order mark at the start, a line end at the end. */
static void trim(struct input *in)
{
    size_t skip = attn_utf8_mark(in->owned, in->len);
    if (in->len > skip && in->owned[in->len - 1] == '\n') {
        in->owned[--in->len] = '\0';
        if (in->len > skip && in->owned[in->len - 1] == '\r')
            in->owned[--in->len] = '\0';
    }
    in->text += skip;
    in->len -= skip;
}

/* Line ends of another system are characters of the text, which few who have them in a file expect. */
static void note_returns(const struct input *in, const char *file)
{
    size_t n = 0;
    for (const char *c = in->text; (c = memchr(c, '\r', in->len - (size_t)(c - in->text))); c++)
        n++;
    if (n)
        say_note("%s: the text has %zu carriage return%s, as part of it: tr -d '\\r' takes %s out",
                 strcmp(file, "-") ? file : "standard input", n, n > 1 ? "s" : "", n > 1 ? "them" : "it");
}

/* Checked here, where the message can still name the file. */
static int check_utf8(const struct input *in, const char *file, struct attn_err *err)
{
    size_t at = attn_utf8_valid(in->text, in->len);
    if (at == in->len)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: invalid UTF-8 at byte %zu (0x%02X); convert with: iconv -f LATIN1 -t "
                                        "UTF-8", strcmp(file, "-") ? file :
                     "standard input", (size_t)(in->text - in->owned) + at, (unsigned)(unsigned char)in->text[at]);
}

int input_read_any(struct input *in, const char *text, const char *file, const char *ids, struct attn_err *err)
{
    if (ids)
        return input_parse_ids(in, ids, err);
    in->text = text;
    in->len = text ? strlen(text) : 0;
    if (!file)
        return ATTN_OK;
    if (file_read(&in->owned, &in->len, file, err) || !in->owned)
        return err->code;
    in->text = in->owned;
    if (!common.raw) {
        trim(in);
        note_returns(in, file);
    }
    return check_utf8(in, file, err);
}

/* One of many: what it points to stays where it is. */
static int read_record(struct input *in, const struct attn_record *r, struct attn_err *err)
{
    in->text = r->text;
    in->len = r->text_len;
    in->n = r->n;
    in->ids = r->ids ? malloc((r->n + 1) * sizeof *in->ids) : NULL;
    if (r->ids && !in->ids)
        return attn_no_memory(err, NULL, "for %zu ids", r->n);
    if (r->ids)
        memcpy(in->ids, r->ids, r->n * sizeof *in->ids);
    return ATTN_OK;
}

int input_read(struct input *in, struct attn_err *err)
{
    *in = (struct input){0};
    if (texts_now()) {
        int code = input_check_labels(err);
        return code ? code : read_record(in, texts_now(), err);
    }
    if (!common.sentence && !common.file && !common.ids)
        return attn_fail(err, ATTN_EUSAGE, "no input: give a text, in quotes, or a file with one in each line, -f "
                                           "PATH (-f - is standard input)");
    int code = input_check_labels(err);
    return code ? code : input_read_any(in, common.sentence, common.file, common.ids, err);
}

int input_read_other(struct input *in, struct attn_err *err)
{
    bool crosses = crossing.text || crossing.file || crossing.ids;
    *in = (struct input){0};
    if (crosses && attention_kind().form != ATTN_MODEL)
        return attn_fail(err, ATTN_EUSAGE, "--cross and --attention do not go together: the other text runs with the "
                                           "model's own attention, and the sentence looks at all of it");
    return input_read_any(in, crossing.text, crossing.file, crossing.ids, err);
}

struct attn_encode_opts input_encode_opts(void)
{
    const char *bos = common.bos ? common.bos : "auto";
    return (struct attn_encode_opts){
        .special = common.special,
        .bos = !strcmp(bos, "yes") ? ATTN_BOS_YES : !strcmp(bos, "no") ? ATTN_BOS_NO : ATTN_BOS_AUTO};
}

int input_tokens(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in,
                 struct attn_err *err)
{
    struct attn_encode_opts o = input_encode_opts();
    if (!in->text)
        return attn_tokens_from_ids(out, in->ids, in->n, err);
    int code = own_tokenizer(tokenizer, err);
    if (!code)
        code = attn_encode_with(out, *tokenizer, in->text, in->len, &o, err);
    if (code)
        return code;
    doubt(*tokenizer, (*out)->n);
    return opened.model ? attn_model_check_tokens(opened.model, *out, err) : ATTN_OK;
}

int input_tokens_other(struct attn_tokens **out, struct attn_tokenizer **tokenizer, const struct input *in,
                       struct attn_err *err)
{
    *out = NULL;
    if (!in->text && !in->ids)
        return ATTN_OK;
    int code = input_tokens(out, tokenizer, in, err);
    if (!code && !(*out)->n)
        code = attn_fail(err, ATTN_EFORMAT, "the other text (--cross) is empty: there is no key to look at");
    return code;
}

/* ---- names for ids ----------------------------------------------------------------------- */

static const char *naming;              /* --labels; NULL: not given */
static struct attn_labels *labels;      /* NULL: not made yet */

static const char *const label_words[] = {"auto", "none", NULL};
const struct option label_options[] = {
    {0, "labels", OPT_FILE, &naming, "auto|none|FILE",
     "what tokens given as ids are called: auto, by the model's tokenizer if it has one; none, their ids; or by the "
     "lines of a file, one for each entry of the vocabulary or one for each id (default: auto for text on a terminal "
     "and for pictures, else none)", .choices = label_words, .section = OF_INPUT,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

static bool from_file(void)
{
    return naming && strcmp(naming, "auto") && strcmp(naming, "none");
}

static int read_labels(const struct attn_model *m, struct attn_err *err)
{
    struct attn_info info;
    char *text;
    size_t len;
    attn_model_info(m, &info);
    if (file_read(&text, &len, naming, err))
        return err->code;
    int code = attn_labels_read(&labels, text, len, strcmp(naming, "-") ? naming : "standard input", info.V, err);
    free(text);
    return code;
}

/* Ids need no tokenizer: without one they are shown as they are. */
static int ask_tokenizer(struct attn_tokenizer **tokenizer, const struct attn_model *m, struct attn_err *err)
{
    struct attn_err why = {0};
    if (naming && !attn_model_spells(m) && open_tokenizer(tokenizer, &why))
        say_note("no labels: %s", why.msg);
    int code = try_tokenizer(tokenizer, m, err);
    return code || !*tokenizer ? code : attn_labels_new(&labels, *tokenizer, err);
}

static int make_labels(struct attn_tokenizer **tokenizer, const struct attn_model *m, bool seen, struct attn_err *err)
{
    bool wanted = naming ? strcmp(naming, "none") != 0 : seen;
    return labels || !wanted ? ATTN_OK : from_file() ? read_labels(m, err) : ask_tokenizer(tokenizer, m, err);
}

int input_label(struct attn_tokens *t, struct attn_tokenizer **tokenizer, const struct input *in,
                const struct attn_model *m, bool seen, struct attn_err *err)
{
    struct attn_info info;
    if (in->text || !t)
        return ATTN_OK;
    int code = make_labels(tokenizer, m, seen, err);
    if (code || !labels)
        return code;
    attn_model_info(m, &info);
    if (from_file() && info.V == t->n)
        say_note("%s has a line for each entry of the vocabulary, and as many as there are ids: it names entries",
                 naming);
    return attn_tokens_label(t, labels, err);
}

int input_labels(const struct attn_labels **out, struct attn_tokenizer **tokenizer, const struct attn_model *m,
                 bool seen, struct attn_err *err)
{
    struct attn_info info;
    int code = make_labels(tokenizer, m, seen, err);
    *out = code ? NULL : labels;
    if (code || !labels || attn_labels_by_id(labels))
        return code;
    attn_model_info(m, &info);
    return attn_fail(err, ATTN_EFORMAT, "%s: found %zu lines, expected %zu, a label for each entry of the model's "
                                        "vocabulary, as any id may come", naming, attn_labels_count(labels), info.V);
}

const struct attn_labels *input_labels_read(void)
{
    return from_file() ? labels : NULL;
}

/* A text has its own tokens. */
int input_check_labels(struct attn_err *err)
{
    return !from_file() || common.ids || crossing.ids || sourcing.ids ? ATTN_OK
         : attn_fail(err, ATTN_EUSAGE, "--labels %s names ids, and the input is a text, whose tokens have names: give "
                                       "ids with --ids, or leave it out", excerpt(naming).text);
}

void input_free(struct input *in)
{
    free(in->ids);
    free(in->owned);
    attn_labels_free(labels);
    labels = NULL;
}
