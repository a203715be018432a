/* test_dump.c - readers of what run wrote: .npy, .npz, JSON, CSV and directories of them. */
#include "suites.h"
#include "attn_tools.h"

#include "corpus.h"
#include "scratch.h"

#include "base/err.h"
#include "io/dump.h"
#include "io/npy.h"
#include "io/zip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- corpora ---- */

static int read_npy(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_array a = {0};
    int rc = attn_npy_read(&a, (const unsigned char *)bytes, len, name, err);
    attn_array_free(&a);
    return rc;
}

static const struct corpus_fault npy_faults[] = {
    {"n_magic.npy", "expected it to begin with"},   {"n_nothing.npy", "expected it to begin with"},
    {"n_version.npy", "version 4.0"},
    {"n_header_cut.npy", "cut short: its header has 118 bytes, 50 follow"},
    {"n_header_beyond.npy", "cut short"},           {"n_data_cut.npy", "23 bytes of numbers follow"},
    {"n_data_more.npy", "25 bytes of numbers"},     {"n_int.npy", "type '<i8', expected floats"},
    {"n_bool.npy", "type '|b1'"},                   {"n_complex.npy", "type '<c8'"},
    {"n_object.npy", "type '|O'"},                  {"n_struct.npy", "expected the type of plain numbers"},
    {"n_void.npy", "type '|V2'"},                   {"n_f16.npy", "type '<f16'"},
    {"n_no_shape.npy", "expected descr, fortran_order and shape"}, {"n_shape_twice.npy", "once each"},
    {"n_strange_key.npy", "once each"},             {"n_shape_negative.npy", "whole number in the shape"},
    {"n_shape_overflow.npy", "more than"},          {"n_shape_huge.npy", "whole number in the shape"},
    {"n_shape_open.npy", "comma or ')'"},           {"n_shape_list.npy", "in parentheses"},
    {"n_nine_axes.npy", "more than 8 axes"},        {"n_order.npy", "True or False"},
    {"n_quote_open.npy", "plain numbers"},          {"n_no_brace.npy", "expected '{'"},
    {NULL, NULL}};

static int read_npz(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    (void)bytes;
    (void)len;
    struct attn_dump *d;
    int rc = attn_dump_open(&d, printed("tests/corpus/npz/%s", name), err);
    attn_dump_free(d);
    return rc;
}

static const struct corpus_fault npz_faults[] = {
    {"n_compressed.npz", "write it with numpy.savez, not savez_compressed"},
    {"n_cut.npz", "does not end with a list"},      {"n_nothing.npz", "neither an .npy file nor a zip archive"},
    {"n_start_beyond.npz", "outside the file"},     {"n_list_cut.npz", "list of members is cut short"},
    {"n_encrypted.npz", "'embed.npy' is encrypted"},{"n_crc.npz", "'embed.npy' is damaged"},
    {"n_offset.npz", "not where the list says"},    {"n_size_beyond.npz", "beyond the end"},
    {"n_two_sizes.npz", "two sizes"},               {"n_name_beyond.npz", "list of members is cut short"},
    {"n_on_top.npz", "'embed' is there twice"},     {"n_member_twice.npz", "'embed' is there twice"},
    {"n_no_array.npz", "note.txt: expected arrays"}, {"n_int_beside.npz", "i.npy: holds numbers of type '<i8'"},
    {NULL, NULL}};

static int read_document(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_dump *d = calloc(1, sizeof *d);
    int rc = attn_dump_read_document(d, bytes, len, name, err);
    attn_dump_free(d);
    return rc;
}

