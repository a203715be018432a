/* The directory of a training: it is resumed, takes a step and is saved. */
#define _GNU_SOURCE 1

#include <string.h>

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"
#include "train/trainer.h"

static const char text[] = "a b c a b\nb c a a c b\nc c b a b a\na b c a b\nb c a a c b\nc c b a b a\n";

/* A user may ask for steps of a day each; here they would look like a hang. */
static bool is_quick(const struct attn_train *t)
{
    return t->settings.batch <= 64 && t->settings.accumulate <= 64;
}

static void test(const uint8_t *data, size_t size)
{
    struct archive a;
    struct attn_train *t = NULL;
    struct attn_train_opts o = {.text = text, .text_len = sizeof text - 1, .resume = true, .threads = 1};
    struct attn_train_state state;
    struct attn_err err = {0};
    archive_read(&a, data, size);
    const char *dir = archive_unpack(&a);
    if (attn_train_open(&t, dir, &o, &err) != ATTN_OK) {
        must(!t && err.msg[0]);
        return;
    }
    attn_train_get(t, &state);
    if (state.step < state.steps && is_quick(t)) {
        int rc = attn_train_step(t, &err);
        must(rc == ATTN_OK || err.msg[0]);
        if (!rc)
            must(attn_train_save(t, &err) == ATTN_OK || err.msg[0]);
    }
    attn_train_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test(data, size);
    archive_remove();
    return 0;
}
