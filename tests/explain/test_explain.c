/* The command explain: the numbers of run, sums that add up, words that suit the model, text that
 * cannot become markup. */
#include "suites.h"

#include "base/num.h"
#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFE "'Life is short, eat dessert first'"
#define GOLDEN "tests/golden/checkpoints/"

/* ---- reading what was printed ---------------------------------------------------------- */

static char *said_by(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *said_by(const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    const struct said *s = sh(line);
    ck_assert_msg(s->status == 0, "%s\nended with %d", line, s->status);
    return strdup(s->text);
}

/* The next "NAME = ..." joined with its continuation lines, which are indented more; to be freed.  Advances
 * *at; NULL: none. */
static char *next_sum(const char **at)
{
    for (const char *s = *at; (s = strstr(s, "\n  ")) != NULL; s++) {
        const char *end = s + 3 + strcspn(s + 3, "\n"), *eq = strstr(s, " = ");
        if (s[3] == ' ' || !eq || eq > end || memchr(s + 3, ' ', (size_t)(eq - s - 3)))
            continue;
        while (strncmp(end, "\n    ", 5) == 0)
            end += 1 + strcspn(end + 1, "\n");
        char *sum = strndup(s + 3, (size_t)(end - s - 3));
        for (char *c = sum; (c = strstr(c, "\n    ")) != NULL;) {
            memmove(c + 1, c + 5, strlen(c + 5) + 1);
            *c = ' ';
        }
        *at = end;
        return sum;
    }
    return NULL;
}

/* The result of the sum with this name. */
static const char *result_of(char buf[64], const char *text, const char *name)
{
    size_t len = strlen(name);
    for (char *sum; (sum = next_sum(&text)) != NULL; free(sum))
        if (!strncmp(sum, name, len) && sum[len] == ' ') {
            snprintf(buf, 64, "%s", strrchr(sum, ' ') + 1);
            free(sum);
            return buf;
        }
    ck_abort_msg("no sum %s", name);
    return NULL;
}

/* The last number of the line that begins with a label. */
static const char *row_end(char buf[64], const char *text, const char *label)
{
    const char *line = strstr(text, label);
    ck_assert_msg(line != NULL, "no row '%s'", label);
    const char *end = line + 1 + strcspn(line + 1, "\n"), *s = end;
    while (s[-1] != ' ')
        s--;
    snprintf(buf, 64, "%.*s", (int)(end - s), s);
    return buf;
}

/* Field `col` of row `row` of a matrix in run's text output; labels must be single words. */
static const char *cell_of(char buf[64], const char *page, const char *name, size_t row, size_t col)
{
    const char *s = strstr(page, name);
    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < row + 2; i++)
        s += strcspn(s, "\n") + 1;
    for (size_t i = 0; i < col + 1; i++) {
        s += strspn(s, " ");
        s += strcspn(s, " ");
    }
    s += strspn(s, " ");
    snprintf(buf, 64, "%.*s", (int)strcspn(s, " \n"), s);
    return buf;
}

/* The same from CSV, whose numbers are exact float32, rounded to `digits` digits. */
static const char *csv_cell(char buf[64], const char *csv, size_t row, size_t col, int digits)
{
    double x;
    for (size_t i = 0; i < row + 1; i++)
        csv += strcspn(csv, "\n") + 1;
    for (size_t i = 0; i < col + 1; i++)
        csv += strcspn(csv, ",") + 1;
    ck_assert(attn_num_parse_f64(csv, strcspn(csv, ",\n"), &x));
    buf[attn_num_fixed(buf, (double)(float)x, digits)] = '\0';
    return buf;
}

/* ---- the numbers of run ---------------------------------------------------------------- */