static const struct corpus_fault document_faults[] = {
    {"n_array.json", "document of run --format json"}, {"n_nothing.json", "line 1, column 1"},
    {"n_cut.json", "line 1"},                       {"n_no_activations.json", "has no \"activations\""},
    {"n_activations_object.json", "list of objects"}, {"n_entry_number.json", "an object"},
    {"n_no_name.json", "an object with a name"},    {"n_name_number.json", "a name"},
    {"n_shape_more.json", "'x' has 2 numbers"},     {"n_shape_overflow.json", "'x' has 0 numbers"},
    {"n_shape_negative.json", "a whole number"},    {"n_shape_long.json", "at most 8 axes"},
    {"n_no_shape.json", "'x' has 1 numbers"},       {"n_data_text.json", "numbers in nested lists"},
    {"n_data_object.json", "numbers in nested lists"}, {"n_twice.json", "'x' is there twice"},
    {"n_token_id.json", "a token id"},              {"n_token_large.json", "a token id"},
    {"n_nested_otherwise.json", "has 6 numbers, which is not what its shape says"},
    {"n_ragged.json", "expected as many items as in the lists before it"},
    {"n_ragged_depth.json", "expected numbers in lists of one depth"},
    {"n_heads.json", "'blocks.0.attn.pattern' lists 1 heads, which is not what its shape says"},
    {"n_token_number.json", "an object"},           {"n_trailing.json", "line 1"},
    {NULL, NULL}};

static int read_csv(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_array a = {0};
    int rc = attn_dump_read_csv(&a, bytes, len, name, err);
    attn_array_free(&a);
    return rc;
}

static const struct corpus_fault csv_faults[] = {
    {"n_nothing.csv", "the first row has one field"}, {"n_no_columns.csv", "the first row has one field"},
    {"n_long_row.csv", "row 1 has 2 numbers, the first row labels 1 columns"},
    {"n_long_word.csv", "row 1 has 2 numbers, the first row labels 1 columns"},
    {"n_short_row.csv", "row 1 has 1 numbers"},     {"n_word.csv", "row 1: 'one' is not a number"},
    {"n_empty_field.csv", "'' is not a number"},    {"n_quote_open.csv", "a quote is not closed"},
    {"n_header_quote.csv", "a quote is not closed"},
    {"n_empty_line.csv", "row 2 has 0 numbers"},    {"n_bare_short.csv", "row 2 has 1 numbers, the first row has 2"},
    {NULL, NULL}};

static int read_tidy(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_dump *d = calloc(1, sizeof *d);
    d->path = name;
    int rc = attn_dump_read_tidy(d, bytes, len, name, err);
    attn_dump_free(d);
    return rc;
}

static const struct corpus_fault tidy_faults[] = {
    {"n_header.csv", "line 1: expected name,layer"}, {"n_nothing.csv", "expected numbers below"},
    {"n_fields.csv", "line 2: expected a name and the other fields"},
    {"n_quote.csv", "a quote is not closed"},       {"n_no_name.csv", "expected a name"},
    {"n_row_word.csv", "row and col are no numbers"}, {"n_head_word.csv", "the head is no number"},
    {"n_value.csv", "line 2: 'one' is not a number"}, {"n_start.csv", "in the order in which"},
    {"n_jump.csv", "line 3: expected rows and columns in the order"},
    {"n_back.csv", "line 4: expected rows and columns in the order"},
    {"n_first_row_longer.csv", "line 12: expected rows and columns in the order"},
    {"n_ragged.csv", "line 5: expected rows and columns in the order"}, {"n_short.csv", "another shape"},
    {"n_heads_differ.csv", "another shape"},        {"n_twice.csv", "'x' is there twice"},
    {"n_twice_at_once.csv", "the name is there twice"},
    {NULL, NULL}};

START_TEST(test_corpora)
{
    corpus_check("tests/corpus/npy", npy_faults, read_npy);
    corpus_check("tests/corpus/npz", npz_faults, read_npz);
    corpus_check("tests/corpus/document", document_faults, read_document);
    corpus_check("tests/corpus/csv", csv_faults, read_csv);
    corpus_check("tests/corpus/tidy", tidy_faults, read_tidy);
}
END_TEST

/* ---- values ---- */

static struct attn_array npy(const char *file)
{
    size_t len;
    struct attn_err err = {0};
    struct attn_array a = {0};
    char *bytes = corpus_slurp(printed("tests/corpus/npy/%s", file), &len);
    ck_assert_msg(attn_npy_read(&a, (unsigned char *)bytes, len, file, &err) == 0, "%s", err.msg);
    free(bytes);
    return a;
}

