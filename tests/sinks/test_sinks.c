/* test_sinks.c - the machine-readable formats, byte by byte, from a made-up forward pass. */
#include "suites.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "sinks.h"
#include "sinks/sink_csv.h"
#include "sinks/sink_json.h"
#include "sinks/sink_npy.h"

/* ---- the table of formats -------------------------------------------------------------- */

START_TEST(every_format_listed_is_found)
{
    char list[ATTN_FORMAT_LIST];
    attn_format_list(list, ATTN_FORMAT_RUN | ATTN_FORMAT_LINES);
    int n = 0;
    for (char *name = strtok(list, ", "); name; name = strtok(NULL, ", "), n++)
        ck_assert_str_eq(attn_format_find(name)->name, name);
    ck_assert_int_eq(n, 13);
    ck_assert_ptr_null(attn_format_find("xml"));
    ck_assert_ptr_null(attn_format_find(""));
}
END_TEST

START_TEST(a_row_says_all_of_a_format)
{
    for (const struct attn_format *f = NULL; (f = attn_format_next(f));) {
        ck_assert_ptr_eq(attn_format_find(f->name), f);
        ck_assert(!(f->flags & (ATTN_FORMAT_RUN | ATTN_FORMAT_APART)) || attn_format_methods(f));
        ck_assert(!(f->flags & ATTN_FORMAT_LINES) || attn_format_methods(f)->failed);
        ck_assert(!(f->flags & ATTN_FORMAT_PICTURE) == !(attn_format_methods(f) && attn_format_methods(f)->draw));
        ck_assert(!(f->flags & ATTN_FORMAT_APART) || f->ending);
        ck_assert_ptr_eq(attn_format_of_path(printed("a.b/OUT%s", f->ending ? f->ending : "")), f->ending ? f : NULL);
    }
    ck_assert_str_eq(attn_format_of_path("life.PNG")->name, "png");
    ck_assert_ptr_null(attn_format_of_path(NULL));
    ck_assert_ptr_null(attn_format_of_path("png"));
}
END_TEST

/* ---- one document, one table ----------------------------------------------------------- */

START_TEST(json_document)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "scores,pattern,blocks.0.resid_post", "0", "1", true);
    sinks_ck_run("json", &s);
    sinks_ck_file(&s, NULL,
            "{\"version\":\"VERSION\",\n"
            "\"model\":{\"name\":\"toy\",\"family\":\"attn-decoder\",\"digest\":\"sampled:00\"},\n"
            "\"text\":\"Life is\\n\",\n"
            "\"tokens\":[\n"
            "{\"id\":10,\"text\":\"Life\",\"raw\":\"Life\",\"start\":0,\"end\":4},\n"
            "{\"id\":11,\"text\":\" is\",\"raw\":\" is\",\"start\":4,\"end\":7}\n"
            "],\n"
            "\"activations\":[\n"
            "{\"name\":\"blocks.0.attn.scores\",\"layer\":0,\"heads\":[1],\"shape\":[1,2,2],"
            "\"data\":[[[19.7000008,null],[19.6900005,19.6930008]]],\"nonfinite\":1},\n"
            "{\"name\":\"blocks.0.attn.pattern\",\"layer\":0,\"heads\":[1],\"shape\":[1,2,2],"
            "\"data\":[[[1,0],[0.5,0.5]]],\"nonfinite\":0},\n"
            "{\"name\":\"blocks.0.resid_post\",\"layer\":0,\"heads\":null,\"shape\":[2,3],"
            "\"data\":[[13.3000002,13.3030005,13.3059998],[13.29,13.2930002,13.2959995]],\"nonfinite\":0}\n"
            "]}\n");
    sinks_teardown(&s);
}
END_TEST

START_TEST(json_of_ids)
{
    struct sinks_setup s;
    sinks_setup(&s, 1, "tokens", NULL, NULL, false);
    s.job.digest = NULL;
    sinks_ck_run("json", &s);
    sinks_ck_file(&s, NULL,
            "{\"version\":\"VERSION\",\n"
            "\"model\":{\"name\":\"toy\",\"family\":\"attn-decoder\",\"digest\":null},\n"
            "\"text\":null,\n"
            "\"tokens\":[\n"
            "{\"id\":10,\"text\":null,\"raw\":null,\"start\":null,\"end\":null}\n"
            "],\n"
            "\"activations\":[\n"
            "]}\n");
    sinks_teardown(&s);
}
END_TEST

