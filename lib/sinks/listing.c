#include "sinks/listing.h"

#include <string.h>

#include "text/label.h"
#include "base/num.h"
#include "sinks/paint.h"

enum { TOKEN_MAX = 40, GAP = 2 };       /* columns on the terminal */

static void title(struct attn_out *o, const char *s, bool color)
{
    attn_paint(o, color, ATTN_BOLD);
    attn_out_str(o, s);
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void right(struct attn_out *o, const char *s, size_t columns)
{
    attn_label_pad(o, columns - strlen(s));
    attn_out_str(o, s);
}

static void left(struct attn_out *o, const char *s, size_t columns)
{
    attn_out_str(o, s);
    attn_label_pad(o, columns - strlen(s));
}

static void widen(size_t *columns, const struct attn_label *l)
{
    if (l->columns > *columns)
        *columns = l->columns;
}

/* ---- tokens of the sentence ------------------------------------------------------------ */

struct columns { size_t index, id, token; bool text; };

static struct columns measure(const struct attn_tokens *tokens, size_t n)
{
    struct columns c = { strlen("index"), strlen("id"), strlen("token"), n && tokens->tok[0].known };
    for (size_t i = 0; i < n; i++) {
        struct attn_label index = attn_label_number(i), id = attn_label_number((uint64_t)tokens->tok[i].id);
        struct attn_label token = attn_label_token(&tokens->tok[i], TOKEN_MAX);
        widen(&c.index, &index);
        widen(&c.id, &id);
        widen(&c.token, &token);
    }
    return c;
}

static void print_header(struct attn_out *o, const struct columns *c, bool color)
{
    attn_paint(o, color, ATTN_DIM);
    right(o, "index", c->index);
    right(o, "id", GAP + c->id);
    if (c->text) {
        attn_label_pad(o, GAP);
        left(o, "token", c->token);
        attn_out_str(o, "  bytes");
    }
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_token(struct attn_out *o, const struct columns *c, size_t i, const struct attn_token *token)
{
    struct attn_label index = attn_label_number(i), id = attn_label_number((uint64_t)token->id);
    attn_label_right(o, &index, c->index);
    attn_label_right(o, &id, GAP + c->id);
    if (token->known) {
        struct attn_label text = attn_label_token(token, TOKEN_MAX);
        attn_label_pad(o, GAP);
        attn_label_left(o, &text, c->token);
        attn_out_printf(o, "  %zu-%zu", token->start, token->end);
    }
    attn_out_char(o, '\n');
}

void attn_listing_tokens(struct attn_out *o, const char *heading, const struct attn_tokens *tokens, size_t limit, bool color)
{
    size_t n = tokens->n < limit ? tokens->n : limit;
    struct columns c = measure(tokens, n);
    title(o, heading, color);
    print_header(o, &c, color);
    for (size_t i = 0; i < n; i++)
        print_token(o, &c, i, &tokens->tok[i]);
    if (n < tokens->n)
        attn_out_printf(o, "… %zu more (--show tokens lists them all)\n", tokens->n - n);
}

/* ---- likeliest next tokens ------------------------------------------------------------- */

/* The width of the column: that of its title, or of "0." and the digits. */
static size_t probability_columns(const struct attn_sink_job *job)
{
    size_t title_columns = strlen("probability"), number_columns = 2 + (size_t)job->precision;
    return number_columns > title_columns ? number_columns : title_columns;
}

static void print_likely(struct attn_out *o, const struct attn_sink_job *job, int32_t token, double p,
                         size_t id_columns)
{
    struct attn_label number, id = attn_label_number((uint64_t)token);
    number.columns = attn_num_fixed(number.text, p, job->precision);
    number.text[number.columns] = '\0';
    attn_label_right(o, &number, probability_columns(job));
    attn_label_right(o, &id, GAP + id_columns);
    size_t len = 0;
    const char *s = job->token_text ? job->token_text(job->token_ctx, token, &len) : NULL;
    if (s) {
        struct attn_label text = attn_label_text(s, len, TOKEN_MAX);
        attn_label_pad(o, GAP);
        attn_out_str(o, text.text);
    }
    attn_out_char(o, '\n');
}

static void print_no_likely(struct attn_out *o, const struct attn_next *next)
{
    char why[ATTN_NEXT_WHY];
    attn_next_why(why, next);
    attn_out_printf(o, "none: %s\n", why);
}

void attn_listing_next(struct attn_out *o, const struct attn_next *next, const struct attn_sink_job *job)
{
    size_t id_columns = strlen("id");
    for (size_t i = 0; i < next->n; i++) {
        struct attn_label id = attn_label_number((uint64_t)next->best[i].id);
        widen(&id_columns, &id);
    }
    attn_out_char(o, '\n');
    title(o, "likeliest next tokens", job->color);
    if (!next->n) {
        print_no_likely(o, next);
        return;
    }
    attn_paint(o, job->color, ATTN_DIM);
    right(o, "probability", probability_columns(job));
    right(o, "id", GAP + id_columns);
    attn_out_str(o, job->token_text ? "  token" : "");
    attn_paint(o, job->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
    for (size_t i = 0; i < next->n; i++)
        print_likely(o, job, next->best[i].id, next->best[i].p, id_columns);
}
