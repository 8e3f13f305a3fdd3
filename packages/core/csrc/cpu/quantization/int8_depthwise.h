/* int8_depthwise.h - windows of u8 whose channels have each a row of int8 of their own (TD_PICK).
 *
 * The rows lie in panels as those of a matrix do (int8_panels.h): 16 channels beside each other,
 * four taps of a window in a word. What follows the sums is what follows those of panels. */
#ifndef TD_INT8_DEPTHWISE_H
#define TD_INT8_DEPTHWISE_H
#include "cpu/quantization/int8_panels.h"

/* m windows. Each has 4 * words pointers to the first channel of its taps; those beyond the last
 * meet 0 in the panels, so they may point to any. The results of window i begin at
 * out[i * out_row], counted in results. */
typedef struct td_int8_taps {
    const uint8_t *const *at;
    int64_t m;
    uint8_t flip; /* 0x80: the taps are int8 */
    void *out;
    int64_t out_row;
} td_int8_taps;

typedef struct td_int8_depthwise_kernels {
    void (*run)(const td_int8_product *p, const td_int8_taps *t);
} td_int8_depthwise_kernels;

extern const td_int8_depthwise_kernels td_int8_depthwise_kernels_generic;
#ifdef __x86_64__
extern const td_int8_depthwise_kernels td_int8_depthwise_kernels_avx2,
    td_int8_depthwise_kernels_avx512;
#endif
#endif
