/* drawn.h - models drawn at random: of every family, written as Hugging Face would, and native ones of every kind.
 *
 * What is drawn follows from agree_seed.  A model is written into the scratch directory, and handed on
 * with its weights. */
#ifndef TESTS_DRAWN_H
#define TESTS_DRAWN_H

#include "agree.h"

int drawn_families(void);               /* how many there are */
/* Draws a model of a family, and a number of tokens: 1 and the most that it takes among them, as `round` says. */
void drawn_family(int which, int round, void (*use)(const struct agree *a, int T));
const char *drawn_family_name(int which);

struct ref_config drawn_native(void);
/* A native model of that config, whose weights are stored in that type.  Tk: how many keys of another text, if
 * there is one. */
void drawn_native_use(const struct ref_config *c, const char *dtype, int T, int Tk,
                      void (*use)(const struct agree *a, int T, int Tk));

#endif