START_TEST(every_cell_of_life_is_what_run_prints)
{
    char a[64], b[64];
    size_t i = (size_t)_i / 6, j = (size_t)_i % 6;
    char *page = said_by("\"$A\" run -s " LIFE " --show dots,scores,pattern,context");
    char *text = said_by("\"$A\" explain -s " LIFE " --query %zu --key %zu", i, j);
    ck_assert_str_eq(row_end(a, text, "\n  q·k "), cell_of(b, page, "blocks.0.attn.dots", i, j));
    ck_assert_str_eq(result_of(a, text, "score"), cell_of(b, page, "blocks.0.attn.scores", i, j));
    ck_assert_str_eq(result_of(a, text, "weight"), cell_of(b, page, "blocks.0.attn.pattern", i, j));
    ck_assert_str_eq(row_end(a, text, "\n  blocks.0.attn.dots "), cell_of(b, page, "blocks.0.attn.dots", i, j));
    ck_assert_str_eq(row_end(a, text, "\n  blocks.0.attn.scores "), cell_of(b, page, "blocks.0.attn.scores", i, j));
    ck_assert_str_eq(row_end(a, text, "\n  blocks.0.attn.pattern "), cell_of(b, page, "blocks.0.attn.pattern", i, j));
    for (size_t c = 0; c < 4; c++)
        ck_assert_str_eq(result_of(a, text, printed("context[%zu]", c)),
                         cell_of(b, page, "blocks.0.attn.context", i, c));
    free(page);
    free(text);
}
END_TEST

/* Whoever copies the command that stands above the last table gets the numbers in it. */
static const struct { const char *input, *act; size_t query, key; } copied[] = {
    {"-s " LIFE " --query 5 --key 2", "blocks.0.attn.scores", 5, 2},
    {"-m models/stacked -s \"The cat sees the moth\" --layer 2 --head 1 --query 3 --key 1 --precision 6",
     "blocks.2.attn.pattern", 3, 1},
    {"-s " LIFE " --attention window:2 --query 4 --key 3", "blocks.0.attn.pattern", 4, 3},
    {"-s " LIFE " --scale none --query 4 --key 3", "blocks.0.attn.scores", 4, 3},
    {"-s 'Life is' --cross 'short, eat' --query 1 --key eat", "blocks.0.attn.dots", 1, 1},
    {"--ids 0,3,2 --query 2 --key 0", "blocks.0.attn.dots", 2, 0},
    {"-m tiny -s \"Tom  and   Lily's\" --query 3 --key 1", "blocks.0.attn.dots", 3, 1},
};

START_TEST(the_command_it_names_prints_the_same)
{
    char a[64], b[64];
    char *text = said_by("\"$A\" explain %s", copied[_i].input);
    const char *command = strstr(text, "\n    attn-cli run ");
    ck_assert_msg(command, "%s", text);
    command += strlen("\n    attn-cli ");
    char *page = said_by("\"$A\" %.*s", (int)strcspn(command, "\n"), command);
    ck_assert_str_eq(row_end(a, text, printed("\n  %s ", copied[_i].act)),
                     cell_of(b, page, copied[_i].act, copied[_i].query, copied[_i].key));
    free(page);
    free(text);
}
END_TEST

/* What was asked for stands out among the rest: its whole row in the table of all keys, and the ends of
 * the other tables. */
START_TEST(what_was_asked_for_stands_out)
{
    char *bold =
        said_by("\"$A\" explain -s " LIFE " --query 4 --key 2 --format md | grep -F '**' | sed 's/[0-9.-]*[0-9]/1/g'");
    ck_assert_str_eq(bold, "| q·k | 1 | 1 | **1** |\n| **short** | **1** | **1** | **1** | **1** | **1** | **1** |\n"
                     "| **of this run** | **1** | **1** | **1** |\n"
                     "| **context** |  | **1** | **1** | **1** | **1** |\n");
    free(bold);
    bold = said_by("\"$A\" explain -s " LIFE
                   " --attention linear --query 4 --key 2 --format md | grep -F '**' | sed 's/[0-9.-]*[0-9]/1/g'");
    ck_assert_str_eq(bold, "| φ(q)·φ(k) | 1 | 1 | **1** |\n| **short** | **1** | **1** |\n"
                     "| **context** |  | **1** | **1** | **1** | **1** |\n");
    free(bold);
}
END_TEST

/* Each step begins with its formula. */
START_TEST(every_step_has_its_formula)
{
    static const char *const formulas[] = {"norm1 = x / √(mean(x²) + ε) · weight", "dot = Σ q[c]·k[c]",
                                           "turned[i] = u[i]·cos - u[j]·sin",
        "weight[j] = exp(score[j] - largest) / Σ exp(score[j] - largest)", "context[c] = Σ weight[j]·v[j][c]"};
    char *text = said_by("\"$A\" explain -m tiny -s 'Life is short' --query 2 --key 1");
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        ck_assert_msg(strstr(text, formulas[i]), "no '%s' in %s", formulas[i], text);
    free(text);
}
END_TEST

