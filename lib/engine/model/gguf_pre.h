/* gguf_pre.h - how byte-level tokenizers of GGUF files cut texts into pieces: what tokenizer.ggml.pre names. */
#ifndef ATTN_MODEL_GGUF_PRE_H
#define ATTN_MODEL_GGUF_PRE_H

#include "base/strings.h"

struct attn_gguf_pre {
    const char *name;
    const char *steps;                  /* the pre_tokenizer of tokenizer.json that does the same */
    bool whole;                         /* a piece that is a token is not merged (ignore_merges) */
    bool bos;                           /* BOS is put in front of a text unless add_bos_token says otherwise */
};

const struct attn_gguf_pre *attn_gguf_pre_find(struct attn_str_view name);          /* NULL: not one of ours */

#endif
