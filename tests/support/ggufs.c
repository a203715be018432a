#include "ggufs.h"

#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void add(struct ggufs_bytes *b, const void *x, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n) + 64;
        b->x = realloc(b->x, b->room);
    }
    if (n && x)
        memcpy(b->x + b->n, x, n);
    else if (n)
        memset(b->x + b->n, 0, n);
    b->n += n;
}

static void add_u32(struct ggufs_bytes *b, uint32_t x) { add(b, &x, sizeof x); }
static void add_u64(struct ggufs_bytes *b, uint64_t x) { add(b, &x, sizeof x); }

static void add_text(struct ggufs_bytes *b, const char *s)
{
    add_u64(b, strlen(s));
    add(b, s, strlen(s));
}

static void pad(struct ggufs_bytes *b, size_t to)
{
    while (b->n % to)
        add(b, NULL, 1);
}

/* ---- pairs ---- */

struct ggufs ggufs_new(void)
{
    return (struct ggufs){.version = 3, .alignment = 32};
}

void ggufs_free(struct ggufs *g)
{
    free(g->pair.x);
    free(g->tensor.x);
    free(g->data.x);
}

void ggufs_raw(struct ggufs *g, const char *key, uint32_t type, const void *value, size_t len)
{
    add_text(&g->pair, key);
    add_u32(&g->pair, type);
    add(&g->pair, value, len);
    g->pairs++;
}

void ggufs_u32(struct ggufs *g, const char *key, uint32_t x) { ggufs_raw(g, key, 4, &x, sizeof x); }
void ggufs_f32(struct ggufs *g, const char *key, float x) { ggufs_raw(g, key, 6, &x, sizeof x); }

void ggufs_flag(struct ggufs *g, const char *key, int x)
{
    unsigned char byte = (unsigned char)x;
    ggufs_raw(g, key, 7, &byte, 1);
}

void ggufs_text(struct ggufs *g, const char *key, const char *text)
{
    ggufs_raw(g, key, 8, NULL, 0);
    add_text(&g->pair, text);
}

static void begin_array(struct ggufs *g, const char *key, uint32_t type, size_t n)
{
    ggufs_raw(g, key, 9, NULL, 0);
    add_u32(&g->pair, type);
    add_u64(&g->pair, n);
}

void ggufs_texts(struct ggufs *g, const char *key, const char *const *text, size_t n)
{
    begin_array(g, key, 8, n);
    for (size_t i = 0; i < n; i++)
        add_text(&g->pair, text[i]);
}

void ggufs_i32s(struct ggufs *g, const char *key, const int32_t *x, size_t n)
{
    begin_array(g, key, 5, n);
    add(&g->pair, x, n * sizeof *x);
}

void ggufs_f32s(struct ggufs *g, const char *key, const float *x, size_t n)
{
    begin_array(g, key, 6, n);
    add(&g->pair, x, n * sizeof *x);
}

/* ---- tensors ---- */

void ggufs_tensor(struct ggufs *g, const char *name, int ndim, const uint64_t *dim, uint32_t type,
                  const void *data, size_t len)
{
    pad(&g->data, g->alignment);
    add_text(&g->tensor, name);
    add_u32(&g->tensor, (uint32_t)ndim);
    for (int i = 0; i < ndim; i++)
        add_u64(&g->tensor, dim[i]);
    add_u32(&g->tensor, type);
    add_u64(&g->tensor, g->data.n);
    add(&g->data, data, len);
    g->tensors++;
}

/* Small numbers of both signs that differ from tensor to tensor. */
static void plain_tensor(struct ggufs *g, const char *name, size_t row, size_t rows)
{
    const uint64_t dim[] = {row, rows};
    size_t n = row * (rows ? rows : 1);
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i * 37 + g->tensors * 11) % 41) / 40 - 0.5f + (rows ? 0 : 1);
    ggufs_tensor(g, name, rows ? 2 : 1, dim, 0, x, n * sizeof *x);
    free(x);
}

struct ggufs ggufs_llama(size_t tokens)
{
    static const struct { const char *name; size_t row, rows; } tensors[] = {
        {"blk.0.attn_norm.weight", 8, 0}, {"blk.0.attn_q.weight", 8, 8}, {"blk.0.attn_k.weight", 8, 8},
        {"blk.0.attn_v.weight", 8, 8},
        {"blk.0.attn_output.weight", 8, 8}, {"blk.0.ffn_norm.weight", 8, 0}, {"blk.0.ffn_gate.weight", 8, 16},
        {"blk.0.ffn_up.weight", 8, 16}, {"blk.0.ffn_down.weight", 16, 8}, {"output_norm.weight", 8, 0}};
    struct ggufs g = ggufs_new();
    ggufs_text(&g, "general.architecture", "llama");
    ggufs_u32(&g, "llama.block_count", 1);
    ggufs_u32(&g, "llama.context_length", 32);
    ggufs_u32(&g, "llama.embedding_length", 8);
    ggufs_u32(&g, "llama.feed_forward_length", 16);
    ggufs_u32(&g, "llama.attention.head_count", 2);
    ggufs_f32(&g, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    plain_tensor(&g, "token_embd.weight", 8, tokens);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        plain_tensor(&g, tensors[i].name, tensors[i].row, tensors[i].rows);
    return g;
}

/* The character that spells a byte, as GPT-2 has it, in UTF-8. */
static void spell(char out[4], int byte)
{
    int c = (byte >= 33 && byte < 127) || (byte >= 161 && byte != 173) ? byte : 0;
    for (int b = 0, n = 0; !c && b <= byte; b++)
        if (!((b >= 33 && b < 127) || (b >= 161 && b != 173))) {
            c = b == byte ? 256 + n : 0;
            n++;
        }
    if (c < 128)
        snprintf(out, 4, "%c", c);
    else
        snprintf(out, 4, "%c%c", 0xC0 | c >> 6, 0x80 | (c & 0x3F));
}

void ggufs_tokenizer(struct ggufs *g, const char *pre)
{
    static char spelled[256][4];
    static const char *text[257];
    static const char *const merge[] = {"a b"};
    for (int i = 0; i < 256; i++) {
        spell(spelled[i], i);
        text[i] = spelled[i];
    }
    text[256] = "ab";
    ggufs_text(g, "tokenizer.ggml.model", "gpt2");
    if (pre)
        ggufs_text(g, "tokenizer.ggml.pre", pre);
    ggufs_texts(g, "tokenizer.ggml.tokens", text, 257);
    ggufs_texts(g, "tokenizer.ggml.merges", merge, 1);
}

/* ---- the file ---- */

unsigned char *ggufs_put_together(const struct ggufs *g, size_t *len)
{
    struct ggufs_bytes b = {0};
    add(&b, "GGUF", 4);
    add_u32(&b, g->version);
    add_u64(&b, g->tensors);
    add_u64(&b, g->pairs);
    add(&b, g->pair.x, g->pair.n);
    add(&b, g->tensor.x, g->tensor.n);
    pad(&b, g->alignment);
    add(&b, g->data.x, g->data.n);
    *len = b.n;
    return b.x;
}

const char *ggufs_write(const struct ggufs *g, const char *leaf)
{
    size_t len;
    unsigned char *x = ggufs_put_together(g, &len);
    const char *path = scratch_path(leaf);
    scratch_put(path, x, len);
    free(x);
    return path;
}
