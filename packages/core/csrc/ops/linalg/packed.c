/* packed.c - solutions by factors that were made before: lu_solve, ldl_solve. Exchanges of rows
 * come from the caller, so they are checked before the library follows them. */
#include "ops/linalg/linalg.h"

#define COLUMNS 128 /* right sides of one task */

typedef struct packed_job {
    const char *op;
    const td_lapack *la;
    td_stack a, x;
    int64_t lda, chunks;
    td_tensor *places; /* exchanges, int32, row-major */
    void *pivots;      /* the same as the library counts */
    int dims;
    const int64_t *batch;
    enum { LU, LDL, LDL_HERMITIAN } kind;
    const char *trans; /* of LU */
} packed_job;

static void solve_chunks(void *context, int64_t begin, int64_t end)
{
    const packed_job *j = context;
    td_dtype d = (td_dtype)j->x.t->dtype;
    int64_t n = j->x.rows, item = td_itemsize(d), info;
    for (int64_t task = begin; task < end; task++) {
        int64_t i = task / j->chunks, at = task % j->chunks * COLUMNS,
                few = j->x.cols - at < COLUMNS ? j->x.cols - at : COLUMNS;
        const char *a = j->a.data + td_batch_offset(j->a.t, 2, j->dims, j->batch, i) * item;
        const void *pivots =
            td_lapack_ints_at(j->pivots, td_batch_offset(j->places, 1, j->dims, j->batch, i));
        char *x = td_matrix(&j->x, i) + at * n * item;
        if (j->kind == LU) td_lu_solve(j->la, d, j->trans, n, few, a, j->lda, pivots, x);
        else
            (j->kind == LDL ? j->la->sytrs : j->la->hetrs)("L", &n, &few, a, &j->lda, pivots, x, &n,
                                                           &info, 1);
    }
}

/* One row's exchange; in LDL two equal negative numbers stand for a block of two rows. Returns how
 * many it takes, 0 if it is wrong. */
static int64_t exchange_at(const packed_job *j, const int32_t *p, int64_t k, int64_t n)
{
    if (p[k] >= 1 && p[k] <= n) return 1;
    return j->kind != LU && p[k] <= -1 && p[k] >= -n && k + 1 < n && p[k + 1] == p[k] ? 2 : 0;
}

static td_status read_pivots(packed_job *j)
{
    const int32_t *p = td_data(j->places);
    int64_t n = j->x.rows, count = j->places->numel;
    for (int64_t i = 0; i < count;) {
        int64_t taken = exchange_at(j, p + i / n * n, i % n, n);
        if (!taken)
            return td_fail(
                TD_RUNTIME_ERROR,
                "%s: pivots must lie between 1 and the %lld rows%s; number %lld of a matrix is %d",
                j->op, (long long)n, j->kind == LU ? "" : ", or be two equal negative ones",
                (long long)(i % n), p[i]);
        for (; taken; taken--, i++) td_lapack_set_int(j->pivots, i, p[i]);
    }
    return TD_OK;
}

static td_status with_pivots(packed_job *j)
{
    int64_t bytes = j->places->numel * TD_LAPACK_INT, n = j->x.rows;
    j->pivots = td_alloc(bytes);
    if (!j->pivots)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld exchanges of rows",
                       (long long)j->places->numel);
    td_status status = read_pivots(j);
    if (status == TD_OK) {
        double few = j->x.cols < COLUMNS ? (double)j->x.cols : COLUMNS;
        j->chunks = (j->x.cols + COLUMNS - 1) / COLUMNS;
        td_linalg_parallel(j->x.count * j->chunks,
                           td_linalg_ns((td_dtype)j->x.t->dtype, 2 * few * (double)n * (double)n),
                           solve_chunks, j);
    }
    td_free(j->pivots, bytes);
    return status;
}

/* The arguments begin with (packed, pivots, B). */
static td_status solve(td_call *call, packed_job *j)
{
    const td_tensor *packed = TD_TENSOR(0), *pivots = TD_TENSOR(1), *B = TD_TENSOR(2);
    int64_t batch[TD_MAX_DIMS];
    TD_TRY(td_linalg_square(j->op, packed));
    TD_TRY(td_linalg_sides(j->op, packed, B));
    TD_TRY(td_linalg_exchanges(j->op, pivots, packed, packed->sizes[packed->ndim - 1]));
    j->batch = batch;
    TD_TRY(td_broadcast(packed->ndim - 2, packed->sizes, B->ndim - 2, B->sizes, &j->dims, batch));
    TD_TRY(td_stack_expand(&j->x, B, j->dims, batch, TD_COLUMNS));
    call->out[0] = j->x.t;
    if (td_is_meta(packed) || j->x.t->numel == 0) return TD_OK;
    TD_TRY(td_lapack_of(&j->la, (td_dtype)packed->dtype));
    TD_TRY(td_stack_read(&j->a, packed, &j->lda, TD_COLUMNS));
    td_status status = td_linalg_fits(j->op, j->lda > j->x.rows ? j->lda : j->x.rows);
    if (status == TD_OK) status = td_contiguous(&j->places, pivots);
    if (status == TD_OK) status = with_pivots(j);
    td_tensor_free(j->places);
    td_tensor_free(j->a.t);
    return status;
}

/* _linalg_lu_solve(LU, pivots, B, adjoint) */
td_status td_op_linalg_lu_solve(td_call *call)
{
    packed_job j = {.op = "linalg.lu_solve", .kind = LU, .trans = TD_BOOLEAN(3) ? "C" : "N"};
    return solve(call, &j);
}

/* _linalg_ldl_solve(LD, pivots, B, hermitian) */
td_status td_op_linalg_ldl_solve(td_call *call)
{
    packed_job j = {.op = "linalg.ldl_solve", .kind = TD_BOOLEAN(3) ? LDL_HERMITIAN : LDL};
    return solve(call, &j);
}
