/* checks.c - what every operator of linear algebra asks of its arguments before it reads a size.
 * The public functions explain more; these are for whoever calls a row of the table by itself. */
#include "ops/linalg/linalg.h"

#define LL(x) ((long long)(x))

td_status td_linalg_matrix(const char *op, const td_tensor *A)
{
    char shape[TD_SHAPE_TEXT];
    td_dtype d = (td_dtype)A->dtype;
    if (A->ndim < 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: a matrix has at least 2 dimensions, but got one of shape %s", op,
                       td_shape_text(A->ndim, A->sizes, shape));
    if (d == TD_F32 || d == TD_F64 || d == TD_C64 || d == TD_C128) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: wanted float32, float64, complex64 or complex128, but got %s", op,
                   td_dtypes[d].name);
}

td_status td_linalg_square(const char *op, const td_tensor *A)
{
    TD_TRY(td_linalg_matrix(op, A));
    int64_t rows = A->sizes[A->ndim - 2], cols = A->sizes[A->ndim - 1];
    if (rows == cols) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: A must be batches of square matrices, but they are %lld by %lld matrices",
                   op, LL(rows), LL(cols));
}

td_status td_linalg_sides(const char *op, const td_tensor *A, const td_tensor *B)
{
    TD_TRY(td_linalg_matrix(op, B));
    if (A->dtype != B->dtype)
        return td_fail(TD_RUNTIME_ERROR, "%s: expected A and B of one dtype, but got %s and %s", op,
                       td_dtypes[A->dtype].name, td_dtypes[B->dtype].name);
    int64_t wanted = A->sizes[A->ndim - 2], rows = B->sizes[B->ndim - 2];
    if (rows == wanted) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: Incompatible shapes of A and B: A has %lld rows and B has %lld", op,
                   LL(wanted), LL(rows));
}

/* One exchange for each of n rows, for every matrix of the batch of A (its dimensions but the last
 * two). */
td_status td_linalg_exchanges(const char *op, const td_tensor *pivots, const td_tensor *A,
                              int64_t n)
{
    char have[TD_SHAPE_TEXT], want[TD_SHAPE_TEXT];
    int64_t sizes[TD_MAX_DIMS];
    int dims = A->ndim - 1;
    for (int k = 0; k + 1 < dims; k++) sizes[k] = A->sizes[k];
    sizes[dims - 1] = n;
    if (pivots->dtype != TD_I32)
        return td_fail(TD_RUNTIME_ERROR, "%s: pivots must be int32, but got %s", op,
                       td_dtypes[pivots->dtype].name);
    bool same = pivots->ndim == dims;
    for (int k = 0; same && k < dims; k++) same = pivots->sizes[k] == sizes[k];
    if (same) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: pivots must have shape %s, but got %s", op,
                   td_shape_text(dims, sizes, want),
                   td_shape_text(pivots->ndim, pivots->sizes, have));
}
