/* int8_panels.h - rows of u8 times a matrix of int8 that is packed once, in int32 (TD_PICK).
 *
 * The matrix (n, k) lies in panels of 16 of its rows: [panel][word][16][4], a word being four
 * neighbours along k; what is beyond n or k is 0. Every instruction set reads this one layout. Sums
 * wrap at 32 bits, so they are the same in any order.
 *
 *   sum = start[n] + x . w[n] - weight_zero[n] * (sum of x - k times its zero point)
 *
 * As floats, fma(sum, factor[n], bias[n]). As integers, rint((sum + bias[n]) * factor[n]) + zero,
 * each step rounded to float32, and clamped. A NaN in them becomes the greatest integer. */
#ifndef TD_INT8_PANELS_H
#define TD_INT8_PANELS_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/cpu.h"

#define TD_PANEL 16 /* rows of the matrix in a panel */
#define TD_WORD 4   /* numbers of a word */

typedef struct td_int8_product {
    int64_t n, words; /* of the matrix: rows, and words of a row */
    const int8_t *panels;
    /* one for each row of the matrix, up to whole panels; weight_zero: NULL if all are 0 */
    const int32_t *start, *weight_zero;
    const float *factor, *bias;
    bool narrow;   /* no number of x is above 128 */
    bool to_bytes; /* results are integers */
    bool relu;     /* of floats; integers have it in `least` */
    float zero, least;
    uint8_t flip; /* 0x80: results are int8 */
} td_int8_product;

/* m rows of x, `row` bytes apart, of which 4 * words are read; sums: the centred sum of each row,
 * asked for where there are zero points of weights. The results of row i begin at out[i * out_row],
 * counted in results. */
typedef struct td_int8_rows {
    const uint8_t *x;
    int64_t m, row;
    const int32_t *sums;
    void *out;
    int64_t out_row;
} td_int8_rows;

typedef struct td_int8_panels_kernels {
    void (*run)(const td_int8_product *p, const td_int8_rows *r, int64_t first, int64_t last);
} td_int8_panels_kernels;

extern const td_int8_panels_kernels td_int8_panels_kernels_generic;
/* by tile registers (int8_tiles.c), where td_has_tiles() */
extern const td_int8_panels_kernels td_int8_tiles_kernels_generic;
#ifdef __x86_64__
extern const td_int8_panels_kernels td_int8_panels_kernels_avx2, td_int8_panels_kernels_avx512;
extern const td_int8_panels_kernels td_int8_tiles_kernels_avx2, td_int8_tiles_kernels_avx512;
#endif
#endif
