/* tokenizer.json: what is refused, and what each component does with a text. */
#include "suites.h"

#include "corpus.h"
#include "scratch.h"

#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_subword *b = NULL;
    struct attn_text_file file = {bytes, len, name};
    int rc = attn_tokenizer_json_read(&b, &file, err);
    ck_assert((b != NULL) == (rc == ATTN_OK));
    attn_subword_free(b);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_added_empty.json", "added_tokens: one has no id from 0 to 2147483646 or no content"},
        {"n_added_flag.json", "added_tokens: \"special\" is 1, expected true or false"},
        {"n_added_grows.json", "added_tokens: a token that is so long when it is normalised is not supported"},
        {"n_added_huge_id.json", "added_tokens: one has no id from 0 to 2147483646 or no content"},
        {"n_added_id.json", "added_tokens: '<|end|>' has the ids 6 and 5, expected one"},
        {"n_added_in_array.json", "added_tokens: one of them is an array, expected an object"},
        {"n_added_key.json", "added_tokens: unknown key \"vocab\""},
        {"n_added_long.json", "added_tokens: token 6 has 1025 bytes, expected at most 1024"},
        {"n_added_object.json", "added_tokens: it is no array"},
        {"n_added_string_id.json", "added_tokens: one has no id from 0 to 2147483646 or no content"},
        {"n_after_byte_level.json", "pre_tokenizer: such a step after \"ByteLevel\" is not supported"},
        {"n_array.json", "it is no object"},
        {"n_behavior.json", "pre_tokenizer: such a \"behavior\" is not supported"},
        {"n_bpe_array.json", "model: \"vocab\" is an array, expected an object"},
        {"n_bpe_unk_id.json", "model: \"unk_id\" is no part of BPE"},
        {"n_byte_fallback.json", "model: \"byte_fallback\" is set, but a byte is no token"},
        {"n_byte_level_key.json", "pre_tokenizer: unknown key \"lowercase\""},
        {"n_byte_level_normalizer.json", "normalizer: \"ByteLevel\" is not supported"},
        {"n_byte_level_twice.json", "pre_tokenizer: such a step after \"ByteLevel\" is not supported"},
        {"n_charsmap_empty_table.json", "precompiled_charsmap: its first number is not the size of a table within it"},
        {"n_charsmap_huge.json", "precompiled_charsmap: its first number is not the size of a table within it"},
        {"n_charsmap_letters.json", "precompiled_charsmap: it is not base64"},
        {"n_charsmap_long.json", "precompiled_charsmap: a string in it has more than 256 bytes"},
        {"n_charsmap_not_utf8.json", "precompiled_charsmap: a string in it is not UTF-8"},
        {"n_charsmap_number.json", "normalizer: \"precompiled_charsmap\" is 7, expected a string"},
        {"n_continuing_subword_prefix.json", "model: \"continuing_subword_prefix\" is set, which is not supported"},
        {"n_cut.json", "expected ',' or ']' (the text ends here)"},
        {"n_decoder_ctc.json", "decoder: \"CTC\" is not supported"},
        {"n_decoder_metaspace_contradicts.json", "decoder: such a \"prepend_scheme\" is not supported"},
        {"n_decoder_metaspace_scheme.json", "decoder: such a \"prepend_scheme\" is not supported"},
        {"n_decoder_replace.json", "decoder: \"Replace\" by a pattern that is no string is not supported"},
        {"n_decoder_replace_long.json", "decoder: \"Replace\" by more than four times as many bytes is not supported"},
        {"n_decoder_strip.json",
         "decoder: \"Strip\" without a whole number as \"start\" and \"stop\" is not supported"},
        {"n_decoder_strip_long.json", "decoder: \"Strip\" of what is not one character is not supported"},
        {"n_decoder_suffix.json", "decoder: \"suffix\" is 7, expected a string"},
        {"n_decoder_word_piece.json", "decoder: \"prefix\" is 3, expected a string"},
        {"n_suffix_long.json", "model: \"end_of_word_suffix\" has more than 64 bytes"},
        {"n_suffix_fallback.json",
         "model: \"end_of_word_suffix\" is set beside \"byte_fallback\", which is not supported"},
        {"n_type.json", "model: \"type\" is \"Char\", expected \"BPE\", \"Unigram\", \"WordLevel\" or \"WordPiece\""},
        {"n_decoder_suffix_empty.json", "decoder: an empty \"suffix\" is not supported"},
        {"n_decoders_many.json", "decoder: a Sequence of so many steps is not supported"},
        {"n_deep.json", "nested deeper than 64 levels (found '[')"},
        {"n_decoder_grows.json", "\"Replace\" steps that together make so much more of a text"},
        {"n_dropout.json", "model: \"dropout\" is set, which is not supported"},
        {"n_empty.json", "expected a value (the text ends here)"},
        {"n_end_of_word_suffix.json",
         "model: \"end_of_word_suffix\" is set beside \"ByteLevel\", which is not supported"},
        {"n_fixed_length.json", "pre_tokenizer: \"FixedLength\" is not supported"},
        {"n_fuse_number.json", "model: \"fuse_unk\" is neither true nor false"},
        {"n_ignore_merges.json", "model: \"ignore_merges\" is neither true nor false"},
        {"n_invert_number.json", "pre_tokenizer: \"invert\" is 0, expected true or false"},
        {"n_key.json", "unknown key 'vocab'"},
        {"n_key_twice.json", "for the second time key 'version'"},
        {"n_key_twice_inside.json", "normalizer: line 1, column 18: key 'type' for the second time in one object"},
        {"n_many_normalizers.json", "normalizer: a Sequence of so many steps is not supported"},
        {"n_many_steps.json", "pre_tokenizer: a Sequence of so many steps is not supported"},
        {"n_merge_number.json", "merges: rule 2 is neither \"a b\" nor [\"a\", \"b\"]"},
        {"n_merge_number_inside.json", "merges: rule 1 is neither \"a b\" nor [\"a\", \"b\"]"},
        {"n_merge_one.json", "merges: rule 1 is neither \"a b\" nor [\"a\", \"b\"]"},
        {"n_merge_part.json", "merges: rule 1: 'z' is not in the vocabulary"},
        {"n_merge_result.json", "merges: rule 1: what it makes, 'ba' is not in the vocabulary"},
        {"n_merge_string.json", "merges: rule 1, 'a b c', has more than one space or an empty token, expected t"},
        {"n_merge_three.json", "merges: rule 1 is neither \"a b\" nor [\"a\", \"b\"]"},
        {"n_merges_object.json", "\"merges\" is no array"},
        {"n_metaspace.json", "pre_tokenizer: \"replacement\" is not there, expected a string"},
        {"n_metaspace_contradicts.json", "pre_tokenizer: such a \"prepend_scheme\" is not supported"},
        {"n_metaspace_long.json", "a \"replacement\" that is not one character is not supported"},
        {"n_metaspace_scheme.json", "pre_tokenizer: such a \"prepend_scheme\" is not supported"},
        {"n_model_array.json", "\"model\" is no object"},
        {"n_model_key.json", "unknown key 'max_input_chars'"},
        {"n_no_merges.json", "model: \"merges\" is not there"},
        {"n_no_model.json", "there is no \"model\""},
        {"n_no_vocab.json", "model: \"vocab\" is not there"},
        {"n_normalizer_key.json", "normalizer: unknown key \"strip\""},
        {"n_normalizer_number.json", "normalizer: 3 is not supported"},
        {"n_normalizer_sequence.json", "normalizer: a Sequence has no array \"normalizers\""},
        {"n_pattern.json",
         "pre_tokenizer: such an escape, at byte 3 of the pattern a|\\R+, is not supported; token ids can be"},
        {"n_pattern_after_byte_level.json", "pre_tokenizer: such a step after \"ByteLevel\" is not supported"},
        {"n_pattern_empty.json", "pre_tokenizer: \"Split\" by no pattern is not supported"},
        {"n_post_pair.json", "post_processor: \"cls\" is no array of a text and an id"},
        {"n_post_pair_id.json", "post_processor: a template has an id that is no token's"},
        {"n_post_processor.json", "post_processor: \"cls\" is no array of a text and an id"},
        {"n_prepend_long.json", "normalizer: a string of more than 64 bytes is not supported"},
        {"n_replace_empty.json", "normalizer: \"Replace\" by no pattern is not supported"},
        {"n_replace_number.json", "normalizer: \"content\" is 3, expected a string"},
        {"n_replace_regex.json", "normalizer: such a group, at byte 2 of the pattern (?<n> )+, is not supported"},
        {"n_scripts.json", "pre_tokenizer: \"UnicodeScripts\" is not supported"},
        {"n_template_id.json", "post_processor: a template has an id that is no token's"},
        {"n_template_item.json", "post_processor: such an item in \"single\" is not supported"},
        {"n_template_many.json", "post_processor: a template with so many tokens is not supported"},
        {"n_template_name.json", "post_processor: \"special_tokens\" has no ids for '<|end|>'"},
        {"n_template_no_ids.json", "post_processor: \"special_tokens\" has no ids for 'b'"},
        {"n_template_no_text.json", "post_processor: a template in which the text is not there once is not supporte"},
        {"n_template_twice.json", "post_processor: more than one template is not supported"},
        {"n_trailing.json", "expected nothing after the end of the document (found 'x')"},
        {"n_unigram_byte_level.json", "\"Unigram\" with \"ByteLevel\" is not supported"},
        {"n_unigram_empty.json", "there are no tokens, expected at least one"},
        {"n_unigram_flat.json", "model: entry 0 of \"vocab\" is no array of a text and a finite number"},
        {"n_unigram_no_text.json", "model: entry 0 of \"vocab\" is no array of a text and a finite number"},
        {"n_unigram_nul.json", "u0000"},
        {"n_unigram_object.json", "model: \"vocab\" is no array"},
        {"n_unigram_score.json", "model: entry 1 of \"vocab\" is no array of a text and a finite number"},
        {"n_unigram_three.json", "model: entry 1 of \"vocab\" is no array of a text and a finite number"},
        {"n_unigram_twice.json", "token 3, 'a', is there twice"},
        {"n_unigram_unknown.json", "model: \"unk_id\" is no token's"},
        {"n_unigram_unknown_text.json", "model: \"unk_id\" is no token's"},
        {"n_unk_added.json", "model: \"unk_token\" is no token of the vocabulary"},
        {"n_unk_not_there.json", "model: \"unk_token\" is no token of the vocabulary"},
        {"n_unk_number.json", "model: \"unk_token\" is no string"},
        {"n_unk_token.json", "model: \"unk_token\" is no token of the vocabulary"},
        {"n_vocab_array.json", "there are no tokens, expected at least one"},
        {"n_vocab_empty.json", "it is empty, expected at least one token like \"Life\": 0"},
        {"n_vocab_huge_id.json", "the id of 'b' is 2147483647, expected a whole number from 0 to 2147483646"},
        {"n_vocab_id.json", "the id of 'b' is 1.5, expected a whole number from 0 to 2147483646"},
        {"n_vocab_same_id.json", "'a' and 'b' have the same id 0, expected each its own"},
        {"n_word_level_merges.json", "model: \"merges\" is no part of such a model"},
        {"n_word_piece_byte_level.json", "\"WordPiece\" with \"ByteLevel\" is not supported"},
        {"n_word_piece_longest.json", "model: \"max_input_chars_per_word\" is no whole number up to 1000"},
        {"n_word_piece_nul.json", "\\u0000 in a string is not supported"},
        {"n_word_piece_prefix.json", "model: \"continuing_subword_prefix\" is no string"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/tokenizer_json", faults, read_file);
}
END_TEST

