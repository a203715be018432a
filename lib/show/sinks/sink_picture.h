/* sink_picture.h - collects the selected activations, band by band, into an album.
 *
 * Sinks that draw must hold everything they draw: a picture needs its largest number before its first pixel. */
#ifndef ATTN_SINKS_SINK_PICTURE_H
#define ATTN_SINKS_SINK_PICTURE_H

#include "picture/album.h"
#include "sinks/sink.h"

enum { ATTN_COLLECT_TITLE = ATTN_KIND_NOTE + 48 };

struct attn_collect {
    const struct attn_sink_job *job;
    bool next;                          /* collect the likeliest next tokens, too, if the model has an output layer, */
    bool lens;                          /* and those of the lens in place of its logits */
    struct attn_album album;
    char title[ATTN_ACTS][ATTN_COLLECT_TITLE], said[ATTN_ACTS][ATTN_COLLECT_TITLE];
    float *band[ATTN_ACTS];             /* where numbers of the current layer go */
    struct attn_kind masked; const unsigned char *mask;     /* the kind of the mask made last */
    struct attn_scores *scores;         /* of the heads of the patterns; NULL: nobody asks what they do */
    int32_t *ids;                       /* of the text, for these */
};

/* Whether numbers of this activation say which keys a query sees. */
enum attn_sight attn_sight_of(int act);

/* Anything that was collected is freed by attn_collect_end, also after a failure. */
int attn_collect_start(struct attn_collect *c, const struct attn_sink_job *job, bool next, struct attn_err *err);
void attn_collect_end(struct attn_collect *c);

/* For a sink's functions of the same names. */
unsigned attn_collect_wants(const struct attn_collect *c, int act, int layer);
int attn_collect_watch(struct attn_collect *c, const struct attn_probe *probe, struct attn_err *err);

#endif
