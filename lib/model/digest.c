/* digest.c - a hash that identifies a model.
 *
 * SHA-256 over each file that matters, in a fixed order: its name, its size and its bytes.  The sampled
 * form hashes, of the weights, only the header and the first and last 4 KiB of each tensor. */
#include "model/model.h"

#include "base/err.h"
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE = 4096 };

static void add_name(struct attn_sha256 *h, const char *file, size_t len)
{
    char head[64];
    int n = snprintf(head, sizeof head, "%s %zu\n", file, len);
    attn_sha256_add(h, head, (size_t)n);
}

static int add_file(struct attn_sha256 *h, const struct attn_source *s, const char *file, struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_has(s, file))
        return ATTN_OK;
    int rc = attn_source_open(s, file, SIZE_MAX, &map, err);
    if (rc)
        return rc;
    add_name(h, file, map.len);
    attn_sha256_add(h, map.data, map.len);
    attn_map_close(&map);
    return ATTN_OK;
}

static void add_samples(struct attn_sha256 *h, const struct attn_shard *s)
{
    attn_sha256_add(h, s->map.data, attn_st_header(s->st));
    for (size_t i = 0; i < attn_st_count(s->st); i++) {
        const struct attn_st_tensor *t = attn_st_at(s->st, i);
        size_t n = t->bytes < SAMPLE ? t->bytes : SAMPLE;
        attn_sha256_add(h, t->data, n);
        attn_sha256_add(h, t->data + t->bytes - n, n);
    }
}

int attn_model_digest(const struct attn_model *m, bool full, char out[80], struct attn_err *err)
{
    static const char *const files[] = {"vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                        "model.safetensors.index.json"};
    struct attn_sha256 h;
    char hex[65];
    attn_sha256_start(&h);
    add_name(&h, "config.json", m->config_map.len);
    attn_sha256_add(&h, m->config_map.data, m->config_map.len);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int rc = add_file(&h, &m->source, files[i], err);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < m->weights.n; i++) {
        const struct attn_shard *s = &m->weights.shard[i];
        add_name(&h, strrchr(s->path, '/') + 1, s->map.len);
        if (full)
            attn_sha256_add(&h, s->map.data, s->map.len);
        else
            add_samples(&h, s);
    }
    attn_sha256_end(&h, hex);
    snprintf(out, 80, "%s:%s", full ? "sha256" : "sampled", hex);
    return ATTN_OK;
}
