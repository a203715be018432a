/* bpe.h - byte-pair encoding of one piece of text.
 *
 * Each byte, or each character, begins as a token of its own.  Again and again the neighbouring pair whose rule comes
 * first, and of several the leftmost, is merged into one token, until no rule applies.  With a heap of pairs this takes
 * n log n steps for n bytes.  sentencepiece has scores instead of rules: two neighbours merge if together they spell a
 * token, the one with the highest score first.
 *
 * A piece of characters may be a whole text.  It is cut where two characters meet that meet in no token: nothing can be
 * merged across, so the tokens are the same, and short pieces that recur are merged only once. */
#ifndef ATTN_TEXT_BPE_H
#define ATTN_TEXT_BPE_H

#include "attn_tools.h"
#include "base/json.h"
#include "text/vocab.h"

/* ---- the rules: which two tokens become one, and in what order (merges.c) ---- */

#define ATTN_MERGES_NONE UINT32_MAX

struct attn_rule { int32_t left, right, id; };                      /* id: the token that the two become */
struct attn_merges {
    struct attn_rule *rule; size_t n, room;                         /* in order: a rule's rank is its index */
    uint32_t *slot; size_t slots;                                   /* 0: free; slots is a power of 2 */
    uint32_t low;                                                   /* the bits of a slot for rank + 1; the others are
                                                                     * the pair's hash's and save vain look-ups */
    uint64_t seed;                                                  /* 0: chosen with the slots */
    bool lent;                                                      /* rules and slots are another's */
};

/* Fills the slots of rules; false: no memory. */
bool attn_merges_index(struct attn_merges *m);
int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err);
/* Reads the array that is the reader's next value. */
int attn_merges_take(struct attn_merges *m, const struct attn_vocab *v, struct attn_json *j, struct attn_err *err);
/* The ids, ascending, of the tokens between < and > that no rule makes, such as <|endoftext|>; NULL: no memory. */
int32_t *attn_merges_special(const struct attn_merges *m, const struct attn_vocab *v, size_t *n);
void attn_merges_free(struct attn_merges *m);                       /* zeroed is fine */

/* The rule for left and right; its rank is NONE if there is none.  m may be empty. */
struct attn_merge { uint32_t rank; int32_t id; };
struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right);

/* ---- a piece (bpe.c) ---- */

struct attn_piece_token { int32_t id; uint32_t len; };              /* a token and its length within the piece; see
                                                                     * below for -1 */

enum { ATTN_PIECE_MAX = 16, ATTN_PIECE_PARTS = 3 };

/* len 0: free.  key: the bytes as two numbers.  The last part's length follows from the others. */
struct attn_piece_entry { uint64_t key[2]; int32_t id[ATTN_PIECE_PARTS]; uint8_t len, parts,
                         part_len[ATTN_PIECE_PARTS - 1]; };
struct attn_pieces {                    /* zeroed: empty */
    void *memory;
    struct attn_piece_entry (*set)[2]; size_t sets;                 /* a power of 2 */
    size_t kept;                        /* so far, in all */
};

/* The set of s, 0 < len <= PIECE_MAX, whose first piece is the most recently used; valid until the next call.  NULL: no
 * memory.  `readable` bytes must be readable at s.  *known: s is its first entry. */
struct attn_piece_entry *attn_pieces_find(struct attn_pieces *p, const char *s, size_t len, size_t readable,
                                          bool *known);
/* Writes the parts of a known piece; returns how many. */
size_t attn_pieces_recall(const struct attn_piece_entry *known, struct attn_piece_token part[ATTN_PIECE_PARTS]);
/* Stores s in its set, if it has few enough parts. */
void attn_pieces_keep(struct attn_pieces *p, struct attn_piece_entry *set, const char *s, size_t len,
                      const struct attn_piece_token *part, size_t n);
void attn_pieces_free(struct attn_pieces *p);

/* What a token of a sentencepiece model is (its numbers). */
enum attn_piece_type { ATTN_PIECE_NORMAL = 1, ATTN_PIECE_UNKNOWN, ATTN_PIECE_CONTROL, ATTN_PIECE_USER,
                      ATTN_PIECE_UNUSED,
                       ATTN_PIECE_BYTE };

enum { ATTN_PAGE = 256, ATTN_PAGES = 0x110000 / ATTN_PAGE, ATTN_MEETINGS = 1 << 20 };

enum { ATTN_SUFFIX_LONGEST = 64 };       /* bytes */
struct attn_bpe_rules {
    struct attn_vocab *vocab;
    struct attn_merges merges;
    int32_t byte[256];                  /* the token of each byte; -1 if there is none */
    bool whole_first;                   /* a piece that is a token as a whole is not merged (ignore_merges) */
    int32_t unknown;                    /* the token of bytes or characters that are none; -1: they are dropped */
    bool drop;                          /* with bytes; otherwise those are an error */
    bool fuse;                          /* neighbouring unknown ones are one token */
    /* what follows is for tokens that begin as characters: */
    bool chars;
    bool fallback;                      /* a character that is no token becomes its bytes, if all of them are tokens */
    const float *score;                 /* [tokens] by rank; NULL: there are rules.  The caller's, like type */
    const unsigned char *type;          /* [tokens] by rank, as attn_piece_type; NULL: all are normal */
    bool unused;                        /* some are ATTN_PIECE_UNUSED */
    char *suffix; size_t suffix_len;    /* the last character of a piece is spelled with it; owned, NULL: as others */
    int32_t **page;                     /* [ATTN_PAGES] the tokens of characters, ATTN_PAGE at a time, or NULL */
    uint64_t *meetings;                 /* a bit for each hash of two characters that meet in some token */
};

/* Looks up the tokens <0x00> to <0xFF> of bytes. */
void attn_bpe_rules_bytes(struct attn_bpe_rules *r);
/* Builds page and meetings from the vocabulary; false: no memory. */
bool attn_bpe_rules_index(struct attn_bpe_rules *r);
void attn_bpe_rules_free(struct attn_bpe_rules *r);                 /* all but score and type */

/* Working memory of one caller; ready to use when all but `rules` is zeroed. */
struct attn_bpe {
    const struct attn_bpe_rules *rules;
    struct symbol *symbol; size_t symbol_room;                      /* the piece being merged */
    uint64_t *heap; size_t heap_n, heap_room;
    struct attn_piece_token *part, few[ATTN_PIECE_PARTS]; size_t part_room;
    struct attn_pieces pieces;
    char *spelled; size_t spelled_room;
    const char *s;                      /* the piece */
    uint32_t *made;                     /* [tokens] by rank: length of an unused token's left part; NULL: not needed */
};

/* The tokens of s, len > 0, in order, valid until the next call.  `readable` bytes can be read at s.  ATTN_EFORMAT:
 * the vocabulary lacks the byte at *n; ATTN_ENOMEM: no memory.  The caller writes the message.  A token with id -1
 * stands for text that is dropped. */
int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t readable,
                    const struct attn_piece_token **part, size_t *n);
/* The length of the first part of s, len > 0, across whose end nothing merges; len where tokens begin as bytes, are
 * looked up whole first, or end with a suffix. */
size_t attn_bpe_part(const struct attn_bpe_rules *r, const char *s, size_t len);
void attn_bpe_free(struct attn_bpe *b);

#endif
