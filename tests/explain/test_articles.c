/* lesson: every digit that the articles print, every array of the recorded examples, every erratum, and the
 * commands in them. */
#include "suites.h"

#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS "tests/golden/seeds/"

/* Notes say what our copies lack, which is no mistake of the article. */
static const struct { const char *number, *name; size_t places, printed, same, errata, notes; } articles[] = {
    {"00", "life", 16, 90, 90, 5, 2}, {"01", "heads", 0, 0, 0, 1, 1}, {"02", "journey", 5, 115, 115, 9, 1},
    {"03", "chicken", 0, 0, 0, 3, 0},
    {"04", "language", 2, 13, 0, 7, 0}};
enum { ARTICLES = sizeof articles / sizeof *articles };

static char *said_by(const char *line)
{
    return strdup(succeed(line)->text);
}

/* ---- the recorded examples of an article ---- */

static const char *wanted;

static int is_wanted(const struct dirent *e)
{
    return !strncmp(e->d_name, wanted, strlen(wanted)) && strstr(e->d_name, ".json");
}

struct examples { struct dirent **entry; int n; };

static struct examples examples_of(const char *number)
{
    struct examples e;
    wanted = number;
    e.n = scandir(SEEDS, &e.entry, is_wanted, alphasort);
    ck_assert_int_gt(e.n, 0);
    return e;
}

static cJSON *example(const struct examples *e, int i)
{
    return golden_read(printed(SEEDS "%s", e->entry[i]->d_name));
}

static void done(struct examples *e)
{
    for (int i = 0; i < e->n; i++)
        free(e->entry[i]);
    free(e->entry);
}

/* ---- digits ---- */

/* The numbers of tables, and what is quoted in words, without white space: "0.5313,1.3607,0.7891,1.3110". */
static char *packed(const char *text)
{
    char *out = malloc(2 * strlen(text) + 2), *to = out;
    while (*text) {
        size_t len = strcspn(text, "\n");
        bool table = !strncmp(text, "  ", 2);
        for (size_t i = 0; i < len; i++)
            if (table && text[i] == ' ')
                *to = ',', to += to > out && to[-1] != ',';
            else if (!strchr(" []*", text[i]))
                *to++ = text[i];
        text += len + (text[len] == '\n');
        if (table)
            *to++ = ';';
    }
    *to = '\0';
    return out;
}

static void check_row(const char *here, const char *what, const char *row, size_t len)
{
    char digits[512];
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        if (!strchr(" [\n", row[i]) && (n || row[i] != ','))
            digits[n++] = row[i];
    digits[n] = '\0';
    ck_assert_msg(!n || strstr(here, digits), "%s: %s is not in the article", what, digits);
}

/* How many of the numbers have a point, or are infinite: all but the numbers of a shape. */
static size_t numbers(const char *text)
{
    size_t n = 0;
    for (const char *s = text; *s; s++)
        n += *s == '.' || !strncmp(s, "inf", 3);
    return n;
}

START_TEST(every_printed_digit_is_there)
{
    char *text = said_by(printed("\"$A\" lesson %s", articles[_i].number)), *here = packed(text);
    struct examples e = examples_of(articles[_i].number);
    size_t same = 0, other = 0;
    for (int i = 0; i < e.n; i++) {
        cJSON *doc = example(&e, i);
        const cJSON *one;
        cJSON_ArrayForEach(one, golden_find(doc, "printed")) {
            const char *digits = golden_string(one, "text");
            *(cJSON_IsTrue(golden_get(one, "reproduces")) ? &same : &other) += numbers(digits);
            for (const char *s = digits; *s; s += strcspn(s, "]") + strspn(s + strcspn(s, "]"), "]"))
                check_row(here, golden_string(one, "what"), s, strcspn(s, "]"));
        }
        cJSON_Delete(doc);
    }
    ck_assert_uint_eq(same, articles[_i].same);
    expect(printed("\"$A\" lesson %s | tail -5 | tr '\\n' ' '", articles[_i].number), 0,
           !articles[_i].printed ? "prints no numbers" :
           printed(articles[_i].same ? "All numbers that the article prints, %zu in %zu places," :
                   "None of the %zu numbers that the article prints",
                   articles[_i].printed, articles[_i].places));
    /* what is recorded as wrong elsewhere is another reading of numbers that are right */
    if (!same)
        ck_assert_uint_eq(other, articles[_i].printed);
    done(&e);
    free(here);
    free(text);
}
END_TEST

