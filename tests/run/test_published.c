/* test_published.c - worked examples of attention that others have published, with the digits they printed.
 *
 * Those that their authors computed in double precision come out in every printed digit.  Those computed in float32 are
 * within one unit of the last printed place, or of float32's last place, which is the larger where it is printed with
 * as many digits as tell it apart. */
#include "suites.h"
#include "attn_tools.h"

#include "scratch.h"

#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct published {
    const char *source;
    bool f32;
    struct attn_attend_opts o;
    struct { const char *act, *digits; } printed[4];    /* the first numbers of it, in order, or all */
};

#define WORDS "1 0 0; 0 1 0; 1 1 0; 0 0 1"
#define JOURNEY "0.1 0.2 0.3 0.4; 0.5 0.6 0.7 0.8; 0.9 1.0 1.1 1.2; 1.3 1.4 1.5 1.6; 1.7 1.8 1.9 2.0; 2.1 2.2 2.3 2.4"
#define NEARLY_ONE "0.9 0.1 0.1 0.1; 0.1 0.9 0.1 0.1; 0.1 0.1 0.9 0.1; 0.1 0.1 0.1 0.9"
#define EMBEDDED "1 0 0.5; 0 1 0.5; 0 1 0.5"
#define TWO_HEADS .given = { \
    [ATTN_ATTEND_WQ] = "0.1 0.27 -0.35 -0.11; -1.86 -0.25 -1.25 -0.36; -0.71 1.71 -1.17 1.05; 0.08 1.76 0.53 -0.1", \
    [ATTN_ATTEND_WK] = "0.7 -1.52 2.67 0.06; -1.46 2.02 -0.78 -0.83; 1.39 -1.07 -0.52 1.11; 1.73 1.05 1.47 1.17", \
    [ATTN_ATTEND_WV] = "-1.26 0.25 0.03 1.92; 0.58 -0.25 -0.46 1.69; 0.08 -1.85 -0.71 0.3; 1.64 -0.9 1.04 0.72", \
    [ATTN_ATTEND_X]

