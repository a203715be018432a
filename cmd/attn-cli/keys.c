#include "keys.h"

#include "json.h"

#include <inttypes.h>

const char *const key_truths[] = {"true", "false", NULL};
const char *const key_positions[] = {"none", "learned", "rope", NULL};
const char *const key_norms[] = {"none", "layernorm", "rmsnorm", NULL};
const char *const key_mlps[] = {"none", "gelu", "gelu_new", "swiglu", NULL};
const char *const key_masks[] = {"causal", "none", NULL};
const char *const key_scales[] = {"sqrt", "none", NULL};
const char *const key_dtypes[] = {"F32", "F16", "BF16", NULL};

static void write_key(FILE *f, const struct option *row)
{
    fputc('"', f);
    for (const char *c = row->name; *c; c++)
        fputc(*c == '-' ? '_' : *c, f);
    fputs("\": ", f);
    switch (row->type) {
    case OPT_NUMBER: fprintf(f, "%" PRIu64, ((const struct number *)row->to)->n); break;
    case OPT_REAL: json_real(f, ((const struct real *)row->to)->x); break;
    case OPT_SWITCH: fputs(option_given(row), f); break;
    default: json_text(f, option_given(row));
    }
    fputs(", ", f);
}

void keys_write(FILE *f, const struct option *rows)
{
    for (; rows->name; rows++)
        if (option_given(rows))
            write_key(f, rows);
}
