/* family_keys.h - what the tables of keys of Hugging Face's families share; only their files include it. */
#ifndef ATTN_MODEL_FAMILY_KEYS_H
#define ATTN_MODEL_FAMILY_KEYS_H

#include "model/family.h"

#define FIELD(f) offsetof(struct attn_config, f)
#define OFF_KEY(name) {name, ATTN_KEY_OFF, 0, NULL, NULL}
#define ONE_KEY(name) {name, ATTN_KEY_ONE, 0, NULL, NULL}

/* How much rotation scales.  Both spellings of the kind are in use; newer files also keep theta here. */
#define ROPE_KEYS \
    {"type", ATTN_KEY_CHOICE, FIELD(rope.kind), attn_rope_kinds, NULL}, \
    {"rope_type", ATTN_KEY_CHOICE, FIELD(rope.kind), attn_rope_kinds, NULL}, \
    {"factor", ATTN_KEY_REAL, FIELD(rope.factor), NULL, NULL}, \
    {"low_freq_factor", ATTN_KEY_REAL, FIELD(rope.low), NULL, NULL}, \
    {"high_freq_factor", ATTN_KEY_REAL, FIELD(rope.high), NULL, NULL}, \
    {"original_max_position_embeddings", ATTN_KEY_REAL, FIELD(rope.original), NULL, NULL}, \
    {"rope_theta", ATTN_KEY_REAL, FIELD(rope_theta), NULL, NULL}

/* The second half lists what related models compute in addition; in a model_type of ours it must be off. */
#define COMMON_KEYS \
    {"vocab_size", ATTN_KEY_SIZE, FIELD(V), NULL, NULL}, \
    {"tie_word_embeddings", ATTN_KEY_FLAG, FIELD(tied), NULL, NULL}, \
    OFF_KEY("quantization_config"), OFF_KEY("add_cross_attention"), OFF_KEY("is_encoder_decoder"), OFF_KEY("pruned_heads"), \
    OFF_KEY("attn_logit_softcapping"), OFF_KEY("final_logit_softcapping"), OFF_KEY("query_pre_attn_scalar"), \
    OFF_KEY("attention_multiplier"), OFF_KEY("clip_qkv"), OFF_KEY("alibi"), ONE_KEY("embedding_multiplier"), \
    ONE_KEY("residual_multiplier"), ONE_KEY("logits_scaling"), ONE_KEY("logit_scale")

extern const struct attn_word attn_rope_kinds[];

#endif