/* ---- components ------------------------------------------------------------------------ */

#define MODEL \
    "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"\u0120\": 2, \"ab\": 3, \"\u0120a\": 4, " \
    "\"\u00c3\": 5, \"\u00a9\": 6, \"1\": 7, \"\u00c3\u00a9\": 8, \"<s>\": 9, \"abb\": 10, \"e\": 11, \"<\": 12, " \
    "\"s\": 13, \">\": 14}, \"merges\": [\"a b\", \"\u0120 a\", \"\u00c3 \u00a9\"]"
#define BYTE_LEVEL "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": true}"
#define PREFIXED "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true, \"use_regex\": true}"
#define BOS_FIRST \
    "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, " \
    "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"special_tokens\": {\"<s>\": {\"id\": \"<s>\", \"ids\": [9], " \
    "\"tokens\": [\"<s>\"]}}}"
#define ADDED(flags) "\"added_tokens\": [{\"id\": 9, \"content\": \"<s>\", " flags "}], "

struct expected { int32_t id; size_t start, end; };

static const struct {
    const char *json, *text;
    struct attn_encode_opts o;
    struct expected tokens[8];          /* the last has id -1 */
} rows[] = {
    /* the piece as a whole is a token, which only ignore_merges prefers to the merges */
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL ", \"ignore_merges\": true}}", "abb", {0}, {{10, 0, 3}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "abb", {0}, {{3, 0, 2}, {1, 2, 3}, {-1, 0, 0}}},
    /* rules before the vocabulary that they refer to; as pairs; escaped and not */
    {"{\"pre_tokenizer\": " BYTE_LEVEL
     ", \"model\": {\"type\": \"BPE\", \"merges\": [[\"a\", \"b\"], [\"\\u0061\\u0062\", "
     "\"\\u0062\"], [\"\u0120\", \"\\u0061\"], [\"\\u0120a\", \"b\"]], \"vocab\": {\"a\": 0, \"b\": 1, \"\\u0120\": 2, "
     "\"ab\": 3, \"\u0120a\": 4, \"abb\": 5, \"\u0120ab\": 6}}}",
     "abb ba a", {0}, {{5, 0, 3}, {2, 3, 4}, {1, 4, 5}, {0, 5, 6}, {4, 6, 8}, {-1, 0, 0}}},
    /* composed, with the bytes of both characters */
    {"{\"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "ae\u0301b", {0},
     {{0, 0, 1}, {8, 1, 4}, {1, 4, 5}, {-1, 0, 0}}},
    /* marks of all three kinds, but not the letters */
    {"{\"normalizer\": {\"type\": \"StripAccents\"}, \"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}",
     "e\u0301\u0903 b\u20DDa\u00e9", {0}, {{11, 0, 1}, {2, 6, 7}, {1, 7, 8}, {0, 11, 12}, {8, 12, 14}, {-1, 0, 0}}},
    /* by a pattern: what it replaces has the bytes of the match, and what it puts in at a place none */
    {"{\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"Regex\": \"[xy]+|"
     "^(?=1)\"}, \"content\": \"b\"}, \"pre_tokenizer\": "
     BYTE_LEVEL ", " MODEL "}}", "axyx 1\n1", {0}, {{3, 0, 4}, {2, 4, 5}, {7, 5, 6}, {1, 7, 7}, {7, 7, 8}, {-1, 0, 0}}},
    /* digits in threes from the right */
    {"{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
     "\"(?=(\\\\w{3})+(?!\\\\w))\"}, \"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", \"add_prefix_space\": "
     "false, \"use_regex\": false}]}, "
     MODEL ", \"ignore_merges\": true}}", "babbabb", {0}, {{1, 0, 1}, {10, 1, 4}, {10, 4, 7}, {-1, 0, 0}}},
    /* words, and the unknown one; of its characters none is looked up */
    {"{\"pre_tokenizer\": {\"type\": \"Whitespace\"}, \"model\": {\"type\": \"WordLevel\", \"vocab\": {\"<unk>\": 0, "
     "\"ab\": 3, \"a\": 1}}}",
     "ab a,b", {0}, {{3, 0, 2}, {1, 3, 4}, {0, 4, 5}, {0, 5, 6}, {-1, 0, 0}}},
    /* parts of words, the longest first; of one that cannot be put together nothing is left, nor of one that is long */
    {"{\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"model\": {\"type\": \"WordPiece\", "
     "\"max_input_chars_per_word\": 4, \"vocab\": {\"[UNK]\": 0, \"a\": 1, \"ab\": 2, \"##b\": 3, \"##bc\": 4, "
     "\"\u00e9\": 5}}}", "abbc \u00e9b abx abbbb", {0},
     {{2, 0, 2}, {4, 2, 4}, {5, 5, 7}, {3, 7, 8}, {0, 9, 12}, {0, 13, 18}, {-1, 0, 0}}},
    /* BERT's normalizer: Chinese in spaces, accents and control characters away, lower case */
    {"{\"normalizer\": {\"type\": \"BertNormalizer\"}, \"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"model\": "
     "{\"type\": \"WordLevel\", \"vocab\": {\"<unk>\": 0, \"e\": 1, \"\u65e5\": 2}}}", "\u00c9\u65e5\x01\te", {0},
     {{1, 0, 2}, {2, 2, 5}, {1, 7, 8}, {-1, 0, 0}}},
    /* the last character of a word is another token; merges know it */
    {"{\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"model\": {\"type\": \"BPE\", \"end_of_word_suffix\": "
     "\"</w>\", \"vocab\": {\"a\": 0, \"b</w>\": 1, \"ab</w>\": 2, \"b\": 3, \"a</w>\": 4}, \"merges\": [[\"a\", "
     "\"b</w>\"]]}}", "ab aba bb", {0},
     {{2, 0, 2}, {0, 3, 4}, {3, 4, 5}, {4, 5, 6}, {3, 7, 8}, {1, 8, 9}, {-1, 0, 0}}},
    /* bytes that no token has, in front of the first and behind it */
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "zyabz ab", {0}, {{3, 0, 5}, {2, 5, 6}, {3, 6, 8}, {-1, 0, 0}}},
    /* what is neither a word nor a blank, up to the end */
    {"{\"pre_tokenizer\": {\"type\": \"Whitespace\"}, " MODEL "}}",
     "ab <>", {0}, {{3, 0, 2}, {12, 3, 4}, {14, 4, 5}, {-1, 0, 0}}},
    /* a prefixed space has no bytes, and is not added before a space */
    {"{\"pre_tokenizer\": " PREFIXED ", " MODEL "}}", "ab", {0}, {{2, 0, 0}, {3, 0, 2}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " PREFIXED ", " MODEL "}}", " ab", {0}, {{2, 0, 1}, {3, 1, 3}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " PREFIXED ", " MODEL "}}", "1", {0}, {{2, 0, 0}, {7, 0, 1}, {-1, 0, 0}}},
    /* in a sequence each piece gets a prefix */
    {"{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", "
     "\"individual_digits\": true}, "
     PREFIXED "]}, " MODEL "}}", "a1a", {0}, {{4, 0, 1}, {2, 1, 1}, {7, 1, 2}, {4, 2, 3}, {-1, 0, 0}}},
    /* special tokens are text unless asked for */
    {"{" ADDED("\"special\": true") "\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "a<s>b", {0},
     {{0, 0, 1}, {12, 1, 2}, {13, 2, 3}, {14, 3, 4}, {1, 4, 5}, {-1, 0, 0}}},
    {"{" ADDED("\"special\": true") "\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "a<s>b", {.special = true},
     {{0, 0, 1}, {9, 1, 4}, {1, 4, 5}, {-1, 0, 0}}},
    /* other added tokens are always found, with the white space around them if they say so */
    {"{" ADDED("\"special\": false") "\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}", "a<s> b", {0},
     {{0, 0, 1}, {9, 1, 4}, {2, 4, 5}, {1, 5, 6}, {-1, 0, 0}}},
    {"{" ADDED("\"special\": false, \"rstrip\": true, \"lstrip\": true") "\"pre_tokenizer\": " BYTE_LEVEL
     ", " MODEL "}}",
     "a \u3000<s> b", {0}, {{0, 0, 1}, {9, 1, 9}, {1, 9, 10}, {-1, 0, 0}}},
    /* one that would begin where the white space ends that the last one took is not there */
    {"{\"added_tokens\": [{\"id\": 9, \"content\": \"<s>\", \"special\": false, \"rstrip\": true}, {\"id\": 15, "
     "\"content\": \" \", \"special\": false, \"lstrip\": true}], \"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}",
     "<s>  a", {0},
     {{9, 0, 5}, {0, 5, 6}, {-1, 0, 0}}},
    /* of two that are alike the first counts */
    {"{\"added_tokens\": [{\"id\": 9, \"content\": \"<s>\", \"special\": false}, {\"id\": 9, \"content\": \"<s>\", "
     "\"special\": false, \"rstrip\": true}],\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}",
     "a<s> b", {0}, {{0, 0, 1}, {9, 1, 4}, {2, 4, 5}, {1, 5, 6}, {-1, 0, 0}}},
    {"{" ADDED("\"special\": true, \"normalized\": true") "\"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\": "
     BYTE_LEVEL
     ", " MODEL "}}", "e\u0301<s>", {.special = true}, {{8, 0, 3}, {9, 3, 6}, {-1, 0, 0}}},
    /* BOS */
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", \"post_processor\": " BOS_FIRST ", " MODEL "}}",
     "a", {0}, {{9, 0, 0}, {0, 0, 1}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", \"post_processor\": " BOS_FIRST ", " MODEL "}}", "a", {.bos = ATTN_BOS_YES},
     {{9, 0, 0}, {0, 0, 1}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", \"post_processor\": " BOS_FIRST ", " MODEL "}}",
     "a", {.bos = ATTN_BOS_NO}, {{0, 0, 1}, {-1, 0, 0}}},
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", \"post_processor\": " BOS_FIRST ", " MODEL "}}", "", {0}, {{-1, 0, 0}}},
    {"{\"pre_tokenizer\": " BYTE_LEVEL ", \"post_processor\": " BOS_FIRST ", " MODEL "}}",
     "", {.bos = ATTN_BOS_YES}, {{9, 0, 0}, {-1, 0, 0}}},
};

