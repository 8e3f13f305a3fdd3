/* int8_layers_run.h - linear layers and convolutions of integers, over threads. */
#ifndef TD_INT8_LAYERS_RUN_H
#define TD_INT8_LAYERS_RUN_H
#include "cpu/quantization/int8_panels.h"
#include "cpu/quantization/int8_windows.h"
#include "runtime/error.h"

/* A matrix (n, k) of int8 in panels, group after group: each has its own whole panels. A number
 * stands for scale * (q - zero). */
typedef struct td_int8_matrix {
    int64_t n, k, groups; /* rows of all groups; numbers of a row */
    const int8_t *panels;
    const int32_t *sums;  /* of each row's numbers */
    const float *scales;  /* one, or one for each row */
    bool each;            /* for each row */
    const int32_t *zeros; /* for each row, or NULL: all 0 */
    const float *bias;    /* for each row, or NULL */
} td_int8_matrix;

/* Integers that stand for scale * (q - zero); with_sign: they are int8, else u8, and so is zero. */
typedef struct td_int8_numbers {
    void *data;
    float scale;
    int64_t zero;
    bool with_sign;
} td_int8_numbers;

/* What becomes of sums: integers, or floats (data: float32, the rest unused). */
typedef struct td_int8_results {
    td_int8_numbers to;
    bool floats, relu;
} td_int8_results;

/* rows of `k` numbers, n for each group, into panels, and their sums */
void td_int8_pack(const int8_t *rows, int64_t groups, int64_t n, int64_t k, int8_t *panels,
                  int32_t *sums);

/* out (m, n) of x (m, k) */
td_status td_int8_linear(const td_int8_matrix *w, const td_int8_numbers *x, int64_t m,
                         const td_int8_results *out);
/* the same of floats, which become u8 with this scale and zero point first */
td_status td_int8_linear_floats(const td_int8_matrix *w, const float *x, float scale, int64_t zero,
                                int64_t m, const td_int8_results *out);
/* out (samples, places, n) of x (samples, places, channels); rows of w are windows (places,
 * channels of a group) */
td_status td_int8_conv(const td_int8_matrix *w, const td_int8_numbers *x, const td_int8_windows *g,
                       const td_int8_results *out);
/* the same where each channel is a group and gives one result: w has one group, rows are channels
 * and its zero points are 0 */
td_status td_int8_depthwise(const td_int8_matrix *w, const td_int8_numbers *x,
                            const td_int8_windows *g, const td_int8_results *out);
#endif