static const struct published all[] = {
    {"S. Cristina, The Attention Mechanism from Scratch, machinelearningmastery.com; its weights are printed in "
     "github.com/Ashwanthkumard/LearnNLP", false,
     {.given = {[ATTN_ATTEND_X] = WORDS, [ATTN_ATTEND_WQ] = "2 0 2; 2 0 0; 2 1 2",
                [ATTN_ATTEND_WK] = "2 2 2; 0 2 1; 0 1 1",
                       [ATTN_ATTEND_WV] = "1 1 0; 0 1 1; 0 0 0"}},
     {{"dots", "8 2 10 2 4 0 4 0 12 2 14 2 10 4 14 3"},
      {"pattern",
       "2.36089863e-01 7.38987555e-03 7.49130386e-01 7.38987555e-03 4.54826323e-01 4.51736775e-02 4.54826323e-01 "
                  "4.51736775e-02 2.39275049e-01 7.43870015e-04 7.59237211e-01 7.43870015e-04 8.99501754e-02 "
                  "2.81554063e-03 9.05653685e-01 1.58059922e-03"},
      {"context",
       "0.98522025 1.74174051 0.75652026 0.90965265 1.40965265 0.5 0.99851226 1.75849334 0.75998108 0.99560386 "
                  "1.90407309 0.90846923"}}},
    {"github.com/Furi5/DL_study, self-attention of the second of six words", false,
     {.given = {"0.5 0.6 0.7 0.8", JOURNEY, JOURNEY}},
     {{"pattern", "0.0315077 0.05299682 0.08914212 0.14993952 0.25220241 0.42421143"},
      {"context", "1.62438656 1.72438656 1.82438656 1.92438656"}}},
    {"github.com/UnfoldDataScience/YouTube-Videos-files, Attention (1).ipynb: The cat sat", false,
     {.given = {[ATTN_ATTEND_X] = "1 0 0.5; 0 1 0.3; 1 1 0.2", [ATTN_ATTEND_WQ] = EMBEDDED, [ATTN_ATTEND_WK] = EMBEDDED,
                [ATTN_ATTEND_WV] = "0.5 1 0.2; 1 0.5 0.3; 1 0.5 0.1"}},
     {{"scores", "1.04644736 0.65673593 1.4000744 0.65673593 1.21965244 1.31347186 1.4000744 1.31347186 2.10732848"},
      {"pattern", "0.32242711 0.21836449 0.4592084 0.21348029 0.37482567 0.41169404 0.25345618 0.23242983 0.51411399"},
      {"context", "1.38695523 1.27970424 0.39145543 1.40063353 1.16919751 0.39114344 1.42960874 1.290482 0.40740516"}}},
    {"github.com/UnfoldDataScience/YouTube-Videos-files, Attention (1).ipynb: a causal mask", false,
     {.given = {[ATTN_ATTEND_X] = "1 0 1; 0 1 1; 1 1 0"}, .causal = true},
     {{"pattern", "1 0 0 0.35954252 0.64045748 0 0.26445846 0.26445846 0.47108308"},
      {"context", "1 0 1 0.35954252 0.64045748 1 0.73554154 0.73554154 0.52891692"}}},
    {"Understanding the Attention Mechanism: A Simple Implementation Using Python and NumPy, "
     "medium.com/@christoschr97; printed in github.com/xuyuji9000/machine-learning-playground", false,
     {.given = {[ATTN_ATTEND_X] = "0.2 0.9 0.1 0.5; 0.8 0.3 0.7 0.2; 0.4 0.6 0.3 0.9", [ATTN_ATTEND_WQ] = NEARLY_ONE,
                [ATTN_ATTEND_WK] = NEARLY_ONE}},
     {{"dots", "1.2884 1.064 1.452 1.064 1.6064 1.4496 1.452 1.4496 1.8768"},
      {"pattern", "0.33567137 0.30004505 0.36428358"}}},
    {"github.com/VikramTaviti/tuts, self attention.ipynb: I am Batman, weights as [out, in]", false,
     {.given = {[ATTN_ATTEND_X] = "1 0; 0 0; 0 1", [ATTN_ATTEND_WQ] = "1 2; 3 4", [ATTN_ATTEND_WK] = "0.5 1; 1.5 1",
                [ATTN_ATTEND_WV] = "1 0.5; 0.5 1"}, .transposed = true},
     {{"scores", "3.53553391 0 2.82842712 0 0 0 4.94974747 0 4.24264069"},
      {"pattern", "0.65693877 0.01914529 0.32391594 0.33333333 0.33333333 0.33333333 0.66659828 0.00472298 0.32867874"},
      {"context", "0.81889674 0.65238532 0.5 0.5 0.83093765 0.66197788"}}},
    {"github.com/shashankreddy7181/Transformer-Encoder, question 1", false,
     {.given = {"1 0 1", "1 0 1; 0 1 0", "1 2; 3 4"}},
     {{"pattern", "0.76036844 0.23963156"}, {"context", "1.47926312 2.47926312"}}},
    {"github.com/Geneww/llm_tools, self_attention.py, as in Illustrated Self-Attention, towardsdatascience.com; "
     "no scale", false,
     {.given = {"1 0 2; 2 2 2; 2 1 3", "0 1 1; 4 4 0; 2 3 1", "1 2 3; 2 8 0; 2 6 3"},
      .kind = {.scaling = ATTN_SCALE_NONE}},
     {{"dots", "2 4 4 4 16 12 4 12 10"},
      {"pattern",
       "6.33789383e-02 4.68310531e-01 4.68310531e-01 6.03366485e-06 9.82007865e-01 1.79861014e-02 2.95387223e-04 "
                  "8.80536902e-01 1.19167711e-01"},
      {"context",
       "1.93662106 6.68310531 1.59506841 1.99999397 7.9639916 0.05397641 1.99970461 7.75989225 0.35838929"}}},
    {"github.com/AliMuhammadAsad/Grad-Chronicles, two heads and their output", false,
     {.given = {[ATTN_ATTEND_X] = "1 2; 3 4", [ATTN_ATTEND_WQ] = "1 0 0 1; 0 1 1 0",
                [ATTN_ATTEND_WK] = "0 1 1 0; 1 0 0 1",
                [ATTN_ATTEND_WV] = "1 0 0 1; 0 -1 -1 0", [ATTN_ATTEND_WO] = "1 0; 0 1; -1 0; 0 -1"}, .heads = 2},
     {{"context", "2.97166793 -3.97166793 -3.97166793 2.97166793 2.9998996 -3.9998996 -3.9998996 2.9998996"},
      {"out", "6.94333586"}}},
    {"github.com/BlazeWild/Hav-Cocap, multiheadattn.ipynb: two heads, the first text", false,
     {TWO_HEADS = "-0.78 0.19 1.48 -1.23; 1.96 0.47 -0.4 0.59; -0.1 -0.76 0.97 1.61; 1.63 -0.93 3.04 -0.44; "
                  "-1.11 1.49 -0.39 -0.31; -1.87 0.83 -0.9 0.39"}, .heads = 2},
     {{"dots",
       "1.27232943e+00 -1.92447047e+00 -8.25559166e+00 -1.02962948e+01 6.88779400e+00 5.53096911e+00 -6.90044070e-01 "
               "-1.15176353e+00 -2.35481306e+00 -8.25242350e+00 5.06738728e+00 5.58817185e+00"},
      {"context", "2.14402292 0.39960117 -2.01801767 -1.62729909 2.67248838 0.49704621 -0.56197836 -0.9495289 "
                  "3.3800271 0.63468213 -0.60145552 1.72734375 3.36749812 0.6325333 -2.36034517 -1.62563163 "
                  "-0.61925828 -1.69258463 -0.61218319 -1.06819435 -2.84382125 -4.2797494 0.70400426 4.73762408"}}},
    {"github.com/BlazeWild/Hav-Cocap, multiheadattn.ipynb: two heads, the second text", false,
     {TWO_HEADS = "0.68 -1.06 0.47 -0.77; 0.64 -1.77 -0.7 -2.07; -0.54 -0.03 -1.02 -0.56; -1.35 -0.49 -0.42 -0.7; "
                  "-0.03 0.45 -0.36 0.96; -0.23 -0.91 1.46 0.07"}, .heads = 2},
     {{"dots",
       "2.67288462e+00 -1.88786934e+00 -4.60383588e+00 -3.40863306e+00 5.51621700e-01 5.76231600e+00 2.39128309e+01 "
               "1.96219018e+01 -1.53718057e+01 -1.07462348e+01 -8.14032198e+00 2.48146203e+01"},
      {"context",
       "-0.25085677 -2.23087072 -0.27479377 -1.13175258 -1.00781468 -1.51982567 -0.01637377 -0.4856992 -4.76704565 "
                  "3.07631155 -0.28047406 -1.7318373 -3.52532198 1.49825583 -0.06779337 -0.73057099 "
                  "0.43357436 1.2195325 -0.2201747 -1.86373055 1.7634395 -0.22815464 -0.49290634 -1.46183568"}}},
    {"github.com/RuthvikReddyGaddam/NeuralNetworksHomeAssignment4, question 3, TensorFlow", true,
     {.given = {"1 0 1 0; 0 1 0 1", "1 0 1 0; 0 1 0 1", "1 2 3 4; 5 6 7 8"}},
     {{"pattern", "0.73105854 0.26894143 0.26894143 0.73105854"},
      {"context", "2.0757656 3.0757656 4.0757656 5.0757656 3.9242342 4.924234 5.924234 6.924234"}}},
    {"Natural Language Processing with Attention Models, week 2, deeplearning.ai: DotProductAttention, JAX", true,
     {.given = {"1 0 0; 0 1 0", "1 2 3; 4 5 6", "0 1 0; 1 0 1", [ATTN_ATTEND_MASK] = "1 1; 0 1"}},
     {{"context", "0.8496746 0.15032545 0.8496746 1 0 1"}}},
};
enum { ALL = sizeof all / sizeof *all };

