/* cmd_info.c - describes a model. */
#include "attn_tools.h"
#include "info_tensor.h"
#include "input.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "cli_print.h"
#include "opts_language.h"

#include "base/err.h"
#include "table/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct { struct info_tensor tensor; const char *digest; bool check; } o = {
    .tensor.precision = {.n = OUTPUT_PRECISION}};

static const char *const parts[] = {"integers", "scales", "minima", NULL};
static const char *const digests[] = {"sampled", "full", NULL};

struct facts {
    const struct attn_model *model;
    struct attn_info info;
    char digest[80];
    struct attn_tokenizer *tokenizer;   /* NULL: there is none */
    struct attn_err why;                /* ... and why there is none */
    size_t T;                           /* tokens of the text whose run is estimated; 0: no text given */
    struct attn_cost shown, all;        /* with the default --show; with every activation */
};

static const char *yes(bool b) { return b ? "yes" : "no"; }
static const char *truth(bool b) { return b ? "true" : "false"; }

/* Prints a size in a larger unit, as in " (1.5 MiB)" or " (124.4 M)"; prints nothing for numbers below one step. */
static void print_scaled(uint64_t n, double step, const char *const unit[4])
{
    double x = (double)n;
    int i = 0;
    for (; i < 3 && x >= step; i++)
        x /= step;
    if (i)
        printf(" (%.1f%s)", x, unit[i]);
}

enum { SHAPE = 8 * sizeof ", 18446744073709551615" };           /* room for all dimensions, however large */

static const char *shape(char buf[SHAPE], const struct attn_tensor_info *t)
{
    size_t n = (size_t)snprintf(buf, SHAPE, "[");
    for (int i = 0; i < t->ndim; i++)
        n += (size_t)snprintf(buf + n, SHAPE - n, "%s%zu", i ? ", " : "", t->shape[i]);
    snprintf(buf + n, SHAPE - n, "]");
    return buf;
}

static void text_sizes(const struct attn_info *n)
{
    static const char *const count[] = {"", " thousand", " million",
                                        " billion"}, *const size[] = {" B", " KiB", " MiB", " GiB"};
    printf("vocabulary    %zu\ncontext       %zu tokens\nlayers        %zu\n", n->V, n->n_ctx, n->L);
    printf("width         %zu\nheads         %zu", n->d, n->H);
    if (n->Hkv != n->H)
        printf(" (%zu for keys and values)", n->Hkv);
    printf("\nhead width    %zu", n->dh);
    if (n->dv != n->dh)
        printf(" (values %zu)", n->dv);
    if (n->m)
        printf("\nmlp width     %zu", n->m);
    printf("\nparameters    %" PRIu64, n->parameters);
    print_scaled(n->parameters, 1000, count);
    printf("\nweights       %" PRIu64 " bytes", n->bytes);
    print_scaled(n->bytes, 1024, size);
    putchar('\n');
}

/* What is said of a row whose value was assumed. */
static const char *assumed(const struct facts *f, const char *key)
{
    size_t n;
    const struct attn_assumed *list = attn_model_assumed(f->model, &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].key, key))
            return " (assumed)";
    return "";
}

static void text_choices(const struct facts *f)
{
    const struct attn_info *n = &f->info;
    printf("position      %s", n->position);
    if (!strcmp(n->position, "rope")) {
        fputs(", theta ", stdout);
        json_real(stdout, n->rope_theta);
        if (n->rotary != n->dh)
            printf(", %zu of %zu numbers of a head", n->rotary, n->dh);
    }
    printf("\nnorm          %s", n->norm);
    if (strcmp(n->norm, "none") != 0) {
        fputs(", eps ", stdout);
        json_real(stdout, n->norm_eps);
    }
    printf("%s\nmlp           %s%s\nmask          %s", assumed(f, "norm"), n->mlp, assumed(f, "act"), n->mask);
    if (n->local)
        printf(", only the last %zu tokens in %zu of %zu layers", n->window, n->local, n->L);
    printf("\nscale         %s%s\nresidual      %s%s\n", n->scale, assumed(f, "scale"), yes(n->residual),
           n->parallel ? ", attention and mlp in parallel" : "");
    printf("projection    %s\n", yes(n->output_projection));
    printf("output layer  %s\n", !n->unembed ? "no" : n->tied ? "yes, tied to the embedding" : "yes");
}