/* A text of several lines is in no command line. */
START_TEST(no_command_has_what_cannot_be_copied)
{
    expect("\"$A\" explain -m tiny -s $'a\\033[31m b' 2>&1 | grep '^    attn-cli'", 0, "attn-cli run ... --show dots,");
    expect("\"$A\" explain -m tiny -s $'a\\nb' | grep '^    attn-cli'", 0, "attn-cli run ... --show dots,");
}
END_TEST

/* A checkpoint, and the position of one of its weights. */
static const struct cell { const char *model; size_t layer, head, query, key, dh; bool turned; } cells[] = {
    {GOLDEN "gpt2-a", 1, 1, 5, 2, 8, false},  {GOLDEN "gpt2-b", 2, 3, 4, 4, 16, false},
    {GOLDEN "gpt2-d", 0, 4, 5, 0, 7, false},
    {GOLDEN "neo-h", 1, 3, 6, 3, 8, false},   {GOLDEN "neo-h", 1, 2, 6, 1, 8, false},
    {GOLDEN "neox-i", 2, 1, 5, 3, 32, true},
    {GOLDEN "llama-f", 1, 3, 5, 1, 8, true},  {GOLDEN "qwen2-j", 1, 2, 6, 5, 8, true},
    {"models/stacked", 2, 3, 6, 2, 4, false},
    {GOLDEN "gemma2-a", 1, 3, 5, 3, 12, true}, {GOLDEN "gemma3-a", 2, 1, 6, 4, 8, true},
    {GOLDEN "phi3-longrope-a", 1, 3, 6, 2, 8, true},
    {GOLDEN "phi-a", 1, 2, 5, 1, 8, true}, {GOLDEN "olmo2-a", 2, 3, 6, 5, 8, true},
    {GOLDEN "gptj-a", 1, 1, 6, 2, 16, true},
    {GOLDEN "opt-post-a", 1, 2, 5, 3, 8, false}, {GOLDEN "smollm3-a", 1, 3, 6, 1, 8, false},
    {GOLDEN "granite-a", 1, 2, 6, 4, 8, true},
    {GOLDEN "bloom-a", 1, 3, 6, 2, 8, false}, {GOLDEN "falcon-new-a", 1, 3, 6, 5, 8, true},
    {GOLDEN "falcon-alibi-a", 1, 1, 6, 3, 8, false}, {GOLDEN "starcoder2-a", 1, 2, 5, 5, 8, true},
    {GOLDEN "llama-yarn-a", 1, 3, 6, 1, 8, true},
    {GOLDEN "hunyuan-a", 1, 3, 6, 1, 12, true}, {GOLDEN "nanochat-a", 1, 2, 5, 3, 8, true},
    {GOLDEN "olmo-a", 1, 2, 6, 4, 8, true},
    {GOLDEN "cohere-a", 1, 3, 6, 2, 8, true}, {GOLDEN "mpt-a", 1, 2, 6, 3, 8, false},
    {GOLDEN "xglm-a", 1, 1, 5, 2, 8, false},
    {"models/life-4-heads", 0, 2, 1, 4, 2, false}, {"models/journey-multi-head", 0, 2, 1, 3, 1, false}};
enum { CELLS = sizeof cells / sizeof *cells };
#define IDS "--ids 1,4,2,5,3,0,1"

static void same_square(const struct cell *c, const char *act, const char *got)
{
    char want[64];
    char *csv = said_by("\"$A\" run -m ./%s " IDS " --show %s --layer %zu --head %zu --format csv", c->model, act,
                        c->layer, c->head);
    ck_assert_str_eq(got, csv_cell(want, csv, c->query, c->key, 4));
    free(csv);
}

static void same_context(const struct cell *c, const char *text)
{
    size_t seen = 0;
    char *csv = said_by("\"$A\" run -m ./%s " IDS " --show context --layer %zu --format csv", c->model, c->layer);
    for (char *sum; (sum = next_sum(&text)) != NULL; free(sum)) {
        char want[64];
        size_t col;
        if (sscanf(sum, "context[%zu]", &col) != 1)
            continue;
        ck_assert_str_eq(strrchr(sum, ' ') + 1, csv_cell(want, csv, c->query, col, 4));
        seen++;
    }
    ck_assert_uint_ge(seen, 1);
    free(csv);
}

