/* port.h - another program's run of a model: its activations in its own arithmetic, with or without a mistake.
 *
 * It is the decoder in double precision (reference.h), told what to do otherwise.  A port is set up by port_start,
 * changed by the functions below or its members, run once, and dumped as its files would be: float32, our names. */
#ifndef TESTS_PORT_H
#define TESTS_PORT_H

#include "agree.h"

#include "attn_tools.h"

enum { PORT_ACTS = 128, PORT_WEIGHTS = 192 };

struct port {
    const struct agree *model;
    const char *family;                 /* as config.json spells it, up to the quote */
    struct ref_config other; int from, to;      /* the config of layers from..to; -1 precedes them, L follows */
    int padded;                         /* so many tokens more in front, whose rows are not in the dump */
    double (*dot)(const double *x, const double *y, int n);
    /* What changes an activation before it is read: a mistake, then the arithmetic. */
    void (*edit)(struct port *p, int layer, const char *tail, double *x, size_t n);
    void (*finish)(struct port *p, int layer, const char *tail, double *x, size_t n);
    struct planted *mistake; const struct order *order; /* theirs */
    uint32_t seed;                      /* of dropout, and of what functions are off by */
    int T;
    struct { char name[64]; double *x; } weight[PORT_WEIGHTS]; size_t weights;      /* of its own; x NULL: none */
    struct port_act { char name[48]; int act, layer; double *x; size_t n; } act[PORT_ACTS]; size_t n;
};

void port_start(struct port *p, const struct agree *model);
void port_run(struct port *p, const int32_t *ids, int T);
void port_free(struct port *p);

/* A weight of the model; NULL: it has none.  layer -1: outside of the layers. */
const double *port_weight(const struct port *p, int layer, const char *tail);
/* The port gets a copy of its own, from n numbers or zeros (NULL), or does without the weight. */
double *port_weight_own(struct port *p, int layer, const char *tail, const double *from, size_t n);
void port_weight_lose(struct port *p, int layer, const char *tail);

/* What was computed so far; NULL: there is no such activation. */
const struct port_act *port_find(const struct port *p, const char *name);
const double *port_told(const struct port *p, int layer, const char *tail);
/* Activations as float32; fails the test without memory. */
struct attn_dump *port_dump(const struct port *p);

#endif