static const char *const same[] = {"y_f2.npy", "y_f4.npy", "y_f8.npy", "y_big_f2.npy", "y_big_f4.npy",
                                   "y_big_f8.npy", "y_v1.npy",
                                   "y_v2.npy", "y_v3.npy", "y_fortran.npy"};

START_TEST(test_every_type_gives_the_same_numbers)
{
    static const float want[] = {0, -1.5f, INFINITY, 0.25f, 3, 65504};
    struct attn_array a = npy(same[_i]);
    ck_assert(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 && a.n == 6);
    ck_assert(memcmp(a.data, want, sizeof want) == 0);
    attn_array_free(&a);
}
END_TEST

START_TEST(test_other_shapes)
{
    struct attn_array a = npy("y_scalar.npy");
    ck_assert(a.ndim == 0 && a.n == 1 && a.data[0] == 7);
    attn_array_free(&a);
    a = npy("y_empty.npy");
    ck_assert(a.ndim == 2 && a.shape[0] == 0 && a.shape[1] == 3 && a.n == 0);
    attn_array_free(&a);
    a = npy("y_fortran_3.npy");
    ck_assert(a.ndim == 3 && a.shape[0] == 2 && a.shape[1] == 3 && a.shape[2] == 4);
    for (size_t i = 0; i < a.n; i++)
        ck_assert(a.data[i] == (float)i);
    attn_array_free(&a);
    a = npy("y_subnormal_f2.npy");
    ck_assert(a.data[0] == 0x1p-24f && a.data[1] == -0x1p-15f && a.data[2] == 0x1p-14f);
    attn_array_free(&a);
    a = npy("y_other_spelling.npy");
    ck_assert(a.n == 2 && a.data[1] == -1.5f);
    attn_array_free(&a);
}
END_TEST

static struct attn_dump *dump(const char *path)
{
    struct attn_err err = {0};
    struct attn_dump *d;
    ck_assert_msg(attn_dump_open(&d, path, &err) == 0, "%s", err.msg);
    return d;
}

/* A table as numpy.savetxt writes it, without labels. */
/* What a program that opens a dump is given: names, shapes and numbers in the order of the file. */
START_TEST(test_arrays)
{
    struct attn_dump_array a;
    struct attn_dump *d = dump("tests/corpus/document/y_run.json");
    ck_assert_int_eq(attn_dump_array(d, 1, &a), 3);
    ck_assert_str_eq(a.name, "blocks.0.attn.pattern");
    ck_assert(a.shape[0] == 1 && a.shape[1] == a.shape[2] && a.shape[1] == attn_dump_tokens(d));
    ck_assert_float_eq(a.data[0], 1);
    ck_assert_float_eq(a.data[1], 0);
    ck_assert_int_eq(attn_dump_array(d, SIZE_MAX, &a), -1);
    ck_assert(!a.name && !a.data);
    attn_dump_free(d);
}
END_TEST

START_TEST(test_numbers_alone)
{
    struct attn_dump *d = dump("tests/corpus/csv/y_bare.csv");
    const struct attn_dumped *m = attn_dump_item(d, "y_bare");
    ck_assert(d->n == 1 && m && m->of.ndim == 2 && m->of.shape[0] == 2 && m->of.shape[1] == 2);
    ck_assert(m->of.data[0] == 1 && m->of.data[1] == -2.5f && m->of.data[2] == 3 && isnan(m->of.data[3]));
    ck_assert(d->rows.n == 0 && d->cols.n == 0);
    attn_dump_free(d);
    d = dump("tests/corpus/csv/y_mark.csv");
    ck_assert(d->item[0].of.n == 1 && d->item[0].of.data[0] == 1 && d->rows.n == 1 && d->cols.n == 1);
    attn_dump_free(d);
}
END_TEST