/* The digits above were compared by the program as well, and it found the same. */
START_TEST(the_list_counts_them)
{
    const char *number = articles[_i].number;
    char *line = said_by(printed("\"$A\" lesson list | grep '^  %s, %s '", number, articles[_i].name));
    size_t counts[3] = {0}, got = (size_t)sscanf(line + strlen("  00, ") + strlen(articles[_i].name),
                                                 "%zu %zu %zu", &counts[0], &counts[1], &counts[2]);
    if (got == 1)                       /* nothing is printed: only errata */
        ck_assert_uint_eq(counts[0], articles[_i].errata);
    else {
        ck_assert_uint_eq(got, 3);
        ck_assert_uint_eq(counts[0], articles[_i].printed);
        ck_assert_uint_eq(counts[1], articles[_i].same);
        ck_assert_uint_eq(counts[2], articles[_i].errata);
    }
    expect(printed("awk '/^## / {here = /^## 0%s/} here && /^[0-9]+\\. /' " SEEDS "ERRATA.md | wc -l", number), 0,
           printed("%zu\n", articles[_i].errata + articles[_i].notes));
    expect(printed("\"$A\" lesson %s | grep -c '^Note: ' || true", number), 0,
           printed("%zu\n", articles[_i].notes));
    free(line);
}
END_TEST

/* Where an example is recorded to stand in the article, by its sections or what it calls them; the third has equations,
 * which headings name. */
START_TEST(places_in_the_article_are_named)
{
    static const char *const ends[] = {",", ";", " (class", " (Multi", " (the text", " code"};
    char *text = said_by(printed("\"$A\" lesson %s | tr '\\n' ' '", articles[_i].number));
    struct examples e = examples_of(articles[_i].number);
    for (int i = 0; i < e.n && strcmp(articles[_i].number, "03") != 0; i++) {
        cJSON *doc = example(&e, i);
        char where[128];
        snprintf(where, sizeof where, "%s", golden_string(golden_find(doc, "source"), "where"));
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (strstr(where, ends[k]))
                *strstr(where, ends[k]) = '\0';
        ck_assert_msg(strstr(text, printed("In the article: %s%s.", strspn(where, "0123456789") ? "section " : "",
                                           where)) || strstr(text, printed("In the article: \"%s\".", where)),
                      "%s is not said of %s", where, e.entry[i]->d_name);
        cJSON_Delete(doc);
    }
    done(&e);
    free(text);
}
END_TEST

/* ---- arrays ---- */

/* The numbers at the end of each line. */
struct line { double *x; size_t n; };
struct lines { struct line *of; size_t n; };

static struct lines read_lines(char *text)
{
    struct lines all = {calloc(1 << 14, sizeof *all.of), 0};
    for (char *save, *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        struct line *to = &all.of[all.n++];
        ck_assert_uint_lt(all.n, 1 << 14);
        to->x = calloc(strlen(l) / 2 + 1, sizeof *to->x);
        for (char *inner, *word = strtok_r(l, " ", &inner); word; word = strtok_r(NULL, " ", &inner)) {
            char *end;
            double x = strtod(word, &end);
            if (*end)
                to->n = 0;
            else
                to->x[to->n++] = x;
        }
    }
    return all;
}

static bool near(const double *got, const float *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        double w = isnan(want[i]) ? 0 : (double)want[i];        /* a query that sees nothing: the library gives zeros */
        if (isinf(w) ? got[i] != w : !(fabs(got[i] - w) <= tolerance))
            return false;
    }
    return true;
}

/* A row stands at the end of a line, after its label, or where it is the start of a longer one at its beginning. */
static bool is_shown(const struct lines *all, const float *row, size_t n, double tolerance)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct line *l = &all->of[i];
        if (l->n >= n && (near(l->x + l->n - n, row, n, tolerance) || near(l->x, row, n, tolerance)))
            return true;
    }
    return false;
}

