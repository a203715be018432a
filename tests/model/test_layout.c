/* The tensors of native models: their names, shapes and order. */
#include "suites.h"

#include "model/layout.h"

#include <stdio.h>
#include <string.h>

static void check_layout(const struct attn_config *c, const char *want)
{
    char got[2048] = "";
    struct attn_layout walk = attn_layout_start(c);
    struct attn_slot s;
    while (attn_layout_next(&walk, &s))
        snprintf(got + strlen(got), sizeof got - strlen(got),
                 "%s%s[%zu,%zu] ", s.name, s.required ? "" : "?", s.shape[0],
                 s.shape[1]);
    ck_assert_str_eq(got, want);
}

START_TEST(layout)
{
    struct attn_config c = {.family = attn_families[0], .V = 9, .n_ctx = 7, .L = 1, .H = 4, .Hkv = 2, .d = 3, .dh = 5,
                            .dv = 6, .m = 8, .tied = true};
    check_layout(&c, "embed.weight[9,3] blocks.0.attn.q.weight[3,20] blocks.0.attn.q.bias?[20,0] "
                 "blocks.0.attn.k.weight[3,10] blocks.0.attn.k.bias?[10,0] blocks.0.attn.v.weight[3,12] "
                 "blocks.0.attn.v.bias?[12,0] ");
    c.norm = ATTN_NORM_LAYER;
    c.L = 0;
    check_layout(&c, "embed.weight[9,3] norm_final.weight?[3,0] norm_final.bias?[3,0] ");
    c.unembed = true;
    c.position = ATTN_POS_LEARNED;
    check_layout(&c, "embed.weight[9,3] pos_embed.weight[7,3] norm_final.weight[3,0] norm_final.bias[3,0] "
                 "unembed.bias?[9,0] ");
    c.norm = ATTN_NORM_RMS;
    c.tied = false;
    c.L = 1;                            /* without output projection the residual stream is as wide as all heads */
    check_layout(&c, "embed.weight[9,3] pos_embed.weight[7,3] blocks.0.norm1.weight[3,0] blocks.0.attn.q.weight[3,20] "
                 "blocks.0.attn.q.bias?[20,0] blocks.0.attn.k.weight[3,10] blocks.0.attn.k.bias?[10,0] "
                 "blocks.0.attn.v.weight[3,12] blocks.0.attn.v.bias?[12,0] norm_final.weight[3,0] unembed.weight[3,9] "
                 "unembed.bias?[9,0] ");
}
END_TEST

START_TEST(layout_of_a_block)
{
    struct attn_config c = {.family = attn_families[0], .V = 9, .L = 2, .H = 4, .Hkv = 4, .d = 3, .dh = 5, .dv = 6,
                            .m = 8, .tied = true, .bias = true,
                            .output_projection = true, .mlp = ATTN_MLP_SWIGLU, .norm = ATTN_NORM_LAYER};
    struct attn_layout walk = attn_layout_start(&c);
    struct attn_slot s;
    char names[512] = "";
    while (attn_layout_next(&walk, &s)) {
        ck_assert_msg(!attn_part_in_block(s.part) || s.required, "%s", s.name);
        if (attn_part_in_block(s.part) && s.layer == 1 && !s.is_bias)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", s.name + strlen("blocks.1."));
    }
    ck_assert_str_eq(names, "norm1.weight attn.q.weight attn.k.weight attn.v.weight attn.o.weight norm2.weight "
                     "mlp.gate.weight mlp.in.weight mlp.out.weight ");
}
END_TEST

/* Names are put together without looking for the end of their memory. */
START_TEST(names_fit)
{
    enum { DIGITS = 20 };               /* of the largest size_t */
    for (size_t i = 0; attn_families[i]; i++) {
        const struct attn_family *f = attn_families[i];
        for (int p = 0; p < ATTN_PARTS; p++) {
            const char *path = f->part[p].path;
            size_t numbered = strlen(f->prefix) + strlen(f->block) + DIGITS + strlen("..") +
                (path ? strlen(path) : 0) + DIGITS;
            ck_assert_msg(numbered + sizeof ".weight" <= ATTN_SLOT_NAME_MAX, "%s of family %zu", path, i);
        }
    }
}
END_TEST

START_TEST(costs_nothing)
{
    struct attn_config c = {.family = attn_families[0], .V = 1, .L = (size_t)1 << 31, .H = 1, .Hkv = 1, .d = 1,
                            .dh = 1, .dv = 1};
    struct attn_layout walk = attn_layout_start(&c);
    struct attn_slot s;
    for (int i = 0; i < 6; i++)
        ck_assert(attn_layout_next(&walk, &s));
    ck_assert_str_eq(s.name, "blocks.0.attn.v.weight");
}
END_TEST

Suite *suite_layout(void)
{
    Suite *s = suite_create("layout");
    TCase *t = tcase_create("layout");
    tcase_add_test(t, layout);
    tcase_add_test(t, layout_of_a_block);
    tcase_add_test(t, names_fit);
    tcase_add_test(t, costs_nothing);
    suite_add_tcase(s, t);
    return s;
}
