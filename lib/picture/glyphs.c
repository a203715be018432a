/* glyphs.c - the letters of our font, by code point.
 *
 * A letter is strokes separated by spaces; a stroke is points joined by straight lines; a point is a digit and a
 * letter: x from 0 to 6, y from a (3 below the base line) over d (on it), j (the top of an x) and m (of an X) to q.
 * "~" and a point before a point bend the line towards that point.  Accents are placed as on an x; on letters as high
 * as an X those above are raised by the difference. */
#include "picture/font.h"

#include <stdlib.h>

struct glyph { uint32_t c; const char *strokes; };
static const struct glyph glyphs[] = {
    {0x0021, "3m3g 3e3d"},                                                         /* ! */
    {0x0022, "2m2j 4m4j"},                                                         /* " */
    {0x0023, "2m2d 4m4d 1j5j 1g5g"},                                               /* # */
    {0x0024, "5k~5l3l~1l1k~1i3i~5i5f~5e3e~1e1f 3n3c"},                             /* $ */
    {0x0025, "5m1d 1m2m2k1k1m 4f5f5d4d4f"},                                        /* % */
    {0x0026, "5d1k~1m2m~4m4k~4i1g~0d3d~5d5h"},                                     /* & */
    {0x0027, "3m3j"},                                                              /* ' */
    {0x0028, "4n~2k2h~2e4b"},                                                      /* ( */
    {0x0029, "2n~4k4h~4e2b"},                                                      /* ) */
    {0x002A, "3k3e 1j5f 5j1f"},                                                    /* * */
    {0x002B, "3j3d 1g5g"},                                                         /* + */
    {0x002C, "3e3d2b"},                                                            /* , */
    {0x002D, "1g5g"},                                                              /* - */
    {0x002E, "3e3d"},                                                              /* . */
    {0x002F, "5n1b"},                                                              /* / */
    {0x0030, "3m~5m5j5g~5d3d~1d1g1j~1m3m"},                                        /* 0 */
    {0x0031, "1k3m3d 1d5d"},                                                       /* 1 */
    {0x0032, "1k~1m3m~5m5k~5i4h1d5d"},                                             /* 2 */
    {0x0033, "1k~1m3m~5m5k~5i3i~5i5f~5d3d~1d1f"},                                  /* 3 */
    {0x0034, "4d4m1f5f"},                                                          /* 4 */
    {0x0035, "5m1m1i3i~5i5g5f~5d3d~1d1e"},                                         /* 5 */
    {0x0036, "4m~1k1g1f~1d3d~5d5f~5i3i~1i1f"},                                     /* 6 */
    {0x0037, "1m5m2d"},                                                            /* 7 */
    {0x0038, "3i~1i1k~1m3m~5m5k~5i3i~5i5f~5d3d~1d1f~1i3i"},                        /* 8 */
    {0x0039, "2d~5f5j5k~5m3m~1m1k~1h3h~5h5k"},                                     /* 9 */
    {0x003A, "3i3h 3e3d"},                                                         /* : */
    {0x003B, "3i3h 3e3d2b"},                                                       /* ; */
    {0x003C, "5j1g5d"},                                                            /* < */
    {0x003D, "1i5i 1f5f"},                                                         /* = */
    {0x003E, "1j5g1d"},                                                            /* > */
    {0x003F, "1k~1m3m~5m5k~5i3h3g 3e3d"},                                          /* ? */
    {0x0040, "4g~4i3i~2i2g~2e3e~4e4g~4e5e5j~5m3m~1m1j1f~1c3c5c"},                  /* @ */
    {0x0041, "1d3m5d 2g4g"},                                                       /* A */
    {0x0042, "1d1m3m~5m5k~5i3i1i 3i~5i5f~5d3d1d"},                                 /* B */
    {0x0043, "5k~5m3m~1m1k1f~1d3d~5d5f"},                                          /* C */
    {0x0044, "1d1m2m~5m5j5g~5d2d1d"},                                              /* D */
    {0x0045, "5m1m1d5d 1i4i"},                                                     /* E */
    {0x0046, "5m1m1d 1i4i"},                                                       /* F */
    {0x0047, "5k~5m3m~1m1k1f~1d3d~5d5f5h3h"},                                      /* G */
    {0x0048, "1m1d 5m5d 1i5i"},                                                    /* H */
    {0x0049, "1m5m 3m3d 1d5d"},                                                    /* I */
    {0x004A, "5m5f~5d3d~1d1f"},                                                    /* J */
    {0x004B, "1m1d 5m1h 2i5d"},                                                    /* K */
    {0x004C, "1m1d5d"},                                                            /* L */
    {0x004D, "1d1m3i5m5d"},                                                        /* M */
    {0x004E, "1d1m5d5m"},                                                          /* N */
    {0x004F, "3m~5m5k5f~5d3d~1d1f1k~1m3m"},                                        /* O */
    {0x0050, "1d1m3m~5m5k~5h3h1h"},                                                /* P */
    {0x0051, "3m~5m5k5f~5d3d~1d1f1k~1m3m 3f5c"},                                   /* Q */
    {0x0052, "1d1m3m~5m5k~5h3h1h 3h5d"},                                           /* R */
    {0x0053, "5k~5m3m~1m1k~1i3i~5i5f~5d3d~1d1f"},                                  /* S */
    {0x0054, "1m5m 3m3d"},                                                         /* T */
    {0x0055, "1m1f~1d3d~5d5f5m"},                                                  /* U */
    {0x0056, "1m3d5m"},                                                            /* V */
    {0x0057, "1m2d3j4d5m"},                                                        /* W */
    {0x0058, "1m5d 5m1d"},                                                         /* X */
    {0x0059, "1m3h5m 3h3d"},                                                       /* Y */
    {0x005A, "1m5m1d5d"},                                                          /* Z */
    {0x005B, "4n2n2b4b"},                                                          /* [ */
    {0x005C, "1n5b"},                                                              /* backslash */
    {0x005D, "2n4n4b2b"},                                                          /* ] */
    {0x005E, "1j3m5j"},                                                            /* ^ */
    {0x005F, "0b6b"},                                                              /* _ */
    {0x0060, "2n4l"},                                                              /* ` */
    {0x0061, "1i~1j3j~5j5h5d 5g3g~1g1f~1d3d~5d5f"},                                /* a */
    {0x0062, "1m1d 1g~1j3j~5j5h5f~5d3d~1d1f"},                                     /* b */
    {0x0063, "5h~5j3j~1j1h1f~1d3d~5d5f"},                                          /* c */
    {0x0064, "5m5d 5g~5j3j~1j1h1f~1d3d~5d5f"},                                     /* d */
    {0x0065, "1g5g5h~5j3j~1j1h1f~1d3d~4d5e"},                                      /* e */
    {0x0066, "5m4m~2m2k2d 1j4j"},                                                  /* f */
    {0x0067, "5j5c~5a3a~1a1b 5g~5j3j~1j1h1f~1d3d~5d5f"},                           /* g */
    {0x0068, "1m1d 1g~1j3j~5j5h5d"},                                               /* h */
    {0x0069, "2j3j3d 1d5d 3m3l"},                                                  /* i */
    {0x006A, "2j4j4b~4a2a1a 4m4l"},                                                /* j */
    {0x006B, "1m1d 5j1f 2g5d"},                                                    /* k */
    {0x006C, "1m3m3d 1d5d"},                                                       /* l */
    {0x006D, "1j1d 1h~1j2j~3j3h3d 3h~3j4j~5j5h5d"},                                /* m */
    {0x006E, "1j1d 1g~1j3j~5j5h5d"},                                               /* n */
    {0x006F, "3j~5j5h5f~5d3d~1d1f1h~1j3j"},                                        /* o */
    {0x0070, "1j1a 1g~1j3j~5j5h5f~5d3d~1d1f"},                                     /* p */
    {0x0071, "5j5a 5g~5j3j~1j1h1f~1d3d~5d5f"},                                     /* q */
    {0x0072, "1j1d 1g~1j3j~5j5i"},                                                 /* r */
    {0x0073, "5i~5j3j~1j1h~1g3g~5g5f~5d3d~1d1e"},                                  /* s */
    {0x0074, "2l2f~2d4d5d 1j4j"},                                                  /* t */
    {0x0075, "1j1f~1d3d~5d5f 5j5d"},                                               /* u */
    {0x0076, "1j3d5j"},                                                            /* v */
    {0x0077, "1j2d3h4d5j"},                                                        /* w */
    {0x0078, "1j5d 5j1d"},                                                         /* x */
    {0x0079, "1j3d 5j3d~2a1a"},                                                    /* y */
    {0x007A, "1j5j1d5d"},                                                          /* z */
    {0x007B, "4n~3n3l3i2h3g3d~3b4b"},                                              /* { */
    {0x007C, "3n3b"},                                                              /* | */
    {0x007D, "2n~3n3l3i4h3g3d~3b2b"},                                              /* } */
    {0x007E, "1g~2i3g~4e5g"},                                                      /* ~ */
    {0x00A1, "3j3i 3g3a"},                                                         /* ¡ */
    {0x00A3, "5k~5m4m~2m2k2d 1d5d 1i4i"},                                          /* £ */
    {0x00A5, "1m3i5m 3i3d 1i5i 1g5g"},                                             /* ¥ */
    {0x00A7, "5l~5m3m~1m1l5h~5f3f 3j~1j1h5e~5d3d~1d1e"},                           /* § */
    {0x00AB, "3i1g3e 5i3g5e"},                                                     /* « */
    {0x00B0, "3n~4n4m~4k3k~2k2m~2n3n"},                                            /* ° */
    {0x00B1, "3j3f 1h5h 1d5d"},                                                    /* ± */
    {0x00B5, "1j1a 1f~1d3d~5d5f 5j5d"},                                            /* µ */
    {0x00B7, "3h3g"},                                                              /* · */
    {0x00BB, "1i3g1e 3i5g3e"},                                                     /* » */
    {0x00BF, "5c~5a3a~1a1c~1e3f3g 3i3j"},                                          /* ¿ */
    {0x00C6, "1d3m5m 3m3d5d 3i5i 2g3g"},                                           /* Æ */
    {0x00D7, "1i5e 5i1e"},                                                         /* × */
    {0x00D8, "3m~5m5k5f~5d3d~1d1f1k~1m3m 5n1c"},                                   /* Ø */
    {0x00DE, "1m1d 1k3k~5k5i~5f3f1f"},                                             /* Þ */
    {0x00DF, "1d1k~1m3m~5m5k~5i3i~5i5f~5d3d"},                                     /* ß */
    {0x00E6, "1j2j~3j3h3d 3g2g~1g1f~1d2d3d 3g5g5h~5j4j3i 3e~3d5d"},                /* æ */
    {0x00F0, "5j~5h5f~5d3d~1d1f~1i3i~5i5h 4h5k2m 2k4m"},                           /* ð */
    {0x00F7, "1g5g 3k3j 3e3d"},                                                    /* ÷ */
    {0x00F8, "3j~5j5h5f~5d3d~1d1f1h~1j3j 5k1c"},                                   /* ø */
    {0x00FE, "1m1a 1g~1j3j~5j5h5f~5d3d~1d1f"},                                     /* þ */
    {0x0111, "5m5d 5g~5j3j~1j1h1f~1d3d~5d5f 3l6l"},                                /* đ */
    {0x0131, "2j3j3d 1d5d"},                                                       /* ı */
    {0x0141, "2m2d5d 1h4j"},                                                       /* Ł */
    {0x0142, "1m3m3d 1d5d 2h4j"},                                                  /* ł */
    {0x0152, "3m~1m1k1f~1d3d5d 3m5m 3m3d 3i5i"},                                   /* Œ */
    {0x0153, "3i~3j2j~1j1h1f~1d2d~3d3f3i~3j4j~5j5h5g3g 3f~3d5d"},                  /* œ */
    {0x0300, "4k2m"},                                                              /* grave accent */
    {0x0301, "2k4m"},                                                              /* acute accent */
    {0x0302, "1k3m5k"},                                                            /* circumflex accent */
    {0x0303, "1k~2m3l~4k5m"},                                                      /* tilde */
    {0x0304, "1l5l"},                                                              /* macron */
    {0x0306, "1m~1k3k~5k5m"},                                                      /* breve */
    {0x0307, "3m3l"},                                                              /* dot above */
    {0x0308, "2m2l 4m4l"},                                                         /* diaeresis */
    {0x0309, "2m~4m4l~4k3k"},                                                      /* hook above */
    {0x030A, "3n~4n4m~4k3k~2k2m~2n3n"},                                            /* ring above */
    {0x030B, "2k3m 4k5m"},                                                         /* double acute accent */
    {0x030C, "1m3k5m"},                                                            /* caron */
    {0x031B, "5j6k6l"},                                                            /* horn */
    {0x0323, "3b3a"},                                                              /* dot below */
    {0x0326, "3c2a"},                                                              /* comma below */
    {0x0327, "3d~5c4b~3a2a"},                                                      /* cedilla */
    {0x0328, "4d~2b5a"},                                                           /* ogonek */
    {0x0391, "1d3m5d 2g4g"},                                                       /* Α */
    {0x0392, "1d1m3m~5m5k~5i3i1i 3i~5i5f~5d3d1d"},                                 /* Β */
    {0x0393, "5m1m1d"},                                                            /* Γ */
    {0x0394, "1d3m5d1d"},                                                          /* Δ */
    {0x0395, "5m1m1d5d 1i4i"},                                                     /* Ε */
    {0x0396, "1m5m1d5d"},                                                          /* Ζ */
    {0x0397, "1m1d 5m5d 1i5i"},                                                    /* Η */
    {0x0398, "3m~5m5k5f~5d3d~1d1f1k~1m3m 2i4i"},                                   /* Θ */
    {0x0399, "1m5m 3m3d 1d5d"},                                                    /* Ι */
    {0x039A, "1m1d 5m1h 2i5d"},                                                    /* Κ */
    {0x039B, "1d3m5d"},                                                            /* Λ */
    {0x039C, "1d1m3i5m5d"},                                                        /* Μ */
    {0x039D, "1d1m5d5m"},                                                          /* Ν */
    {0x039E, "1m5m 2i4i 1d5d"},                                                    /* Ξ */
    {0x039F, "3m~5m5k5f~5d3d~1d1f1k~1m3m"},                                        /* Ο */
    {0x03A0, "1d1m5m5d"},                                                          /* Π */
    {0x03A1, "1d1m3m~5m5k~5h3h1h"},                                                /* Ρ */
    {0x03A3, "5m1m3i1d5d"},                                                        /* Σ */
    {0x03A4, "1m5m 3m3d"},                                                         /* Τ */
    {0x03A5, "1m3h5m 3h3d"},                                                       /* Υ */
    {0x03A6, "3m3d 3k~1k1i~1g3g~5g5i~5k3k"},                                       /* Φ */
    {0x03A7, "1m5d 5m1d"},                                                         /* Χ */
    {0x03A8, "1m1j~1h3h~5h5j5m 3m3d"},                                             /* Ψ */
    {0x03A9, "1d2d~1g1j~1m3m~5m5j~5g4d5d"},                                        /* Ω */
    {0x03B1, "5j~4d3d~1d1g~1j3j~4j5d"},                                            /* α */
    {0x03B2, "1a1k~1m3m~5m5k~5i3i~5i5f~5d3d~1d1f"},                                /* β */
    {0x03B3, "1j3d5j 3d3a"},                                                       /* γ */
    {0x03B4, "5m~2m2k~2j4i~5h5f~5d3d~1d1f~1i3i"},                                  /* δ */
    {0x03B5, "5i~5j3j~1j1h~1g3g~1g1f~1d3d~5d5e"},                                  /* ε */
    {0x03B6, "1m5m~1i1f~1d4d~5c4a"},                                               /* ζ */
    {0x03B7, "1j1d 1g~1j3j~5j5h5a"},                                               /* η */
    {0x03B8, "3m~5m5j5g~5d3d~1d1g1j~1m3m 1h5h"},                                   /* θ */
    {0x03B9, "3j3f~3d4d"},                                                         /* ι */
    {0x03BA, "1j1d 5j1g 2h5d"},                                                    /* κ */
    {0x03BB, "1m2m5d 3i1d"},                                                       /* λ */
    {0x03BC, "1j1a 1f~1d3d~5d5f 5j5d"},                                            /* μ */
    {0x03BD, "1j3d5j"},                                                            /* ν */
    {0x03BE, "5m2m~1l1k~1i4i 2i~1h1f~1d4d~5c4a"},                                  /* ξ */
    {0x03BF, "3j~5j5h5f~5d3d~1d1f1h~1j3j"},                                        /* ο */
    {0x03C0, "1j5j 2j2d 4j4d"},                                                    /* π */
    {0x03C1, "1a1h~1j3j~5j5h5f~5d3d~1d1f"},                                        /* ρ */
    {0x03C2, "5h~5j3j~1j1g~1e4d~5b3a"},                                            /* ς */
    {0x03C3, "5j3j~1j1f~1d3d~5d5f5g~5j3j"},                                        /* σ */
    {0x03C4, "1j5j 3j3f~3d4d"},                                                    /* τ */
    {0x03C5, "1j1f~1d3d~5d5f5j"},                                                  /* υ */
    {0x03C6, "3m3a 3j~1j1g~1d3d~5d5g~5j3j"},                                       /* φ */
    {0x03C7, "1j5a 5j1a"},                                                         /* χ */
    {0x03C8, "1j1h~1e3e~5e5h5j 3m3a"},                                             /* ψ */
    {0x03C9, "2j~1j1f~1d2d~3d3g~3d4d~5d5f~5j4j"},                                  /* ω */
    {0x0404, "5k~5m3m~1m1k1f~1d3d~5d5f 1i3i"},                                     /* Є */
    {0x0406, "1m5m 3m3d 1d5d"},                                                    /* І */
    {0x0410, "1d3m5d 2g4g"},                                                       /* А */
    {0x0411, "5m1m1d3d~5d5f~5i3i1i"},                                              /* Б */
    {0x0412, "1d1m3m~5m5k~5i3i1i 3i~5i5f~5d3d1d"},                                 /* В */
    {0x0413, "5m1m1d"},                                                            /* Г */
    {0x0414, "0b0d6d6b 1d2m5m5d"},                                                 /* Д */
    {0x0415, "5m1m1d5d 1i4i"},                                                     /* Е */
    {0x0416, "1m5d 5m1d 3m3d"},                                                    /* Ж */
    {0x0417, "1k~1m3m~5m5k~5i3i~5i5f~5d3d~1d1f"},                                  /* З */
    {0x0418, "1m1d5m5d"},                                                          /* И */
    {0x041A, "1m1d 5m1h 2i5d"},                                                    /* К */
    {0x041B, "1d~2d2m5m5d"},                                                       /* Л */
    {0x041C, "1d1m3i5m5d"},                                                        /* М */
    {0x041D, "1m1d 5m5d 1i5i"},                                                    /* Н */
    {0x041E, "3m~5m5k5f~5d3d~1d1f1k~1m3m"},                                        /* О */
    {0x041F, "1d1m5m5d"},                                                          /* П */
    {0x0420, "1d1m3m~5m5k~5h3h1h"},                                                /* Р */
    {0x0421, "5k~5m3m~1m1k1f~1d3d~5d5f"},                                          /* С */
    {0x0422, "1m5m 3m3d"},                                                         /* Т */
    {0x0423, "1m3g 5m2d1d"},                                                       /* У */
    {0x0424, "3m3d 3k~1k1i~1g3g~5g5i~5k3k"},                                       /* Ф */
    {0x0425, "1m5d 5m1d"},                                                         /* Х */
    {0x0426, "1m1d5d5m 5d6d6b"},                                                   /* Ц */
    {0x0427, "1m1j~1h3h5h 5m5d"},                                                  /* Ч */
    {0x0428, "1m1d5d5m 3m3d"},                                                     /* Ш */
    {0x0429, "1m1d5d5m 3m3d 5d6d6b"},                                              /* Щ */
    {0x042A, "0m2m2d3d~5d5f~5i3i2i"},                                              /* Ъ */
    {0x042B, "1m1d2d~4d4f~4h2h1h 5m5d"},                                           /* Ы */
    {0x042C, "1m1d3d~5d5f~5i3i1i"},                                                /* Ь */
    {0x042D, "1k~1m3m~5m5k5f~5d3d~1d1f 3i5i"},                                     /* Э */
    {0x042E, "1m1d 1i3i 4m~3m3j3g~3d4d~5d5g5j~5m4m"},                              /* Ю */
    {0x042F, "5d5m3m~1m1k~1h3h5h 3h1d"},                                           /* Я */
    {0x0430, "1i~1j3j~5j5h5d 5g3g~1g1f~1d3d~5d5f"},                                /* а */
    {0x0431, "5m2k~1j1g1f~1d3d~5d5f~5i3i~1i1g"},                                   /* б */
    {0x0432, "1d1j3j~5j5i~5g3g1g 3g~5g5f~5d3d1d"},                                 /* в */
    {0x0433, "5j1j1d"},                                                            /* г */
    {0x0434, "0b0d6d6b 1d2j5j5d"},                                                 /* д */
    {0x0435, "1g5g5h~5j3j~1j1h1f~1d3d~4d5e"},                                      /* е */
    {0x0436, "1j5d 5j1d 3j3d"},                                                    /* ж */
    {0x0437, "1i~1j3j~5j5h~5g3g~5g5f~5d3d~1d1e"},                                  /* з */
    {0x0438, "1j1d5j5d"},                                                          /* и */
    {0x043A, "1j1d 5j1g 2h5d"},                                                    /* к */
    {0x043B, "1d~2d2j5j5d"},                                                       /* л */
    {0x043C, "1d1j3f5j5d"},                                                        /* м */
    {0x043D, "1j1d 5j5d 1g5g"},                                                    /* н */
    {0x043E, "3j~5j5h5f~5d3d~1d1f1h~1j3j"},                                        /* о */
    {0x043F, "1d1j5j5d"},                                                          /* п */
    {0x0440, "1j1a 1g~1j3j~5j5h5f~5d3d~1d1f"},                                     /* р */
    {0x0441, "5h~5j3j~1j1h1f~1d3d~5d5f"},                                          /* с */
    {0x0442, "1j5j 3j3d"},                                                         /* т */
    {0x0443, "1j3d 5j3d~2a1a"},                                                    /* у */
    {0x0444, "3m3a 3j~1j1g~1d3d~5d5g~5j3j"},                                       /* ф */
    {0x0445, "1j5d 5j1d"},                                                         /* х */
    {0x0446, "1j1d5d5j 5d6d6b"},                                                   /* ц */
    {0x0447, "1j1h~1g3g5g 5j5d"},                                                  /* ч */
    {0x0448, "1j1d5d5j 3j3d"},                                                     /* ш */
    {0x0449, "1j1d5d5j 3j3d 5d6d6b"},                                              /* щ */
    {0x044A, "0j2j2d3d~5d5f~5h3h2h"},                                              /* ъ */
    {0x044B, "1j1d2d~4d4f~4h2h1h 5j5d"},                                           /* ы */
    {0x044C, "1j1d3d~5d5f~5h3h1h"},                                                /* ь */
    {0x044D, "1i~1j3j~5j5h5f~5d3d~1d1e 3g5g"},                                     /* э */
    {0x044E, "1j1d 1g3g 4j~3j3g~3d4d~5d5g~5j4j"},                                  /* ю */
    {0x044F, "5d5j3j~1j1i~1g3g5g 3g1d"},                                           /* я */
    {0x0454, "5i~5j3j~1j1h1f~1d3d~5d5e 1g3g"},                                     /* є */
    {0x0456, "2j3j3d 1d5d 3m3l"},                                                  /* і */
    {0x2013, "1g5g"},                                                              /* – */
    {0x2014, "0g6g"},                                                              /* — */
    {0x2018, "4n3l3k"},                                                            /* ‘ */
    {0x2019, "3n3m2k"},                                                            /* ’ */
    {0x201C, "3n2l2k 5n4l4k"},                                                     /* “ */
    {0x201D, "2n2m1k 4n4m3k"},                                                     /* ” */
    {0x201E, "2e2d1b 4e4d3b"},                                                     /* „ */
    {0x2022, "2h4h4f2f2h 2g4g 3h3f"},                                              /* • */
    {0x2026, "1e1d 3e3d 5e5d"},                                                    /* … */
    {0x20AC, "5l~5m4m~2m2i2g~2d4d~5d5e 1i4i 1g4g"},                                /* € */
    {0x2190, "6g0g 2i0g2e"},                                                       /* ← */
    {0x2191, "3m3d 1k3m5k"},                                                       /* ↑ */
    {0x2192, "0g6g 4i6g4e"},                                                       /* → */
    {0x2193, "3m3d 1f3d5f"},                                                       /* ↓ */
    {0x21B5, "5k5g1g 3i1g3e"},                                                     /* ↵ */
    {0x2212, "1g5g"},                                                              /* − */
    {0x221A, "0h1h3d5m"},                                                          /* √ */
    {0x221E, "3g~4i5i~6i6g~6e5e~4e3g~2i1i~0i0g~0e1e~2e3g"},                        /* ∞ */
    {0x2248, "1i~2k3i~4g5i 1f~2h3f~4d5f"},                                         /* ≈ */
    {0x2260, "1i5i 1f5f 4k2d"},                                                    /* ≠ */
    {0x2264, "5k1h5e 1d5d"},                                                       /* ≤ */
    {0x2265, "1k5h1e 1d5d"},                                                       /* ≥ */
};

static int by_code(const void *key, const void *entry)
{
    uint32_t c = *(const uint32_t *)key, other = ((const struct glyph *)entry)->c;
    return (c > other) - (c < other);
}

const char *attn_glyph_find(uint32_t c)
{
    const struct glyph *g = bsearch(&c, glyphs, sizeof glyphs / sizeof glyphs[0], sizeof glyphs[0], by_code);
    return g ? g->strokes : NULL;
}
