/* lstsq.c - least squares: by QR of full rank (gels), by QR with exchanges of columns (gelsy), by
 * singular values (gelsd). */
#include <string.h>
#include "ops/linalg/linalg.h"

typedef struct lstsq_job {
    const td_lapack *la;
    td_dtype d;
    enum { GELS, GELSY, GELSD } driver;
    td_stack a, b, x;
    int64_t *rank;
    char *s;
    int32_t *info;
    int64_t k, ldb, lwork, lrwork, liwork;
    /* bytes in the work space, which begins with a copy of A */
    int64_t b_at, work_at, real_at, int_at;
    float rcond;
    double rcond_double;
    td_scratch work;
} lstsq_job;

static void run(const lstsq_job *j, char *space, char *s, int64_t lwork, int64_t *rank,
                int64_t *info)
{
    const td_lapack *la = j->la;
    const int64_t *m = &j->a.rows, *n = &j->a.cols, *few = &j->b.cols, *ldb = &j->ldb;
    const void *rcond = td_to_real(j->d) == TD_F32 ? (const void *)&j->rcond : &j->rcond_double;
    char *b = space + j->b_at, *work = space + j->work_at, *real = space + j->real_at,
         *ints = space + j->int_at;
    if (j->driver == GELS) la->gels("N", m, n, few, space, m, b, ldb, work, &lwork, info, 1);
    else if (j->driver == GELSY && td_is_complex(j->d))
        la->gelsy_complex(m, n, few, space, m, b, ldb, ints, rcond, rank, work, &lwork, real, info);
    else if (j->driver == GELSY)
        la->gelsy(m, n, few, space, m, b, ldb, ints, rcond, rank, work, &lwork, info);
    else if (td_is_complex(j->d))
        la->gelsd_complex(m, n, few, space, m, b, ldb, s, rcond, rank, work, &lwork, real, ints,
                          info);
    else la->gelsd(m, n, few, space, m, b, ldb, s, rcond, rank, work, &lwork, ints, info);
}

/* The first `rows` rows of `cols` columns. */
static void move_rows(char *to, int64_t ld_to, const char *from, int64_t ld_from, int64_t rows,
                      int64_t cols)
{
    for (int64_t c = 0; c < cols; c++) memcpy(to + c * ld_to, from + c * ld_from, (size_t)rows);
}

static void solve_one(lstsq_job *j, int64_t i, char *space)
{
    int64_t item = td_itemsize(j->d), m = j->a.rows, n = j->a.cols, rank = 0, info = 0;
    if (j->driver == GELSD && !td_all_finite(j->d, td_matrix(&j->a, i), m * n)) {
        j->info[i] = -1; /* singular values might be looked for for ever */
        return;
    }
    memcpy(space, td_matrix(&j->a, i), (size_t)j->a.bytes);
    move_rows(space + j->b_at, j->ldb * item, td_matrix(&j->b, i), m * item, m * item, j->b.cols);
    /* every column may move */
    if (j->driver == GELSY) memset(space + j->int_at, 0, (size_t)(n * TD_LAPACK_INT));
    run(j, space, j->s + i * j->k * td_itemsize(td_to_real(j->d)), j->lwork, &rank, &info);
    move_rows(td_matrix(&j->x, i), n * item, space + j->b_at, j->ldb * item, n * item, j->b.cols);
    j->info[i] = (int32_t)td_lapack_int(&info, 0);
    if (j->driver == GELS && j->info[i] > 0) j->info[i] = -2;
    j->rank[i] = td_lapack_int(&rank, 0);
}

