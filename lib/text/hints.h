/* hints.h - what config.json and tokenizer_config.json say about a model's tokenizer.
 *
 * From config.json: "model_type", whether there is a section "tokenizer", and "bos_token_id".  From
 * tokenizer_config.json: "add_bos_token", and "bos_token", a string or an object with "content".  Other keys are left
 * to other readers, and a value of an unexpected type counts as absent. */
#ifndef ATTN_TEXT_HINTS_H
#define ATTN_TEXT_HINTS_H

#include "attn.h"

struct attn_hints {
    char *model_type, *bos_token;       /* owned; NULL if absent */
    bool section, add_bos;              /* section: "tokenizer" is present */
    int32_t bos_id;                     /* -1 if absent */
};

/* Each function adds what its file says to *h, which starts as ATTN_HINTS_NONE. */
#define ATTN_HINTS_NONE {.bos_id = -1}
int attn_hints_config(struct attn_hints *h, const char *text, size_t len, const char *name, struct attn_err *err);
int attn_hints_tokenizer(struct attn_hints *h, const char *text, size_t len, const char *name, struct attn_err *err);
void attn_hints_free(struct attn_hints *h);

#endif