START_TEST(test_component)
{
    struct attn_subword *b = NULL;
    struct attn_encoding spans = {0}, ids = {.ids_only = true};
    struct attn_err err = {0};
    struct attn_text_file file = {rows[_i].json, strlen(rows[_i].json), "tokenizer.json"};
    size_t n = 0;
    ck_assert_msg(attn_tokenizer_json_read(&b, &file, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_msg(attn_subword_encode(&spans, b, rows[_i].text, strlen(rows[_i].text), &rows[_i].o, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_msg(attn_subword_encode(&ids, b, rows[_i].text, strlen(rows[_i].text), &rows[_i].o, &err) == ATTN_OK,
                  "%s", err.msg);
    for (; rows[_i].tokens[n].id >= 0; n++) {
        const struct expected *e = &rows[_i].tokens[n];
        ck_assert(n < spans.n && n < ids.n && spans.id[n] == ids.id[n]);
        const struct attn_byte_range *s = &spans.range[n];
        ck_assert_msg(ids.id[n] == e->id && s->start == e->start && s->end == e->end, "token %zu is %d at %zu-%zu", n,
                      (int)ids.id[n], s->start, s->end);
    }
    ck_assert(spans.n == n && ids.n == n);
    attn_encoding_free(&spans);
    attn_encoding_free(&ids);
    attn_subword_free(b);
}
END_TEST

/* Each step makes every x sixty: the text would need more memory than there is, of a long one after two steps. */
START_TEST(test_growing)
{
    enum { LONG = 2 << 20 };
    struct attn_subword *b = NULL;
    struct attn_err err = {0};
    char json[2048] = "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [", sixty[61] = "",
        *text = malloc(LONG);
    memset(text, 'x', LONG);
    memset(sixty, 'x', 60);
    for (int i = 0; i < 8; i++)
        sprintf(json + strlen(json), "%s{\"type\": \"Replace\", \"pattern\": {\"String\": \"x\"}, \"content\": \"%s\"}",
                i ? ", " : "", sixty);
    strcat(json, "]}, " MODEL "}}");
    struct attn_text_file file = {json, strlen(json), "tokenizer.json"};
    ck_assert_msg(attn_tokenizer_json_read(&b, &file, &err) == ATTN_OK, "%s", err.msg);
    for (size_t len = 8; len <= LONG; len += LONG - 8) {
        struct attn_encoding ids = {.ids_only = true};
        ck_assert_int_eq(attn_subword_encode(&ids, b, text, len, &(struct attn_encode_opts){0}, &err), ATTN_EFORMAT);
        ck_assert_ptr_nonnull(strstr(err.msg, "the tokenizer makes more than 64 times as many bytes of the text"));
        attn_encoding_free(&ids);
    }
    attn_subword_free(b);
    free(text);
}
END_TEST

/* What the sections of a text become counts together. */
START_TEST(test_growing_in_sections)
{
    enum { SECTIONS = 1000 };
    struct attn_subword *b = NULL;
    struct attn_err err = {0};
    struct attn_encoding ids = {.ids_only = true};
    char json[1024] = "{" ADDED("\"special\": false") "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [",
        sixty[61] = "", text[4 * SECTIONS + 1];
    memset(sixty, 'a', 60);
    for (int i = 0; i < 3; i++)
        sprintf(json + strlen(json), "%s{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"%s\"}",
                i ? ", " : "", sixty);
    strcat(json, "]}, " MODEL "}}");
    for (size_t i = 0; i < SECTIONS; i++)
        memcpy(text + 4 * i, "a<s>", 5);
    struct attn_text_file file = {json, strlen(json), "tokenizer.json"};
    ck_assert_msg(attn_tokenizer_json_read(&b, &file, &err) == ATTN_OK, "%s", err.msg);
    ck_assert_int_eq(attn_subword_encode(&ids, b, text, strlen(text), &(struct attn_encode_opts){0}, &err),
                     ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "the tokenizer makes more than 64 times as many bytes of the text"));
    attn_encoding_free(&ids);
    attn_subword_free(b);
}
END_TEST

/* Texts would take time with the square of their length. */
START_TEST(test_long_pieces)
{
    static char json[2 * ATTN_PIECE_LONGEST];
    for (int more = 0; more < 2; more++) {
        struct attn_subword *b = NULL;
        struct attn_err err = {0};
        sprintf(json, "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0], [\"%0*d\", "
                "-1]]}}", ATTN_PIECE_LONGEST + more, 0);
        struct attn_text_file file = {json, strlen(json), "tokenizer.json"};
        ck_assert_msg(attn_tokenizer_json_read(&b, &file, &err) == (more ? ATTN_EFORMAT : ATTN_OK), "%s", err.msg);
        ck_assert(!more || strstr(err.msg, "entry 1 of \"vocab\" has 4097 bytes, and at most 4096 are supported"));
        attn_subword_free(b);
    }
}
END_TEST

/* ---- a directory ----------------------------------------------------------------------- */

static void put(const char *file, const char *text)
{
    scratch_put(scratch_path(file), text, strlen(text));
}

/* The ids of "a" with the directory's files, as "9 0"; or the error. */
static const char *ids_of_a(void)
{
    static char line[512];
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    int n = 0;
    if (attn_tokenizer_open(&t, scratch_dir, &err) || attn_encode(&tokens, t, "a", 1, &err)) {
        snprintf(line, sizeof line, "%s", err.msg);
        return line;
    }
    for (size_t i = 0; i < tokens->n; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%d", i ? " " : "", (int)tokens->tok[i].id);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
    return line;
}

START_TEST(test_who_decides)
{
    put("config.json", "{\"model_type\": \"llama\"}");
    put("vocab.json", "{\"a\": 77}");
    ck_assert_ptr_nonnull(strstr(ids_of_a(), "there is neither tokenizer.json nor merges.txt"));
    ck_assert_ptr_nonnull(strstr(ids_of_a(), "\"llama\"; token ids can be given with --ids"));
    put("merges.txt", "#version: 0.2\n");
    ck_assert_str_eq(ids_of_a(), "77");
    put("tokenizer.json", "{\"pre_tokenizer\": " BYTE_LEVEL ", " MODEL "}}");
    ck_assert_str_eq(ids_of_a(), "0");
    put("tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
    ck_assert_str_eq(ids_of_a(), "0");
    put("tokenizer_config.json", "{\"bos_token\": {\"content\": \"<s>\"}, \"add_bos_token\": true}");
    ck_assert_str_eq(ids_of_a(), "9 0");
    put("tokenizer_config.json", "{\"bos_token\": \"<t>\", \"add_bos_token\": true}");
    ck_assert_ptr_nonnull(strstr(ids_of_a(), "it has no token '<t>'"));
    put("config.json", "{\"model_type\": \"attn-decoder\", \"tokenizer\": {\"type\": \"word\"}}");
    ck_assert_str_eq(ids_of_a(), "77");
    put("tokenizer_config.json", "{}");
    put("config.json", "{\"model_type\": \"attn-decoder\", \"tokenizer\": {\"type\": \"bpe\"}}");
    ck_assert_str_eq(ids_of_a(), "77");
}
END_TEST

/* A model's directory with this tokenizer.json. */
static struct attn_tokenizer *open_written(const char *json)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    put("config.json", "{\"model_type\": \"gpt2\"}");
    put("tokenizer.json", json);
    ck_assert_msg(!attn_tokenizer_open(&t, scratch_dir, &err), "%s", err.msg);
    return t;
}

/* An added token reads as it was given, though the normaliser's form of it is what is looked for. */
START_TEST(test_added_text)
{
    size_t len;
    struct attn_tokenizer *t = open_written(
        "{\"added_tokens\": [{\"id\": 20, \"content\": \"b a\", \"special\": false, \"normalized\": true}], "
        "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": \"\u2581\"}, "
        "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\u2581\"}]}, \"decoder\": {\"type\": "
        "\"Sequence\", \"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": \"\u2581\"}, \"content\": \" "
        "\"}, {\"type\": \"Fuse\"}]}, " MODEL "}}");
    const char *text = attn_tokenizer_text(t, 20, &len);
    ck_assert_msg(text && len == 4 && !memcmp(text, " b a", 4), "%s", text);
    attn_tokenizer_close(t);
}
END_TEST

/* Two added tokens with id 20, one found before normalisation and one after; `last` is listed behind them. */
#define TWINS(last) "{\"added_tokens\": [{\"id\": 20, \"content\": \"<x>\", \"special\": false, " \
    "\"normalized\": true}, {\"id\": 20, \"content\": \"<y>\", \"special\": true}" last "], \"normalizer\": " \
    "{\"type\": \"NFC\"}, \"pre_tokenizer\": " BYTE_LEVEL ", \"decoder\": " BYTE_LEVEL ", " MODEL "}}"
/* The id 3 is that of "ab" in the model. */
static const struct { const char *json; int32_t id; const char *text, *tokens, *reads; size_t size; } twins[] = {
    {TWINS(""), 20, "a<x><y>b", "0 0-1,20 1-4,20 4-7,1 7-8,", "<y>", 16},
    {TWINS(", {\"id\": 20, \"content\": \"<z>\", \"special\": false}"), 20, "<z><x>", "20 0-3,20 3-6,", "<z>", 16},
    {TWINS(", {\"id\": 3, \"content\": \"<z>\", \"special\": false}"), 3, "<z>ab", "3 0-3,3 3-5,", "<z>", 16},
    {TWINS(", {\"id\": 3, \"content\": \"<z>\"}, {\"id\": 3, \"content\": \"ab\"}"), 3,
     "<z>ab", "3 0-3,3 3-5,", "ab", 16},
};

/* Each of the tokens that share an id is found, and the last one listed is how the id reads. */
START_TEST(test_added_with_one_id)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    char line[256] = "", *text;
    size_t len, raw_len;
    struct attn_tokenizer *t = open_written(twins[_i].json);
    ck_assert_uint_eq(attn_tokenizer_size(t), twins[_i].size);
    struct attn_encode_opts o = {.special = true};
    ck_assert_msg(!attn_encode_with(&tokens, t, twins[_i].text, strlen(twins[_i].text), &o, &err), "%s", err.msg);
    for (size_t i = 0; i < tokens->n; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%d %zu-%zu,", (int)tokens->tok[i].id,
                 tokens->tok[i].start, tokens->tok[i].end);
    ck_assert_str_eq(line, twins[_i].tokens);
    ck_assert_str_eq(attn_tokenizer_text(t, twins[_i].id, &len), twins[_i].reads);
    ck_assert_str_eq(attn_tokenizer_raw(t, twins[_i].id, &raw_len), twins[_i].reads);
    ck_assert_msg(!attn_decode(&text, &len, t, (const int32_t[]){0, twins[_i].id, 1}, 3, &err), "%s", err.msg);
    ck_assert_uint_eq(len, 2 + strlen(twins[_i].reads));
    ck_assert(!memcmp(text + 1, twins[_i].reads, len - 2));
    free(text);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

/* A token with a character that spells no byte is its own text, all of it; one with bytes alone is these. */
START_TEST(test_spellings_that_are_no_bytes)
{
    struct attn_err err = {0};
    char *text;
    size_t len;
    struct attn_tokenizer *t = open_written(
        "{\"pre_tokenizer\": " BYTE_LEVEL ", \"decoder\": " BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"vocab\": "
        "{\"a\": 0, \"\u0120\u65E5\": 1, \"\u00e9x\u65E5\": 2, \"\u0120a\": 3, \"\u00c3\": 4, \"\u00a9\": 5}, "
        "\"merges\": []}}");
    ck_assert_msg(!attn_decode(&text, &len, t, (const int32_t[]){3, 1, 2, 4, 5}, 5, &err), "%s", err.msg);
    ck_assert_str_eq(text, " a\u0120\u65E5\u00e9x\u65E5\u00e9");
    free(text);
    attn_tokenizer_close(t);
}
END_TEST

/* The steps before decide what is read as bytes, in a token by itself as in a text. */
START_TEST(test_bytes_after_longer_text)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    char *text;
    size_t len;
    struct attn_tokenizer *t = open_written(
        "{\"pre_tokenizer\": " BYTE_LEVEL
        ", \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "
        "\"pattern\": {\"String\": \"a\"}, \"content\": \"bb\u0120\"}, " BYTE_LEVEL
        "]}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"aa\": 1}, \"merges\": [\"a a\"]}}");
    ck_assert_msg(!attn_encode(&tokens, t, "aa", 2, &err), "%s", err.msg);
    ck_assert_str_eq(tokens->tok[0].text, "bb bb ");
    ck_assert_msg(!attn_decode(&text, &len, t, (const int32_t[]){1}, 1, &err), "%s", err.msg);
    ck_assert_str_eq(text, "bb bb ");
    free(text);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}
END_TEST

/* Nothing is text, whatever steps it goes through. */
START_TEST(test_no_tokens)
{
    struct attn_err err = {0};
    char *text;
    size_t len;
    struct attn_tokenizer *t = open_written(
        "{\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Fuse\"}, {\"type\": \"Replace\", "
        "\"pattern\": {\"String\": \"\u2581\"}, \"content\": \" \"}]}, \"model\": {\"type\": \"BPE\", \"vocab\": "
        "{\"a\": 0}, \"merges\": []}}");
    ck_assert_msg(!attn_decode(&text, &len, t, NULL, 0, &err), "%s", err.msg);
    ck_assert_uint_eq(len, 0);
    free(text);
    attn_tokenizer_close(t);
}
END_TEST

/* A word that no token is named; parts of words are read without their prefix, and spaces go in front of the others. */
START_TEST(test_words)
{
    static const char *const file = "{\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"decoder\": {\"type\": "
        "\"WordPiece\", \"prefix\": \"##\", \"cleanup\": true}, \"model\": {\"type\": \"%s\", \"vocab\": {\"do\": 0, "
        "\"##ing\": 1, \"n't\": 2, \"!\": 3, \"n\": 4}}}";
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    char *text;
    size_t len;
    struct attn_tokenizer *t = open_written(printed(file, "WordPiece"));
    ck_assert_str_eq(attn_tokenizer_kind(t), "wordpiece");
    ck_assert_msg(!attn_encode(&tokens, t, "doing n", 7, &err), "%s", err.msg);
    ck_assert_str_eq(tokens->tok[1].text, "ing");
    attn_tokens_free(tokens);
    ck_assert_msg(!attn_decode(&text, &len, t, (const int32_t[]){0, 1, 0, 2, 3, 4}, 6, &err), "%s", err.msg);
    ck_assert_str_eq(text, "doing don't! n");
    ck_assert_int_eq(attn_encode(&tokens, t, "do this", 7, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg,
                     "the vocabulary has no token for 'this' at byte 3 of the text, and none for unknown words");
    free(text);
    attn_tokenizer_close(t);
    t = open_written(printed(file, "WordLevel"));
    ck_assert_str_eq(attn_tokenizer_kind(t), "wordlevel");
    attn_tokenizer_close(t);
}
END_TEST

/* ---- vocab.json and merges.txt --------------------------------------------------------- */

static const char small[] = "{\"a\": 0, \"b\": 1, \"1\": 2, \"\u0120\": 3, \"11\": 4, \"e\": 5, \"\u00c3\": 6, "
    "\"\u00a9\": 7, \"\u00c3\u00a9\": 8, \"\u0120a\": 9, \"<\": 10, \">\": 11, \"\u00cc\": 12, \"\u0123\": 13, "
    "\"<b>\": 14}";

/* Files beside them, a text, and its ids or part of an error. */
static const struct { const char *config, *added, *text; bool special; const char *ids; } beside[] = {
    {NULL, NULL, "11", false, "4"},
    {"{}", NULL, "11", false, "4"},
    {"{\"tokenizer_class\": \"GPT2Tokenizer\"}", NULL, "11e\u0301", false, "4 5 12 13"},
    {"{\"tokenizer_class\": \"CodeGenTokenizerFast\"}", NULL, "11", false, "4"},
    /* each digit alone; NFC */
    {"{\"tokenizer_class\": \"Qwen2Tokenizer\"}", NULL, "11e\u0301", false, "2 2 8"},
    {"{\"tokenizer_class\": \"Qwen2TokenizerFast\"}", NULL, "11", false, "2 2"},
    {"{\"tokenizer_class\": \"RobertaTokenizer\"}", NULL, "11", false, "\"tokenizer_class\" is \"RobertaTokenizer\""},
    {"{\"tokenizer_class\": \"GPT2TokenizerSlow\"}", NULL, "11", false, "\"tokenizer_class\" is \"GPT2TokenizerSlow\""},
    {"{\"add_prefix_space\": true}", NULL, "a a", false, "9 9"},
    {"{\"add_prefix_space\": 1}", NULL, "a", false, "\"add_prefix_space\" is 1, expected true or false"},
    {NULL, "{\"ab\": 20}", "aab", false, "0 20"},
    {NULL, "{\"ab\": 2}", "aab1", false, "0 2 2"},
    {NULL, "{\"ab\": -1}", "aab", false, "added_tokens.json: one has no id from 0"},
    {NULL, "{\"<b>\": 14}", "a<b>", false, "0 14"},
    {NULL, NULL, "a<b>", false, "0 10 1 11"},
    {NULL, NULL, "a<b>", true, "0 14"},
    {"{\"eos_token\": \"<b>\"}", "{\"<b>\": 14}", "a<b>", false, "0 10 1 11"},
    {"{\"eos_token\": {\"content\": \"<b>\"}}", "{\"<b>\": 14}", "a<b>", true, "0 14"},
    {"{\"additional_special_tokens\": [\"<b>\"]}", "{\"<b>\": 14}", "a<b>", false, "0 10 1 11"},
    {"{\"added_tokens_decoder\": {\"14\": {\"content\": \"<b>\", \"special\": false}}}", "{\"<b>\": 14}",
     "a<b>", false, "0 14"},
    {"{\"added_tokens_decoder\": {\"30\": {\"content\": \"ab\", \"lstrip\": true}}}", NULL, "b  ab", false, "1 30"},
    {"{\"added_tokens_decoder\": {\"x\": {\"content\": \"ab\"}}}", NULL, "a", false,
     "added_tokens_decoder: one has no id"},
    {"{\"added_tokens_decoder\": []}", NULL, "a", false, "added_tokens_decoder: it is no object"},
};

START_TEST(test_beside)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    int32_t *ids = NULL;
    size_t n = 0;
    char line[256] = "";
    put("vocab.json", small);
    put("merges.txt", "1 1\n\u00c3 \u00a9\n\u0120 a\n");
    if (beside[_i].config)
        put("tokenizer_config.json", beside[_i].config);
    if (beside[_i].added)
        put("added_tokens.json", beside[_i].added);
    struct attn_encode_opts o = {.special = beside[_i].special};
    if (attn_tokenizer_open(&t, scratch_dir, &err) ||
        attn_encode_ids(&ids, &n, t, beside[_i].text, strlen(beside[_i].text), &o, &err)) {
        ck_assert_msg(strstr(err.msg, beside[_i].ids) != NULL, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < n; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%d", i ? " " : "", (int)ids[i]);
    ck_assert_str_eq(line, beside[_i].ids);
    free(ids);
    attn_tokenizer_close(t);
}
END_TEST

/* Of so many tokens half are special; to look through all of these for each token would take a minute. */
START_TEST(test_many_beside)
{
    enum { N = 200000 };
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    int32_t *ids = NULL;
    size_t n = 0, len;
    char *config, *added;
    FILE *c = open_memstream(&config, &len), *a = open_memstream(&added, &len);
    ck_assert(c && a);
    fputs("{\"additional_special_tokens\": [\"<b>\"", c);
    fputs("{\"<b>\": 14", a);
    for (int i = 0; i < N; i++) {
        fprintf(a, ", \"<%d>\": %d", i, 100 + i);
        if (i % 2)
            fprintf(c, ", \"<%d>\"", i);
    }
    fputs("]}", c);
    fputs("}", a);
    ck_assert(!fclose(c) && !fclose(a));
    put("vocab.json", small);
    put("merges.txt", "");
    put("tokenizer_config.json", config);
    put("added_tokens.json", added);
    ck_assert_msg(!attn_tokenizer_open(&t, scratch_dir, &err), "%s", err.msg);
    ck_assert_msg(!attn_encode_ids(&ids, &n, t, "<1><b><2>", 9, NULL, &err), "%s", err.msg);
    static const int32_t want[] = {10, 2, 11, 10, 1, 11, 102};
    ck_assert_uint_eq(n, sizeof want / sizeof *want);
    ck_assert(memcmp(ids, want, sizeof want) == 0);
    free(ids);
    free(config);
    free(added);
    attn_tokenizer_close(t);
}
END_TEST

/* After ByteLevel characters are no longer what they were. */
static const char *const not_after[] = {
    "\"Punctuation\"", "\"WhitespaceSplit\"", "\"Whitespace\"", "\"BertPreTokenizer\"", "\"ByteLevel\"",
    "\"CharDelimiterSplit\", \"delimiter\": \"-\"", "\"Metaspace\", \"replacement\": \"\u2581\"",
    "\"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"Isolated\"",
    "\"Split\", \"pattern\": {\"Regex\": \"\\\\s+\"}, \"behavior\": \"Isolated\"",
};

START_TEST(test_steps_after_bytes)
{
    char json[1024];
    struct attn_err err = {0};
    int n = snprintf(json, sizeof json,
                     "{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"ByteLevel\", "
                     "\"add_prefix_space\": false, \"use_regex\": true}, {\"type\": %s}]}, \"model\": {\"type\": "
                     "\"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]}}", not_after[_i]);
    ck_assert(read_file(json, (size_t)n, "t.json", &err));
    ck_assert_str_eq(err.msg, "t.json: pre_tokenizer: such a step after \"ByteLevel\" is not supported; "
                     "token ids can be given with --ids");
}
END_TEST

Suite *suite_tokenizer_json(void)
{
    Suite *s = suite_create("tokenizer_json");
    TCase *t = tcase_create("tokenizer_json");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_corpus);
    tcase_add_loop_test(t, test_component, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(t, test_growing);
    tcase_add_test(t, test_growing_in_sections);
    tcase_add_test(t, test_long_pieces);
    tcase_add_loop_test(t, test_steps_after_bytes, 0, (int)(sizeof not_after / sizeof *not_after));
    tcase_add_test(t, test_who_decides);
    tcase_add_test(t, test_added_text);
    tcase_add_loop_test(t, test_added_with_one_id, 0, (int)(sizeof twins / sizeof *twins));
    tcase_add_test(t, test_spellings_that_are_no_bytes);
    tcase_add_test(t, test_bytes_after_longer_text);
    tcase_add_test(t, test_no_tokens);
    tcase_add_test(t, test_words);
    tcase_add_loop_test(t, test_beside, 0, (int)(sizeof beside / sizeof *beside));
    tcase_add_test(t, test_many_beside);
    suite_add_tcase(s, t);
    return s;
}
