/* A score of a head is one number, whoever prints it: the command heads, both forms of a batch's summary, the first
 * look at a run and its page, of twenty texts, with every golden model and those in models/. */
#include "suites.h"

#include "ask/scores.h"
#include "attn_ask.h"
#include "attn_tools.h"
#include "draw.h"
#include "golden.h"
#include "scratch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXTS = 20, MODELS = 64, SCORES = ATTN_HEAD_SCORES, LONGEST = 24 };

static const char *const sentences[TEXTS] = {
    "Lily lost her red ball.", "Lily was sad. She cried.", "\"Where is my ball?\" she said.",
    "Tom saw Tom, and Tom ran.",
    "The cat sat on the mat, and the dog sat on the cat.", "One day, a bird came. One day, it left.", "It", "It is",
    "It is late", "no, no, no, no, no!", "Once upon a time there was a little girl", "He ran; she ran; they all ran.",
    "Mom said: \"Yes.\" Dad said: \"No.\"", "a b c a b c a b c", "The end. The end. The end.", "Why? Why not? Why?",
    "Tom gave the ball to Lily and Lily gave it to Sam", "...", "the the the the the the",
    "Sam and Ben play in the park."};

/* ---- the models ---- */

static char models[MODELS][160];
static size_t count;

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void list(const char *folder)
{
    DIR *d = opendir(folder);
    struct stat st;
    char config[256];
    for (const struct dirent *e; d && (e = readdir(d));) {
        snprintf(config, sizeof config, "%.60s/%.80s/config.json", folder, e->d_name);
        if (count < MODELS && !stat(config, &st))
            snprintf(models[count++], sizeof models[0], "%.60s/%.80s", folder, e->d_name);
    }
    if (d)
        closedir(d);
}

static void list_models(void)
{
    count = 0;
    list("tests/golden/checkpoints");
    list("models");
    qsort(models, count, sizeof models[0], by_name);
}

/* ---- the texts ---- */

struct asked { struct attn_model *model; struct attn_info info; struct attn_tokenizer *tokenizer;
               struct attn_labels *labels; bool spelled; int32_t ids[TEXTS][LONGEST]; size_t n[TEXTS]; };

/* Of few ids, so that many are repeated. */
static void draw_ids(struct asked *a)
{
    uint32_t seed = 5;
    for (size_t i = 0; i < TEXTS; i++) {
        a->n[i] = i + 1 < a->info.n_ctx ? i + 1 : a->info.n_ctx;
        for (size_t k = 0; k < a->n[i]; k++)
            a->ids[i][k] = (int32_t)draw_below(&seed, a->info.V < 7 ? a->info.V : 7);
    }
}

/* A batch is told what ids read; of one text of ids it is known. */
static void name_ids(struct asked *a)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_model_tokenizer(&a->tokenizer, a->model, &err) &&
                  !attn_labels_new(&a->labels, a->tokenizer, &err), "%s", err.msg);
}

static struct attn_input text_of(const struct asked *a, size_t i)
{
    return a->spelled ? (struct attn_input){.text = sentences[i]} : (struct attn_input){.ids = a->ids[i], .n = a->n[i]};
}

static void write_records(const struct asked *a, const char *path)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < TEXTS; i++) {
        cJSON *record = cJSON_CreateObject();
        if (a->spelled)
            cJSON_AddStringToObject(record, "text", sentences[i]);
        else
            cJSON_AddItemToObject(record, "ids", cJSON_CreateIntArray(a->ids[i], (int)a->n[i]));
        char *line = cJSON_PrintUnformatted(record);
        fprintf(f, "%s\n", line);
        free(line);
        cJSON_Delete(record);
    }
    ck_assert_int_eq(fclose(f), 0);
}

/* ---- what each prints ---- */

static char *answer(const struct asked *a, size_t i, const char *what, const char *format)
{
    struct attn_err err = {0};
    const char *path = scratch_path("answer");
    const struct attn_question q = {.model = a->model, .tokenizer = a->tokenizer, .text = text_of(a, i),
                                    .plan = "threads=1"};
    ck_assert_msg(!attn_ask_write(&q, what, (const char *const[]){format, NULL}, path, &err),
                  "text %zu: %s", i, err.msg);
    return golden_text(path, NULL);
}

