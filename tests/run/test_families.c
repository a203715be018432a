/* Every Hugging Face family against the decoder in double precision: random models, every
 * activation, every gradient. */
#include "suites.h"

#include "derive.h"
#include "drawn.h"
#include "model/family.h"
#include "scratch.h"

#include <string.h>

enum { ROUNDS = 10 };

START_TEST(random_models)
{
    agree_seed = (unsigned)_i * 7907u + 3;
    for (int round = 0; round < ROUNDS; round++)
        drawn_family(_i % drawn_families(), round, agree_check);
}
END_TEST

START_TEST(gradients_of_random_models)
{
    agree_seed = (unsigned)_i * 7919u + 11;
    for (int round = 2; round < 4; round++)
        drawn_family(_i, round, derive_check);
}
END_TEST

/* A text of every family's model that looks at the keys of another: windows do not matter, what grows with a
 * key's position does. */
static void look_across(const struct agree *a, int T)
{
    agree_check_cross(a, T, 1 + agree_pick(T));
}

START_TEST(random_models_across_texts)
{
    agree_seed = (unsigned)_i * 7901u + 5;
    for (int round = 0; round < 4; round++)
        drawn_family(_i, round, look_across);
}
END_TEST

/* A new family needs a drawing, for no table says how another program would write its files. */
START_TEST(every_family_is_drawn)
{
    for (const struct attn_family *const *f = attn_families + 1; *f; f++) {    /* the first is our own */
        int which = 0;
        while (which < drawn_families() && strcmp(drawn_family_name(which), (*f)->name) != 0)
            which++;
        ck_assert_msg(which < drawn_families(), "%s is not drawn: tests/support/drawn_*.c", (*f)->name);
    }
}
END_TEST

static const char *family_of(int i) { return drawn_family_name(i % drawn_families()); }

Suite *suite_families(void)
{
    Suite *s = suite_create("families");
    TCase *c = tcase_create("families");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    attn_test_add_rows(c, random_models, 2 * drawn_families(), family_of);
    attn_test_add_rows(c, gradients_of_random_models, drawn_families(), family_of);
    attn_test_add_rows(c, random_models_across_texts, drawn_families(), family_of);
    tcase_add_test(c, every_family_is_drawn);
    suite_add_tcase(s, c);
    return s;
}