START_TEST(json_document_on_one_line)
{
    struct sinks_setup s;
    struct attn_doc d = { .job = &s.job, .eol = "" };
    sinks_setup(&s, 1, "tokens", NULL, NULL, false);
    ck_assert_int_eq(attn_out_open(&d.out, s.path, NULL), 0);
    attn_doc_begin(&d);
    attn_doc_end(&d);
    ck_assert_int_eq(attn_out_commit(d.out, NULL), 0);
    attn_out_close(d.out);
    sinks_ck_file(&s, NULL, "{\"version\":\"VERSION\",\"model\":{\"name\":\"toy\",\"family\":\"attn-decoder\","
                      "\"digest\":\"sampled:00\"},\"text\":null,\"tokens\":[{\"id\":10,\"text\":null,\"raw\":null,"
                      "\"start\":null,\"end\":null}],\"activations\":[]}");
    sinks_teardown(&s);
}
END_TEST

START_TEST(tidy_table)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "scores,pattern,norm_final", "1", "0,3", true);
    sinks_ck_run("tidy", &s);
    sinks_ck_file(&s, NULL,
            "name,layer,head,row,col,row_token,col_token,value\n"
            "blocks.1.attn.scores,1,0,0,0,Life,Life,28.7000008\n"
            "blocks.1.attn.scores,1,0,0,1,Life,\" is\",-inf\n"
            "blocks.1.attn.scores,1,0,1,0,\" is\",Life,28.6900005\n"
            "blocks.1.attn.scores,1,0,1,1,\" is\",\" is\",28.6930008\n"
            "blocks.1.attn.scores,1,3,0,0,Life,Life,31.7000008\n"
            "blocks.1.attn.scores,1,3,0,1,Life,\" is\",-inf\n"
            "blocks.1.attn.scores,1,3,1,0,\" is\",Life,31.6900005\n"
            "blocks.1.attn.scores,1,3,1,1,\" is\",\" is\",31.6930008\n"
            "blocks.1.attn.pattern,1,0,0,0,Life,Life,1\n"
            "blocks.1.attn.pattern,1,0,0,1,Life,\" is\",0\n"
            "blocks.1.attn.pattern,1,0,1,0,\" is\",Life,0.5\n"
            "blocks.1.attn.pattern,1,0,1,1,\" is\",\" is\",0.5\n"
            "blocks.1.attn.pattern,1,3,0,0,Life,Life,1\n"
            "blocks.1.attn.pattern,1,3,0,1,Life,\" is\",0\n"
            "blocks.1.attn.pattern,1,3,1,0,\" is\",Life,0.5\n"
            "blocks.1.attn.pattern,1,3,1,1,\" is\",\" is\",0.5\n"
            "norm_final,,,0,0,Life,,1\n"
            "norm_final,,,0,1,Life,,1.00300002\n"
            "norm_final,,,0,2,Life,,1.00600004\n"
            "norm_final,,,1,0,\" is\",,0.99000001\n"
            "norm_final,,,1,1,\" is\",,0.993000031\n"
            "norm_final,,,1,2,\" is\",,0.995999992\n");
    sinks_teardown(&s);
}
END_TEST

/* ---- CSV ------------------------------------------------------------------------------- */

