#include "hf.h"

#include "agree.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Multiples of a power of two with at most eight bits: F32, F16 and BF16 hold them exactly. */
static double *draw(size_t n, double width)
{
    double *x = calloc(n + 1, sizeof *x), unit = exp2(round(log2(width / 255)));
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (agree_pick(511) - 255) * unit;
    return x;
}

/* ck_assert writes a line to the parent process, which is too slow for each number. */
static void expect_exact(bool exact)
{
    if (!exact)
        ck_abort_msg("a weight is not what its type can store");
}

static uint16_t to_f16(uint32_t bits)
{
    int exponent = (int)(bits >> 23 & 0xff) - 127;
    if ((bits & 0x7fffffff) == 0)
        return (uint16_t)(bits >> 16);
    expect_exact(exponent >= -14 && exponent <= 15 && (bits & 0x1fff) == 0);
    return (uint16_t)((bits >> 16 & 0x8000) | (uint32_t)(exponent + 15) << 10 | (bits >> 13 & 0x3ff));
}

static void store(unsigned char *at, double x, const char *dtype)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (strcmp(dtype, "F32") == 0) {
        memcpy(at, &bits, 4);
        return;
    }
    uint16_t half = strcmp(dtype, "F16") == 0 ? to_f16(bits) : (uint16_t)(bits >> 16);
    expect_exact(strcmp(dtype, "F16") == 0 || (bits & 0xffff) == 0);
    memcpy(at, &half, 2);
}

/* ---- tensors ---- */

static void add(struct hf *h, const char *name, const char *dtype, int ndim, size_t rows, size_t cols,
                unsigned char *data)
{
    size_t count = rows * (ndim == 2 ? cols : 1);
    ck_assert_uint_lt(h->n, HF_MAX);
    h->t[h->n++] = (struct attn_st_tensor){.name = strdup(name), .dtype = dtype, .ndim = ndim,
                                           .shape = {rows, ndim == 2 ? cols : 0},
                                           .count = count, .bytes = count * attn_st_element(dtype), .data = data};
}

/* Adds a tensor whose element (i, j) is x[i * row + j * col]. */
static void add_numbers(struct hf *h, const char *name, int ndim, size_t rows, size_t cols, const double *x,
                        size_t row, size_t col)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    const char *dtype = h->dtype ? h->dtype : dtypes[agree_pick(3)];
    size_t size = attn_st_element(dtype);
    unsigned char *data = malloc(rows * cols * size + 1);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            store(data + (i * cols + j) * size, x[i * row + j * col], dtype);
    add(h, name, dtype, ndim, rows, cols, data);
}

static void remember(struct hf *h, const char *name, double *x)
{
    ck_assert_uint_lt(h->natives, HF_MAX);
    h->native[h->natives].name = strdup(name);
    h->native[h->natives++].x = x;
}

/* Enlarges the columns from..to of x[rows, cols] if queries or keys are computed with them; a norm's weights as what
 * they are added to makes them. */
static void sharpen(const struct hf *h, const char *native, double *x, size_t rows, size_t cols, size_t from, size_t to)
{
    bool q = strstr(native, "attn.q") != NULL, norm = strstr(native, "_norm") != NULL;
    double by = q ? 4 : h->sharp / 4, base = norm && h->from_one ? 1 : 0;
    if (!(h->sharp > 0) || (!q && !strstr(native, "attn.k")))
        return;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = from; j < to; j++)
            x[i * cols + j] = (base + x[i * cols + j]) * by - base;
}

void hf_bias(struct hf *h, const char *native, const char *name, size_t n)
{
    double *x = draw(n, 0.3);
    add_numbers(h, printed("%s.bias", name), 1, n, 1, x, 1, 0);
    remember(h, printed("%s.bias", native), x);
}

static double *draw_table(const struct hf *h, size_t rows, size_t cols)
{
    double *x = draw(rows * cols, 1);
    for (size_t i = 0; i < rows * cols && h->small > 0; i++)
        x[i] *= (i % cols == cols / 2 ? h->outlier : 1) / h->small;
    return x;
}

void hf_table(struct hf *h, const char *native, const char *name, size_t rows, size_t cols)
{
    double *x = draw_table(h, rows, cols);
    add_numbers(h, printed("%s.weight", name), 2, rows, cols, x, cols, 1);
    remember(h, printed("%s.weight", native), x);
}

static double *norm_weights(const struct hf *h, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (h->from_one ? 0 : 1) + (agree_pick(65) - 32) / 128.0;
    return x;
}

void hf_norm(struct hf *h, const char *native, const char *name, size_t n, bool bias)
{
    double *x = norm_weights(h, n);
    sharpen(h, native, x, 1, n, 0, n);
    add_numbers(h, printed("%s.weight", name), 1, n, 1, x, 1, 0);
    remember(h, printed("%s.weight", native), x);
    if (bias)
        hf_bias(h, native, name, n);
}