START_TEST(test_document)
{
    struct attn_dump *d = dump("tests/corpus/document/y_run.json");
    const struct attn_dumped *embed = attn_dump_item(d, "embed"), *pattern = attn_dump_item(d, "blocks.0.attn.pattern");
    ck_assert(d->n == 2 && embed && pattern && embed->loose && !pattern->loose && !embed->heads);
    ck_assert(embed->of.data[1] == -2.5e-3f && isnan(embed->of.data[2]));
    ck_assert(pattern->of.ndim == 3 && pattern->n_heads == 1 && pattern->heads[0] == 1);
    int32_t id;
    size_t len;
    ck_assert_uint_eq(attn_dump_tokens(d), 2);
    ck_assert_str_eq(attn_dump_token(d, 0, &id, &len), "a");
    ck_assert(id == 3 && len == 1);
    ck_assert_ptr_null(attn_dump_token(d, 1, &id, &len));
    attn_dump_free(d);
}
END_TEST

static void put(const char *leaf, const char *text)
{
    scratch_put(printed("%s/%s", scratch_dir, leaf), text, strlen(text));
}

START_TEST(test_heads_of_a_csv_directory)
{
    put("blocks.0.attn.q.head10.csv", "token,0\na,10\nb,11\n");
    put("blocks.0.attn.q.head2.csv", "token,0\na,2\nb,3\n");
    put("embed.csv", "token,0\na,5\nb,6\n");
    put("tokens.csv", "index,id,text,start,end\n0,1,a,0,1\n");
    put("manifest.json", "{\"tokens\":[{\"id\":7,\"text\":\"a\"},{\"id\":8,\"text\":\"b\"}],\"files\":[]}");
    put("notes.txt", "not ours");
    struct attn_dump *d = dump(scratch_dir);
    const struct attn_dumped *q = attn_dump_item(d, "blocks.0.attn.q");
    ck_assert(d->n == 2 && q && attn_dump_item(d, "embed") && attn_dump_tokens(d) == 2);
    ck_assert(q->of.ndim == 3 && q->of.shape[0] == 2 && q->of.shape[1] == 2 && q->of.shape[2] == 1);
    ck_assert(q->heads[0] == 2 && q->heads[1] == 10);
    ck_assert(q->of.data[0] == 2 && q->of.data[1] == 3 && q->of.data[2] == 10 && q->of.data[3] == 11);
    attn_dump_free(d);
}
END_TEST

/* A .safetensors file with these entries of its header, and these bytes behind it. */
static const char *tensors(const char *header, const void *data, size_t len)
{
    char file[1024] = {0};
    const char *path = scratch_path("x.safetensors");
    uint64_t n = strlen(header);
    memcpy(file, &n, sizeof n);
    memcpy(file + sizeof n, header, n);
    memcpy(file + sizeof n + n, data, len);
    scratch_put(path, file, sizeof n + n + len);
    return path;
}

START_TEST(test_safetensors)
{
    const struct { double d[2]; int64_t id[2]; float f[2]; uint16_t half[2], brain[2]; } data = {
        {1.5, -3}, {7, 9}, {1.5f, -3}, {0x3e00, 0xc200}, {0x3fc0, 0xc040}};
    struct attn_dump *d = dump(tensors(
        "{\"d\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},\"tokens\":{\"dtype\":\"I64\",\"shape\":[1,"
        "2],\"data_offsets\":[16,32]},\"f\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[32,40]},"
        "\"half\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[40,44]},\"brain\":{\"dtype\":\"BF16\","
        "\"shape\":[2],\"data_offsets\":[44,48]},\"__metadata__\":{\"format\":\"pt\"}}", &data, 48));
    static const char *const names[] = {"d", "f", "half", "brain"};
    int32_t id;
    size_t len;
    ck_assert(d->n == 4 && attn_dump_tokens(d) == 2 && !attn_dump_token(d, 1, &id, &len) && id == 9);
    for (size_t i = 0; i < 4; i++) {
        const struct attn_dumped *x = attn_dump_item(d, names[i]);
        ck_assert_msg(x && x->of.n == 2 && x->of.data[0] == 1.5f && x->of.data[1] == -3, "%s", names[i]);
    }
    ck_assert(attn_dump_item(d, "half")->of.ndim == 2 && attn_dump_item(d, "half")->of.shape[0] == 2);
    attn_dump_free(d);
}
END_TEST

