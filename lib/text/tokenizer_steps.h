/* tokenizer_steps.h - the components of a tokenizer.json around its model.
 *
 * Each is null or an object with a "type"; a "Sequence" contains several.
 *     normalizer      NFC
 *     pre_tokenizer   Split by one of the patterns of pretoken.h (Isolated, not inverted), Digits, and
 *                     last ByteLevel, which may put a space in front and cut as GPT-2 does
 *     decoder         ByteLevel
 *     post_processor  ByteLevel (about offsets, which are exact here), TemplateProcessing: the tokens
 *                     around the text, by "single" */
#ifndef ATTN_TEXT_TOKENIZER_STEPS_H
#define ATTN_TEXT_TOKENIZER_STEPS_H

#include "text/byte_level.h"
#include "base/tree.h"

struct attn_steps {
    struct attn_byte_level *b;
    const char *name;                   /* of the file and the component, for messages */
    struct attn_err *err;
    bool byte_level;                    /* the ByteLevel step has come */
};

int attn_steps_normalizer(struct attn_steps *s, const cJSON *v);
int attn_steps_pre_tokenizer(struct attn_steps *s, const cJSON *v);
int attn_steps_decoder(struct attn_steps *s, const cJSON *v);
/* Needs the vocabulary. */
int attn_steps_post_processor(struct attn_steps *s, const cJSON *v);

/* Reads a flag of such an object; `otherwise` is its value if it is absent. */
int attn_steps_flag(struct attn_steps *s, const cJSON *v, const char *key, bool otherwise, bool *out);
/* Refuses keys that are not in the list, which ends with NULL. */
int attn_steps_keys(struct attn_steps *s, const cJSON *v, const char *const *known);
/* Fails with "NAME: WHAT is not supported ..." */
int attn_steps_refuse(struct attn_steps *s, const char *what);

#endif