void hf_own_norms(struct hf *h, const char *native, const char *name, size_t heads, size_t n)
{
    double *x = norm_weights(h, heads * n);
    sharpen(h, native, x, 1, heads * n, 0, heads * n);
    for (size_t j = 0; j < heads; j++)
        add_numbers(h, printed("%s.%zu.weight", name, j), 1, n, 1, x + j * n, 1, 0);
    remember(h, printed("%s.weight", native), x);
}

void hf_norm_rows(struct hf *h, const char *native, const char *name, size_t heads, size_t n)
{
    double *x = norm_weights(h, heads * n);
    sharpen(h, native, x, 1, heads * n, 0, heads * n);
    add_numbers(h, printed("%s.weight", name), 2, heads, n, x, n, 1);
    remember(h, printed("%s.weight", native), x);
}

void hf_positions(struct hf *h, const char *native, const char *name, size_t skip, size_t rows, size_t cols)
{
    double *x = draw_table(h, skip + rows, cols), *used = calloc(rows * cols + 1, sizeof *used);
    add_numbers(h, printed("%s.weight", name), 2, skip + rows, cols, x, cols, 1);
    memcpy(used, x + skip * cols, rows * cols * sizeof *used);
    remember(h, printed("%s.weight", native), used);
    free(x);
}

static double width_of(size_t in)
{
    return 1.2 / sqrt((double)in);
}

void hf_linear(struct hf *h, const char *native, const char *name, size_t in, size_t out, bool transposed, bool bias)
{
    double *x = draw(in * out, width_of(in));
    sharpen(h, native, x, in, out, 0, out);
    if (transposed)
        add_numbers(h, printed("%s.weight", name), 2, out, in, x, 1, out);
    else
        add_numbers(h, printed("%s.weight", name), 2, in, out, x, out, 1);
    remember(h, printed("%s.weight", native), x);
    if (bias)
        hf_bias(h, native, name, out);
}

/* Copies each column of the fused [in, 3 * heads * dh] to its place in q, k or v. */
static void split(double *const part[3], const double *fused, size_t in, size_t heads, size_t dh, bool by_head)
{
    size_t out = heads * dh;
    for (size_t at = 0; at < 3 * out; at++) {
        size_t p = by_head ? at / dh % 3 : at / out, to = by_head ? at / dh / 3 * dh + at % dh : at % out;
        for (size_t i = 0; i < in; i++)
            part[p][i * out + to] = fused[i * 3 * out + at];
    }
}

static void remember_thirds(struct hf *h, const char *native, const char *kind, const double *fused, size_t in,
                            size_t heads, size_t dh, bool by_head)
{
    double *part[3];
    for (int p = 0; p < 3; p++)
        part[p] = calloc(in * heads * dh + 1, sizeof **part);
    split(part, fused, in, heads, dh, by_head);
    for (int p = 0; p < 3; p++)
        remember(h, printed("%s.%c.%s", native, "qkv"[p], kind), part[p]);
}

void hf_thirds(struct hf *h, const char *native, const char *name, size_t in, size_t heads, size_t dh,
               bool by_head, bool bias)
{
    static const char *const parts[] = {"attn.q", "attn.k", "attn.v"};
    size_t out = 3 * heads * dh;
    double *x = draw(in * out, width_of(in)), *b = draw(out, 0.3);
    for (size_t at = 0; at < out; at += dh)
        sharpen(h, parts[by_head ? at / dh % 3 : at / (heads * dh)], x, in, out, at, at + dh);
    if (by_head)
        add_numbers(h, printed("%s.weight", name), 2, out, in, x, 1, out);
    else
        add_numbers(h, printed("%s.weight", name), 2, in, out, x, out, 1);
    remember_thirds(h, native, "weight", x, in, heads, dh, by_head);
    if (bias) {
        add_numbers(h, printed("%s.bias", name), 1, out, 1, b, 1, 0);
        remember_thirds(h, native, "bias", b, 1, heads, dh, by_head);
    }
    free(x), free(b);
}

/* Gives each part its own columns of a fused [in, all]. */
static void remember_parts(struct hf *h, const struct hf_part *part, size_t parts, size_t groups, const char *kind,
                           const double *fused, size_t in, size_t all)
{
    for (size_t p = 0, before = 0; p < parts; before += part[p++].out / groups) {
        size_t out = part[p].out, each = out / groups;
        double *x = calloc(in * out + 1, sizeof *x);
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < out; j++)
                x[i * out + j] = fused[i * all + j / each * (all / groups) + before + j % each];
        remember(h, printed("%s.%s", part[p].native, kind), x);
    }
}

