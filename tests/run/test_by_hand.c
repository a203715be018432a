/* A model whose weights are written by hand, so that the scores of its heads can be worked out on paper.
 *
 * A token's vector has three parts: which token it is, at which position it stands (both from the embeddings), and
 * which token stands before it, which head 0 of layer 0 writes there.  Products are 0 or SHARP, so large that a softmax
 * has room for nothing else.  The heads of layer 0 look at the token before, at the same token, and at everything
 * alike.  In layer 1, head 0 looks at what stands after the same token; where nothing does it looks at everything
 * alike, and so do heads 1 and 2.
 *
 * The text is "0 1 2 3 4 5 6 7 1 2 3 4 5 6 7": the first copy are rows 1 to 7, the second rows 8 to 14. */
#include "suites.h"

#include "attn_ask.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { V = 8, C = 16, TOKEN = 0, PLACE = V, BEFORE = V + C, D = V + C + V, H = 3, DH = C, DV = V, T = 15 };
static const float SHARP = 1000;        /* exp(-SHARP) is 0 in float32 */

static const char config[] =
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 8, \"n_ctx\": 16, \"n_layer\": 2, \"n_head\": 3, "
    "\"n_kv_head\": 3, \"d_model\": 32, \"d_head\": 16, \"d_value\": 8, \"d_mlp\": 0, \"position\": \"learned\", "
    "\"norm\": \"none\", \"mlp\": \"none\", \"mask\": \"causal\", \"scale\": \"none\", \"residual\": true, "
    "\"output_projection\": true, \"bias\": false, \"tied\": false, \"unembed\": true, \"tokenizer\": {\"type\": "
    "\"word\"}}";

/* ---- the weights ---- */

static struct weights {
    float embed[V][D], place[C][D], unembed[D][V];
    struct { float q[D][H * DH], k[D][H * DH], v[D][H * DV], o[H * DV][D]; } block[2];
} w;

/* A head's queries ask for what its keys have: part `ask` of the query's vector, moved by `move`,
 * against part `have`. */
static void match(size_t layer, size_t head, size_t ask, size_t have, size_t n, size_t move)
{
    for (size_t i = 0; i < n; i++) {
        w.block[layer].k[have + i][head * DH + i] = 1;
        if (i + move < n)
            w.block[layer].q[ask + i + move][head * DH + i] = SHARP;
    }
}

/* A head writes the tokens it looks at, each moved by `move` and times `sign`, into a part. */
static void copy(size_t layer, size_t head, size_t part, size_t move, float sign)
{
    for (size_t i = 0; i < V; i++) {
        w.block[layer].v[TOKEN + i][head * DV + i] = 1;
        w.block[layer].o[head * DV + i][part + (i + move) % V] = sign;
    }
}

static void fill(void)
{
    memset(&w, 0, sizeof w);
    for (size_t i = 0; i < V; i++)
        w.embed[i][TOKEN + i] = w.unembed[TOKEN + i][i] = 1;
    for (size_t i = 0; i < C; i++)
        w.place[i][PLACE + i] = 1;
    match(0, 0, PLACE, PLACE, C, 1);
    copy(0, 0, BEFORE, 0, 1);
    match(0, 1, TOKEN, TOKEN, V, 0);
    match(1, 0, TOKEN, BEFORE, V, 0);
    copy(1, 0, TOKEN, 0, 1);
    copy(1, 1, TOKEN, 0, -1);
    copy(1, 2, TOKEN, 1, 1);
}

static void set_up(void)
{
    struct attn_st_tensor t[11] = {
        made_tensor("embed.weight", w.embed[0], V, D), made_tensor("pos_embed.weight", w.place[0], C, D),
        made_tensor("unembed.weight", w.unembed[0], D, V)};
    static char name[2][4][32];
    size_t n = 3;
    scratch_make();
    fill();
    for (size_t layer = 0; layer < 2; layer++) {
        const float *const of[] = {w.block[layer].q[0], w.block[layer].k[0], w.block[layer].v[0], w.block[layer].o[0]};
        for (size_t i = 0; i < 4; i++) {
            snprintf(name[layer][i], sizeof name[layer][i], "blocks.%zu.attn.%c.weight", layer, "qkvo"[i]);
            t[n++] = made_tensor(name[layer][i], of[i], i < 3 ? D : H * DV, i < 2 ? H * DH : i < 3 ? H * DV : D);
        }
    }
    scratch_put(scratch_path("config.json"), config, strlen(config));
    made_write(scratch_path("model.safetensors"), t, n);
}