START_TEST(a_cell_of_every_family_is_what_run_prints)
{
    const struct cell *c = &cells[_i];
    char buf[64];
    char *text = said_by("\"$A\" explain -m ./%s " IDS " --layer %zu --head %zu --query %zu --key %zu", c->model,
                         c->layer, c->head, c->query, c->key);
    same_square(c, "dots", row_end(buf, text, "\n  q·k "));
    same_square(c, "scores", result_of(buf, text, "score"));
    same_square(c, "pattern", result_of(buf, text, "weight"));
    same_context(c, text);
    free(text);
}
END_TEST

/* ---- sums ------------------------------------------------------------------------------ */

/* Reads "0.5" or "(-0.5)". */
static double operand(const char **s)
{
    char *end;
    *s += **s == '(';
    double x = strtod(*s, &end);
    ck_assert_msg(end != *s, "no number at '%.20s'", *s);
    *s = end + (*end == ')');
    return x;
}

/* Expects the terms of "a·b + a / b + a + [… 3 more: a] = r" to add up to r, but for a chain of
 * roundings to float32. */
static void ck_adds_up(const char *sum, double rounding)
{
    double total = 0, size = 0;
    const char *s = strstr(sum, " = ") + 3;
    if (!strstr(s, " = "))
        return;
    for (bool more = true; more;) {
        if (*s == '[')
            s = strstr(s, ": ") + 2;
        double x = operand(&s);
        s += *s == ']';
        if (strncmp(s, "·", 2) == 0) {
            s += 2;
            x *= operand(&s);
        } else if (strncmp(s, " / ", 3) == 0) {
            s += 3;
            x /= operand(&s);
        }
        total += x;
        size += fabs(x);
        more = strncmp(s, " + ", 3) == 0;
        s += 3;
    }
    double result = strtod(s, NULL);
    ck_assert_msg(fabs(total - result) <= 64 * 6e-8 * size + rounding, "%s\nadds up to %.9f", sum, total);
}

static void ck_all_add_up(const struct cell *c, const char *more, double rounding, size_t least)
{
    size_t n = 0;
    char *text = said_by("\"$A\" explain -m ./%s " IDS " --layer %zu --head %zu --query %zu --key %zu %s", c->model,
                         c->layer, c->head, c->query, c->key, more);
    const char *at = text;
    for (char *sum; (sum = next_sum(&at)) != NULL; free(sum), n++)
        ck_adds_up(sum, rounding);
    ck_assert_uint_ge(n, least);
    free(text);
}

/* Three words in a row, which are neither quoted nor a command, are English. */
START_TEST(every_family_is_said_in_chinese)
{
    const struct cell *c = &cells[_i];
    expect(printed("\"$A\" explain -m ./%s " IDS
                   " --layer %zu --head %zu --query %zu --key %zu --lang zh --format md | grep -v '^    attn-cli' | "
                   "sed 's/“[^”]*”//g' | grep -E '[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}'", c->model, c->layer, c->head,
                   c->query, c->key), 1, "");
}
END_TEST

/* Numbers have nine digits after the point; 64 terms below 10 have a total rounding error below the third argument. */
START_TEST(printed_terms_make_the_printed_sum)
{
    ck_all_add_up(&cells[_i], "--all --precision 9", 64 * 10 * 1e-9, 2 * cells[_i].dh + 2);
    ck_all_add_up(&cells[_i], "--precision 9", 64 * 10 * 1e-9, 5);
}
END_TEST

/* The rows of the softmax table, some of which stand for several keys, add up to its last row; likewise the
 * sums over tokens. */
