/* tokenizer_added.c - which tokens are found in a text before it is cut into pieces.
 *
 * tokenizer.json lists them under "added_tokens", tokenizer_config.json under "added_tokens_decoder", by id, and
 * added_tokens.json maps their texts to ids and says no more. */
#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"

enum { VALUES_MAX = 1 << 20, LONG = 4 * ATTN_ADDED_LONGEST };   /* LONG: bytes when normalised */

/* The content of a token that is found after normalisation is normalised too. */
static bool copy_content(const struct attn_subword *b, struct attn_added_token *t, const char *s, bool normalized)
{
    struct attn_mapped m = {.unmapped = true};
    size_t len = strlen(s);
    char *text = strdup(s);
    for (size_t i = 0; text && normalized && i < b->normals && len <= LONG; i++) {
        char *before = text;            /* what changes nothing gives it back */
        text = attn_normal_apply(&m, &b->normal[i], text, len, false) ? strndup(m.text, m.len) : NULL;
        len = m.len;
        free(before);
    }
    attn_mapped_free(&m);
    t->text = text;
    t->len = text ? strlen(text) : 0;
    return text != NULL;
}

/* What normalises to nothing is never found. */
static int put(struct attn_steps *s, struct attn_added_token *t, const char *content, bool normalized)
{
    if (strlen(content) > ATTN_ADDED_LONGEST)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: token %d has %zu bytes, expected at most %d", s->name, (int)t->id,
                         strlen(content), ATTN_ADDED_LONGEST);
    if (!copy_content(s->b, t, content, normalized))
        return attn_no_memory(s->err, s->name, "for them");
    if (t->len > LONG) {
        free(t->text);
        return attn_steps_refuse(s, "a token that is so long when it is normalised");
    }
    if (t->len == 0) {
        free(t->text);
        return ATTN_OK;
    }
    return attn_added_put(&s->b->added[normalized], t) ? ATTN_OK : attn_no_memory(s->err, s->name, "for them");
}

/* Reads the id of a token: in a list it is a member, in an object the key. */
static bool read_id(const cJSON *v, int32_t *id)
{
    const cJSON *number = attn_tree_member(v, "id");
    uint64_t key;
    double x;
    if (v->string) {
        if (!attn_num_parse_u64(v->string, strlen(v->string), &key) || key > ATTN_VOCAB_ID_MAX)
            return false;
        *id = (int32_t)key;
        return true;
    }
    if (!number || !attn_tree_whole(number, 0, ATTN_VOCAB_ID_MAX, &x))
        return false;
    *id = (int32_t)x;
    return true;
}

static int take_added(struct attn_steps *s, const cJSON *v, const char **content, int32_t *id)
{
    static const char *const keys[] = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special",
                                       "__type", NULL};
    struct attn_added_token t = {0};
    bool normalized;
    const cJSON *text = attn_tree_member(v, "content");
    int rc = attn_steps_keys(s, v, keys);
    if (rc)
        return rc;
    if (!read_id(v, id) || !text || !cJSON_IsString(text) || !*text->valuestring)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: one has no id from 0 to %d or no content", s->name,
                         (int)ATTN_VOCAB_ID_MAX);
    t.id = *id;
    *content = text->valuestring;
    if ((rc = attn_steps_flag(s, v, "special", false, &t.special)) ||
        (rc = attn_steps_flag(s, v, "lstrip", false, &t.lstrip)) ||
        (rc = attn_steps_flag(s, v, "rstrip", false, &t.rstrip)) ||
        (rc = attn_steps_flag(s, v, "normalized", !t.special, &normalized)) ||
        (rc = attn_steps_flag(s, v, "single_word", false, &t.word)))
        return rc;
    return put(s, &t, *content, normalized);
}

/* ---- all of them ----------------------------------------------------------------------- */

/* What the vocabulary has to add. */
struct entries { const char **content; int32_t *id; size_t n; };

static int take_each(struct attn_steps *s, const cJSON *v, struct entries *e)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, v) {
        int rc = take_added(s, item, &e->content[e->n], &e->id[e->n]);
        if (rc)
            return rc;
        e->n++;
    }
    return attn_vocab_add(s->b->rules.vocab, e->content, e->id, e->n, s->name, s->err);
}

static int take_all(struct attn_steps *s, const cJSON *v)
{
    size_t n = (size_t)cJSON_GetArraySize(v) + 1;
    struct entries e = {calloc(n, sizeof *e.content), calloc(n, sizeof *e.id), 0};
    int rc = e.content && e.id ? take_each(s, v, &e) : attn_no_memory(s->err, s->name, "for them");
    free(e.content);
    free(e.id);
    return rc;
}

int attn_steps_added(struct attn_steps *s, const cJSON *v)
{
    return cJSON_IsArray(v) ? take_all(s, v) : attn_fail(s->err, ATTN_EFORMAT, "%s: it is no array", s->name);
}

int attn_steps_added_by_id(struct attn_steps *s, const cJSON *v)
{
    return cJSON_IsObject(v) ? take_all(s, v) : attn_fail(s->err, ATTN_EFORMAT, "%s: it is no object", s->name);
}

/* ---- added_tokens.json ----------------------------------------------------------------- */

static bool is_there(const struct attn_subword *b, int32_t id)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < b->added[k].n; i++)
            if (b->added[k].token[i].id == id)
                return true;
    return false;
}

/* It does not say which are special.  Those are that another file names; the others are always found. */
static int take_named(struct attn_steps *s, const cJSON *v, bool special)
{
    double x;
    struct attn_added_token t = {.special = special};
    if (!attn_tree_whole(v, 0, ATTN_VOCAB_ID_MAX, &x) || !*v->string)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: one has no id from 0 to %d or no content", s->name, (int)ATTN_VOCAB_ID_MAX);
    t.id = (int32_t)x;
    if (is_there(s->b, t.id))
        return ATTN_OK;
    int rc = attn_vocab_add(s->b->rules.vocab, (const char *[]){v->string}, &t.id, 1, s->name, s->err);
    return rc ? rc : put(s, &t, v->string, !special);
}

/* Whether tokenizer_config.json has the text as "bos_token" and the like, or in "additional_special_tokens". */
static bool is_special(const cJSON *config, const char *text)
{
    const cJSON *m, *item;
    cJSON_ArrayForEach(m, config) {
        const cJSON *content = cJSON_IsObject(m) ? attn_tree_member(m, "content") : m;
        size_t len = strlen(m->string);
        if (len > 6 && strcmp(m->string + len - 6, "_token") == 0 && cJSON_IsString(content) &&
            strcmp(content->valuestring, text) == 0)
            return true;
        if (strcmp(m->string, "additional_special_tokens") == 0)
            cJSON_ArrayForEach(item, m)
                if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
                    return true;
    }
    return false;
}

int attn_steps_added_names(struct attn_steps *s, const struct attn_text_file *file, const cJSON *config)
{
    cJSON *root = NULL;
    const cJSON *v;
    int rc = attn_tree_read(&root, file->text, file->len, file->name, VALUES_MAX, s->err);
    cJSON_ArrayForEach(v, root) {
        if (rc)
            break;
        rc = take_named(s, v, is_special(config, v->string));
    }
    cJSON_Delete(root);
    return rc;
}