START_TEST(test_safetensors_refused)
{
    static const struct { const char *entry, *says; } bad[] = {
        {"{\"x\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}",
         "'x' holds numbers of type I64, expected F32, F16 or BF16"},
        {"{\"tokens\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}",
         "token 0 has id -1, expected 0 to 2147483647"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", "x.safetensors"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attn_err err = {0};
        struct attn_dump *d = NULL;
        ck_assert_int_eq(attn_dump_open(&d, tensors(bad[i].entry, &(int64_t){-1}, 8), &err), ATTN_EFORMAT);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "%s", err.msg);
    }
}
END_TEST

#define MANIFEST(files) "{\"tool\":\"attn-cli\",\"command\":\"run\",\"files\":[" files "]}"

static void expect_arrays(size_t n, const char *warning)
{
    struct attn_dump *d = dump(scratch_dir);
    const char *said = attn_dump_warning(d);
    ck_assert_uint_eq(d->n, n);
    ck_assert_msg(!said == !warning && (!said || strstr(said, warning)), "expected '%s' in '%s'", warning, said);
    attn_dump_free(d);
}

/* More heads than the first room for their numbers holds. */
START_TEST(test_many_heads_in_a_manifest)
{
    enum { HEADS = 40, HEADER = 128 };
    char npy[HEADER + HEADS * sizeof(float)] = {0}, list[4 * HEADS], *at = list;
    memset(npy, ' ', HEADER - 1);
    memcpy(npy, "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (40, 1, 1), }", 73);
    npy[HEADER - 1] = '\n';
    for (int h = 0; h < HEADS; h++)
        at += sprintf(at, "%s%d", h ? "," : "", 2 * h);
    scratch_put(scratch_path("q.npy"), npy, sizeof npy);
    put("manifest.json", printed(MANIFEST("{\"file\":\"q.npy\",\"name\":\"q\",\"heads\":[%s]}"), list));
    struct attn_dump *d = dump(scratch_dir);
    const struct attn_dumped *q = attn_dump_item(d, "q");
    ck_assert(q && q->n_heads == HEADS);
    for (size_t h = 0; h < HEADS; h++)
        ck_assert_uint_eq(q->heads[h], 2 * h);
    attn_dump_free(d);
}
END_TEST

START_TEST(test_a_manifest_of_ours_is_believed)
{
    put("a.csv", "token,0\na,1\n");
    put("b.csv", "token,0\na,2\n");
    put("c\x1b.csv", "token,0\na,3\n");
    expect_arrays(3, NULL);
    put("manifest.json", "{\"tool\":\"other\",\"files\":[{\"file\":\"a.csv\",\"name\":\"a\"}]}");
    expect_arrays(3, NULL);
    put("manifest.json", MANIFEST("{\"file\":\"b.csv\",\"name\":\"b\"},{\"file\":\"a.csv\",\"name\":\"a\"}"));
    expect_arrays(2, ": 1 file not in its manifest was not read, such as c\xEF\xBF\xBD.csv");
    put("manifest.json", MANIFEST("{\"file\":\"b.csv\",\"name\":\"b\"},{\"file\":\"x.csv\",\"name\":\"x\"},"
                                  "{\"file\":\"y.csv\",\"name\":\"y\"}"));
    expect_arrays(1, ": 2 files not in its manifest were not read, such as a.csv; ");
    expect_arrays(1, ": 2 files that its manifest lists are missing, such as x.csv");
}
END_TEST

static void put_npy_from(const char *leaf, const char *shape, size_t n, float first)
{
    unsigned char file[256] = "\x93NUMPY\x01\x00\x76\x00";
    float x[16];
    ck_assert_uint_le(n, 16);
    memset(file + 10, ' ', 118);
    snprintf((char *)file + 10, 118, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape);
    file[10 + strlen((char *)file + 10)] = ' ';
    file[127] = '\n';
    for (size_t i = 0; i < n; i++)
        x[i] = first + (float)i;
    memcpy(file + 128, x, n * sizeof *x);
    scratch_put(scratch_path(leaf), file, 128 + n * sizeof *x);
}

/* An .npy file of small whole numbers, 0, 1, 2... */
static void put_npy(const char *leaf, const char *shape, size_t n)
{
    put_npy_from(leaf, shape, n, 0);
}