START_TEST(long_texts_are_abridged_and_still_add_up)
{
    char *text =
        said_by("\"$A\" explain -m ./" GOLDEN "gpt2-b --ids $(seq -s, 1 60) --query 50 --key 20 --precision 9");
    const char *at = text, *row = strstr(text, "\n  key ") + 1;
    double exps = 0, weights = 0, e, w;
    size_t rows = 0, gaps = 0;
    for (char *sum; (sum = next_sum(&at)) != NULL; free(sum)) {
        ck_adds_up(sum, 64 * 10 * 1e-9);
        gaps += !strncmp(sum, "context", 7) && strstr(sum, " more: ");
    }
    ck_assert_uint_eq(gaps, 5);
    for (row = strchr(row, '\n') + 1;; row = strchr(row, '\n') + 1, rows++) {
        const char *end = strchr(row, '\n');
        for (int field = 0; field < 2; field++)
            for (end--; end[-1] != ' ' || end[0] == ' ';)
                end--;
        ck_assert_int_eq(sscanf(end, "%lf %lf", &e, &w), 2);
        if (!strncmp(row, "  sum ", 6))
            break;
        exps += e;
        weights += w;
    }
    /* 12 numbers each, rounded to nine digits */
    ck_assert_double_le(fabs(exps - e) + fabs(weights - w), 2 * 12 * 1e-9);
    ck_assert_uint_eq(rows, 12);
    free(text);
}
END_TEST

START_TEST(product_sums_are_the_queries_of_the_run)
{
    const struct cell *c = &cells[_i];
    char name[32], got[64], want[64];
    char *text = said_by("\"$A\" explain -m ./%s " IDS
                         " --layer %zu --head %zu --query %zu --key %zu --all --precision 9", c->model,
                         c->layer, c->head, c->query, c->key);
    char *csv = said_by("\"$A\" run -m ./%s " IDS " --show q --layer %zu --head %zu --format csv", c->model,
                        c->layer, c->head);
    for (size_t i = 0; i < c->dh; i++) {
        snprintf(name, sizeof name, "q[%zu]", i);
        if (!c->turned)
            ck_assert_str_eq(result_of(got, text, name), csv_cell(want, csv, c->query, i, 9));
    }
    ck_assert(c->turned == (strstr(text, "Rotary positions") != NULL));
    free(text);
    free(csv);
}
END_TEST

START_TEST(turned_pairs_keep_their_length)
{
    char *text =
        said_by("\"$A\" explain -m ./" GOLDEN "llama-f " IDS " --layer 1 --query 6 --key 3 --all --precision 9");
    const char *s = text;
    size_t pairs = 0;
    while ((s = strstr(s, "  i, j ")) != NULL) {
        double angle, cosine, sine, a, b, x, y;
        int i, j;
        s = strchr(s, '\n') + 1;
        for (; sscanf(s, " %d, %d %lf %lf %lf %lf %lf %lf %lf", &i, &j, &angle, &cosine, &sine, &a, &b, &x,
                      &y) == 9; pairs++) {
            /* two roundings, 3e-8 each */
            ck_assert_double_le(fabs(cos(angle) - cosine) + fabs(sin(angle) - sine), 1e-7);
            /* rounded to float32 */
            ck_assert_double_le(fabs(a * cosine - b * sine - x) + fabs(b * cosine + a * sine - y), 1e-6);
            s = strchr(s, '\n') + 1;
        }
    }
    ck_assert_uint_eq(pairs, 8);
    free(text);
}
END_TEST

/* ---- words ----------------------------------------------------------------------------- */