static char *summary(const struct asked *a, const char *form)
{
    struct attn_err err = {0};
    struct attn_select *s = NULL;
    struct attn_batch_state state;
    char *path = strdup(scratch_path(form)), *records = strdup(scratch_path("records"));
    write_records(a, records);
    ck_assert_msg(!attn_select_new(&s, a->model, &(struct attn_kind){0}, "pattern", NULL, NULL, &err), "%s", err.msg);
    const struct attn_batch_opts o = {.model = a->model, .select = s, .format = "summary", .path = path,
                                      .records = &(struct attn_records_opts){.path = records, .format = "ndjson"},
                                      .labels = a->spelled ? NULL : a->labels,
                                      .summary_form = form, .plan = {.threads = 1}};
    ck_assert_msg(!attn_batch(&state, &o, &err) && !state.failed, "%s", err.msg);
    char *text = golden_text(path, NULL);
    attn_select_free(s);
    free(records);
    free(path);
    return text;
}

/* The cells of a line without quotes, of which the first `skip` are left out; moves *at to the next. */
static void read_cells(double *out, size_t n, size_t skip, char **at)
{
    char *line = strsep(at, "\n");
    ck_assert_ptr_nonnull(line);
    for (size_t i = 0; i < skip + n; i++) {
        char *cell = strsep(&line, ",");
        ck_assert_ptr_nonnull(cell);
        if (i >= skip)
            out[i - skip] = *cell ? strtod(cell, NULL) : NAN;
    }
}

static double score_of(const cJSON *row, const char *name)
{
    const cJSON *x = golden_find(row, name);
    return x ? x->valuedouble : NAN;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* ---- and that it is the same ---- */

static void expect_tidy(const cJSON *rows, char **at)
{
    const cJSON *row;
    double x[2 + SCORES];
    cJSON_ArrayForEach(row, rows) {
        const struct attn_head_score *s = NULL;
        read_cells(x, 2 + attn_head_score_count(), 1, at);
        ck_assert(x[0] == golden_number(row, "layer") && x[1] == golden_number(row, "head"));
        for (size_t c = 2; (s = attn_head_score_next(s)); c++)
            ck_assert_msg(same(x[c], score_of(row, s->name)), "tidy: %s is %.17g, expected %.17g", s->name, x[c],
                          score_of(row, s->name));
    }
}

/* What comes before the scores may be a word in quotes, with a comma or a line feed in it: they are counted from the
 * end, where no error is. */
static void expect_wide(const cJSON *rows, char **at)
{
    static const char *const names[] = {"entropy", "distance", "first"};
    const size_t n = 3 * (size_t)cJSON_GetArraySize(rows);
    char *from = strstr(*at, ",\n");
    ck_assert_ptr_nonnull(from++);
    for (size_t commas = 0; commas < n + 1; from--)
        commas += from[-1] == ',';
    double *x = calloc(n, sizeof *x);
    *at = from + 1;
    read_cells(x, n, 0, at);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(same(x[i], score_of(cJSON_GetArrayItem(rows, (int)i / 3), names[i % 3])), "wide: %s %zu is %.17g",
                      names[i % 3], i / 3, x[i]);
    free(x);
}

static cJSON *data_of(char *page)
{
    static const char tag[] = "<script type=\"application/json\" id=\"data\">";
    char *at = strstr(page, tag);
    ck_assert_ptr_nonnull(at);
    at += sizeof tag - 1;
    *strstr(at, "</script>") = '\0';
    return cJSON_Parse(at);
}

static void expect_page(const cJSON *rows, char *page)
{
    cJSON *data = data_of(page);
    const cJSON *ranking = golden_find(data, "ranking"), *row, *score;
    size_t i = 0;
    ck_assert(ranking || cJSON_GetArraySize(rows) == 1);
    cJSON_ArrayForEach(row, rows) {
        if (!ranking)
            break;
        const cJSON *head = cJSON_GetArrayItem(golden_get(ranking, "heads"), (int)i++),
        *role = golden_find(head, "role"),
                    *label = golden_find(row, "label");
        size_t c = 0;
        ck_assert(golden_number(head, "layer") == golden_number(row, "layer") &&
                  golden_number(head, "head") == golden_number(row, "head"));
        ck_assert(!role == !label && (!role || !strcmp(role->valuestring, label->valuestring)));
        cJSON_ArrayForEach(score, golden_get(ranking, "scores")) {
            const cJSON *x = cJSON_GetArrayItem(golden_get(head, "shares"), (int)c++);
            const char *name = golden_string(score, "name");
            ck_assert_msg(same(cJSON_IsNumber(x) ? x->valuedouble : NAN, score_of(row, name)),
                          "page: %s of head %zu", name, i);
        }
        ck_assert_int_eq((int)c, cJSON_GetArraySize(golden_get(head, "shares")));
        ck_assert_msg(c == 6 || isnan(score_of(row, "punctuation")), "the page has no punctuation");
    }
    cJSON_Delete(data);
}

/* Those that the screen has room for; how many they are. */
static size_t expect_screen(const cJSON *rows, const char *screen)
{
    const char *part = strstr(screen, "\nmain role of each head"), *end = part ? strstr(part, "\n\n") : NULL;
    size_t n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows) {
        char name[24], place[32], text[128] = "no clear role";
        const cJSON *label = golden_find(row, "label");
        snprintf(name, sizeof name, "L%.0fH%.0f", golden_number(row, "layer"), golden_number(row, "head"));
        snprintf(place, sizeof place, "%-6.16s  ", name);
        const char *at = part ? strstr(part, place) : NULL;
        if (!at || (end && at > end))
            continue;
        if (label)
            snprintf(text, sizeof text, "%s %.2f", label->valuestring, score_of(row, label->valuestring));
        snprintf(text + strlen(text), 32, ", entropy %.2f", score_of(row, "entropy"));
        ck_assert_msg(!strncmp(at + strlen(place), text, strlen(text)), "%s\nexpected %s%s", screen, place, text);
        n++;
    }
    return n;
}

