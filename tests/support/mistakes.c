#include "mistakes.h"

const struct mistake *mistake_at(size_t i)
{
    static const struct mistakes *const tables[] = {
        &mistakes_of_attention, &mistakes_of_positions, &mistakes_of_streams, &mistakes_of_weights};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; i -= tables[k++]->n)
        if (i < tables[k]->n)
            return &tables[k]->row[i];
    return NULL;
}

static void edit(struct port *port, int layer, const char *tail, double *x, size_t n)
{
    struct planted *p = port->mistake;
    const struct mistake *m = p->mistake;
    int at = m->place == AFTER_LAYERS && layer < 0 ? p->from : layer;
    if (at >= p->from && at <= p->to && (is(tail, p->first) || (m->also && is(tail, m->also))))
        m->edit(p, layer, x, n);
}

bool mistake_plant(struct planted *out, struct port *p, const struct mistake *m, int from, int to)
{
    int L = p->model->config->L;
    if (m->place != IN_LAYERS) {
        from = m->place == AFTER_LAYERS ? L : -1;
        to = m->place == BEFORE_LAYERS ? -1 : L;
    }
    *out = (struct planted){.mistake = m, .port = p, .c = &p->other, .from = from, .to = to, .first = m->first};
    p->from = from, p->to = to, p->padded = m->padded, p->mistake = out;
    if (m->edit)
        p->edit = edit;
    bool can = !m->config || m->config(out);
    for (int layer = from; can && m->weights && layer <= to; layer++)
        can = m->weights(out, layer < L ? layer : -1);
    return can;
}