/* Arrays of one dimension are one row. */
static size_t check_array(const struct lines *all, const cJSON *doc, const char *what, const cJSON *array)
{
    const cJSON *d = golden_find(doc, "float32_max_abs_difference");
    double tolerance = d ? 4 * d->valuedouble + 1e-9 : 1e-6;        /* as in the suite seeds, and nine digits */
    size_t n, rows = cJSON_IsArray(array->child) ? (size_t)cJSON_GetArraySize(array) : 1;
    float *x = golden_floats(array, &n);
    for (size_t i = 0; i < rows; i++)
        ck_assert_msg(is_shown(all, x + i * (n / rows), n / rows, tolerance), "%s: row %zu of %s is not in the article",
                      golden_string(doc, "name"), i, what);
    free(x);
    return rows;
}

static size_t check_example(const struct lines *all, const cJSON *doc)
{
    static const char *const given[] = {"inputs", "context_inputs", "q", "k", "v"};
    static const char *const arrays[] = {"weights", "context", "output", "context_first_8_columns",
                                         "context_last_8_columns"};
    const cJSON *expected = golden_find(doc, "expected"), *two = expected ? golden_find(expected, "two_ways") : NULL;
    const cJSON *heads = expected ? golden_find(expected, "heads") : NULL, *head;
    size_t rows = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (golden_find(doc, given[i]))
            rows += check_array(all, doc, given[i], golden_get(doc, given[i]));
    cJSON_ArrayForEach(head, heads)
        rows += check_array(all, doc, "weights", golden_get(head, "weights"));
    for (size_t i = 0; expected && i < sizeof arrays / sizeof *arrays; i++)
        if (golden_find(expected, arrays[i]))
            rows += check_array(all, doc, arrays[i], golden_get(expected, arrays[i]));
    if (two) {
        rows += check_array(all, doc, "masked_simple", golden_get(two, "masked_simple"));
        rows += check_array(all, doc, "masked_simple_norm", golden_get(two, "masked_simple_norm"));
        rows += check_array(all, doc, "masked_scores_unscaled", golden_get(two, "masked_scores_unscaled"));
    }
    return rows;
}

START_TEST(every_recorded_example_is_computed)
{
    char *text = said_by(printed("\"$A\" lesson %s --all --precision 9", articles[_i].number));
    struct lines all = read_lines(text);
    struct examples e = examples_of(articles[_i].number);
    for (int i = 0; i < e.n; i++) {
        cJSON *doc = example(&e, i);
        ck_assert_uint_gt(check_example(&all, doc), 0);
        cJSON_Delete(doc);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.of[i].x);
    free(all.of);
    done(&e);
    free(text);
}
END_TEST

/* ---- errata ---- */

static const struct { const char *article, *says; } errata[] = {
    {"life", "the listing says vocab_size = 6."}, {"life", "Only 2 of its 18 numbers are the printed ones."},
    {"life", "divides by √d + ε. The printed numbers come from √d_k = √2, without an ε: the largest weight, printed as "
     "0.6870, would be 0.5959 with √d = √3, and 0.6867"},
    {"life", "omega_24 mixes conventions"}, {"life", "e^(-inf) is close to 0. It is exactly 0"},
    {"life", "\"desert\" should be \"dessert\""},
    {"life", "cross-attention was implemented; our copy stops before that"},
    {"life", "Note: our copy keeps only the first line of each listing"},
    {"heads", "scales by √d_k, which read literally is the root of the full width, √8"},
    {"heads", "in our copy the code has lost its line breaks"},
    {"journey", "the tables printed have 7 rows"},
    {"journey", "0.1180, 0.2026, 0.1986, should be 0.1385, 0.2379, 0.2333"},
    {"journey", "Of what is printed, 0 of the first 6 weights and 3 of the first 18 context numbers agree."},
    {"journey", "\"one\" as 0.7074"},
    {"journey", "called cosine similarity"}, {"journey", "\"with\" is missing"},
    {"journey", "neither the listing nor its numbers have a scale"},
    {"journey", "it shows masked scores"}, {"journey", "steps 2 to 4"},
    {"journey", "in our copy, the line quoted from the class, register_buffer(...), lacks its last closing bracket"},
    {"journey", "masks first and scales afterwards"}, {"journey", "print shapes only, and set no seed"},
    {"chicken", "Here the row of \"it\" is not largest on the diagonal"}, {"chicken", "called h in equation 8.15"},
    {"chicken", "have several names"},
    {"language", "the scores 0.3 and 0.6 have the same weight"},
    {"language", "five tokens; the sentence announced for it has three"},
    {"language", "none of the seeds 0 to 199999"}, {"language", "the text divides by √d; the code by √d_k"},
    {"language", "Q = K = V is self-attention"}, {"language", "needs [batch, queries, keys]"},
    {"language", "torch gives NaN for the whole row"}};

