/* inverse.c - A^-1 = U^-1 L^-1 P^T: the columns of U^-1 are independent of each other, and then its
 * rows are. */
#include <math.h>
#include <string.h>
#include "ops/linalg/linalg.h"

#define BLOCK 64 /* columns, then rows, of one task */

typedef struct inverse_job {
    const td_lapack *la;
    td_dtype d;
    const td_lu *lu;
    td_stack x;
    int64_t at; /* the matrix that all threads work on */
} inverse_job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void fill_nan(td_dtype d, char *a, int64_t n)
{
    n *= td_is_complex(d) ? 2 : 1;
    for (int64_t i = 0; i < n; i++) {
        if (td_to_real(d) == TD_F32) ((float *)a)[i] = NAN;
        else ((double *)a)[i] = NAN;
    }
}

/* Columns [col, col + width) of the unit matrix. */
static void unit_columns(td_dtype d, char *x, int64_t n, int64_t col, int64_t width)
{
    int64_t item = td_itemsize(d);
    memset(x + col * n * item, 0, (size_t)(width * n * item));
    for (int64_t c = col; c < col + width; c++)
        memcpy(x + c * (n + 1) * item, td_linalg_one(d), (size_t)item);
}

static void invert_columns(void *context, int64_t begin, int64_t end)
{
    const inverse_job *j = context;
    int64_t n = j->x.rows, item = td_itemsize(j->d);
    char *x = td_matrix(&j->x, j->at);
    td_triangle upper = {j->la, j->d, "L", "U", "N", "N", n, n};
    for (int64_t block = begin; block < end; block++) {
        int64_t col = block * BLOCK, width = least(BLOCK, n - col);
        unit_columns(j->d, x, n, col, width);
        td_triangle_solve(&upper, col + width, width, td_matrix(&j->lu->a, j->at),
                          x + col * n * item);
    }
}

static void finish_rows(void *context, int64_t begin, int64_t end)
{
    const inverse_job *j = context;
    int64_t n = j->x.rows;
    td_triangle lower = {j->la, j->d, "R", "L", "N", "U", n, n};
    for (int64_t block = begin; block < end; block++)
        td_triangle_solve(&lower, n, least(BLOCK, n - block * BLOCK), td_matrix(&j->lu->a, j->at),
                          td_matrix(&j->x, j->at) + block * BLOCK * td_itemsize(j->d));
}

static void exchange_columns(td_dtype d, char *x, int64_t n, const void *pivots)
{
    int64_t bytes = n * td_itemsize(d);
    char kept[1024];
    for (int64_t k = n - 1; k >= 0; k--) {
        char *one = x + k * bytes, *other = x + (td_lapack_int(pivots, k) - 1) * bytes;
        for (int64_t at = 0; one != other && at < bytes; at += (int64_t)sizeof kept) {
            size_t part = (size_t)least(bytes - at, (int64_t)sizeof kept);
            memcpy(kept, one + at, part);
            memcpy(one + at, other + at, part);
            memcpy(other + at, kept, part);
        }
    }
}

static void invert_one(inverse_job j, int64_t i)
{
    int64_t n = j.x.rows, blocks = (n + BLOCK - 1) / BLOCK;
    char *x = td_matrix(&j.x, i);
    if (((const int32_t *)td_data(j.lu->info))[i]) {
        fill_nan(j.d, x, n * n);
    } else if (n <= TD_SMALL) {
        unit_columns(j.d, x, n, 0, n);
        td_small_solve(j.d, "N", n, n, td_matrix(&j.lu->a, i), td_lu_pivots(j.lu, i), x);
    } else {
        j.at = i;
        td_blas_parallel(blocks, 1, invert_columns, &j);
        td_blas_parallel(blocks, 1, finish_rows, &j);
        exchange_columns(j.d, x, n, td_lu_pivots(j.lu, i));
    }
}

static void invert_stack(void *context, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) invert_one(*(const inverse_job *)context, i);
}

/* _linalg_inv(A): (A^-1, NaN where there is none; 1 + the place of a zero pivot, or 0) */
td_status td_op_linalg_inv(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    td_lu lu;
    TD_TRY(td_linalg_square("linalg.inv", A));
    if (td_is_meta(A) || A->numel == 0) {
        td_stack none;
        TD_TRY(td_stack_copy(&none, A, TD_AS_IT_LIES)); /* laid out as the inverse is */
        call->out[0] = none.t;
        TD_TRY(td_vectors_new(&call->out[1], TD_I32, A, -1));
        return td_is_meta(A) ? TD_OK : td_fill(call->out[1], &(td_scalar){0});
    }
    TD_TRY(td_lu_of(&lu, "linalg.inv", A, TD_AS_IT_LIES));
    inverse_job j = {.d = (td_dtype)A->dtype, .lu = &lu};
    td_status status = td_lapack_of(&j.la, j.d);
    if (status == TD_OK) status = td_stack_like(&j.x, &lu.a);
    if (status == TD_OK) {
        double n = (double)lu.a.rows;
        td_linalg_parallel(lu.a.count, td_linalg_ns(j.d, 4.0 / 3 * n * n * n), invert_stack, &j);
        call->out[0] = j.x.t;
        call->out[1] = lu.info;
        lu.info = NULL;
    }
    td_lu_free(&lu);
    return status;
}
