#include "asking.h"

int bind_metric(struct attn_metric *m, const struct attn_model *model, struct attn_tokenizer **tokenizer, const int32_t *ids,
                size_t n, struct attn_err *err)
{
    if (attn_metric_has_words(m) && !*tokenizer && attn_tokenizer_open(tokenizer, common.model, err))
        return err->code;
    struct attn_metric_of of = {.model = model, .tokenizer = *tokenizer, .ids = ids, .T = n};
    return attn_metric_bind(m, &of, err);
}