static const struct { const char *args, *says; } words[] = {
    {"-s " LIFE " --query is --key dessert", "Key 4 comes after query 1: it is hidden"},
    {"-s " LIFE " --query is --key dessert", "exp(-inf) is exactly 0"},
    {"-s " LIFE " --query 2 --edit 'L0.scores[pos=2] = -inf'",
     "No key is left: every score is -inf, and every weight 0."},
    {"-s " LIFE " --query 2 --edit 'L0.scores[pos=2] = -inf' --attention causal-renorm",
     "weight = 0.0000 / 0.0000 = 0.0000"},
    {"-s " LIFE " --query 4 --key 2", "Query 4 sees keys 0 to 4, including key 2"},
    {"-s " LIFE " --query 5", "How \"first\" (token 5) attends to \"short\" (token 2)"},
    {"-s " LIFE " --layer 0", "the key is token 2, the one with the largest weight"},
    {"-s " LIFE, "Attention reads it as it is."},
    {"-s " LIFE, "The context is the output of attention."},
    {"-m models/life-full -s " LIFE, "There is no mask"},
    {"-m models/journey -s 'Your journey starts' --query journey", "The scale is 1"},
    {"-m models/stacked -s 'The cat sees' --layer 1 --head 3", "query heads 2 to 3 share kv head 1"},
    {"-m models/stacked -s 'The cat sees' --query cat", "The embedding of its position is added"},
    {"-m models/stacked -s 'The cat sees' --layer 2", "what the earlier layers have added"},
    {"-m ./" GOLDEN "neo-h --ids 1,2,3,4,5,6,7,8 --layer 1 --query 7 --key 1",
     "Key 1 is 6 tokens before query 7, outside the window"},
    {"-m ./models/stacked -s 'The cat sees the moth' --attention strided:2,2 --query 4 --key 1",
     "Key 1 is not among the 4 that query 4 sees"},
    {"-m models/stacked -s 'The cat sees' --attention strided:1,5 --query 0 --key 0",
     "Query 0 sees 1 key, including key 0,"},
    {"-m ./" GOLDEN "neo-h --ids 1,2,3 --layer 1", "a window of 5 keys"},
    {"-m ./" GOLDEN "neo-h --ids 1,2,3 --layer 1", "The scale of this model is 1, in place of 1/√d_head."},
    {"-m ./" GOLDEN "neox-i --ids 1,2,3", "The numbers from 8 on are not rotated"},
    {"-m ./" GOLDEN "neox-i --ids 1,2,3 --query 0", "At position 0 nothing moves"},
    {"-m ./" GOLDEN "llama-f --ids 1,2,3", "RMSNorm"},
    {"-m ./" GOLDEN "olmo2-a --ids 1,2,3", "u is normalised, over all heads at once."},
    {"-m ./" GOLDEN "olmo2-a --ids 1,2,3", "The result is normalised, then added to the residual stream (attn.added)"},
    {"-m ./" GOLDEN "olmo2-a --ids 1,2,3", "with W_v, but neither normalised nor rotated"},
    {"-m ./" GOLDEN "llama-f --ids 1,2,3", "with W_v, but not rotated"},
    {"-m ./" GOLDEN "bloom-a --ids 1,2,3", "so this favours keys that are near"},
    {"-m ./" GOLDEN "bloom-a --ids 1,2,3 --attention full", "so this favours the last keys"},
    {"-m ./" GOLDEN "gemma3-a --ids 1,2,3", "normalised, then rotated"},
    {"-m ./" GOLDEN "gemma2-a --ids 1,2,3", "by a soft cap: x becomes 4·tanh(x / 4)"},
    {"-m ./" GOLDEN "gemma2-a --ids 1,2,3 --layer 0", "multiplied by 5.65685 (embed)"},
    {"-m ./" GOLDEN "granite-a --ids 1,2,3", "The result, multiplied by a number of the model's own, is added"},
    {"-m ./" GOLDEN "granite-a --ids 1,2,3", "multiplies each by a scale of its own"},
    {"-m ./" GOLDEN "gptj-a --ids 1,2,3", "numbers i and j = i + 1 of the rotated part, i even"},
    {"-m ./" GOLDEN "bloom-a --ids 1,2,3 --head 0",
     "Positions come in here (ALiBi): the score of a key grows with its position, in this head by 0.25"},
    {"-m ./" GOLDEN "falcon-alibi-a --ids 1,2,3", "This model adds it before the scale, rounded to bfloat16"},
    {"-m ./" GOLDEN "opt-post-a --ids 1,2,3", "The stream is normalised after this"},
    {"-m ./" GOLDEN "opt-post-a --ids 1,2,3 --layer 0", "The embedding of its position is added"},
    {"-m ./" GOLDEN "gpt2-a --ids 1,2,3", "LayerNorm"},
    {"-m ./" GOLDEN "olmo2-a --ids 1,2,3", "It is divided by the root of the mean of u² + ε, which is"},
    {"-m ./" GOLDEN "nanochat-a --ids 1,2,3", "After that, u is normalised, in each head by itself."},
    {"-m ./" GOLDEN "cohere-a --ids 1,2,3", "Less its mean, it is divided by the root of its variance"},
    {"-m ./" GOLDEN "gpt2-a --ids 1,2,3 --query 0 --key 0", "How id 1 (token 0) attends to id 1 (token 0)"},
};

START_TEST(the_words_fit_the_model)
{
    expect(printed("\"$A\" explain %s | tr '\\n' ' '", words[_i].args), 0, words[_i].says);
}
END_TEST

