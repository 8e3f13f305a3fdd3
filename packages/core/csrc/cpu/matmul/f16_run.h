/* f16_run.h - a matrix of float16 or bfloat16 times a float32 vector. */
#ifndef TD_MATMUL_F16_RUN_H
#define TD_MATMUL_F16_RUN_H
#include <stdbool.h>
#include <stdint.h>

bool td_multiplies_f16(void);

typedef struct td_f16_product {
    const uint16_t *a;
    bool brain;            /* bfloat16 */
    bool by_column;        /* a number of the result is of a column of a, else of a row */
    int64_t row;           /* numbers from row to row */
    int64_t n, k;          /* numbers of the result, and of x */
    const float *x, *bias; /* bias: or NULL */
    float *out;
} td_f16_product;

void td_f16_times_vector(const td_f16_product *p);

#endif
