/* diff_next.c - the end of a comparison: which part of the model adds the difference, the logits of the last row, what
 * comes next on both sides, and how far that is apart. */
#include "diff_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli_print.h"

/* Prints nothing unless f is given; returns the columns. */
static size_t print_word(FILE *f, const struct attn_tokenizer *t, int32_t id)
{
    size_t len;
    const char *text = t ? attn_tokenizer_text(t, id, &len) : NULL;
    char number[16];
    if (text)
        return print_visible(f, text, len);
    int n = snprintf(number, sizeof number, "id %" PRId32, id);
    if (f)
        fputs(number, f);
    return (size_t)n;
}

static void print_side(const struct differences *r, int side, const struct attn_likely *next, size_t n)
{
    printf("  %c ", "AB"[side]);
    if (!n)
        fputs(" the logits are no distribution: one is NaN or inf", stdout);
    for (size_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        print_word(stdout, r->tokenizer[side], next[i].id);
        printf(" %.1f%%", 100 * next[i].p);
    }
    putchar('\n');
}

/* ---- which part adds the difference ---- */

void diff_print_parts(const struct differences *r)
{
    const struct attn_diff_added *x = r->part;
    size_t n = r->parts;
    if (n)
        puts("\nwhat adds the difference    error of what it adds  share of the last stream's  error of the stream");
    for (size_t i = 0; i < n; i++) {
        char where[40];
        int len = x[i].layer < 0 ? snprintf(where, sizeof where, "%s", x[i].part) :
                  snprintf(where, sizeof where, "blocks.%d.%s", x[i].layer, x[i].part);
        printf("  %s%*s  %18.3g %%  %24.1f %%", where, len < 24 ? 24 - len : 0, "", 100 * x[i].error, 100 * x[i].share);
        if (!isnan(x[i].stream))
            printf("  %17.3g %%", 100 * x[i].stream);
        putchar('\n');
    }
}

void diff_json_parts(const struct differences *r)
{
    const struct attn_diff_added *x = r->part;
    size_t n = r->parts;
    if (!n)
        return;
    fputs(",\n \"parts\": [", stdout);
    for (size_t i = 0; i < n; i++) {
        printf("%s\n  {\"part\": \"%s\", \"layer\": ", i ? "," : "", x[i].part);
        if (x[i].layer < 0)
            fputs("null", stdout);
        else
            printf("%d", x[i].layer);
        fputs(", \"error\": ", stdout);
        json_real(stdout, x[i].error);
        fputs(", \"share\": ", stdout);
        json_real(stdout, x[i].share);
        fputs(", \"stream\": ", stdout);
        json_real(stdout, x[i].stream);
        putchar('}');
    }
    putchar(']');
}

/* ---- what comes next ---- */

void diff_print_next(const struct differences *r)
{
    struct attn_diff_next x;
    attn_diff_next(&x, r->diff);
    if (!x.rows)
        return;
    fputs("\nnext token, the likeliest:\n", stdout);
    print_side(r, 0, x.next_a, x.n_a);
    print_side(r, 1, x.next_b, x.n_b);
    if (x.max_abs > 0) {
        printf("  logits differ by up to %.2e in the last row: ", x.max_abs);
        print_word(stdout, r->tokenizer[1], x.at);
        printf(": A %.7g, B %.7g\n", (double)x.a, (double)x.b);
    } else {
        fputs("  logits of the last row are the same\n", stdout);
    }
    if (isnan(x.kl_ba_mean))
        fputs("  KL(B || A) is not defined in every row: a logit is NaN or inf\n", stdout);
    else
        printf("  KL(B || A) %.4g nats at the last token, %.4g in the mean over %zu row%s\n", x.kl_ba, x.kl_ba_mean,
               x.rows, x.rows == 1 ? "" : "s");
}

/* ---- for scripts ---- */

static void json_side(const struct differences *r, int side, const struct attn_likely *next, size_t n)
{
    printf(", \"%c\": [", "ab"[side]);
    for (size_t i = 0; i < n; i++) {
        size_t len = 0;
        const char *text = r->tokenizer[side] ? attn_tokenizer_text(r->tokenizer[side], next[i].id, &len) : NULL;
        printf("%s{\"id\": %" PRId32 ", \"text\": ", i ? ", " : "", next[i].id);
        json_string(stdout, text, len);
        fputs(", \"p\": ", stdout);
        json_real(stdout, next[i].p);
        putchar('}');
    }
    putchar(']');
}

static void json_member(const char *key, double x)
{
    printf("%s", key);
    json_real(stdout, x);
}

void diff_json_next(const struct differences *r)
{
    struct attn_diff_next x;
    attn_diff_next(&x, r->diff);
    if (!x.rows)
        return;
    printf(",\n \"next\": {\"rows\": %zu", x.rows);
    json_member(", \"kl_b_a\": {\"last\": ", x.kl_ba);
    json_member(", \"mean\": ", x.kl_ba_mean);
    json_member("}, \"kl_a_b\": {\"last\": ", x.kl_ab);
    json_member(", \"mean\": ", x.kl_ab_mean);
    json_member("}, \"logits\": {\"max_abs\": ", x.max_abs < 0 ? (double)NAN : x.max_abs);
    printf(", \"id\": %" PRId32, x.at);
    json_member(", \"a\": ", (double)x.a);
    json_member(", \"b\": ", (double)x.b);
    putchar('}');
    json_side(r, 0, x.next_a, x.n_a);
    json_side(r, 1, x.next_b, x.n_b);
    putchar('}');
}
