/* An unfinished batch that is resumed, over records in every format: what it leaves is an error or
 * a complete output. */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <unistd.h>

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"

static const char *const inputs[] = {"in.txt", "in.ndjson", "in.csv", "in.tsv"};
static const char *const formats[] = {"ndjson", "tidy", "npy", "stack"};

static bool open_life(struct attn_model **m, struct attn_select **what)
{
    struct attn_err err = {0};
    return *m || (!attn_model_open(m, "life", &err) && !attn_select_new(what, *m, NULL, "pattern", NULL, NULL, &err));
}

static void resume(const char *in, const char *format, bool force)
{
    static struct attn_model *m;        /* kept: it is the files beside that are odd */
    static struct attn_select *what;
    static const struct attn_batch_option options[] = {{"show", "pattern"}};
    must(open_life(&m, &what));
    struct attn_records_opts records = {.path = in, .column = NULL};
    struct attn_batch_opts o = {.model = m, .select = what, .records = &records, .format = format,
        .path = archive_path("out"), .summary = archive_path("out.csv"), .options = options, .n_options = 1,
        .command = "attn-cli batch --show pattern", .plan = {.threads = 1}, .resume = !force, .force = force};
    struct attn_batch_state state = {0};
    struct attn_err err = {0};
    int rc = attn_batch(&state, &o, &err);
    must(rc == ATTN_OK ? state.complete && state.failed <= state.records : err.msg[0] != '\0');
}

static void test(const uint8_t *data, size_t size)
{
    static struct archive a;
    archive_read(&a, data, size);
    archive_unpack(&a);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char in[160];
        snprintf(in, sizeof in, "%s", archive_path(inputs[i]));
        if (access(in, F_OK) != 0)
            continue;
        resume(in, formats[size % 4], false);
        resume(in, formats[size / 4 % 4], size % 3 == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test(data, size);
    archive_remove();
    return 0;
}
