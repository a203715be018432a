/* mistakes.h - the mistakes that people make when they port a model, each as a row of a table. */
#ifndef TESTS_MISTAKES_H
#define TESTS_MISTAKES_H

#include "port.h"

#include <stdio.h>
#include <string.h>

enum mistake_place { IN_LAYERS, BEFORE_LAYERS, AFTER_LAYERS, EVERYWHERE };

/* A mistake that was planted in a port, and what a comparison should find. */
struct planted {
    const struct mistake *mistake;
    struct port *port;
    struct ref_config *c;               /* the port's, of the layers that have the mistake: from..to */
    int from, to;
    const char *first;                  /* what shows it, without the layer: alternatives, as a port may lack some */
    char says[64];                      /* "": as the table says */
};

/* Alternatives have '|' between them.  config and weights return false if the model has no use for the mistake. */
struct mistake {
    const char *name;
    enum mistake_place place;
    const char *first;                  /* the activation that shows it first; NULL: it depends on the model */
    const char *kind, *says;            /* of the cause: its word, and what its sentence contains; NULL: it depends */
    bool (*config)(struct planted *p);  /* changes p->c */
    bool (*weights)(struct planted *p, int layer);                      /* changes the weights of one layer */
    void (*edit)(struct planted *p, int layer, double *x, size_t n);    /* changes `first` and `also`, unless NULL */
    const char *also;
    int padded;                         /* see struct port */
};

struct mistakes { const struct mistake *row; size_t n; };
extern const struct mistakes mistakes_of_attention, mistakes_of_positions, mistakes_of_streams, mistakes_of_weights;
enum { MISTAKES_MOST = 128 };
const struct mistake *mistake_at(size_t i);             /* NULL: there are no more */

/* Plants a mistake in layers from..to of a started port, or where it belongs; false: the model cannot have it. */
bool mistake_plant(struct planted *out, struct port *p, const struct mistake *m, int from, int to);

/* ---- for the tables ---- */

#define SAYS(...) snprintf(p->says, sizeof p->says, __VA_ARGS__)

static inline bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
/* The config without the mistake. */
static inline const struct ref_config *model_of(const struct planted *p) { return p->port->model->config; }
static inline bool gated(const struct ref_config *c) { return is(c->mlp, "swiglu") || !strncmp(c->mlp, "geglu", 5); }

#endif