static void text_cost(const char *what, const struct attn_cost *c)
{
    static const char *const size[] = {" B", " KiB", " MiB", " GiB"};
    printf("  %s\n    memory      %" PRIu64 " bytes", what, c->memory);
    print_scaled(c->memory, 1024, size);
    printf(", %" PRIu64 " of them scratch\n    shows       %" PRIu64 " numbers in %" PRIu64 " activations\n"
           "    npy         %" PRIu64 " bytes", c->scratch, c->numbers, c->activations, c->npy);
    print_scaled(c->npy, 1024, size);
    printf("\n    csv         about %" PRIu64 " bytes", c->csv);
    print_scaled(c->csv, 1024, size);
    putchar('\n');
}

static void text_run(const struct facts *f)
{
    printf("\na run of %zu tokens, besides the weights\n", f->T);
    char products[128];
    attn_products_say(products, sizeof products);
    printf("  products      %s\n", products);
    text_cost("run", &f->shown);
    text_cost("run --show '*'", &f->all);
}

/* Names of directories and tensors come from elsewhere: on a terminal their control characters are made visible. */
static void text_name(const char *name)
{
    print_text(stdout, name, strlen(name), terminal_is(NULL));
}

static void text_tensors(const struct facts *f)
{
    struct attn_tensor_info t;
    char buf[SHAPE];
    int width = 0;
    for (size_t i = 0; i < f->info.tensors; i++) {
        attn_model_tensor(f->model, i, &t);
        int len = (int)strlen(t.name);
        width = len > width ? len : width;
    }
    printf("\n%zu tensors\n", f->info.tensors);
    for (size_t i = 0; i < f->info.tensors; i++) {
        attn_model_tensor(f->model, i, &t);
        printf("  ");
        text_name(t.name);
        printf("%*s  %-4s  %s\n", width - (int)strlen(t.name), "", t.dtype, shape(buf, &t));
    }
}

/* What a GGUF file says of itself: in text, or as a list of objects. */
static int print_metadata(const struct facts *f, bool as_text, struct attn_err *err)
{
    struct attn_metadata d;
    for (size_t i = 0;; i++) {
        int code = attn_model_metadata(&d, f->model, i, err);
        if (code || !d.value) {
            fputs(i && !as_text ? "]" : "", stdout);
            return code;
        }
        if (as_text) {
            fputs(i ? "  " : "\nmetadata\n  ", stdout);
            text_name(d.key);
            printf("  %s", d.type);
            if (d.n != 1)
                printf(" (%zu)", d.n);
            fputs("  ", stdout);
            text_name(d.value);
            puts(d.cut ? " ..." : "");
        } else {
            fputs(i ? ",\n  {\"key\": " : ",\n \"metadata\": [\n  {\"key\": ", stdout);
            json_text(stdout, d.key);
            printf(", \"type\": \"%s\", \"n\": %zu, \"value\": %s, \"cut\": %s}", d.type, d.n, d.value, truth(d.cut));
        }
        free(d.value);
    }
}

/* Where the files contradict each other: a line each, or an array. */
static void text_warnings(const struct facts *f)
{
    char text[ATTN_DOUBT];
    for (size_t i = 0; f->tokenizer && attn_model_doubt(text, i, f->model, f->tokenizer, SIZE_MAX); i++) {
        fputs("warning       ", stdout);
        text_name(text);
        putchar('\n');
    }
}

static void json_assumed(const struct facts *f)
{
    size_t n;
    const struct attn_assumed *list = attn_model_assumed(f->model, &n);
    fputs(",\n \"assumed\": [", stdout);
    for (size_t i = 0; i < n; i++)
        printf("%s\"%s\"", i ? ", " : "", list[i].key);
    putchar(']');
}

