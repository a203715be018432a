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
static bool copy_content(struct attn_steps *steps, struct attn_added_token *t, const char *s, bool normalized)
{
    const struct attn_subword *b = steps->b;
    struct attn_mapped m = {.unmapped = true, .most = LONG, .effort = &steps->effort};
    bool ok = true;
    attn_regex_allow(&steps->effort, strlen(s));
    t->text = strdup(s);
    t->len = strlen(s);
    for (size_t i = 0; t->text && ok && normalized && i < b->normals && t->len <= LONG; i++) {
        ok = attn_normal_apply(&m, &b->normal[i], t->text, t->len, false);
        t->len = m.len;
        /* what changes nothing gives the text back */
        char *after = ok && m.len <= LONG ? strndup(m.text, m.len) : NULL;
        ok = ok && (after || m.len > LONG);
        free(t->text);
        t->text = after;
    }
    attn_mapped_free(&m);
    if (t->text)
        t->len = strlen(t->text);
    return ok && (t->text || t->len > LONG);
}

/* What normalises to nothing is never found. */
static int put(struct attn_steps *s, struct attn_added_token *t, const char *content, bool normalized)
{
    if (strlen(content) > ATTN_ADDED_LONGEST)
        return attn_fail(s->err, ATTN_EFORMAT, "%s: token %d has %zu bytes, expected at most %d", s->name, (int)t->id,
                         strlen(content), ATTN_ADDED_LONGEST);
    t->order = s->b->added[0].n + s->b->added[1].n;
    if (!copy_content(s, t, content, normalized))
        return attn_no_memory(s->err, s->name, "for them");
    if (attn_regex_tired(&s->effort)) {
        free(t->text);
        return attn_steps_refuse(s, "a normalizer whose patterns take so long for them");
    }
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

struct named { const char *text; int32_t id; bool there; size_t place; };

/* Tokens that other files list come before those of this one, and these in their order. */
static int by_id(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Lists the tokens of the file whose ids no token has yet, of two with one id the first; returns how many.  `list` has
 * room for those, too, that are there already. */
static size_t list_new(struct named *list, const struct attn_subword *b, const cJSON *root)
{
    size_t n = 0, kept = 0;
    const cJSON *v;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < b->added[k].n; i++, n++)
            list[n] = (struct named){.id = b->added[k].token[i].id, .there = true, .place = n};
    cJSON_ArrayForEach(v, root) {
        list[n] = (struct named){.text = v->string, .id = (int32_t)v->valuedouble, .place = n};
        n++;
    }
    qsort(list, n, sizeof *list, by_id);
    for (size_t i = 0; i < n; i++)
        if (!list[i].there && (i == 0 || list[i].id != list[i - 1].id))
            list[kept++] = list[i];
    qsort(list, kept, sizeof *list, by_place);
    return kept;
}

static int check_named(const struct attn_steps *s, const cJSON *root)
{
    double x;
    const cJSON *v;
    cJSON_ArrayForEach(v, root)
        if (!attn_tree_whole(v, 0, ATTN_VOCAB_ID_MAX, &x) || !*v->string)
            return attn_fail(s->err, ATTN_EFORMAT,
                             "%s: one has no id from 0 to %d or no content", s->name, (int)ATTN_VOCAB_ID_MAX);
    return ATTN_OK;
}

static void list_text(const char **list, size_t *n, const cJSON *text)
{
    if (!cJSON_IsString(text))
        return;
    if (list)
        list[*n] = text->valuestring;
    ++*n;
}

/* Lists the texts that tokenizer_config.json has as "bos_token" and the like, or in "additional_special_tokens";
 * returns how many. NULL: only counts them. */
static size_t list_special(const char **list, const cJSON *config)
{
    size_t n = 0;
    const cJSON *m, *item;
    cJSON_ArrayForEach(m, config) {
        size_t len = strlen(m->string);
        if (len > 6 && strcmp(m->string + len - 6, "_token") == 0)
            list_text(list, &n, cJSON_IsObject(m) ? attn_tree_member(m, "content") : m);
        if (strcmp(m->string, "additional_special_tokens") != 0)
            continue;
        cJSON_ArrayForEach(item, m) {
            list_text(list, &n, item);
        }
    }
    return n;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The file does not say which are special.  Those are that another file names; the others are always found. */
static int take_named(struct attn_steps *s, const cJSON *root, const cJSON *config)
{
    size_t most = (size_t)cJSON_GetArraySize(root) + s->b->added[0].n + s->b->added[1].n;
    struct named *list = calloc(most + 1, sizeof *list);
    const char **text = calloc(most + 1, sizeof *text);
    int32_t *id = calloc(most + 1, sizeof *id);
    size_t specials = list_special(NULL, config);
    const char **special = calloc(specials + 1, sizeof *special);
    int rc = list && text && id && special ? ATTN_OK : attn_no_memory(s->err, s->name, "for them");
    size_t n = rc ? 0 : list_new(list, s->b, root);
    for (size_t i = 0; i < n; i++) {
        text[i] = list[i].text;
        id[i] = list[i].id;
    }
    if (!rc) {
        list_special(special, config);
        qsort(special, specials, sizeof *special, by_text);
        rc = attn_vocab_add(s->b->rules.vocab, text, id, n, s->name, s->err);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        struct attn_added_token t = {.id = id[i],
                                     .special = bsearch(&text[i], special, specials, sizeof *special, by_text) != NULL};
        rc = put(s, &t, text[i], !t.special);
    }
    free(list);
    free(text);
    free(id);
    free(special);
    return rc;
}

int attn_steps_added_names(struct attn_steps *s, const struct attn_text_file *file, const cJSON *config)
{
    cJSON *root = NULL;
    int rc = attn_tree_read(&root, file->text, file->len, file->name, VALUES_MAX, s->err);
    if (!rc)
        rc = check_named(s, root);
    if (!rc)
        rc = take_named(s, root, config);
    cJSON_Delete(root);
    return rc;
}