static void solve_stack(void *context, int64_t begin, int64_t end)
{
    lstsq_job *j = context;
    char *space = td_scratch_take(&j->work);
    for (int64_t i = begin; i < end; i++) solve_one(j, i, space);
    td_scratch_give(&j->work, space);
}

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static td_status begin(lstsq_job *j)
{
    int64_t item = td_itemsize(j->d), real = td_itemsize(td_to_real(j->d)), rank, info,
            n = j->a.cols;
    _Alignas(64) char ask[256];
    j->b_at = j->work_at = 0;
    j->real_at = 64;
    j->int_at = 128;
    run(j, ask, ask + 192, -1, &rank, &info);
    j->lwork = td_work_size(j->d, ask);
    j->lrwork = j->driver == GELSY ? 2 * n
                : j->driver == GELSD && td_is_complex(j->d)
                    ? td_work_size(td_to_real(j->d), ask + 64)
                    : 0;
    j->liwork = j->driver == GELSY ? n : j->driver == GELSD ? td_lapack_int(ask + 128, 0) : 0;
    TD_TRY(td_linalg_fits("linalg.lstsq", j->lwork > j->ldb ? j->lwork : j->ldb));
    j->b_at = rounded(j->a.bytes);
    j->work_at = j->b_at + rounded(j->ldb * j->b.cols * item);
    j->real_at = j->work_at + rounded(j->lwork * item);
    j->int_at = j->real_at + rounded(j->lrwork * real);
    return td_scratch_begin(&j->work, j->int_at + j->liwork * TD_LAPACK_INT);
}

static td_status solve(lstsq_job *j, const td_tensor *A)
{
    TD_TRY(begin(j));
    double ns = td_linalg_ns(j->d, 2.0 * (double)j->a.rows * (double)j->a.cols *
                                       (double)(j->k + j->b.cols));
    td_status status =
        td_linalg_iterate("linalg.lstsq", A, j->a.count, ns, solve_stack, j, &j->info);
    td_scratch_end(&j->work);
    return status;
}

static td_status copy_and_solve(lstsq_job *j, const td_tensor *A, const td_tensor *B)
{
    TD_TRY(td_lapack_of(&j->la, j->d));
    TD_TRY(td_stack_copy(&j->a, A, TD_COLUMNS));
    td_status status = td_stack_copy(&j->b, B, TD_COLUMNS);
    j->ldb = j->a.rows > j->a.cols ? j->a.rows : j->a.cols;
    if (status == TD_OK) {
        status = solve(j, A);
        td_tensor_free(j->b.t);
    }
    td_tensor_free(j->a.t);
    return status;
}

static td_status one_batch(const td_tensor *A, const td_tensor *B)
{
    bool same = A->ndim == B->ndim;
    for (int k = 0; same && k < A->ndim - 2; k++) same = A->sizes[k] == B->sizes[k];
    return same ? TD_OK
                : td_fail(TD_RUNTIME_ERROR, "linalg.lstsq: A and B must have one batch shape");
}

/* _linalg_lstsq(A, B, rcond, driver): (X, rank, singular values); A and B of one batch. `rank` is 0
 * for the driver gels, and singular values mean something for gelsd only. */
td_status td_op_linalg_lstsq(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0), *B = TD_TENSOR(1);
    TD_TRY(td_linalg_matrix("linalg.lstsq", A));
    TD_TRY(td_linalg_sides("linalg.lstsq", A, B));
    TD_TRY(one_batch(A, B));
    int64_t m = A->sizes[A->ndim - 2], n = A->sizes[A->ndim - 1];
    const char *driver = call->args[3].str;
    lstsq_job j = {.d = (td_dtype)A->dtype,
                   .k = m < n ? m : n,
                   .rcond = (float)TD_FLOAT(2),
                   .rcond_double = TD_FLOAT(2)};
    j.driver = !strcmp(driver, "gels") ? GELS : !strcmp(driver, "gelsy") ? GELSY : GELSD;
    TD_TRY(td_stack_new(&j.x, j.d, A, n, B->sizes[B->ndim - 1]));
    call->out[0] = j.x.t;
    TD_TRY(td_vectors_new(&call->out[1], TD_I64, A, -1));
    TD_TRY(td_vectors_new(&call->out[2], td_to_real(j.d), A, j.k));
    if (td_is_meta(A)) return TD_OK;
    for (int k = 0; k < 3; k++) TD_TRY(td_fill(call->out[k], &(td_scalar){0}));
    if (A->numel == 0) return TD_OK;
    j.rank = td_data(call->out[1]);
    j.s = td_data(call->out[2]);
    return copy_and_solve(&j, A, B);
}