static void json_warnings(const struct facts *f)
{
    char text[ATTN_DOUBT];
    const char *own = attn_model_warning(f->model);
    fputs(",\n \"warnings\": [", stdout);
    if (own)
        json_text(stdout, own);
    for (size_t i = 0; f->tokenizer && attn_model_doubt(text, i, f->model, f->tokenizer, SIZE_MAX); i++) {
        fputs(own || i ? ", " : "", stdout);
        json_text(stdout, text);
    }
    putchar(']');
}

static void text_all(const struct facts *f)
{
    const struct attn_info *n = &f->info;
    printf("model         %s\nfamily        %s\nfrom          ", n->name, n->family);
    text_name(n->path ? n->path : "built in");
    printf("\ndigest        %s\n", f->digest);
    if (o.check)
        puts("check         every weight is a finite number");
    if (f->tokenizer)
        printf("tokenizer     %s, %zu entries\n", attn_tokenizer_kind(f->tokenizer), attn_tokenizer_size(f->tokenizer));
    else
        printf("tokenizer     none (%s)\n", f->why.msg);
    text_warnings(f);
    text_sizes(n);
    text_choices(f);
    if (f->T)
        text_run(f);
    text_tensors(f);
}

static void json_head(const struct facts *f)
{
    const struct attn_info *n = &f->info;
    const struct pair texts[] = {
        {"name", n->name}, {"family", n->family}, {"path", n->path}, {"digest", f->digest}, {"position", n->position},
        {"norm", n->norm}, {"mlp", n->mlp}, {"mask", n->mask}, {"scale", n->scale}, {NULL, NULL}};
    for (const struct pair *p = texts; p->term; p++) {
        printf(",\n \"%s\": ", p->term);
        json_text(stdout, p->text);
    }
    printf(",\n \"residual\": %s, \"output_projection\": %s, \"tied\": %s, \"unembed\": %s", truth(n->residual),
           truth(n->output_projection), truth(n->tied), truth(n->unembed));
    printf(",\n \"vocab_size\": %zu, \"n_ctx\": %zu, \"n_layer\": %zu, \"n_head\": %zu, \"n_kv_head\": %zu", n->V,
           n->n_ctx, n->L, n->H, n->Hkv);
    printf(",\n \"d_model\": %zu, \"d_head\": %zu, \"d_value\": %zu, \"d_mlp\": %zu", n->d, n->dh, n->dv, n->m);
    printf(",\n \"parallel\": %s, \"rotary\": %zu, \"window\": %zu, \"local_layers\": %zu", truth(n->parallel),
           n->rotary, n->window, n->local);
    fputs(",\n \"norm_eps\": ", stdout);
    json_real(stdout, n->norm_eps);
    fputs(", \"rope_theta\": ", stdout);
    json_real(stdout, n->rope_theta);
    printf(",\n \"parameters\": %" PRIu64 ", \"bytes\": %" PRIu64, n->parameters, n->bytes);
    printf(",\n \"finite\": %s", o.check ? "true" : "null");
}

static void json_cost(const char *key, const struct attn_cost *c)
{
    printf("\"%s\": {\"memory\": %" PRIu64 ", \"scratch\": %" PRIu64 ", \"activations\": %" PRIu64
           ", \"numbers\": %" PRIu64 ", \"npy\": %" PRIu64 ", \"csv\": %" PRIu64 "}", key, c->memory, c->scratch,
           c->activations, c->numbers, c->npy, c->csv);
}

static void json_run(const struct facts *f)
{
    fputs(",\n \"run\": ", stdout);
    if (!f->T) {
        fputs("null", stdout);
        return;
    }
    printf("{\"tokens\": %zu, \"libxsmm\": %.4f,\n  ", f->T, f->shown.libxsmm);
    json_cost("default", &f->shown);
    fputs(",\n  ", stdout);
    json_cost("all", &f->all);
    putchar('}');
}

