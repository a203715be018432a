/* gguf_pre.c - the table of tokenizer.ggml.pre.
 *
 * The patterns are llama.cpp's, spelled as in Hugging Face's files, because we have scanners for these
 * (text/pretoken.h says which). */
#include "model/gguf_pre.h"

/* Of JSON: each backslash of a pattern is two there, and four here. */
#define BYTES(regex) \
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": " regex "}"
#define SPLIT(pattern) \
    "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"" pattern "\"}, \"behavior\": \"Isolated\", \"invert\": false}"
#define SEQUENCE(steps) "{\"type\": \"Sequence\", \"pretokenizers\": [" steps "]}"
#define BY(pattern) SEQUENCE(SPLIT(pattern) ", " BYTES("false"))

#define SHORT "'s|'t|'re|'ve|'m|'ll|'d"
#define LEAD "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"
#define BLANKS "|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define OTHERS " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*" BLANKS
#define WITH_SLASH " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*" BLANKS
#define HEADS "[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define TAILS "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"

#define GPT2 SHORT "| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)|\\\\s+"
#define LLAMA3 "(?i:" SHORT ")|" LEAD "\\\\p{L}+|\\\\p{N}{1,3}|" OTHERS
#define QWEN2 "(?i:" SHORT ")|" LEAD "\\\\p{L}+|\\\\p{N}|" OTHERS
#define QWEN35 \
    "(?i:" SHORT ")|" LEAD "[\\\\p{L}\\\\p{M}]+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{M}\\\\p{N}]+[\\\\r\\\\n]*" BLANKS
#define GPT4O LEAD HEADS "*" TAILS "+(?i:" SHORT ")?|" LEAD HEADS "+" TAILS "*(?i:" SHORT ")?|\\\\p{N}{1,3}|" WITH_SLASH
#define TEKKEN LEAD HEADS "*" TAILS "+|" LEAD HEADS "+" TAILS "*|\\\\p{N}|" WITH_SLASH
#define BLOOM " ?[^(\\\\s|[.,!?\\u2026\\u3002\\uff0c\\u3001\\u0964\\u06d4\\u060c])]+"
#define DEEPSEEK3 \
    "[!\\\"#$%&'()*+,\\\\-./:;<=>?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\\\p{L}\\\\p{P}\\\\p{S}]?" \
    "[\\\\p{L}\\\\p{M}]+| ?[\\\\p{P}\\\\p{S}]+[\\r\\n]*|\\\\s*[\\r\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define THREE_DIGITS SPLIT("[0-9][0-9][0-9]")

static const char
    gpt2[] = BYTES("true"),
    digits[] = SEQUENCE("{\"type\": \"Digits\", \"individual_digits\": true}, " BYTES("true")),
    llama3[] = BY(LLAMA3), qwen2[] = BY(QWEN2), qwen35[] = BY(QWEN35), gpt4o[] = BY(GPT4O), tekken[] = BY(TEKKEN),
    bloom[] = BY(BLOOM), viking[] = SEQUENCE(SPLIT(BLOOM) ", " SPLIT("\\\\p{N}") ", " BYTES("false")),
    falcon[] = SEQUENCE("{\"type\": \"Punctuation\", \"behavior\": \"Contiguous\"}, " SPLIT(GPT2) ", " THREE_DIGITS ", "
                        BYTES("false")),
    deepseek_coder[] = SEQUENCE(SPLIT("[\\r\\n]") ", " SPLIT("\\\\s?\\\\p{L}+") ", " SPLIT("\\\\s?\\\\p{P}+") ", "
                                SPLIT("[\\u4e00-\\u9fa5\\u0800-\\u4e00\\uac00-\\ud7ff]+") ", " SPLIT("\\\\p{N}") ", "
                                BYTES("false")),
    deepseek3[] = SEQUENCE(SPLIT("\\\\p{N}{1,3}") ", " SPLIT("[\\u4e00-\\u9fa5\\u3040-\\u309f\\u30a0-\\u30ff]+") ", "
                           SPLIT(DEEPSEEK3) ", " BYTES("false")),
    plain[] = SEQUENCE(SPLIT("[\\\\p{P}\\\\$\\\\+<=>\\\\^~\\\\|]+") ", " SPLIT(GPT2) ", " SPLIT("\\\\p{N}+") ", "
                       THREE_DIGITS ", " BYTES("false"));

static const struct attn_gguf_pre rows[] = {
    {"gpt-2", gpt2, false, false}, {"phi-2", gpt2, false, false}, {"jina-es", gpt2, false, false},
    {"jina-de", gpt2, false, false}, {"jina-v1-en", gpt2, false, false}, {"jina-v2-es", gpt2, false, false},
    {"jina-v2-de", gpt2, false, false}, {"jina-v2-code", gpt2, false, false}, {"mpt", gpt2, false, false},
    {"olmo", gpt2, false, false}, {"jais", gpt2, false, false}, {"trillion", gpt2, false, false},
    {"roberta-bpe", gpt2, false, false}, {"exaone4", gpt2, false, false}, {"modern-bert", gpt2, false, false},
    {"gigachat", gpt2, false, false}, {"a.x-4.0", gpt2, false, false}, {"mellum", gpt2, false, false},
    {"starcoder", digits, false, false}, {"refact", digits, false, false}, {"command-r", digits, false, false},
    {"smollm", digits, false, false}, {"codeshell", digits, false, false}, {"exaone", digits, false, false},
    {"minerva-7b", digits, false, false},
    {"llama3", llama3, true, true}, {"llama-v3", llama3, true, true}, {"llama-bpe", llama3, true, true},
    {"falcon3", llama3, true, true}, {"falcon-h1", llama3, true, true}, {"pixtral", llama3, true, true},
    {"lfm2", llama3, true, true}, {"midm-2.0", llama3, true, true}, {"dbrx", llama3, false, false},
    {"smaug-bpe", llama3, false, false}, {"glm4", llama3, false, false}, {"chatglm-bpe", llama3, false, false},
    {"qwen2", qwen2, false, false}, {"stablelm2", qwen2, false, false}, {"deepseek-r1-qwen", qwen2, false, false},
    {"megrez", qwen2, false, false}, {"hunyuan", qwen2, false, false}, {"solar-open", qwen2, false, false},
    {"qwen35", qwen35, false, false},
    {"falcon", falcon, false, false},
    {"tekken", tekken, true, true}, {"gpt-4o", gpt4o, false, false}, {"llama4", gpt4o, false, false},
    {"bloom", bloom, false, false}, {"poro-chat", bloom, false, false}, {"gpt3-finnish", bloom, false, false},
    {"viking", viking, false, false}, {"deepseek-coder", deepseek_coder, false, false},
    {"deepseek-v3", deepseek3, false, false}, {"default", plain, false, false}};

const struct attn_gguf_pre *attn_gguf_pre_find(struct attn_str_view name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (name.len == strlen(rows[i].name) && !memcmp(name.s, rows[i].name, name.len))
            return &rows[i];
    return NULL;
}
