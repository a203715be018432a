#include "info_tensor.h"

#include <string.h>

#include "attn_tools.h"
#include "base/err.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"

const char *info_format(size_t i)
{
    return format_name(i, ATTN_FORMAT_TABLE | ATTN_FORMAT_TENSOR | ATTN_FORMAT_PICTURE);
}

static bool is_table(const char *format)
{
    const struct attn_format *f = attn_format_find(format);
    return f && f->flags & ATTN_FORMAT_TABLE;
}

int info_tensor_check(const struct info_tensor *t, struct attn_err *err)
{
    if (t->name)
        return ATTN_OK;
    if (t->stored)
        return attn_fail(err, ATTN_EUSAGE, "--stored %s: of which tensor? name it with --tensor", t->stored);
    if (t->path)
        return attn_fail(err, ATTN_EUSAGE, "-o %s: a report goes to standard output; a file holds one tensor: name it "
                                           "with --tensor", t->path);
    if (t->format && !is_table(t->format))
        return attn_fail(err, ATTN_EUSAGE, "--format %s: that holds one tensor: name it with --tensor ('attn-cli info' "
                                           "lists them)", t->format);
    return ATTN_OK;
}

int info_tensor(const struct attn_model *m, const struct info_tensor *t, struct attn_err *err)
{
    bool terminal = terminal_is(t->path);
    char note[ATTN_PLOT_NOTE] = "";
    size_t i;
    struct attn_tokenizer *tokenizer = NULL;
    struct attn_err none;               /* a model without a tokenizer has rows without names */
    if (attn_tensor_find(&i, m, t->name, err))
        return err->code;
    if (attn_model_tokenizer(&tokenizer, m, &none) == ATTN_ENOMEM)
        return *err = none, err->code;
    const struct attn_tensor_opts opts = {
        .format = t->format, .path = t->path, .stored = t->stored, .tokenizer = tokenizer,
        .precision = (int)t->precision.n, .width = terminal_columns(terminal), .limit = terminal ? OUTPUT_NUMBERS : 0,
        .color = terminal_colored(terminal), .csv_safe = csv_safe(), .picture = picture_look(terminal), .note = note};
    int code = attn_tensor_write(m, i, &opts, err);
    if (!code && *note)
        say_note("%s", note);
    attn_tokenizer_close(tokenizer);
    return code;
}
