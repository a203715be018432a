/* struct_sizes.c - how large the structs of the public headers are, for those who declare them in other languages. */
#include "attn_ask.h"

#include <string.h>

#define SIZE(name) {"attn_" #name, sizeof(struct attn_##name)}

static const struct { const char *name; size_t size; } sizes[] = {
    SIZE(ablate_opts), SIZE(ablated), SIZE(ablated_metric), SIZE(attend_opts), SIZE(attention),
    SIZE(attribute_opts), SIZE(batch_estimate), SIZE(batch_grid), SIZE(batch_option), SIZE(batch_opts),
    SIZE(batch_state), SIZE(compared), SIZE(contrast_field), SIZE(contrast_file), SIZE(contrast_opts),
    SIZE(contrast_token), SIZE(contrast_type), SIZE(contrast_weight), SIZE(contrasted), SIZE(cost), SIZE(diff_added),
    SIZE(diff_counts), SIZE(diff_near),
    SIZE(diff_next), SIZE(diff_opts), SIZE(diff_row), SIZE(dump_array), SIZE(editor_opts), SIZE(encode_opts), SIZE(err),
    SIZE(explain_opts), SIZE(format), SIZE(growth_opts), SIZE(head_score), SIZE(heads_opts), SIZE(heads_state),
    SIZE(info), SIZE(init_opts), SIZE(input), SIZE(kind), SIZE(kind_row), SIZE(assumed), SIZE(lacking), SIZE(lens_opts),
    SIZE(likely), SIZE(listed), SIZE(lost), SIZE(measure), SIZE(merge_opts), SIZE(metadata), SIZE(metric_field),
    SIZE(metric_of), SIZE(mlp_row), SIZE(observer), SIZE(patch_cell), SIZE(patch_opts), SIZE(patch_report_opts),
    SIZE(patch_result), SIZE(picture_opts), SIZE(plan), SIZE(plot_opts), SIZE(probe), SIZE(question), SIZE(record),
    SIZE(record_field), SIZE(records_opts), SIZE(repeat_opts), SIZE(repeated), SIZE(sampling), SIZE(save_opts),
    SIZE(score_opts), SIZE(seq), SIZE(share), SIZE(sink_gradient), SIZE(sink_hint), SIZE(sink_opts),
    SIZE(slopes_opts), SIZE(tensor_info), SIZE(tensor_opts), SIZE(telling), SIZE(token), SIZE(tokens), SIZE(touch),
    SIZE(touch_watch), SIZE(train_opts), SIZE(train_state), SIZE(train_watch_opts), SIZE(variants_opts),
    SIZE(vocab_opts),
};

size_t attn_sizeof(const char *name)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(sizes[i].name, name))
            return sizes[i].size;
    return 0;
}