void hf_fused(struct hf *h, const struct hf_part *part, size_t parts, size_t groups, const char *name,
              size_t in, bool bias)
{
    size_t all = 0;
    for (size_t p = 0; p < parts; p++)
        all += part[p].out;
    double *x = draw(in * all, width_of(in)), *b = draw(all, 0.3);
    for (size_t at = 0, p = 0; at < all; at += part[p].out / groups, p = (p + 1) % parts)
        sharpen(h, part[p].native, x, in, all, at, at + part[p].out / groups);
    add_numbers(h, printed("%s.weight", name), 2, all, in, x, 1, all);
    remember_parts(h, part, parts, groups, "weight", x, in, all);
    if (bias) {
        add_numbers(h, printed("%s.bias", name), 1, all, 1, b, 1, 0);
        remember_parts(h, part, parts, groups, "bias", b, 1, all);
    }
    free(x), free(b);
}

static struct attn_st_tensor *find(struct hf *h, const char *name)
{
    size_t i = 0;
    while (strcmp(h->t[i].name, name) != 0)
        ck_assert_uint_lt(++i, h->n);
    return &h->t[i];
}

void hf_copy(struct hf *h, const char *name, const char *of)
{
    const struct attn_st_tensor *t = find(h, of);
    unsigned char *data = malloc(t->bytes + 1);
    memcpy(data, t->data, t->bytes);
    add(h, name, t->dtype, t->ndim, t->shape[0], t->shape[1], data);
}

void hf_rename(struct hf *h, const char *name, const char *from)
{
    struct attn_st_tensor *t = find(h, from);
    free((char *)(uintptr_t)t->name);
    t->name = strdup(name);
    ck_assert_ptr_nonnull(t->name);
}

void hf_buffer(struct hf *h, const char *name, const char *dtype, size_t rows, size_t cols)
{
    add(h, name, dtype, 2, rows, cols, calloc(rows * cols + 1, attn_st_element(dtype)));
}

const double *hf_weight(void *ctx, const char *native)
{
    const struct hf *h = ctx;
    for (size_t i = 0; i < h->natives; i++)
        if (strcmp(h->native[i].name, native) == 0)
            return h->native[i].x;
    return NULL;
}

void hf_free(struct hf *h)
{
    for (size_t i = 0; i < h->n; i++)
        free((char *)h->t[i].name), free((unsigned char *)h->t[i].data);
    for (size_t i = 0; i < h->natives; i++)
        free(h->native[i].name), free(h->native[i].x);
    *h = (struct hf){0};
}

/* ---- files ---- */

char *hf_path(const char *dir, const char *file)
{
    char *path = NULL;
    ck_assert_int_ge(asprintf(&path, "%s/%s", dir, file), 0);
    return path;
}

char *hf_dir(void)
{
    char *dir = hf_path(scratch_dir, "hf-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    return dir;
}

void hf_put(const char *dir, const char *file, const void *data, size_t len)
{
    char *path = hf_path(dir, file);
    scratch_put(path, data, len);
    free(path);
}

static const char *file_name(size_t i, size_t files)
{
    return files == 1 ? "model.safetensors" : printed("model-%05zu-of-%05zu.safetensors", i + 1, files);
}

/* If `odd`, one more space after the header moves all data by a byte, to a misaligned address. */
static void write_file(const char *dir, const char *file, const struct attn_st_tensor *t, size_t n, bool odd)
{
    char *path = hf_path(dir, file);
    made_write(path, t, n);
    if (odd) {
        size_t len, header;
        char *bytes = golden_text(path, &len);
        memcpy(&header, bytes, 8);
        memmove(bytes + 8 + header + 1, bytes + 8 + header, len - 8 - header);
        bytes[8 + header++] = ' ';
        memcpy(bytes, &header, 8);
        scratch_put(path, bytes, len + 1);
        free(bytes);
    }
    free(path);
}

static void write_index(const char *dir, const struct hf *h, size_t files)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fputs("{\"metadata\": {\"total_size\": 1}, \"weight_map\": {", f);
    for (size_t i = 0; i < h->n; i++)
        fprintf(f, "%s\n  \"%s\": \"%s\"", i ? "," : "", h->t[i].name, file_name(i % files, files));
    fputs("}}\n", f);
    fclose(f);
    hf_put(dir, "model.safetensors.index.json", text, len);
    free(text);
}

char *hf_write(const struct hf *h, const char *config, size_t files, bool odd)
{
    char *dir = hf_dir();
    hf_put(dir, "config.json", config, strlen(config));
    for (size_t s = 0; s < files; s++) {
        struct attn_st_tensor t[HF_MAX];
        size_t n = 0;
        for (size_t i = s; i < h->n; i += files)
            t[n++] = h->t[i];
        write_file(dir, file_name(s, files), t, n, odd);
    }
    if (files > 1)
        write_index(dir, h, files);
    return dir;
}