/* steps.npy numbers the first axis of every other array, as `train --watch` writes them; otherwise it is an
 * array like others. */
START_TEST(test_steps)
{
    put_npy("steps.npy", "(2,)", 2);
    struct attn_dump *d = dump(scratch_dir);
    ck_assert(d->n == 1 && !d->steps && !strcmp(d->item[0].name, "steps"));
    attn_dump_free(d);
    put_npy("blocks.0.attn.pattern.npy", "(2, 2, 2)", 8);
    d = dump(scratch_dir);
    ck_assert(d->n == 1 && d->steps && d->n_steps == 2 && d->steps[0] == 0 && d->steps[1] == 1);
    ck_assert_str_eq(d->item[0].name, "blocks.0.attn.pattern");
    attn_dump_free(d);
    put_npy("embed.npy", "(2, 3)", 6);
    d = dump(scratch_dir);
    ck_assert(d->n == 3 && !d->steps);
    attn_dump_free(d);
    put_npy("embed.npy", "(3, 1, 2)", 6);
    d = dump(scratch_dir);
    ck_assert(d->n == 3 && !d->steps);
    attn_dump_free(d);
    put_npy("embed.npy", "(2, 1, 3)", 6);
    d = dump(scratch_dir);
    ck_assert(d->n == 2 && d->n_steps == 2);
    attn_dump_free(d);
    static const float no_count[] = {-1, 0x1p60f, NAN};
    for (size_t i = 0; i < 3; i++) {
        put_npy_from("steps.npy", "(2,)", 2, no_count[i]);
        d = dump(scratch_dir);
        ck_assert(d->n == 3 && !d->steps);
        attn_dump_free(d);
    }
}
END_TEST

static void refused(const char *path, const char *says)
{
    struct attn_err err = {0};
    struct attn_dump *d;
    ck_assert_int_ne(attn_dump_open(&d, path, &err), 0);
    ck_assert_ptr_null(d);
    ck_assert_msg(strstr(err.msg, says) && strstr(err.msg, scratch_dir), "expected '%s' in '%s'", says, err.msg);
}

/* As git-annex and DVC store them. */
START_TEST(test_files_of_a_directory_may_be_links)
{
    struct attn_dump *d;
    struct attn_err err = {0};
    ck_assert_int_eq(mkdir(scratch_path("store"), 0700) || mkdir(scratch_path("dump"), 0700), 0);
    put("store/x", "token,0\na,1\n");
    ck_assert_int_eq(symlink("../store/x", scratch_path("dump/embed.csv")), 0);
    ck_assert_msg(!attn_dump_open(&d, scratch_path("dump"), &err), "%s", err.msg);
    ck_assert_ptr_nonnull(attn_dump_item(d, "embed"));
    attn_dump_free(d);
}
END_TEST

/* Of another program a manifest may be about anything. */
START_TEST(test_a_manifest_of_others)
{
    static const char *const texts[] = {"{\"name\":\"an app\"}", "{\"files\":[\"embed.csv\"]}", "{\"files\":3}",
                                        "{\"files\":[[1],{}]}"};
    put("embed.csv", "token,0\na,5\nb,6\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("manifest.json", texts[i]);
        struct attn_dump *d = dump(scratch_dir);
        ck_assert(d->n == 1 && attn_dump_item(d, "embed"));
        attn_dump_free(d);
    }
}
END_TEST

