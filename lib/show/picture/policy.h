/* policy.h - pages that are one file: a template whose slots are filled in, and a content security policy which admits
 * only what has the digest of our own style and scripts.
 *
 * A template says {{"All heads"}}, a text that is looked up in the page's language, and {{lang}}, its code. */
#ifndef ATTN_PICTURE_POLICY_H
#define ATTN_PICTURE_POLICY_H

#include "base/out.h"
#include "language/language.h"

struct attn_page_file { const unsigned char *start, *end; };         /* a file that is built in */
/* Writes what replaces {{name}}. */
struct attn_page_slot { const char *name; int (*write)(void *self, struct attn_out *o, struct attn_err *err); };

/* What every policy begins with. */
#define ATTN_POLICY "default-src 'none'; base-uri 'none'; form-action 'none'; "
/* What that of a page that computes goes on with after the digests of its scripts: WebAssembly may be compiled, and a
 * worker be made of a text that a script has. */
#define ATTN_POLICY_ENGINE " 'wasm-unsafe-eval'; worker-src blob:"
/* " 'sha256-...'" of a style or a script. */
void attn_policy_digest(struct attn_out *o, const struct attn_page_file *p);
/* slots: the last name is NULL; each name of the template is one of them. */
int attn_template_write(struct attn_out *o, const struct attn_page_file *template, const struct attn_page_slot *slots,
                        void *self, const struct attn_language *l, struct attn_err *err);

#endif
