/* fam_llama.h - what drawn models of families with Llama's names share. */
#ifndef TESTS_FAM_LLAMA_H
#define TESTS_FAM_LLAMA_H

#include "fam.h"

struct fam_usual {                          /* what absent keys mean */
    const char *eps, *act;              /* the keys' names */
    int dh;                             /* 0: d / H */
    double theta;
    bool tied, no_head_dim, layernorm;
};
/* Names of norms, NULL: there is none; of the MLP's matrices. */
struct fam_names { const char *norm1, *norm2, *post1, *post2, *q_norm, *k_norm, *o, *in, *out; };
extern const struct fam_names fam_as_llama;

void fam_llama_sizes(struct fam *f, const struct fam_usual *u);
void fam_act(struct fam *f, const char *key);
void fam_ask_bias(struct fam *f, bool *bias, const char *key, bool absent);
void fam_draw_window(struct fam *f);
void fam_layer_types(struct fam *f);
void fam_every_layer(struct fam *f);
const char *fam_in_layer(const struct fam *f, int i, const char *tail);
void fam_norm(struct fam *f, int i, const char *native, const char *name, size_t n);
void fam_attention(struct fam *f, int i, const struct fam_names *n, bool qkv_bias, bool o_bias);
void fam_mlp(struct fam *f, int i, const struct fam_names *n, bool bias);
void fam_norms(struct fam *f, int i, const struct fam_names *n);
void fam_ends(struct fam *f, const char *final);
void fam_tensors(struct fam *f, const struct fam_names *n, bool qkv_bias, bool o_bias, bool mlp_bias);

#endif