struct tensors { const struct facts *of; char *shape; };

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct tensors *x = self;
    struct attn_tensor_info t;
    attn_model_tensor(x->of->model, i, &t);
    cell[0] = attn_datum_str(t.name);
    cell[1] = attn_datum_str(t.dtype);
    cell[2] = cell[3] = attn_datum_str(shape(x->shape, &t));
    cell[4] = attn_datum_whole(t.bytes);
}

static void put_shape(struct attn_out *out, const void *self, size_t i)
{
    (void)i;
    attn_out_str(out, ((const struct tensors *)self)->shape);
}

/* The tensors; format NULL: as objects of the document. */
static int write_tensors(const struct facts *f, const char *format, struct attn_err *err)
{
    static const struct attn_column columns[] = {
        {.name = "name"}, {.name = "dtype"}, {.name = "shape", .kind = ATTN_COLUMN_NESTED, .write = put_shape},
        {.name = "shape", .flags = ATTN_COLUMN_FLAT}, {.name = "bytes", .kind = ATTN_COLUMN_WHOLE}};
    char buf[SHAPE];
    const struct tensors tensors = {f, buf};
    const struct attn_table t = {.column = columns, .columns = sizeof columns / sizeof *columns,
                                 .rows = f->info.tensors, .row = fill, .self = &tensors, .spaced = true,
                                 .csv_safe = csv_safe()};
    return format ? table_print(&t, format, err) : table_objects(&t, "\n  ", "\n  ", err);
}

static int print_json(const struct facts *f, struct attn_err *err)
{
    printf("{\"version\": \"%s\"", attn_version());
    json_head(f);
    fputs(",\n \"tokenizer\": ", stdout);
    if (f->tokenizer)
        printf("{\"kind\": \"%s\", \"size\": %zu}", attn_tokenizer_kind(f->tokenizer),
               attn_tokenizer_size(f->tokenizer));
    else
        fputs("null", stdout);
    json_assumed(f);
    json_warnings(f);
    json_run(f);
    fputs(",\n \"tensors\": [", stdout);
    int code = write_tensors(f, NULL, err);
    putchar(']');
    if (!code)
        code = print_metadata(f, false, err);
    fputs("}\n", stdout);
    return code;
}

static int cost(struct attn_cost *out, const struct facts *f, const char *show, struct attn_err *err)
{
    struct attn_select *what;
    struct attn_plan plan = {.rows = f->T, .seqs = 1, .threads = (int)common.threads.n};
    int code = attn_select_new(&what, f->model, NULL, show, NULL, NULL, err);
    if (!code)
        code = attn_cost_of(out, f->model, what, &plan, err);
    attn_select_free(what);
    return code;
}

static int cost_text(struct facts *f, struct attn_err *err)
{
    struct input in;
    struct attn_tokens *tokens = NULL;
    struct attn_tokenizer *tokenizer = NULL;
    int code = input_read(&in, err);
    if (!code)
        code = input_tokens(&tokens, &tokenizer, &in, err);
    if (!code && !tokens->n)
        code = attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    f->T = code ? 0 : tokens->n;
    if (!code)
        code = cost(&f->shown, f, NULL, err);
    if (!code)
        code = cost(&f->all, f, "*", err);
    attn_tokens_free(tokens);
    attn_tokenizer_close(tokenizer);
    input_free(&in);
    return code;
}

static int describe(const struct attn_model *m, struct attn_err *err)
{
    struct facts f = {.model = m};
    attn_model_info(m, &f.info);
    if ((o.check && attn_model_check(m, err)) ||
        attn_model_digest(m, o.digest && !strcmp(o.digest, "full"), f.digest, err))
        return err->code;
    if ((common.sentence || common.file || common.ids) && cost_text(&f, err))
        return err->code;
    /* A model without one is still a model. */
    if (attn_model_tokenizer(&f.tokenizer, m, &f.why) == ATTN_ENOMEM)
        return *err = f.why, err->code;
    int code = ATTN_OK;
    const char *format = o.tensor.format;
    if (!format || !strcmp(format, "text")) {
        text_all(&f);
        code = print_metadata(&f, true, err);
    } else {
        code = strcmp(format, "json") ? write_tensors(&f, format, err) : print_json(&f, err);
    }
    attn_tokenizer_close(f.tokenizer);
    return code;
}

