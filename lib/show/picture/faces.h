/* faces.h - opens faces when a character needs them. */
#ifndef ATTN_PICTURE_FACES_H
#define ATTN_PICTURE_FACES_H

#include "picture/lettering.h"

/* Whether face i is open, and may have c; a failure to open it is left in f->failed. */
bool attn_face_ready(struct attn_faces *f, int i, uint32_t c);

#endif
