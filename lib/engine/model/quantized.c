#include "model/quantized.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"

#define INSTEAD "take the model that this one was made from, with weights of 16 or 32 bits, or a GGUF file of it"

/* ---- config.json ----------------------------------------------------------------------- */

/* "quant_method", and what people call it. */
static const struct { const char *method, *name; } methods[] = {
    {"bitsandbytes", "bitsandbytes"}, {"gptq", "GPTQ"}, {"awq", "AWQ"}, {"fp8", "FP8"}, {"mxfp4", "MXFP4"},
    {"compressed-tensors", "compressed-tensors"}, {"fbgemm_fp8", "FBGEMM's FP8"}, {"auto-round", "AutoRound"},
    {"modelopt", "ModelOpt"}, {"torchao", "torchao"}, {"hqq", "HQQ"}, {"quanto", "Quanto"}, {"aqlm", "AQLM"},
    {"vptq", "VPTQ"}, {"spqr", "SpQR"}, {"higgs", "HIGGS"}, {"eetq", "EETQ"}, {"bitnet", "BitNet"}, {"exl2", "EXL2"},
    {"exl3", "EXL3"}, {"quark", "Quark"}, {"fp_quant", "FP-Quant"}};

static const char *name_of(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(method, methods[i].method))
            return methods[i].name;
    return method;
}

/* How many bits a weight has, 0: it does not say. */
static int bits_of(const cJSON *v)
{
    double bits;
    if (cJSON_IsTrue(attn_tree_member(v, "load_in_4bit")))
        return 4;
    if (cJSON_IsTrue(attn_tree_member(v, "load_in_8bit")))
        return 8;
    const cJSON *n = attn_tree_member(v, "bits");
    n = n ? n : attn_tree_member(v, "w_bit");
    return n && attn_tree_whole(n, 1, 64, &bits) ? (int)bits : 0;
}

int attn_quantized_config(const struct attn_key_reader *r, const cJSON *v)
{
    const cJSON *method = attn_tree_member(v, "quant_method");
    char bits[24] = "";
    const char *name = cJSON_IsString(method) ? name_of(method->valuestring) : NULL;
    if (!name && (attn_tree_member(v, "load_in_4bit") || attn_tree_member(v, "load_in_8bit")))
        name = "bitsandbytes";          /* older files do not say it */
    if (!name)
        return ATTN_OK;
    if (bits_of(v))
        snprintf(bits, sizeof bits, ", %d bits", bits_of(v));
    return attn_fail(r->err, ATTN_EFORMAT, "%s: \"quantization_config\" says that the weights are quantised (%.*s%s), "
                                           "which is not read: " INSTEAD, r->name, attn_shown(name, strlen(name)), name,
                     bits);
}

/* ---- tensors --------------------------------------------------------------------------- */

/* What only the names of one method end in.  A row that is met earlier in the list says more. */
static const struct { const char *ending, *name; } endings[] = {
    {".g_idx", "GPTQ"}, {".quant_state.bitsandbytes__nf4", "bitsandbytes, 4 bits"},
    {".quant_state.bitsandbytes__fp4", "bitsandbytes, 4 bits"}, {".absmax", "bitsandbytes, 4 bits"},
    {".SCB", "bitsandbytes, 8 bits"}, {".weight_scale_inv", "FP8"}, {".weight_packed", "compressed-tensors"},
    {"_proj_blocks", "MXFP4"}, {".qweight", "AWQ or GPTQ"}};

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && !strcmp(name + n - m, ending);
}

static int quantized(const struct attn_shard *in, const struct attn_st_tensor *t, const char *name,
                     struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' (%s) is of weights that are quantised by %s, which is not "
                                        "read: " INSTEAD, in->path, t->name, t->dtype, name);
}

int attn_quantized_tensors(const struct attn_shards *s, struct attn_err *err)
{
    const struct attn_shard *in;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        for (size_t i = 0; i < s->tensors; i++) {
            const struct attn_st_tensor *t = attn_shards_at(s, i, &in);
            if (ends_in(t->name, endings[k].ending))
                return quantized(in, t, endings[k].name, err);
        }
    for (size_t i = 0; i < s->tensors; i++) {
        const struct attn_st_tensor *t = attn_shards_at(s, i, &in);
        if (!strncmp(t->dtype, "F8_", 3))
            return quantized(in, t, "FP8", err);
    }
    return ATTN_OK;
}