static int info(struct attn_err *err)
{
    struct attn_model *m;
    if (info_tensor_check(&o.tensor, err) ||
        output_choose_format(&o.tensor.format, o.tensor.path, &info_command, err) ||
        open_model(&m, &info_command, err))
        return err->code;
    if (o.check)
        compare_model(m);
    int code = o.tensor.name ? info_tensor(m, &o.tensor, err) : describe(m, err);
    attn_model_close(m);
    return code;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_answers(help, "a report, or the matrix of --tensor", "npy or a picture of a tensor");
}

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.tensor.format, "F", NULL, .choice = info_format, .explain = explain_format},
    {0, "tensor", OPT_TEXT, &o.tensor.name, "NAME",
     "the numbers of this tensor, in the file's own layout and decoded where they are quantised, in place of the "
     "report", .flags = OPT_USUAL},
    {0, "stored", OPT_CHOICE, &o.tensor.stored, "PART", "of --tensor, where it is quantised in blocks: integers, the "
     "few bits of each number as the file has them; scales or minima, one for each group of them, so that a number is "
     "scale * integer + minimum", .choices = parts},
    {'o', "output", OPT_FILE, &o.tensor.path, "PATH", "of --tensor: write to this file (default: -, standard output); "
     "its ending chooses the format, .csv, .json, .npy, .png, .svg, .pdf or .html", .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "precision", OPT_NUMBER, &o.tensor.precision, "N", "of --tensor as text: digits after the point (default: 4)",
     .max = ATTN_PRECISION_MOST},
    {0, "check", OPT_FLAG, &o.check, NULL, "check every weight; one that is not finite is an error, and an output "
     "layer that differs anywhere from the embedding it is tied to a warning", .flags = 0},
    {0, "digest", OPT_CHOICE, &o.digest, "KIND",
     "what the digest covers: sampled (configuration, tokenizer, headers, the "
     "ends of each tensor) or full (every byte); default: sampled", .choices = digests},
    {.name = NULL},
};

const struct command info_command = {
    .name = "info",
    .schemas = (const char *const[]){"info", "tensor", NULL},
    .run = info,
    .model = true,
    .usage = "info [-m DIR|NAME] [-s TEXT | --tensor NAME [-o PATH]] [--format F] [--check] [--digest KIND]",
    .section = IN_MODELS,
    .summary = "describe a model: family, sizes, choices, digest, tensors",
    .about = "Prints what a model is, without running it.  The digest identifies its numbers (of large tensors, only "
             "their ends): two models with the same digest from --digest full compute the same.  With a text, it also "
             "prints the memory a run of it would take and how much it would write, both for what run shows by default "
             "and for everything, and what multiplies on this machine: libxsmm's kernels, or plain loops and why.",
    .examples = (const struct pair[]){
        {"attn-cli info", "the model built into the binary"},
        {"attn-cli info -m ./gpt2 -f chapter.txt", "how much memory, and how large is a dump of everything?"},
        {"attn-cli info -m ./gpt2 --check", "is any weight not a number?"},
        {"attn-cli info -m ./gpt2 --format json | jq .tensors", "names and shapes, for scripts"},
        {"attn-cli info -m life --tensor blocks.0.attn.q.weight", "a weight matrix, as articles print it"},
        {"attn-cli info -m tiny --tensor blocks.0.attn.q.weight -o q.png",
         "as a picture; .csv and .npy have the numbers"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, corpus_options, encode_options, ids_options, options,
                                             page_language_options, csv_options, picture_options, thread_options,
                                             general_options, NULL},
    .report = true,
};