START_TEST(every_score_is_the_same_everywhere)
{
    const char *model = models[_i];
    struct asked a = {.spelled = !strcmp(model, "models/tiny")};
    struct attn_err err = {0};
    size_t shown = 0;
    ck_assert_msg(!attn_model_open(&a.model, model, &err), "%s", err.msg);
    attn_model_info(a.model, &a.info);
    draw_ids(&a);
    name_ids(&a);
    char *wide = summary(&a, "wide"), *tidy = summary(&a, "tidy"), *at_wide = strchr(wide, '\n') + 1,
         *at_tidy = strchr(tidy, '\n') + 1;
    for (size_t i = 0; i < TEXTS; i++) {
        char *json = answer(&a, i, "heads", "format=json"), *page = answer(&a, i, "run", "format=html"),
             *screen = answer(&a, i, "run", "format=screen");
        cJSON *doc = cJSON_Parse(json);
        const cJSON *rows = golden_get(doc, "rows");
        expect_tidy(rows, &at_tidy);
        expect_wide(rows, &at_wide);
        expect_page(rows, page);
        shown += expect_screen(rows, screen);
        cJSON_Delete(doc);
        free(json);
        free(page);
        free(screen);
    }
    ck_assert_msg(shown >= TEXTS - 4, "%s: %zu heads are shown of all", model, shown);
    free(wide);
    free(tidy);
    attn_labels_free(a.labels);
    attn_tokenizer_close(a.tokenizer);
    attn_model_close(a.model);
}
END_TEST

Suite *suite_one_score(void)
{
    Suite *s = suite_create("one_score");
    TCase *c = tcase_create("one_score");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_set_timeout(c, 60);
    list_models();
    tcase_add_loop_test(c, every_score_is_the_same_everywhere, 0, (int)count);
    suite_add_tcase(s, c);
    return s;
}