#define SHORT "-s 'Life is short' --query short "
#define INPUT "1. The tokens\n2. What layer 0 reads for \"short\"\n3. The query of \"short\"\n"

static const struct { const char *args, *steps; } told[] = {
    {SHORT "--key short", INPUT "4. The key of \"short\"\n5. The dot product\n6. The scale\n7. The mask\n"
     "8. The softmax\n9. What the scale does\n"
     "10. The context vector\n11. The same numbers elsewhere\n"},
    {SHORT "--key Life",
     INPUT "4. What layer 0 reads for \"Life\"\n5. The key of \"Life\"\n6. The dot product\n7. The scale\n8. The mask\n"
     "9. The softmax\n10. What the scale does\n11. The context vector\n12. The same numbers elsewhere\n"},
    {SHORT "--cross 'eat dessert first' --key eat",
     INPUT "4. What layer 0 reads for \"eat\"\n5. The key of \"eat\"\n6. The dot product\n"
     "7. The scale\n8. The mask\n9. The softmax\n10. What the scale does\n11. The context vector\n"
     "12. The same numbers elsewhere\n"},
    {SHORT "--key short --attention causal-renorm --dropout 0.5 --seed 2",
     INPUT "4. The key of \"short\"\n5. The dot product\n6. The scale\n"
     "7. The mask\n8. The softmax\n9. The mask, after the softmax\n10. Dropout\n11. What the scale does\n"
     "12. The context vector\n"
     "13. The same numbers elsewhere\n"},
    {SHORT "--key short --attention linear",
     INPUT "4. The key of \"short\"\n5. The features\n6. The weight\n7. The context vector\n"
     "8. The same numbers elsewhere\n"},
};

START_TEST(each_step_has_a_heading)
{
    expect_exactly(printed("\"$A\" explain -q %s | grep -E '^[0-9]+\\. '", told[_i].args), told[_i].steps);
}
END_TEST

/* Words that the tokenizer has cut. */
START_TEST(a_word_of_several_tokens_is_its_last)
{
    expect("\"$A\" explain -m tiny -s 'a brook, a thimbleful' --query thimbleful --key brook 2>&1 >/dev/null", 0,
           "--query: 'thimbleful' is tokens 5 to 8; taken is the last, 8: give an index for another\n"
           "--key: 'brook' is tokens 1 to 2; taken is the last, 2: give an index for another\n");
    expect_same("\"$A\" explain -m tiny -s 'a brook, a thimbleful' --query '·thimbleful' --key ' brook' 2>/dev/null "
                "| sed '$d'",
                "\"$A\" explain -m tiny -s 'a brook, a thimbleful' --query 8 --key 2 | sed '$d'");
    expect("\"$A\" explain -m tiny -s 'a brook, a thimbleful and a lamb' --query 10 --key 3", 0,
           "How \"·a\" (token 10) attends to \",\" (token 3)");
}
END_TEST

/* ---- tokens that look like markup ------------------------------------------------------ */

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static const char odd_vocab[] =
    "{\"<script>alert(1)</script>\": 0, \"a|b\": 1, \"*x*_y_\": 2, \"\\\"'&\": 3, \"\\u001b[31m\": 4, \"</title>\": 5}";
static const char odd_text[] = "<script>alert(1)</script> a|b *x*_y_ \"'& \x1b[31m </title>";
#define ODD "-m \"$D/odd\" -f \"$D/text\" --query 5 --key 0"

static void odd_set_up(void)
{
    shell_set_up();
    expect("cp -r models/life \"$D/odd\"", 0, "");
    scratch_put(scratch_path("odd/vocab.json"), odd_vocab, sizeof odd_vocab - 1);
    scratch_put(scratch_path("text"), odd_text, sizeof odd_text - 1);
}

/* Every element is closed in order; returns the number of elements. */
static size_t ck_nested(const char *page)
{
    const char *open[64];
    size_t depth = 0, n = 0;
    for (const char *s = strchr(page, '<'); s; s = strchr(s + 1, '<')) {
        size_t len = strcspn(s + 1, " >/");
        if (s[1] == '!' || !strncmp(s, "<meta", 5))
            continue;
        if (s[1] == '/') {
            len = strcspn(s + 2, ">");
            ck_assert_msg(depth > 0 && !strncmp(open[depth - 1], s + 2, len),
                          "%.20s closes %.20s", s, depth ? open[depth - 1] : "nothing");
            depth--;
            continue;
        }
        ck_assert_uint_lt(depth, 64);
        open[depth++] = s + 1;
        ck_assert_uint_gt(len, 0);
        n++;
    }
    ck_assert_uint_eq(depth, 0);
    return n;
}

