/* naming_rules.c - what a user says of names: NAME=ACTIVATION. */
#include "compare/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/list_file.h"
#include "base/num.h"
#include "base/utf8.h"
#include "trace/trace.h"

void attn_naming_free(struct attn_naming *rules)
{
    for (size_t i = 0; rules && i < rules->n; i++) {
        free(rules->rule[i].left);
        free(rules->rule[i].where);
    }
    if (rules)
        free(rules->rule);
    free(rules);
}

static int no_activation(const struct attn_naming_rule *r, const char *right, struct attn_err *err)
{
    const char *near = attn_act_nearest(attn_naming_tail(right), ATTN_ACTS);
    return attn_fail(err, ATTN_EUSAGE, "%s: '%s' is no activation of ours%s%s%s", r->where, right,
                     near ? ", the nearest is '" : ": 'attn-cli help run' lists them", near ? near : "",
                     near ? "'" : "");
}

/* Which activation a tail or a short name is. */
static int find_act(struct attn_naming_rule *r, const char *right, struct attn_err *err)
{
    const char *tail = attn_naming_tail(right);
    int found = -1, other = -1;
    for (int act = 0; act < ATTN_ACTS; act++)
        if (!strcmp(attn_act_tail(act), tail)) {
            r->act = act;
            return tail == right || attn_act_per_layer(act) ? ATTN_OK : no_activation(r, right, err);
        } else if (tail == right && !strcmp(attn_act_short(act), tail)) {
            other = found;
            found = act;
        }
    if (found < 0)
        return no_activation(r, right, err);
    r->act = found;
    return other < 0 ? ATTN_OK
                     : attn_fail(err, ATTN_EUSAGE, "%s: '%s' is %s or %s: say which", r->where, right,
                                 attn_act_tail(other), attn_act_tail(found));
}

static int read_right(struct attn_naming_rule *r, const char *right, struct attn_err *err)
{
    const char *tail = attn_naming_tail(right);
    uint64_t layer = 0;
    bool numbered = tail != right && right[7] != '{';
    int rc = find_act(r, right, err);
    r->layer = -1;
    if (rc)
        return rc;
    if (numbered && (!attn_num_parse_u64(right + 7, (size_t)(tail - right) - 8, &layer) || layer > INT32_MAX))
        return attn_fail(err, ATTN_EUSAGE, "%s: '%s' is no block: its number is too large", r->where, right);
    if (r->each && (numbered || !attn_act_per_layer(r->act)))
        return attn_fail(err, ATTN_EUSAGE, "%s: {} stands for the number of a layer, and %s has %s", r->where, right,
                         numbered ? "a number already" : "none");
    if (!r->each && !numbered && attn_act_per_layer(r->act))
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: which layer? Put {} where the name on the left has its number, or "
                         "write blocks.0.%s",
                         r->where, attn_act_tail(r->act));
    r->layer = numbered ? (int)layer : -1;
    return ATTN_OK;
}

/* Reads what is before "=": [s, s + len). */
static int read_left(struct attn_naming_rule *r, const char *s, size_t len, struct attn_err *err)
{
    char name[ATTN_NAMING_ROOM];
    int layer;
    if (!len || !attn_naming_spell(name, s, len))
        return attn_fail(err, ATTN_EUSAGE, "%s: the name before '=' has %zu bytes, expected 1 to %d", r->where, len,
                         ATTN_NAMING_ROOM - 1);
    char *each = strstr(name, "{}");
    r->each = each != NULL;
    r->head = each ? (size_t)(each - name) : strlen(name);
    if (each && strstr(each + 2, "{}"))
        return attn_fail(err, ATTN_EUSAGE, "%s: {} stands for the number of the layer, and is there twice", r->where);
    if (each)
        each[0] = each[1] = '0';
    if (attn_act_find(name, &layer) >= 0)
        return attn_fail(err, ATTN_EUSAGE, "%s: what is called like that is an activation of ours already", r->where);
    if (each)
        memmove(each, each + 2, strlen(each + 2) + 1);
    r->left = strdup(name);
    return r->left ? ATTN_OK : attn_no_memory(err, NULL, "for a name");
}

static int read_rule(struct attn_naming_rule *r, const char *s, size_t len, struct attn_err *err)
{
    const char *equals = memchr(s, '=', len), *right = equals ? equals + 1 : NULL;
    if (!equals)
        return attn_fail(err, ATTN_EUSAGE, "%s: expected NAME=ACTIVATION, as in 'layer{}_att=blocks.{}.attn.pattern'",
                         r->where);
    size_t left = (size_t)(equals - s), n = len - left - 1;
    while (left && s[left - 1] == ' ')
        left--;
    for (; n && *right == ' '; n--)
        right++;
    char name[ATTN_NAMING_ROOM];
    int rc = read_left(r, s, left, err);
    if (!rc && !attn_naming_spell(name, right, n))
        rc = attn_fail(err, ATTN_EUSAGE, "%s: no activation of ours has a name of %zu bytes", r->where, n);
    return rc ? rc : read_right(r, name, err);
}

static int add_rule(struct attn_naming **rules, const char *s, size_t len, const char *where, struct attn_err *err)
{
    struct attn_naming *to = *rules ? *rules : calloc(1, sizeof *to);
    struct attn_naming_rule *more = to ? attn_grow(to->rule, &to->room, to->n + 1, sizeof *more) : NULL;
    if (more)
        to->rule = more;
    *rules = to;
    char said[ATTN_NAMING_ROOM];
    snprintf(said, sizeof said, "%.120s '%.*s'", where, attn_shown_of(s, len, 120), s);
    struct attn_naming_rule r = {.where = more ? strdup(said) : NULL};
    if (!r.where)
        return attn_no_memory(err, NULL, "for a name");
    int rc = attn_utf8_valid(s, len) == len && !memchr(s, '\0', len) ? read_rule(&r, s, len, err)
             : attn_fail(err, ATTN_EUSAGE, "%.120s: a name is not valid UTF-8", where);
    if (!rc) {
        to->rule[to->n++] = r;
        return ATTN_OK;
    }
    free(r.left);
    free(r.where);
    return rc;
}

int attn_naming_add(struct attn_naming **rules, const char *rule, struct attn_err *err)
{
    return add_rule(rules, rule, strlen(rule), "--map", err);
}

int attn_naming_read(struct attn_naming **rules, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct attn_list_file in = attn_list_file_begin(text, len);
    const char *rule;
    size_t n = strlen(path), rule_len;
    int rc = ATTN_OK;
    while (!rc && attn_list_file_next(&in, &rule, &rule_len)) {
        char where[128];
        snprintf(where, sizeof where, "%s%s:%zu:", n > 90 ? "..." : "", n > 90 ? path + n - 90 : path, in.line);
        rc = add_rule(rules, rule, rule_len, where, err);
    }
    return rc;
}

bool attn_naming_matches(const struct attn_naming_rule *r, const char *name, int *layer)
{
    size_t len = strlen(name), left = strlen(r->left), digits = len - left;
    uint64_t number = 0;
    *layer = r->layer;
    if (!r->each)
        return !strcmp(name, r->left);
    if (len <= left || memcmp(name, r->left, r->head) || strcmp(name + r->head + digits, r->left + r->head) ||
        !attn_num_parse_u64(name + r->head, digits, &number) || number > INT32_MAX)
        return false;
    *layer = (int)number;
    return true;
}