START_TEST(errata_are_said_in_their_place)
{
    expect(printed("\"$A\" lesson %s | tr '\\n' ' '", errata[_i].article), 0, errata[_i].says);
}
END_TEST

/* ---- the command ---- */

/* What it names runs, and prints rows that are in the article. */
START_TEST(commands_print_what_the_article_shows)
{
    char *text = said_by(printed("\"$A\" lesson %s", articles[_i].number)), *copy = strdup(text),
        *here = packed(text), *save;
    for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        if (strncmp(l, "    attn-cli ", 13) != 0)
            continue;
        char *said = said_by(printed("\"$A\" %s", l + 13)), *inner;
        size_t rows = 0;
        for (char *row = strtok_r(said, "\n", &inner); row && !strncmp(l + 13, "run", 3);
             row = strtok_r(NULL, "\n", &inner)) {
            size_t at = strcspn(row, ".");
            while (at && !strchr(" ", row[at - 1]))
                at--;
            if (!at || !strstr(row + at, "  ") || strspn(row + at, " -.0123456789inf") != strlen(row + at))
                continue;
            rows++;
            char *numbers = packed(printed("  %s", row + at));
            ck_assert_msg(strstr(here, numbers) != NULL, "%s prints %s, which is not in the article", l, row);
            free(numbers);
        }
        ck_assert(strncmp(l + 13, "run", 3) != 0 || rows >= 12);        /* a pattern and contexts of six words */
        free(said);
    }
    free(copy);
    free(here);
    free(text);
}
END_TEST

START_TEST(an_article_has_a_number_and_a_name)
{
    const char *number = articles[_i].number;
    expect_same(printed("\"$A\" lesson %s", number),
                printed("\"$A\" lesson %s", articles[_i].name));
    expect(printed("\"$A\" lesson %s --format md | head -1", number), 0,
           printed("# Article %s, %s: ", number, articles[_i].name));
    expect(printed("\"$A\" lesson %s -o \"$D/a.html\" && tail -1 \"$D/a.html\"", number), 0, "</html>");
    expect("\"$A\" help lesson | grep -A 9 ^Articles", 0, printed("%s, %s", number, articles[_i].name));
    expect(printed("\"$A\" lesson %s | grep -v '^    attn-cli' | LC_ALL=C.UTF-8 grep -cP '^.{81,}'",
                   number), 1, "0\n");
}
END_TEST

START_TEST(others_are_refused_with_those_there_are)
{
    expect("\"$A\" help --completion bash | grep -c 'life heads journey chicken language 00 01 02 03 04 list'", 0,
           "1\n");
    expect("\"$A\" lesson list --format md", 0, "| **02, journey** ");
}
END_TEST

START_TEST(an_article_is_a_worksheet_too)
{
    expect(printed("\"$A\" lesson %s --blank 3 --seed 3 | grep -c ____", articles[_i].number), 0, "3\n");
}
END_TEST

Suite *suite_articles(void)
{
    Suite *s = suite_create("articles");
    TCase *c = tcase_create("articles");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, every_printed_digit_is_there, 0, ARTICLES);
    tcase_add_loop_test(c, the_list_counts_them, 0, ARTICLES);
    tcase_add_loop_test(c, places_in_the_article_are_named, 0, ARTICLES);
    tcase_add_loop_test(c, every_recorded_example_is_computed, 0, ARTICLES);
    tcase_add_loop_test(c, errata_are_said_in_their_place, 0, sizeof errata / sizeof *errata);
    tcase_add_loop_test(c, commands_print_what_the_article_shows, 0, ARTICLES);
    tcase_add_loop_test(c, an_article_has_a_number_and_a_name, 0, ARTICLES);
    tcase_add_test(c, others_are_refused_with_those_there_are);
    tcase_add_loop_test(c, an_article_is_a_worksheet_too, 0, ARTICLES);
    suite_add_tcase(s, c);
    return s;
}
