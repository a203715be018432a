/* sidecar.h - the facts about a batch output besides its numbers: OUT.part.json while it grows, OUT.json when it is
 * complete.
 *
 *     {"records": 2, "failed": 0, "next": 2, "keys": "<64 hex>", "bytes": 2311, "sha256": "<64 hex>",
 *      "summary_bytes": 0, "summary_sha256": null, "arrays": "<64 hex>",
 *      "synced": {the members so far as they were at the last sync to the disk},
 *      "tokens": 0, "total": 2, "complete": true,
 *      "tool": "attn-cli", "version", "format", "model": "<digest>", "cpu", "command",
 *      "options": {"show": "pattern"}, "input": {"format", "column", "header"},
 *      "shard": {"index", "count", "stride"}, "summary": null}
 *
 * `records` have been done, `failed` of them unsuccessfully; `next` is the number of the following record in the
 * whole input.  `keys` is the sum, modulo 2^256, of the SHA-256 of "NUMBER KEY" of each record, so that the sums of
 * parts add up to that of the whole.  `bytes` is where the last complete record ends, and `sha256` that of the file up
 * to there.  `arrays` is the sum of the SHA-256 of "NAME ROWS" of each array of a stack.  `tokens` is the length of its
 * sentences, 0 before there is one; `total` counts the records of the whole input, null before its end was seen.
 *
 * What changes comes first and has a fixed length, padded with spaces, so that it is rewritten in place by one write
 * within a page: no crash of the process leaves half of it, and a full disk has room for it. */
#ifndef ATTN_BATCH_SIDECAR_H
#define ATTN_BATCH_SIDECAR_H

#include "attn_tools.h"
#include "base/out.h"

struct attn_written { uint64_t bytes; char sha256[65]; };  /* of a file; "": it is not known */
struct attn_mark {                      /* how far an output has come */
    uint64_t records, failed, next;
    struct attn_written stream, summary;
    char keys[65], arrays[65];
};

struct attn_setting { char *name, *value; };

struct attn_sidecar {                   /* all strings malloc'd; those that are null in the file are NULL */
    struct attn_mark now, synced;
    uint64_t tokens, total;             /* total UINT64_MAX: unknown */
    bool complete;
    char *version, *format, *model, *cpu, *command, *input_format, *column, *summary;
    bool header;                        /* the first row of csv and tsv names the columns */
    struct attn_share shard;            /* count 1: all of the input */
    struct attn_setting *option; size_t options, room;  /* in the order of the table, as typed */
};

int attn_sidecar_read(struct attn_sidecar *out, const char *path, struct attn_err *err);
/* The same from its text; path is for messages. */
int attn_sidecar_parse(struct attn_sidecar *out, const char *text, size_t len, const char *path, struct attn_err *err);
/* Fails unless it says that all records of its shard are done. */
int attn_sidecar_check_finished(const struct attn_sidecar *s, const char *path, struct attn_err *err);
void attn_sidecar_free(struct attn_sidecar *s);         /* zeroed is fine */
int attn_sidecar_add_option(struct attn_sidecar *s, const char *name, const char *value, struct attn_err *err);

/* Writes a whole file, which replaces the old one when it is complete. */
int attn_sidecar_write(const struct attn_sidecar *s, const char *path, struct attn_err *err);
/* Write to the file in place while the output grows; the writer holds a lock on it.  path is for messages. */
int attn_sidecar_begin(const struct attn_sidecar *s, int fd, const char *path, struct attn_err *err);
int attn_sidecar_update(const struct attn_sidecar *s, int fd, const char *path, struct attn_err *err);

bool attn_sidecar_has_option(const struct attn_sidecar *s, const char *name);
/* Adds SHA-256("NUMBER KEY") to keys, which starts as 64 zeros. */
void attn_mark_add_key(struct attn_mark *m, uint64_t number, const char *key);
void attn_sums_start(char sum[65]);     /* 64 zeros */
void attn_sums_add(char sum[65], const char *more);

/* Sets the summary's path as seen from the directory of `output`, if it is there or in the output itself, so that they
 * can be moved together; else as an absolute path. */
int attn_sidecar_set_summary(struct attn_sidecar *s, const char *path, const char *output, struct attn_err *err);

/* Finds how two outputs were made differently, apart from their shards and summaries. */
enum { ATTN_DIFFERENCE = 112 };
/* "with --show pattern", "without --show" */
struct attn_difference { char a[ATTN_DIFFERENCE], b[ATTN_DIFFERENCE]; };
bool attn_sidecar_differ(const struct attn_sidecar *a, const struct attn_sidecar *b, struct attn_difference *out);

/* Fails with a message that says how the output at `path` differs from the request: options, model, input, shard... */
int attn_sidecar_agree(const struct attn_sidecar *made, const struct attn_sidecar *asked, const char *path,
                       struct attn_err *err);

#endif