/* ---- the scores ---- */

static double harmonic(int n)
{
    double sum = 0;
    for (int i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}

/* ln 2 / ln(keys seen), over the rows of the second copy. */
static double spread_of_two(void)
{
    double sum = 0;
    for (int q = 8; q < T; q++)
        sum += log(2) / log(q + 1);
    return sum / 14;
}

static void expect_row(const cJSON *rows, int i, const double want[9])
{
    static const char *const names[] = {"previous", "self", "first", "duplicate", "induction", "entropy", "spread",
                                        "distance", "copying"};
    const cJSON *row = cJSON_GetArrayItem(rows, i);
    ck_assert_ptr_nonnull(row);
    for (size_t c = 0; c < 9; c++) {
        const cJSON *x = golden_find(row, names[c]);
        double got = x ? x->valuedouble : NAN;
        /* the weights are fractions in float32; all else is in double precision */
        ck_assert_msg(isnan(want[c]) ? isnan(got) : fabs(got - want[c]) <= 1e-6,
                      "%s of layer %d, head %d is %.9g, expected %.9g",
                      names[c], i / 3, i % 3, got, want[c]);
    }
}

START_TEST(scores_are_those_worked_out)
{
    static const int32_t ids[T] = {0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7};
    struct attn_model *m = made_open(scratch_path(""));
    struct attn_select *s = NULL;
    struct attn_heads_state state;
    struct attn_err err = {0};
    ck_assert_msg(!attn_select_new(&s, m, NULL, "pattern", NULL, NULL, &err), "%s", err.msg);
    const struct attn_batch_opts over = {.model = m, .select = s};
    const struct attn_heads_opts o = {.over = &over, .ids = ids, .T = (size_t[]){T}, .texts = 1, .copying = true,
                                      .format = "json", .path = scratch_path("heads.json")};
    ck_assert_msg(!attn_heads(&state, &o, &err), "%s", err.msg);
    cJSON *doc = golden_read(o.path);
    const cJSON *rows = golden_get(doc, "rows");
    /* Alike: row q gives each of q + 1 keys 1 / (q + 1). */
    double each = (harmonic(15) - 1) / 14, second = (harmonic(15) - harmonic(8)) / 7;
    double alike[] = {each, each, each, second, second, lgamma(16) / 14, 1, 105 / 2.0 / 14, NAN};
    double early = (harmonic(8) - 1) / 14;      /* alike in the first copy, nothing in the second */
    expect_row(rows, 0, (double[]){1, 0, 1.0 / 14, 0, 0, 0, 0, 1, NAN});
    expect_row(rows, 1, (double[]){0, 10.5 / 14, 0, 0.5, 0, log(2) / 2, spread_of_two(), 7 * 3.5 / 14, NAN});
    expect_row(rows, 2, alike);
    expect_row(rows, 3, (double[]){early, early, early, 0, 1, lgamma(9) / 14, 0.5, (14 + 7 * 6) / 14.0, 1});
    alike[8] = -1;
    expect_row(rows, 4, alike);
    alike[8] = 0;                       /* the eigenvalues are the eighth roots of 1 */
    expect_row(rows, 5, alike);
    cJSON_Delete(doc);
    attn_select_free(s);
    attn_model_close(m);
}
END_TEST

/* The second copy is predicted: each of its rows but the last adds the next token, of which the sum of the others
 * takes no part. */
START_TEST(the_next_token_is_copied)
{
    static const int32_t ids[T] = {0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7};
    struct attn_model *m = made_open(scratch_path(""));
    struct attn_err err = {0};
    double logprob[T], first = 0, again = 0;
    ck_assert_msg(!attn_score(logprob, m, ids, T, NULL, &err), "%s", err.msg);
    for (size_t i = 2; i < 8; i++) {
        first += logprob[i];
        again += logprob[i + 7];
    }
    ck_assert_msg(again > first + 3, "%g, then %g", first, again);
    attn_model_close(m);
}
END_TEST

Suite *suite_by_hand(void)
{
    Suite *s = suite_create("by_hand");
    TCase *c = tcase_create("by_hand");
    tcase_add_checked_fixture(c, set_up, scratch_remove);
    tcase_add_test(c, scores_are_those_worked_out);
    tcase_add_test(c, the_next_token_is_copied);
    suite_add_tcase(s, c);
    return s;
}