START_TEST(test_directories_refused)
{
    refused(scratch_dir, "no .npy and no .csv file in it");
    put("blocks.0.attn.q.head0.csv", "token,0\na,1\n");
    put("blocks.0.attn.q.head1.csv", "token,0\na,1\nb,2\n");
    refused(scratch_dir, "differ in shape");
    put("blocks.0.attn.q.csv", "token,0\na,1\n");
    put("blocks.0.attn.q.head1.csv", "token,0\na,1\n");
    refused(scratch_dir, "'blocks.0.attn.q' is there twice");      /* joined from its heads, and whole */
    put("blocks.0.attn.q.head1.csv", "token,0\na,x\n");
    refused(scratch_dir, "'x' is not a number");
    put("a.npy", "no array");
    refused(scratch_dir, "expected it to begin with");
    ck_assert_int_eq(unlink(scratch_path("a.npy")) || mkfifo(scratch_path("a.npy"), 0600), 0);
    refused(scratch_dir, "a.npy: found a pipe or device, expected a regular file");
    ck_assert_int_eq(unlink(scratch_path("a.npy")) || symlink("/dev/zero", scratch_path("a.npy")), 0);
    refused(scratch_dir, "a.npy: found a pipe or device, expected a regular file");
    ck_assert_int_eq(unlink(scratch_path("a.npy")) || unlink(scratch_path("blocks.0.attn.q.head1.csv")), 0);
    ck_assert_int_eq(mkfifo(scratch_path("manifest.json"), 0600), 0);
    refused(scratch_dir, "manifest.json: found a pipe or device, expected a regular file");
    refused(scratch_path("missing"), "No such file");
    ck_assert_int_eq(unlink(scratch_path("manifest.json")), 0);
    put("manifest.json", MANIFEST(""));
    refused(scratch_dir, "no .npy and no .csv file in it that its manifest lists");
    ck_assert_int_eq(rename(scratch_path("manifest.json"), scratch_path("manifest.json.part")), 0);
    refused(scratch_dir, "a run that writes to it has not finished");
    put("manifest.json", "{\"name\":\"a page\",\"files\":[]}");
    refused(scratch_dir, "a run that writes to it has not finished");
}
END_TEST

/* Files that end where the bytes end by which a format is told. */
START_TEST(test_stubs_refused)
{
    put("a.npy", "\x93NUMPY");
    refused(scratch_path("a.npy"), "neither an .npy file nor a zip archive");
    put("a.npy", "\x93NUMPY\x01");
    refused(scratch_path("a.npy"), "a.npy: ");
    put("a.npz", "PK\x03\x04");
    refused(scratch_path("a.npz"), "neither an .npy file nor a zip archive");
    put("a.npz", "PK\x03\x04\x14");
    refused(scratch_path("a.npz"), "a.npz: ");
    put("a.npz", "");
    refused(scratch_path("a.npz"), "a.npz: ");
}
END_TEST

/* Changes each bit of a good archive in turn: it must be read or refused, without any other effect. */
START_TEST(test_flipped_bits)
{
    size_t len;
    char *bytes = corpus_slurp("tests/corpus/npz/y_savez.npz", &len);
    for (size_t i = 0; i < len * 8; i++) {
        struct attn_unzip z;
        struct attn_unzipped m = {0};
        struct attn_err err = {0};
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        int rc = attn_unzip_start(&z, (unsigned char *)bytes, len, "x", &err);
        while (!rc && !(rc = attn_unzip_next(&z, &m, &err)) && m.name)
            rc = read_npy((const char *)m.data, m.size, "x", &err) == ATTN_ENOMEM;
        ck_assert(rc == ATTN_OK || (rc == ATTN_EFORMAT && err.msg[0]));
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
    }
    free(bytes);
}
END_TEST

Suite *suite_dump(void)
{
    Suite *s = suite_create("dump");
    TCase *t = tcase_create("dump");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_many_heads_in_a_manifest);
    tcase_add_test(t, test_a_manifest_of_ours_is_believed);
    tcase_add_test(t, test_corpora);
    tcase_add_loop_test(t, test_every_type_gives_the_same_numbers, 0, sizeof same / sizeof *same);
    tcase_add_test(t, test_other_shapes);
    tcase_add_test(t, test_arrays);
    tcase_add_test(t, test_numbers_alone);
    tcase_add_test(t, test_document);
    tcase_add_test(t, test_heads_of_a_csv_directory);
    tcase_add_test(t, test_files_of_a_directory_may_be_links);
    tcase_add_test(t, test_safetensors);
    tcase_add_test(t, test_safetensors_refused);
    tcase_add_test(t, test_steps);
    tcase_add_test(t, test_directories_refused);
    tcase_add_test(t, test_a_manifest_of_others);
    tcase_add_test(t, test_stubs_refused);
    tcase_add_test(t, test_flipped_bits);
    suite_add_tcase(s, t);
    return s;
}
