/* course.h - files that courses on language models write, each seen as the directory that everything else reads.
 *
 * A checkpoint of nanoGPT, the weights of llama2.c and the like are one file without a config.json.  A format is a row:
 * how it is told by its first bytes, what makes a config.json of it and, where the file or one beside it has a
 * vocabulary, a tokenizer.json, and what gives the tensors names that a family knows.  Numbers are views of the mapped
 * file where they lie there as they are needed; what is copied is said beside the format.  What a file does not say is
 * asked for (struct attn_lacking) or assumed (assume.h). */
#ifndef ATTN_MODEL_COURSE_H
#define ATTN_MODEL_COURSE_H

#include "base/tree.h"
#include "model/assume.h"
#include "model/container.h"

struct attn_course_format;

struct attn_course {
    const struct attn_course_format *format;
    const char *path, *dir;             /* of the file, for messages, and of the directory it is in */
    struct attn_map map;
    struct attn_as as;                  /* what whoever opens it says of it; --as */
    const char *vocab;                  /* ... and --vocab, only while it is opened; NULL: nothing */
    char *said, *vocabulary;            /* --as, as it was said; where the vocabulary is that is neither in the file nor
                                         * beside it: NULL: nothing */
    struct attn_assumptions assumed;
    struct attn_st *st;                 /* tensors as the file names them, where its reader lists them; NULL: none */
    struct attn_course_file { const char *name; char *text; size_t len; } file[8];  /* made: config.json, ... */
    size_t files;
    size_t L, H, Hkv, d, V, ctx, m;     /* what its reader needs to know again, for the tensors */
    int kind;                           /* of several that a format has */
    bool tied;                          /* the output layer is the embedding */
    char prefix[64];                    /* before the name of each tensor in st */
    size_t may_copy;                    /* bytes that copies of tensors may have: no more than the file's */
};

struct attn_course_format {
    const char *what;                   /* what messages say of it: "is a file of llama2.c" */
    bool asks;                          /* it may leave something unsaid: --as goes with it */
    bool (*is)(const struct attn_map *m);
    /* Makes config.json and what else the file tells. */
    int (*open)(struct attn_course *c, struct attn_err *err);
    /* Adds the tensors to st, which is empty. */
    int (*fill)(struct attn_course *c, struct attn_st *st, struct attn_err *err);
};

/* A file that was made of it; NULL: there is none of that name. */
const struct attn_course_file *attn_course_file(const struct attn_course *c, const char *name);
/* Takes a file that it made, malloc'd, with a NUL after it; NULL: there was no memory for it. */
int attn_course_add(struct attn_course *c, const char *name, char *text, size_t len, struct attn_err *err);
/* A tokenizer.json over single characters.  tokens: object of texts and ids from 0, or a list of texts. begin: an id
 * that begins each text, or -1. */
int attn_course_characters(struct attn_course *c, const cJSON *tokens, const char *path, long begin,
                           struct attn_err *err);
/* The same of what --vocab, meta.pkl or vocab.json say or, where there is no vocabulary beside the file, the file
 * `elsewhere`, which may be NULL; nothing if there is none of them. */
int attn_course_vocabulary(struct attn_course *c, const char *elsewhere, struct attn_err *err);
/* How many heads it has: what its settings say, which --as must not contradict, or what --as says.  `of`: what its file
 * is, as in struct attn_course_format.  settings: the objects that may have "n_head", or minGPT's "model_type". */
int attn_course_heads(struct attn_course *c, const char *of, const cJSON *const *settings, size_t n,
                      struct attn_err *err);
/* How config.json spells a value of ATTN_AS_ACT. */
const char *attn_course_activation(const char *act);
/* Adds a tensor by name; `like` has its type, shape and bytes. */
int attn_course_tensor(const struct attn_course *c, struct attn_st *st, const char *name,
                       const struct attn_st_tensor *like, struct attn_err *err);
/* Room for a copy of so many bytes; NULL with a message: no memory, or more copies than the file has bytes. */
void *attn_course_room(struct attn_course *c, struct attn_st *st, size_t bytes, struct attn_err *err);

#endif
