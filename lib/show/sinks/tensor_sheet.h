/* tensor_sheet.h - a tensor of a model as a matrix, in the layout of its file: what a format needs to write it.
 *
 *     text        its name, type and shape, and the matrix
 *     csv         a header "row,0,1,...", or "token,0,1,..." where rows are the tokens of the vocabulary
 *     tidy        as a run's: name,layer,head,row,col,row_token,col_token,value with layer and head empty
 *     json        {"version", "model", "name", "dtype", "stored", "shape", "data", "nonfinite"}
 *     npy         float32, in the tensor's own shape
 *     pictures    as plot draws any matrix
 *
 * A vector is a matrix of one row, and of more than two axes all but the last become rows.  Formats with the flag
 * ATTN_FORMAT_TENSOR have the method `tensor`; all pictures draw one. */
#ifndef ATTN_SINKS_TENSOR_SHEET_H
#define ATTN_SINKS_TENSOR_SHEET_H

#include "attn_tools.h"
#include "base/out.h"
#include "io/dump.h"
#include "model/model.h"
#include "sinks/sink.h"

struct attn_tensor_sheet {
    const struct attn_model *model;
    const struct attn_tensor_opts *o;
    const struct attn_st_tensor *file;  /* as the model has it */
    const struct attn_st_tensor *of;    /* what is written: that, or a part of its blocks */
    enum attn_dtype type;
    struct attn_dump *dump;             /* one array: the tensor in float32; labels of rows and columns, if any */
    const float *x; size_t rows, cols;
    struct attn_tokens row, col;        /* labels: of rows always, where they have none their numbers; of columns only
                                         * where these are tokens */
    struct attn_out *out;
};

/* Whether the rows (axis 0) or columns (1) are the tokens of the vocabulary. */
bool attn_sheet_lists_tokens(const struct attn_tensor_sheet *w, size_t axis);
/* Fields of tables: a label, or the number of what has none; a number of the matrix. */
void attn_sheet_label(const struct attn_tensor_sheet *w, const struct attn_tokens *of, size_t i);
void attn_sheet_number(const struct attn_tensor_sheet *w, float x);

#endif
