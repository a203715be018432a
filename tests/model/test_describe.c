/* A model as JSON and bytes: every matrix is there once, row by row, and what is too much is refused.  tests/browser
 * computes with such a model. */
#include "suites.h"

#include "base/tree.h"
#include "compute/vec.h"
#include "model/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct described { struct attn_model *model; struct attn_description d; cJSON *json; };

static int describe(struct described *x, const char *name, size_t most, struct attn_err *err)
{
    struct attn_out *o = NULL;
    char *text = NULL;
    size_t len = 0;
    *x = (struct described){.d = {.most = most}};
    ck_assert_int_eq(attn_model_open(&x->model, name, err), 0);
    ck_assert_int_eq(attn_out_open_memory(&o, err), 0);
    int rc = attn_model_describe(&x->d, o, x->model, err);
    if (!rc) {
        ck_assert_int_eq(attn_out_take(o, &text, &len, err), 0);
        ck_assert_int_eq(attn_tree_read(&x->json, text, len, "description", 1 << 20, err), 0);
    }
    attn_out_close(o);
    free(text);
    return rc;
}

static void end(struct described *x)
{
    cJSON_Delete(x->json);
    attn_description_free(&x->d);
    attn_model_close(x->model);
}

static double number(const cJSON *of, const char *key)
{
    const cJSON *v = attn_tree_member(of, key);
    ck_assert_msg(cJSON_IsNumber(v), "%s", key);
    return v->valuedouble;
}

static float stored(const struct attn_mat *m, size_t j, size_t i)
{
    const size_t at = m->transposed ? attn_mat_index(m, j) * m->ld + m->skip + i : i * m->ld + j;
    float x;
    if (attn_dtype_in_blocks(m->type))
        attn_blocks_decode(&x, m->data, m->type, at, 1);
    else
        attn_vec_widen(&x, m->data, m->type, at, 1);
    return x;
}

/* Compares the numbers of a matrix with the model's, output by output. */
static void check_mat(const struct described *x, const cJSON *json, const struct attn_mat *m)
{
    const bool transposed = cJSON_IsTrue(attn_tree_member(json, "transposed")), blocks = attn_dtype_in_blocks(m->type);
    const enum attn_dtype type = blocks ? ATTN_F16 : m->type;
    const size_t at = (size_t)number(json, "at"), size = attn_dtype_size(type);
    ck_assert_str_eq(attn_tree_member(json, "type")->valuestring, attn_dtypes[type].name);
    ck_assert_uint_eq((size_t)number(json, "in"), m->in);
    ck_assert_uint_eq((size_t)number(json, "out"), m->out);
    ck_assert_uint_eq(at % 4, 0);
    ck_assert_uint_le(at + m->in * m->out * size, x->d.n);
    for (size_t j = 0; j < m->out; j++)
        for (size_t i = 0; i < m->in; i++) {
            const float want = stored(m, j, i);
            /* float16 rounds to half a unit of 11 bits, and to half of its smallest number */
            const float bound = blocks ? ldexpf(fabsf(want), -11) + ldexpf(1, -25) : 0;
            float got;
            attn_vec_widen(&got, x->d.bytes + at, type, transposed ? j * m->in + i : i * m->out + j, 1);
            ck_assert_msg(fabsf(got - want) <= bound,
                          "output %zu, input %zu: %g, not %g", j, i, (double)got, (double)want);
        }
}

/* Stored as they are used; fused, one after the other; fused, head by head; tied; with a table of positions; in blocks,
 * with rows in pairs. */
static const char *const models[] = {"stacked", "tests/golden/checkpoints/gpt2-a", "tests/golden/checkpoints/neox-i",
                                     "tests/golden/checkpoints/gemma2-a", "tests/golden/checkpoints/bloom-a",
                                     "tests/golden/gguf/llama-spm-q8_0/model.gguf"};

START_TEST(has_every_matrix)
{
    struct described x;
    struct attn_err err = {0};
    ck_assert_msg(describe(&x, models[_i], 0, &err) == 0, "%s", err.msg);
    const struct attn_weights *w = &x.model->w;
    const cJSON *block = attn_tree_member(x.json, "block")->child;
    for (size_t i = 0; i < w->n.L; i++, block = block->next) {
        const struct attn_block *b = &w->block[i];
        const struct { const char *key; const struct attn_mat *m; } mats[] = {
            {"q", &b->q}, {"k", &b->k}, {"v", &b->v}, {"o", &b->o}, {"gate", &b->gate}, {"in", &b->in},
            {"out", &b->out}};
        for (size_t k = 0; k < sizeof mats / sizeof *mats; k++)
            if (mats[k].m->data)
                check_mat(&x, attn_tree_member(block, mats[k].key), mats[k].m);
            else
                ck_assert(cJSON_IsNull(attn_tree_member(block, mats[k].key)));
    }
    ck_assert_ptr_null(block);
    check_mat(&x, attn_tree_member(x.json, "embed"), &w->embed);
    if (w->unembed.data)
        check_mat(&x, attn_tree_member(x.json, "unembed"), &w->unembed);
    end(&x);
}
END_TEST

START_TEST(names_the_blocks_that_it_decodes)
{
    static const struct { const char *model, *blocks; } each[] = {
        {"tests/golden/gguf/llama-spm-q8_0/model.gguf", "Q8_0"}, {"tests/golden/checkpoints/gpt2-a", NULL}};
    struct described x;
    struct attn_err err = {0};
    ck_assert_msg(describe(&x, each[_i].model, 0, &err) == 0, "%s", err.msg);
    const cJSON *blocks = attn_tree_member(x.json, "blocks");
    if (each[_i].blocks)
        ck_assert_str_eq(cJSON_GetStringValue(blocks), each[_i].blocks);
    else
        ck_assert(cJSON_IsNull(blocks));
    end(&x);
}
END_TEST

START_TEST(has_what_is_shared_once)
{
    struct described x;
    struct attn_err err = {0};
    struct attn_info info;
    ck_assert_int_eq(describe(&x, "tiny", 0, &err), 0);
    attn_model_info(x.model, &info);
    ck_assert(info.tied);
    ck_assert(number(attn_tree_member(x.json, "embed"), "at") == number(attn_tree_member(x.json, "unembed"), "at"));
    ck_assert_uint_le(x.d.n, info.bytes + 4 * info.tensors);        /* where each begins at a multiple of four */
    end(&x);
}
END_TEST

START_TEST(has_a_limit)
{
    struct described x;
    struct attn_err err = {0};
    ck_assert_int_eq(describe(&x, "tiny", 1 << 20, &err), ATTN_EUSAGE);
    ck_assert_msg(strstr(err.msg, "model tiny has more than 1 MB of weights") && strstr(err.msg, "float16"),
                  "%s", err.msg);
    end(&x);
}
END_TEST

Suite *suite_describe(void)
{
    Suite *s = suite_create("describe");
    TCase *t = tcase_create("describe");
    tcase_add_loop_test(t, has_every_matrix, 0, (int)(sizeof models / sizeof *models));
    tcase_add_loop_test(t, names_the_blocks_that_it_decodes, 0, 2);
    tcase_add_test(t, has_what_is_shared_once);
    tcase_add_test(t, has_a_limit);
    suite_add_tcase(s, t);
    return s;
}
