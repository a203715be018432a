/* checkpoints.h - the recorded checkpoints, one or more of each family, and where they are.
 *
 * What a model of any family must do, tests ask of all of them.  The first CHECKPOINTS_HERE are in
 * tests/golden/checkpoints; the others, and of some families all activations but the logits, are kept beside the
 * repository.  From CHECKPOINTS_HF on they are GGUF files, some of them in tests/golden/gguf. */
#ifndef TESTS_CHECKPOINTS_H
#define TESTS_CHECKPOINTS_H

enum { CHECKPOINTS_HERE = 34, CHECKPOINTS_HF = 48, CHECKPOINTS = 60 };
extern const struct checkpoint { const char *name, *shows; } checkpoints[CHECKPOINTS];
const char *checkpoint_name(int i);     /* of row i, for attn_test_add_rows */

/* The directory of a checkpoint, and a file of what is recorded of it; NULL: it is not there.  Valid like
 * what `printed` returns. */
const char *checkpoint_path(const char *name);
const char *checkpoint_recorded(const char *name, const char *file);

#endif
