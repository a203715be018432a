/* fam.h - what drawn models of all families share: their config.json, key by key, and the sizes, rotations and
 * ends of most. */
#ifndef TESTS_FAM_H
#define TESTS_FAM_H

#include "agree.h"
#include "hf.h"

#include <stdio.h>

static inline int pick(int n) { return agree_pick(n); }
static inline bool often(void) { return pick(4) > 0; }
static inline bool sometimes(void) { return pick(4) == 0; }

/* A model being drawn: what it computes, the text of its config.json, its tensors. */
struct fam {
    struct ref_config c;
    FILE *f; char *text; size_t len;
    struct hf hf;
    const char *prefix;                 /* of most tensors; NULL until it is drawn */
    const char *head;                   /* of the output layer; NULL: "lm_head" or what the family says */
    bool bare_norms;                    /* LayerNorm without biases */
    bool section;                       /* the keys are in an object of their own */
    int longest;                        /* of texts; 0: c.n_ctx */
};
struct fam_family { const char *name; void (*config)(struct fam *f), (*tensors)(struct fam *f); };
/* Lists that end with one without a name. */
extern const struct fam_family fam_llamas[], fam_others[], fam_later[], fam_gpts[], fam_wrapped[], fam_courses[];

/* These add a key; the comma is theirs. */
void fam_put(struct fam *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* which may be left out if it is what an absent one means */
void fam_flag(struct fam *f, const char *key, bool value, bool absent);
void fam_kind(struct fam *f, const char *key, const char *const *choices, int chosen);
void fam_noise(struct fam *f);          /* keys that change no number */

/* What models are drawn for: with all sizes as small as they can be, or as trained models are. */
extern struct fam_wish {
    int d;                              /* about this wide, with as many tokens, heads and layers; 0: small */
    double small, outlier;              /* see struct hf */
} fam_wish;

/* Norms over two or three nearly equal numbers would lose more digits than the bound allows. */
enum { NARROWEST = 8 };
void fam_sizes(struct fam *f, bool even);
void fam_groups(struct ref_config *c);  /* draws how many heads share a key/value head */
int fam_width(void);                    /* a width that is no multiple of the heads' */
int fam_window(int most);
double fam_sharp(const struct ref_config *c);           /* see struct hf */
/* Draws theta and how it is scaled, as keys beside the others or in a section of their own; `usual`: theta if the
 * key is absent. */
void fam_theta(struct fam *f, const char *key, double usual);

/* Names of tensors, in the file and native. */
const char *fam_block(const struct fam *f, const char *stem, int layer, const char *tail);
const char *fam_native(int layer, const char *tail);
/* Either a separate output layer, or the embedding, which some files store a second time as the output layer,
 * or only so. */
void fam_head(struct fam *f, const char *embed, const char *head);

#endif
