/* info_tensor.h - one tensor of a model, in numbers or as a picture: what info --tensor does. */
#ifndef CLI_INFO_TENSOR_H
#define CLI_INFO_TENSOR_H

#include "attn.h"
#include "table.h"

struct info_tensor { const char *name, *stored, *format, *path; struct number precision; };

/* The i-th format that info writes: those of tables, and of a tensor also arrays and pictures. */
const char *info_format(size_t i);
/* Fails unless the options fit each other: without a name there is a report, which has fewer formats. */
int info_tensor_check(const struct info_tensor *t, struct attn_err *err);
int info_tensor(const struct attn_model *m, const struct info_tensor *t, struct attn_err *err);

#endif
