/* formats.h - the formats of output, one a row: a row makes a format known to options, help, messages and the choice by
 * the ending of a path (formats.c), and says by which methods it is written (writers.c). */
#ifndef ATTN_SINKS_FORMATS_H
#define ATTN_SINKS_FORMATS_H

#include "attn_tools.h"

enum {
    RUN = ATTN_FORMAT_RUN, LINES = ATTN_FORMAT_LINES, APART = ATTN_FORMAT_APART, STACK = ATTN_FORMAT_STACK,
    SUMMARY = ATTN_FORMAT_SUMMARY, PICTURE = ATTN_FORMAT_PICTURE, BINARY = ATTN_FORMAT_BINARY, MANY = ATTN_FORMAT_MANY,
    DIGEST = ATTN_FORMAT_DIGEST, COMPARE = ATTN_FORMAT_COMPARE, ABLATED = ATTN_FORMAT_ABLATED,
    TABLE = ATTN_FORMAT_TABLE, TENSOR = ATTN_FORMAT_TENSOR, COLOR = ATTN_FORMAT_COLOR, SAYS = ATTN_FORMAT_SAYS,
    MAP = PICTURE | COLOR,
    FIGURE = MAP | ATTN_FORMAT_FIGURE, DRAWN = FIGURE | ATTN_FORMAT_LETTERS
};
#define PATTERN "pattern"               /* what pictures show; a page has room for more */

/* ROW(name, ending, help, show, flags, methods), in the order of lists in help and messages; the methods of sink.h,
 * NULL: a batch alone writes it. */
#define ATTN_FORMATS(ROW) \
    ROW("text", NULL, NULL, NULL, RUN | COMPARE | TABLE | ABLATED | TENSOR, &attn_text_methods) \
    ROW("screen", NULL, "the first look, on one screen", NULL, RUN | COMPARE | SAYS, &attn_screen_methods) \
    ROW("json", ".json", NULL, NULL, RUN | DIGEST | COMPARE | TABLE | ABLATED | TENSOR, &attn_json_methods) \
    ROW("ndjson", NULL, "one JSON document per line", NULL, LINES | DIGEST | TABLE | ABLATED, &attn_ndjson_methods) \
    ROW("csv", ".csv", "one file per matrix", NULL, RUN | APART | MANY | DIGEST | TABLE | ABLATED | TENSOR, \
        &attn_csv_methods) \
    ROW("tidy", ".tidy", "one long table", NULL, RUN | LINES | TABLE | ABLATED | TENSOR, &attn_tidy_methods) \
    ROW("tsv", ".tsv", "a table with tabs", NULL, TABLE | ABLATED, NULL) \
    ROW("md", NULL, "a table of Markdown", NULL, TABLE | ABLATED, NULL) \
    ROW("npy", ".npy", NULL, NULL, RUN | APART | MANY | BINARY | DIGEST | TENSOR, &attn_npy_methods) \
    ROW("npz", ".npz", NULL, NULL, RUN | APART | BINARY, &attn_npz_methods) \
    ROW("term", NULL, "heat maps on the terminal", PATTERN, RUN | MAP, &attn_term_methods) \
    ROW("png", ".png", NULL, PATTERN, RUN | APART | DRAWN | BINARY, &attn_png_methods) \
    ROW("svg", ".svg", NULL, PATTERN, RUN | APART | FIGURE, &attn_svg_methods) \
    ROW("pdf", ".pdf", NULL, PATTERN, RUN | APART | DRAWN | BINARY, &attn_pdf_methods) \
    ROW("html", ".html", "a page to explore", NULL, RUN | MAP | ABLATED | SAYS, &attn_html_methods) \
    ROW("summary", NULL, "one line of figures per sentence", NULL, SUMMARY, NULL) \
    ROW("stack", NULL, "one .npy array per name, for sentences of one length", NULL, STACK, NULL)

#endif
