/* packed.h - matrices of int8 and of 4 bits, times vectors of float32 (TD_PICK).
 *
 * A row is cut into pieces of 32 numbers; one or several neighbouring pieces have a scale, or each
 * half of a piece has one. A vector is made of integers first: those of a piece are
 * x = step * (256 h + l), h and l of int8. So the sum over four neighbours is an exact integer,
 * whatever the instruction, and everything of float32 follows one order, without fused steps:
 *
 *   lane[p % 4][j] += (float)(sum of the neighbours 4j .. 4j+3 of piece p) * (scale * step)
 *   rest[p % 16]   += offset * (sum of piece p of the vector)          only of 4 bits
 *
 * The lanes are joined by halves: pieces 0 and 2, 1 and 3, then both, then j and j + 4, and so on.
 */
#ifndef TD_PACKED_H
#define TD_PACKED_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/cpu.h"

#define TD_PIECE 32         /* numbers with one step */
#define TD_DIGIT_BYTES 96   /* of a piece of the vector, in the order its instruction set wants */
#define TD_DIGIT_MOST 32639 /* 256 h + l at most: 127 * 256 + 127 */
/* Pieces are counted up to a multiple of 16; those that are not there are 0. */
#define TD_PIECES_UP(pieces) (((pieces) + 15) / 16 * 16)
#define TD_PACKED_WORK(pieces) (8 * TD_PIECES_UP(pieces)) /* of four rows, two for each piece */

/* A matrix of rows x (32 pieces). int8: a row is its numbers. 4 bits: 64 bytes hold 128 numbers
 * from 0 to 15, the lower half of byte i number i, the upper one number 64 + i; the last 64 bytes
 * of a row may hold fewer. A number is scale * q, or scale * (q - 8) of 4 bits, or scale * q +
 * offset. */
typedef struct td_packed {
    int64_t rows, pieces;
    const uint8_t *weight;
    int64_t row_bytes;
    bool nibbles;
    bool short_scales;          /* scales and offsets are float16, else float32 */
    int64_t scales;             /* of a row; they divide `pieces`, or are twice as many (int8) */
    const void *scale, *offset; /* offset: of 4 bits only, or NULL */
} td_packed;

typedef struct td_digits {
    char *bytes;       /* TD_DIGIT_BYTES for each piece */
    float *step, *sum; /* of each piece; sum: of its numbers, as they are after rounding */
} td_digits;

typedef struct td_packed_kernels {
    /* Fill `to` for x; false: x has a number that is not below 2^100, and `to` is of no use, for
     * sums of pieces could be infinite that take each other away. A piece whose numbers are all
     * below 2^-100 counts as 0. */
    bool (*digits)(const float *x, int64_t pieces, const td_digits *to);
    /* out[i] for rows [begin, end); work: TD_PACKED_WORK(pieces) numbers */
    void (*rows)(const td_packed *w, const td_digits *x, float *out, int64_t begin, int64_t end,
                 float *work);
    /* the numbers of rows [begin, end), row after row; work as above */
    void (*expand)(const td_packed *w, float *to, int64_t begin, int64_t end, float *work);
} td_packed_kernels;

extern const td_packed_kernels td_packed_kernels_generic;
#ifdef __x86_64__
extern const td_packed_kernels td_packed_kernels_avx2, td_packed_kernels_avx512;
#endif
#endif
