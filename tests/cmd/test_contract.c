/* test_contract.c - what attn.h promises of every function that can fail: err may be NULL, and what it would have
 * made is NULL. */
#include "suites.h"

#include "attn_ask.h"
#include "attn_tools.h"

static struct attn_model *model;
static struct attn_tokenizer *tokenizer;

static void open_model(void)
{
    ck_assert_int_eq(attn_model_open(&model, "life", NULL), ATTN_OK);
    ck_assert_int_eq(attn_tokenizer_open(&tokenizer, "life", NULL), ATTN_OK);
}

static void close_model(void)
{
    attn_tokenizer_close(tokenizer);
    attn_model_close(model);
}

/* Fails `call`, which makes an object of this type at `out`, with an error and without one. */
#define CHECK(type, call) \
    do { \
        type *made, **out = &made, *poison = (void *)(uintptr_t)0x5A5A; \
        struct attn_err why = {0}, *err = &why; \
        made = poison; \
        int rc = (call); \
        ck_assert_msg(rc != ATTN_OK && made == NULL, "%s: %d, %p", #call, rc, (void *)made); \
        ck_assert_msg(why.msg[0] && why.code == (enum attn_status)rc, "%s: '%s'", #call, why.msg); \
        made = poison; \
        err = NULL; \
        ck_assert_int_eq((call), rc); \
        ck_assert_ptr_null(made); \
    } while (0)

START_TEST(a_failure_makes_nothing)
{
    static const char bad[] = "Life\xFF", nowhere[] = "no-such-place/at-all";
    size_t n;
    CHECK(struct attn_model, attn_model_open(out, nowhere, err));
    CHECK(struct attn_tokenizer, attn_tokenizer_open(out, nowhere, err));
    CHECK(struct attn_tokens, attn_encode(out, tokenizer, bad, sizeof bad - 1, err));
    CHECK(struct attn_tokens, attn_encode_with(out, tokenizer, bad, sizeof bad - 1, NULL, err));
    CHECK(int32_t, attn_encode_ids(out, &n, tokenizer, bad, sizeof bad - 1, NULL, err));
    CHECK(struct attn_tokens, attn_tokens_from_ids(out, (int32_t[]){-1}, 1, err));
    CHECK(char, attn_decode(out, &n, tokenizer, (int32_t[]){1000}, 1, err));
    CHECK(struct attn_labels, attn_labels_read(out, bad, sizeof bad - 1, "labels", 6, err));
    CHECK(struct attn_run, attn_run_new(out, model, &(struct attn_plan){0}, NULL, 0, err));
    CHECK(struct attn_sampler, attn_sampler_new(out, 6, &(struct attn_sampling){.temperature = -1}, err));
    CHECK(struct attn_sampler, attn_sampler_new(out, 0, &(struct attn_sampling){.top_p = 1}, err));
    CHECK(struct attn_select, attn_select_new(out, model, NULL, "no such activation", NULL, NULL, err));
    CHECK(struct attn_metric, attn_metric_new(out, "no such metric", err));
    CHECK(struct attn_records, attn_records_open(out, &(struct attn_records_opts){.format = "no such format"}, err));
    CHECK(struct attn_dump, attn_dump_open(out, nowhere, err));
    CHECK(struct attn_contrast, attn_contrast_new(out, nowhere, "life", NULL, err));
    CHECK(struct attn_train, attn_train_open(out, nowhere, &(struct attn_train_opts){0}, err));
    CHECK(struct attn_gradient, attn_gradient_new(out, model, 3, 1, err));
}
END_TEST

Suite *suite_contract(void)
{
    Suite *s = suite_create("contract");
    TCase *c = tcase_create("contract");
    tcase_add_checked_fixture(c, open_model, close_model);
    tcase_add_test(c, a_failure_makes_nothing);
    suite_add_tcase(s, c);
    return s;
}