START_TEST(tokens_stay_text)
{
    char *html = said_by("\"$A\" explain " ODD " --format html"), *md = said_by("\"$A\" explain " ODD " --format md");
    char *text = said_by("\"$A\" explain " ODD);
    ck_assert_ptr_null(strstr(html, "<script"));
    ck_assert_uint_eq(count(html, "</title>"), 1);
    ck_assert_ptr_nonnull(strstr(html, "&lt;script&gt;alert"));
    ck_assert_ptr_nonnull(strstr(html, "&quot;&#39;&amp;"));
    ck_assert_uint_ge(ck_nested(html), 100);
    ck_assert_ptr_null(strstr(md, "<script"));
    ck_assert_ptr_nonnull(strstr(md, "&lt;script\\>alert"));
    ck_assert_ptr_nonnull(strstr(md, "| a\\|b "));
    ck_assert_ptr_nonnull(strstr(md, "\\*x\\*\\_y\\_"));
    ck_assert_ptr_null(strchr(text, '\x1b'));
    ck_assert_ptr_nonnull(strstr(text, "\\x1B[31m"));
    free(html);
    free(md);
    free(text);
}
END_TEST

START_TEST(formats_follow_the_ending)
{
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.html\" && head -1 \"$D/a.html\"", 0, "<!DOCTYPE html>");
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.md\" && head -1 \"$D/a.md\"", 0, "# How");
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.txt\" && head -1 \"$D/a.txt\"", 0, "How");
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.npy\" 2>&1", 2, "run writes npy");
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.pdf\" && head -1 \"$D/a.pdf\"", 0, "%PDF-1.4");
    expect("\"$A\" explain -s " LIFE " -o \"$D/a.svg\" 2>&1", 2,
           "explain writes text, .md, .html or .pdf, and run writes svg");
    expect("\"$A\" explain -s " LIFE " --format text -o \"$D/a.out\" && head -1 \"$D/a.out\"", 0, "How");
    expect("\"$A\" lesson life -o \"$D/b.html\" && grep -c '<script\\|http:\\|https:\\|src=\\|"
           "href=' \"$D/b.html\"", 1, "0");
    char *page = said_by("cat \"$D/b.html\"");
    ck_nested(page);
    free(page);
}
END_TEST

/* ---- lists ----------------------------------------------------------------------------- */

Suite *suite_explain(void)
{
    Suite *s = suite_create("explain");
    TCase *c = tcase_create("explain");
    tcase_set_timeout(c, 30);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, every_cell_of_life_is_what_run_prints, 0, 36);
    tcase_add_loop_test(c, a_cell_of_every_family_is_what_run_prints, 0, CELLS);
    tcase_add_loop_test(c, every_family_is_said_in_chinese, 0, CELLS);
    tcase_add_loop_test(c, printed_terms_make_the_printed_sum, 0, CELLS);
    tcase_add_loop_test(c, product_sums_are_the_queries_of_the_run, 0, CELLS);
    tcase_add_test(c, long_texts_are_abridged_and_still_add_up);
    tcase_add_test(c, turned_pairs_keep_their_length);
    tcase_add_loop_test(c, the_words_fit_the_model, 0, sizeof words / sizeof *words);
    tcase_add_loop_test(c, each_step_has_a_heading, 0, sizeof told / sizeof *told);
    tcase_add_test(c, a_word_of_several_tokens_is_its_last);
    tcase_add_test(c, formats_follow_the_ending);
    tcase_add_loop_test(c, the_command_it_names_prints_the_same, 0, sizeof copied / sizeof *copied);
    tcase_add_test(c, every_step_has_its_formula);
    tcase_add_test(c, what_was_asked_for_stands_out);
    tcase_add_test(c, no_command_has_what_cannot_be_copied);
    suite_add_tcase(s, c);
    c = tcase_create("markup");
    tcase_add_checked_fixture(c, odd_set_up, scratch_remove);
    tcase_add_test(c, tokens_stay_text);
    suite_add_tcase(s, c);
    return s;
}
