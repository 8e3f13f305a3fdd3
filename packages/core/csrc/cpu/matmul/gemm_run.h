/* gemm_run.h - products of matrices for the operators: any dtype, batches, threads. */
#ifndef TD_OPS_GEMM_H
#define TD_OPS_GEMM_H
#include "cpu/matmul/gemm.h"
#include "runtime/tensor.h"

/* C = alpha * A B + beta * C for every matrix of a batch. Strides in elements; rows of C have
 * adjacent elements. */
typedef struct td_product {
    td_dtype dtype; /* float32, float64, complex64, complex128 or an integer */
    int64_t m, n, k;
    const char *a, *b;
    char *c;
    int64_t a_row, a_col, b_row, b_col, c_row;
    td_scalar alpha, beta; /* beta 0: what C holds does not matter, NaN neither */
    bool narrow;           /* A and B are bfloat16, for C in float32: where td_multiplies_bf16() */
    bool rounds;           /* of a narrow product with beta 0: C is bfloat16 as well */
    /* on devices: A and B are float16 or bfloat16, for C in float32; 0: of `dtype` */
    td_dtype shorter;
    const void *col_bias; /* float32 and float64 with beta 0 only: a number per column */
    int batch_dims;
    int64_t batch[TD_MAX_DIMS], a_batch[TD_MAX_DIMS], b_batch[TD_MAX_DIMS], c_batch[TD_MAX_DIMS];
} td_product;

td_status td_product_run(const td_product *p);
/* Has this processor an instruction for products of bfloat16? */
bool td_multiplies_bf16(void);
td_status td_cpu_product(const td_product *p, td_device device); /* the processor's slot `gemm` */

/* One product of float (0) or double (1) over all threads; `way` is filled in here. */
td_status td_gemm_run(int is_double, td_gemm *g);
/* The best kernel for products of bfloat16, where td_multiplies_bf16() */
const td_gemm_kernel *td_gemm_bf16(void);
/* A and B bfloat16, C and biases float32: where td_multiplies_bf16() */
td_status td_gemm_run_bf16(td_gemm *g);
/* nanoseconds it would take, about */
double td_gemm_cost(int64_t m, int64_t n, int64_t k);

static inline const td_gemm_kernel *td_gemm_kernel_of(int is_double)
{
    return &TD_PICK(td_gemm_kernels)->real[is_double];
}
#endif
