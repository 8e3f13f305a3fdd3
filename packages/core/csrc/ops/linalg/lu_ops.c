/* lu_ops.c - LU of batches: with exchanges of rows by linalg_lu.c, without them by plain
 * elimination. */
#include "ops/linalg/linalg.h"

/* ---- a stack and its factors ---- */

typedef struct lu_batch {
    td_lu *lu;
    const td_lapack *la;
    int32_t *info;
} lu_batch;

static void factor_stack(void *context, int64_t begin, int64_t end)
{
    lu_batch *b = context;
    const td_stack *a = &b->lu->a;
    for (int64_t i = begin; i < end; i++)
        b->info[i] = (int32_t)td_lu_factor(b->la, (td_dtype)a->t->dtype, a->rows, a->cols,
                                           td_matrix(a, i), td_lu_pivots(b->lu, i));
}

static td_status factor(td_lu *lu, const td_lapack *la)
{
    const td_stack *a = &lu->a;
    int64_t k = a->rows < a->cols ? a->rows : a->cols;
    lu->stride = k * TD_LAPACK_INT;
    lu->bytes = lu->stride * a->count;
    lu->pivots = td_alloc(lu->bytes);
    if (!lu->pivots)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld exchanges of rows",
                       (long long)(k * a->count));
    lu_batch b = {lu, la, td_data(lu->info)};
    double ns =
        td_linalg_ns((td_dtype)a->t->dtype, (double)a->rows * (double)a->cols * (double)k * 2 / 3);
    td_linalg_parallel(a->count, ns, factor_stack, &b);
    for (int64_t i = 0; i < a->count; i++)
        if (b.info[i] < 0)
            return td_fail(TD_MEMORY_ERROR, "no memory for the work space of a factorization");
    return TD_OK;
}

td_status td_lu_of(td_lu *lu, const char *op, const td_tensor *A, td_turn turn)
{
    const td_lapack *la;
    *lu = (td_lu){0};
    TD_TRY(td_lapack_of(&la, (td_dtype)A->dtype));
    TD_TRY(td_linalg_fits(op, A->sizes[A->ndim - 2] > A->sizes[A->ndim - 1]
                                  ? A->sizes[A->ndim - 2]
                                  : A->sizes[A->ndim - 1]));
    TD_TRY(td_vectors_new(&lu->info, TD_I32, A, -1));
    td_status status = td_stack_copy(&lu->a, A, turn);
    if (status == TD_OK) status = factor(lu, la);
    else lu->a.t = NULL;
    if (status != TD_OK) td_lu_free(lu);
    return status;
}

void td_lu_free(td_lu *lu)
{
    td_tensor_free(lu->a.t);
    td_tensor_free(lu->info);
    if (lu->pivots) td_free(lu->pivots, lu->bytes);
    *lu = (td_lu){0};
}

/* ---- without exchanges ---- */

typedef struct plain_job {
    const td_stack *a;
    int32_t *info, *pivots;
} plain_job;

static void eliminate_stack(void *context, int64_t begin, int64_t end)
{
    plain_job *j = context;
    int64_t m = j->a->rows, n = j->a->cols, k = m < n ? m : n;
    for (int64_t i = begin; i < end; i++) {
        j->info[i] = (int32_t)td_eliminate((td_dtype)j->a->t->dtype, m, n, td_matrix(j->a, i));
        for (int64_t p = 0; p < k; p++) j->pivots[i * k + p] = (int32_t)p + 1;
    }
}

static td_status without_pivots(td_call *call, const td_tensor *A)
{
    td_stack a;
    TD_TRY(td_stack_copy(&a, A, TD_COLUMNS));
    call->out[0] = a.t;
    plain_job j = {&a, td_data(call->out[2]), td_data(call->out[1])};
    td_linalg_parallel(a.count, td_linalg_ns((td_dtype)A->dtype, (double)a.bytes * (double)a.cols),
                       eliminate_stack, &j);
    return TD_OK;
}

/* ---- operators ---- */

static void read_pivots(const td_lu *lu, int32_t *out, int64_t k)
{
    for (int64_t i = 0; i < lu->a.count; i++)
        for (int64_t p = 0; p < k; p++)
            out[i * k + p] = (int32_t)td_lapack_int(td_lu_pivots(lu, i), p);
}

/* _linalg_lu(A, pivot): (factors in one, exchanges, info) */
td_status td_op_linalg_lu(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_matrix("linalg.lu_factor", A));
    int64_t m = A->sizes[A->ndim - 2], n = A->sizes[A->ndim - 1], k = m < n ? m : n;
    td_lu lu;
    TD_TRY(td_vectors_new(&call->out[1], TD_I32, A, k));
    if (td_is_meta(A) || A->numel == 0 || !TD_BOOLEAN(1)) {
        td_stack none;
        TD_TRY(td_vectors_new(&call->out[2], TD_I32, A, -1));
        if (!td_is_meta(A)) TD_TRY(td_fill(call->out[2], &(td_scalar){0}));
        if (!td_is_meta(A) && A->numel) return without_pivots(call, A);
        TD_TRY(td_stack_new(&none, (td_dtype)A->dtype, A, m, n));
        call->out[0] = none.t;
        return TD_OK;
    }
    TD_TRY(td_lu_of(&lu, "linalg.lu_factor", A, TD_COLUMNS));
    read_pivots(&lu, td_data(call->out[1]), k);
    call->out[0] = lu.a.t;
    call->out[2] = lu.info;
    lu.a.t = lu.info = NULL;
    td_lu_free(&lu);
    return TD_OK;
}

static td_status permute(int64_t *order, int64_t rows, const int32_t *pivots, int64_t k)
{
    for (int64_t r = 0; r < rows; r++) order[r] = r;
    for (int64_t p = 0; p < k; p++) {
        int64_t other = (int64_t)pivots[p] - 1;
        if (k > rows || other < 0 || other >= rows)
            return td_fail(TD_RUNTIME_ERROR,
                           "pivots must be at most %lld numbers between 1 and the %lld rows; "
                           "number %lld of %lld is %d",
                           (long long)rows, (long long)rows, (long long)p, (long long)k, pivots[p]);
        int64_t kept = order[p];
        order[p] = order[other];
        order[other] = kept;
    }
    return TD_OK;
}

/* _linalg_permutation(pivots, rows): row i of P^T A is row out[i] of A */
td_status td_op_linalg_permutation(td_call *call)
{
    const td_tensor *pivots = TD_TENSOR(0);
    if (pivots->dtype != TD_I32 || pivots->ndim < 1 || TD_INT(1) < 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "expected pivots of int32 with 1 dimension or more, and 0 rows or more");
    int64_t rows = TD_INT(1), k = pivots->sizes[pivots->ndim - 1], sizes[TD_MAX_DIMS];
    td_tensor *dense;
    for (int d = 0; d < pivots->ndim; d++) sizes[d] = pivots->sizes[d];
    sizes[pivots->ndim - 1] = rows;
    TD_TRY(td_tensor_empty(&call->out[0], TD_I64, (td_device)pivots->device, pivots->ndim, sizes));
    if (td_is_meta(pivots) || call->out[0]->numel == 0) return TD_OK;
    TD_TRY(td_contiguous(&dense, pivots));
    int64_t *order = td_data(call->out[0]), count = call->out[0]->numel / rows;
    td_status status = TD_OK;
    for (int64_t i = 0; i < count && status == TD_OK; i++)
        status = permute(order + i * rows, rows, (const int32_t *)td_data(dense) + i * k, k);
    td_tensor_free(dense);
    return status;
}