static const struct { const char *text; size_t len; const char *cell, *safe; } cells[] = {
    { "", 0, "", "" },          { "plain", 5, "plain", "plain" },   { "a b", 3, "a b", "a b" },
    { " a", 2, "\" a\"", "\" a\"" },                              { "a ", 2, "\"a \"", "\"a \"" },
    { "a,b", 3, "\"a,b\"", "\"a,b\"" },                           { "\"", 1, "\"\"\"\"", "\"\"\"\"" },
    { "a\nb", 3, "\"a\nb\"", "\"a\nb\"" },                       { "\r", 1, "\"\r\"", "\"'\r\"" },
    { "\0x", 2, "\uFFFDx", "\uFFFDx" },                            { "\xff", 1, "\uFFFD", "\uFFFD" },
    { "a\xe6\x97,", 4, "\"a\uFFFD,\"", "\"a\uFFFD,\"" },          { "日", 3, "日", "日" },
    { "=1+2", 4, "=1+2", "'=1+2" },
    { "=\"x\"", 4, "\"=\"\"x\"\"\"", "\"'=\"\"x\"\"\"" },
    { "+", 1, "+", "'+" },      { "-x", 2, "-x", "'-x" },           { "@a,b", 4, "\"@a,b\"", "\"'@a,b\"" },
    { "\tx", 2, "\tx", "'\tx" }, { " =1", 3, "\" =1\"", "\" =1\"" }, { "'=", 2, "'=", "'=" },
    { "a=1", 3, "a=1", "a=1" },
};

START_TEST(csv_cells)
{
    struct sinks_setup s;
    struct attn_out *o;
    sinks_setup(&s, 1, NULL, NULL, NULL, true);
    ck_assert_int_eq(attn_out_open(&o, s.path, NULL), 0);
    attn_cell_text(o, cells[_i].text, cells[_i].len, false);
    attn_out_char(o, '|');
    attn_cell_text(o, cells[_i].text, cells[_i].len, true);
    ck_assert_int_eq(attn_out_commit(o, NULL), 0);
    attn_out_close(o);
    sinks_ck_file(&s, NULL, printed("%s|%s", cells[_i].cell, cells[_i].safe));
    sinks_teardown(&s);
}
END_TEST

START_TEST(csv_directory)
{
    struct sinks_setup s;
    sinks_setup(&s, 3, "tokens,dots,scores,pattern,embed", "0", "2", true);
    sinks_ck_run("csv", &s);
    sinks_ck_file(&s, "tokens.csv", "index,id,text,start,end\n0,10,Life,0,4\n1,11,\" is\",4,7\n2,12,\"\n\",7,8\n");
    sinks_ck_file(&s, "embed.csv", "token,0,1,2\n"
                             "Life,7.30000019,7.30299997,7.30600023\n"
                             "\" is\",7.28999996,7.29299974,7.296\n"
                             "\"\n\",7.28000021,7.28299999,7.28600025\n");
    sinks_ck_file(&s, "blocks.0.attn.scores.head2.csv", "token,Life,\" is\",\"\n\"\n"
                                                  "Life,20.7000008,-inf,-inf\n"
                                                  "\" is\",20.6900005,20.6930008,-inf\n"
                                                  "\"\n\",20.6800003,20.6830006,20.6860008\n");
    sinks_ck_file(&s, "blocks.0.attn.pattern.head2.csv", "token,Life,\" is\",\"\n\"\n"
                                                   "Life,1,0,0\n"
                                                   "\" is\",0.5,0.5,0\n"
                                                   "\"\n\",0.333333343,0.333333343,0.333333343\n");
    ck_assert(sinks_there(&s, "blocks.0.attn.dots.head2.csv"));
    ck_assert(!sinks_there(&s, "blocks.0.attn.dots.head1.csv"));
    sinks_teardown(&s);
}
END_TEST

START_TEST(csv_of_one_matrix)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "pattern", "1", "2", false);
    strcat(s.path, ".csv");
    sinks_ck_run("csv", &s);
    sinks_ck_file(&s, NULL, "token,10,11\n10,1,0\n11,0.5,0.5\n");
    sinks_teardown(&s);
}
END_TEST

START_TEST(csv_of_tokens_alone)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, "tokens", NULL, NULL, false);
    strcat(s.path, ".csv");
    sinks_ck_run("csv", &s);
    sinks_ck_file(&s, NULL, "index,id,text,start,end\n0,10,,,\n1,11,,,\n");
    sinks_teardown(&s);
}
END_TEST