/* Digits after the point of a printed number, without its exponent. */
static int decimals(const char *s, size_t len)
{
    const char *point = memchr(s, '.', len), *e = memchr(s, 'e', len), *end = e ? e : s + len;
    return point ? (int)(end - point) - 1 : 0;
}

/* Of all numbers of a text, which NumPy prints with as many, but for zeros at the end. */
static int most_decimals(const char *s)
{
    int most = 0;
    for (size_t len; *s; s += len + (s[len] == ' ')) {
        len = strcspn(s, " ");
        most = decimals(s, len) > most ? decimals(s, len) : most;
    }
    return most;
}

static bool matches(double x, const char *s, size_t len, int digits, bool f32)
{
    char again[64];
    const bool scientific = memchr(s, 'e', len);
    const double was = strtod(s, NULL);
    snprintf(again, sizeof again, scientific ? "%.*e" : "%.*f", digits, x);
    const float size = fabsf((float)was);
    const double place = pow(10, -digits), unit = (double)(nextafterf(size, INFINITY) - size);
    return f32 ? fabs(x - was) <= fmax(place, unit) : strtod(again, NULL) == was;
}

START_TEST(published_digits)
{
    const struct published *p = &all[_i];
    struct attn_err err = {0};
    struct attn_attend *a;
    struct attn_plan plan = {.threads = 1, .kind = p->o.kind};
    ck_assert_msg(!attn_attend_open(&a, &p->o, &err), "%s: %s", p->source, err.msg);
    for (size_t i = 0; i < 4 && p->printed[i].act; i++) {
        const char *name = p->printed[i].act, *s = p->printed[i].digits;
        const int digits = most_decimals(s);
        struct attn_select *what;
        struct attn_dump *d;
        struct attn_dump_array x;
        size_t n = 0;
        const struct attn_model *m = attn_attend_model(a);
        const char *full = printed("blocks.0.attn.%s", name);
        ck_assert_msg(!attn_select_new(&what, m, &plan.kind, full, NULL, NULL, &err), "%s: %s", p->source, err.msg);
        ck_assert_msg(!attn_dump_run(&d, m, attn_attend_tokens(a), attn_attend_keys(a), what, &plan, NULL, &err),
                      "%s: %s", p->source, err.msg);
        ck_assert_int_gt(attn_dump_array(d, 0, &x), 0);
        for (size_t len; *s; s += len + (s[len] == ' '), n++) {
            len = strcspn(s, " ");
            ck_assert_msg(matches(x.f64[n], s, len, digits, p->f32), "%s: %s, number %zu is %.17g, printed is %.*s",
                          p->source, name, n, x.f64[n], (int)len, s);
        }
        ck_assert(n <= d->item[0].of.n);
        attn_dump_free(d);
        attn_select_free(what);
    }
    attn_attend_close(a);
}
END_TEST

Suite *suite_published(void)
{
    Suite *s = suite_create("published");
    TCase *c = tcase_create("published");
    tcase_add_loop_test(c, published_digits, 0, ALL);
    suite_add_tcase(s, c);
    return s;
}
