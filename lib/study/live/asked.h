/* asked.h - a question as it is read: each of its members of the type that it must have. */
#ifndef ATTN_LIVE_ASKED_H
#define ATTN_LIVE_ASKED_H

#include "attn.h"

/* The members that a question may have, by their names in JSON. */
#define ATTN_LIVE_MEMBERS(DO) \
    DO(ASK, ask, "ask", TEXT) DO(MODEL, model, "model", TEXT) DO(AS, as, "as", TEXT) DO(VOCAB, vocab, "vocab", TEXT) \
    DO(TYPED, text, "text", TEXT) DO(IDS, ids, "ids", TEXT) DO(APPEND, append, "append", WHOLE) \
    DO(OFF, off, "off", LIST) DO(EDITS, edits, "edits", LIST) DO(ATTENTION, attention, "attention", TEXT) \
    DO(SCALE, scale, "scale", TEXT) DO(DROPOUT, dropout, "dropout", REAL) DO(SEED, seed, "seed", SEED) \
    DO(KEEP, keep, "keep", LIST) DO(BITS, bits, "bits", TEXT) DO(LAYER, layer, "layer", WHOLE) \
    DO(HEAD, head, "head", WHOLE) DO(QUERY, query, "query", WHOLE) DO(KEY, key, "key", WHOLE) DO(TO, to, "to", REAL) \
    DO(TEMPERATURE, temperature, "temperature", REAL) DO(TOP_K, top_k, "top_k", WHOLE) DO(TOP_P, top_p, "top_p", REAL) \
    DO(FIRST, first, "first", FLAG) DO(WHAT, what, "what", TEXT) DO(OPTIONS, options, "options", LIST) \
    DO(FROM, from, "from", TEXT) DO(FROM_IDS, from_ids, "fromIds", TEXT) DO(METRIC, metric, "metric", TEXT)

#define ATTN_LIVE_BIT(id, field, name, type) ATTN_HAS_##id = 1u << ATTN_MEMBER_##id,
#define ATTN_LIVE_ID(id, field, name, type) ATTN_MEMBER_##id,
enum attn_live_member { ATTN_LIVE_MEMBERS(ATTN_LIVE_ID) ATTN_MEMBERS };
enum { ATTN_LIVE_MEMBERS(ATTN_LIVE_BIT) };

struct attn_live_text { const char *s; size_t len; };           /* s NULL: absent, or null */
struct attn_live_list { const char **item; size_t n; };            /* after the last one NULL */

/* null is as if a member were absent. */
struct attn_live_asked {
    struct attn_live_text ask, model, as, vocab, text, ids, attention, scale, bits, what, from, from_ids, metric;
    struct attn_live_list off, edits, keep, options;
    double dropout, temperature, top_p, to;
    uint64_t append, layer, head, query, key, top_k, seed;
    bool first;
    unsigned given;                     /* ATTN_HAS_... */
    char *room;                         /* of all texts */
};

/* Closing is the caller's, also if this fails. */
int attn_live_asked_read(struct attn_live_asked *q, const char *json, size_t len, struct attn_err *err);
void attn_live_asked_free(struct attn_live_asked *q);
const char *attn_live_asked_name(enum attn_live_member m);
/* Fails unless all of `needed` are given, and of others none but `allowed`. */
int attn_live_asked_check(const struct attn_live_asked *q, unsigned needed, unsigned allowed, struct attn_err *err);

#endif