static const struct { const char *format, *show, *heads, *path, *says; } crowded[] = {
    { "csv", "pattern", NULL, NULL, "standard output takes one matrix of csv, but 8 matrices" },
    { "csv", "pattern", NULL, "-", ", or give a directory: run -s 'Life is' --format csv -o DIR" },
    { "csv", "tokens,blocks.0.attn.context", NULL, NULL, "2 tables (one of tokens)" },
    { "csv", "pattern", "0", "/tmp/attn-never.csv",
      "/tmp/attn-never.csv takes one matrix of csv, but 2 matrices are selected; select one, or give a directory: "
      "run -s 'Life is' --format csv -o /tmp/attn-never" },
    { "csv", "pattern", "0", "/tmp/attn-never.CSV", "/tmp/attn-never.CSV takes one matrix of csv, but 2" },
    { "csv", "pattern", "0", "", "without a name" },
    { "csv", "pattern", "0", "/dev/null", "/dev/null takes one matrix" },
    { "npy", "pattern", "0", NULL, "standard output takes one activation of npy, but 2" },
    { "npy", "tokens", NULL, "/tmp/attn-never.npy", "but 0 activations" },
    { "npz", "tokens", NULL, NULL, "only tokens" },
    { "tidy", "tokens", NULL, NULL, "only tokens" },
};

START_TEST(one_stream_takes_one)
{
    struct sinks_setup s;
    sinks_setup(&s, 2, crowded[_i].show, NULL, crowded[_i].heads, true);
    s.job.path = crowded[_i].path;
    sinks_ck_refused(crowded[_i].format, &s, ATTN_EUSAGE, crowded[_i].says);
    ck_assert_int_ne(access("/tmp/attn-never.csv", F_OK) & access("/tmp/attn-never.npy", F_OK), 0);
    sinks_teardown(&s);
}
END_TEST

/* ---- npy and npz ----------------------------------------------------------------------- */

START_TEST(npy_header)
{
    char header[ATTN_NPY_HEADER];
    attn_npy_header(header, (size_t[]){ 12, 7, 7 }, 3);
    static const char start[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (12, 7, 7), } ";
    ck_assert_mem_eq(header, start, sizeof start - 1);
    ck_assert_int_eq(header[ATTN_NPY_HEADER - 2], ' ');
    ck_assert_int_eq(header[ATTN_NPY_HEADER - 1], '\n');
    ck_assert_uint_eq(sizeof header % 64, 0);
    /* the most digits that an array in memory can have */
    attn_npy_header(header, (size_t[]){ 1, 4611686018427387903u }, 2);
    ck_assert_ptr_nonnull(strstr(header + 10, "(1, 4611686018427387903), }"));
    attn_npy_header(header, (size_t[]){ 5 }, 1);        /* a tuple of one in Python */
    ck_assert_ptr_nonnull(strstr(header + 10, "(5,), }"));
}
END_TEST

/* Compares an array with the numbers of the made-up pass. */
static void ck_array(const char *data, int act, int layer, const size_t *heads, size_t n, size_t T, size_t cols)
{
    for (size_t k = 0; k < (n ? n : 1); k++)
        for (size_t t = 0; t < T; t++)
            for (size_t j = 0; j < cols; j++, data += sizeof(float)) {
                float x, y = sinks_value(act, layer, n ? heads[k] : 0, t, j);
                memcpy(&x, data, sizeof x);
                ck_assert_msg(x == y,
                              "activation %d, layer %d, element %zu %zu %zu: %g, not %g", act, layer, k, t, j, x, y);
            }
}

/* Bands of dots, scores and pattern alternate: each must end up in its own file. */
START_TEST(npy_directory)
{
    struct sinks_setup s;
    size_t len;
    sinks_setup(&s, 5, "*", NULL, "1,3", true);
    sinks_ck_run("npy", &s);
    for (int act = 0; act < ATTN_ACTS; act++)
        for (int layer = -1; layer < 2; layer++) {
            char file[ATTN_NAME_MAX + 8];
            size_t shape[3], n;
            if (!attn_select_wants(s.select, act, layer))
                continue;
            attn_act_name(file, act, layer);
            strcat(file, ".npy");
            char *data = sinks_read(&s, file, &len);
            ck_assert_msg(data, "no file %s", file);
            const size_t *heads = attn_select_heads(s.select, act, layer, &n);
            size_t cols = shape[attn_act_shape(shape, &s.model, act, 5, 5) - 1];
            ck_assert_uint_eq(len, ATTN_NPY_HEADER + (n ? n : 1) * 5 * cols * sizeof(float));
            ck_array(data + ATTN_NPY_HEADER, act, layer, heads, n, 5, cols);
            free(data);
        }
    sinks_teardown(&s);
}
END_TEST

START_TEST(npy_of_one_activation)
{
    struct sinks_setup s;
    size_t len;
    sinks_setup(&s, 3, "tokens,q", "1", "0,2", true);   /* tokens have no array, so there is one only */
    strcat(s.path, ".npy");
    sinks_ck_run("npy", &s);
    char *data = sinks_read(&s, NULL, &len);
    ck_assert_uint_eq(len, ATTN_NPY_HEADER + 2 * 3 * 2 * sizeof(float));
    ck_assert_ptr_nonnull(strstr(data + 10, "'shape': (2, 3, 2), }"));
    ck_array(data + ATTN_NPY_HEADER, ATTN_ACT_Q, 1, (size_t[]){ 0, 2 }, 2, 3, 2);
    free(data);
    sinks_teardown(&s);
}
END_TEST

START_TEST(npz_members_in_order)
{
    struct sinks_setup s;
    size_t len, at = 0;
    sinks_setup(&s, 5, "dots,pattern,logits", "0", "2", true);
    sinks_ck_run("npz", &s);
    char *zip = sinks_read(&s, NULL, &len);
    static const struct { const char *name; int act, layer; size_t cols, head; } want[] = {
        { "blocks.0.attn.dots.npy", ATTN_ACT_DOTS, 0, 5, 2 },
        { "blocks.0.attn.pattern.npy", ATTN_ACT_PATTERN, 0, 5, 2 },
        { "logits.npy", ATTN_ACT_LOGITS, -1, 6, 0 },
    };
    for (size_t i = 0; i < 3; i++) {
        size_t name = strlen(want[i].name);
        ck_assert_mem_eq(zip + at, "PK\x03\x04", 4);
        ck_assert_mem_eq(zip + at + 30, want[i].name, name);
        at += 30 + name;
        ck_assert_mem_eq(zip + at, "\x93NUMPY", 6);
        at += ATTN_NPY_HEADER;
        ck_array(zip + at, want[i].act, want[i].layer, &want[i].head, want[i].layer >= 0, 5, want[i].cols);
        at += 5 * want[i].cols * sizeof(float) + 16;
    }
    ck_assert_mem_eq(zip + at + 30, "tokens.npy\x93NUMPY", 16);
    ck_assert_ptr_nonnull(memmem(zip + at, 128, "{'descr': '<U4', 'fortran_order': False, 'shape': (5,), }", 57));
    at += 30 + 10 + ATTN_NPY_HEADER;
    ck_assert_mem_eq(zip + at, "L\0\0\0i\0\0\0f\0\0\0e\0\0\0 \0\0\0i\0\0\0s\0\0\0\0\0\0\0\n\0\0\0", 36);
    at += 5 * 4 * sizeof(uint32_t) + 16;
    ck_assert_mem_eq(zip + at, "PK\x01\x02", 4);
    free(zip);
    sinks_teardown(&s);
}
END_TEST

Suite *suite_sinks(void)
{
    Suite *s = suite_create("sinks");
    TCase *t = tcase_create("sinks");
    tcase_add_test(t, every_format_listed_is_found);
    tcase_add_test(t, a_row_says_all_of_a_format);
    tcase_add_test(t, json_document);
    tcase_add_test(t, json_of_ids);
    tcase_add_test(t, json_document_on_one_line);
    tcase_add_test(t, tidy_table);
    tcase_add_loop_test(t, csv_cells, 0, (int)(sizeof cells / sizeof cells[0]));
    tcase_add_test(t, csv_directory);
    tcase_add_test(t, csv_of_one_matrix);
    tcase_add_test(t, csv_of_tokens_alone);
    tcase_add_loop_test(t, one_stream_takes_one, 0, (int)(sizeof crowded / sizeof crowded[0]));
    tcase_add_test(t, npy_header);
    tcase_add_test(t, npy_directory);
    tcase_add_test(t, npy_of_one_activation);
    tcase_add_test(t, npz_members_in_order);
    suite_add_tcase(s, t);
    return s;
}
