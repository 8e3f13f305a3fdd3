/* qr.c - QR factorisation by reflections. */
#include <string.h>
#include "ops/linalg/linalg.h"

typedef struct qr_job {
    const td_lapack *la;
    td_dtype d;
    td_stack a;            /* factored in place: reflections below the diagonal, R above */
    char *tau;             /* k numbers a matrix */
    const td_stack *q, *r; /* q NULL: not wanted */
    int64_t k, lwork;
    td_scratch work;
} qr_job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- work space ---- */

static int64_t work_for(const qr_job *j, int64_t q_cols)
{
    int64_t ask = -1, info, most;
    char size[16];
    j->la->geqrf(&j->a.rows, &j->a.cols, j->a.data, &j->a.rows, j->tau, size, &ask, &info);
    most = td_work_size(j->d, size);
    if (q_cols) {
        j->la->orgqr(&j->a.rows, &q_cols, &j->k, j->a.data, &j->a.rows, j->tau, size, &ask, &info);
        if (td_work_size(j->d, size) > most) most = td_work_size(j->d, size);
    }
    return most;
}

static td_status begin(qr_job *j, int64_t q_cols)
{
    TD_TRY(td_linalg_fits("linalg.qr", j->a.rows > j->a.cols ? j->a.rows : j->a.cols));
    j->lwork = work_for(j, q_cols);
    TD_TRY(td_linalg_fits("linalg.qr", j->lwork));
    return td_scratch_begin(&j->work, j->lwork * td_itemsize(j->d));
}

static double cost(const qr_job *j)
{
    return td_linalg_ns(j->d, 2 * (double)j->a.rows * (double)j->a.cols * (double)j->k);
}

/* ---- factors ---- */

/* R: the first rows of what geqrf left, nothing below the diagonal. */
static void take_r(const qr_job *j, int64_t i)
{
    int64_t item = td_itemsize(j->d), rows = j->r->rows;
    for (int64_t c = 0; c < j->r->cols; c++)
        memcpy(td_matrix(j->r, i) + c * rows * item, td_matrix(&j->a, i) + c * j->a.rows * item,
               (size_t)(rows * item));
    td_clear_below(j->d, td_matrix(j->r, i), rows, j->r->cols);
}

static void make_q(const qr_job *j, int64_t i, void *work)
{
    int64_t item = td_itemsize(j->d), info;
    char *q = td_matrix(j->q, i);
    memcpy(q, td_matrix(&j->a, i), (size_t)(j->a.rows * least(j->q->cols, j->a.cols) * item));
    j->la->orgqr(&j->q->rows, &j->q->cols, &j->k, q, &j->q->rows, j->tau + i * j->k * item, work,
                 &j->lwork, &info);
}

static void factor_stack(void *context, int64_t begin, int64_t end)
{
    qr_job *j = context;
    int64_t info;
    void *work = td_scratch_take(&j->work);
    for (int64_t i = begin; i < end; i++) {
        j->la->geqrf(&j->a.rows, &j->a.cols, td_matrix(&j->a, i), &j->a.rows,
                     j->tau + i * j->k * td_itemsize(j->d), work, &j->lwork, &info);
        if (j->r) take_r(j, i);
        if (j->q) make_q(j, i, work);
    }
    td_scratch_give(&j->work, work);
}

static td_status factor(qr_job *j)
{
    int64_t bytes = j->a.count * j->k * td_itemsize(j->d);
    j->tau = td_alloc(bytes);
    if (!j->tau)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld reflections",
                       (long long)(j->a.count * j->k));
    td_status status = begin(j, j->q ? j->q->cols : 0);
    if (status == TD_OK) {
        td_linalg_parallel(j->a.count, cost(j) * (j->q ? 2 : 1), factor_stack, j);
        td_scratch_end(&j->work);
    }
    td_free(j->tau, bytes);
    return status;
}

/* _linalg_qr(A, mode): (Q, R) */
td_status td_op_linalg_qr(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_matrix("linalg.qr", A));
    const char *mode = call->args[1].str;
    int64_t m = A->sizes[A->ndim - 2], n = A->sizes[A->ndim - 1];
    td_dtype d = (td_dtype)A->dtype;
    td_stack q, r;
    qr_job j = {.d = d, .k = least(m, n), .q = !strcmp(mode, "r") ? NULL : &q, .r = &r};
    int64_t cols = !strcmp(mode, "complete") ? m : j.k;
    if (j.q) TD_TRY(td_stack_new(&q, d, A, m, cols));
    else TD_TRY(td_tensor_empty(&call->out[0], d, (td_device)A->device, 1, &(int64_t){0}));
    if (j.q) call->out[0] = q.t;
    TD_TRY(td_stack_new(&r, d, A, cols, n));
    call->out[1] = r.t;
    if (td_is_meta(A)) return TD_OK;
    if (A->numel == 0) {
        if (j.q) td_stack_fill_eye(&q);
        return TD_OK; /* R has no elements */
    }
    TD_TRY(td_lapack_of(&j.la, d));
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    td_status status = factor(&j);
    td_tensor_free(j.a.t);
    return status;
}

/* geqrf(self): (reflections below the diagonal and R above it, their factors) */
td_status td_op_geqrf(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_matrix("geqrf", A));
    qr_job j = {.d = (td_dtype)A->dtype, .k = least(A->sizes[A->ndim - 2], A->sizes[A->ndim - 1])};
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    call->out[0] = j.a.t;
    TD_TRY(td_vectors_new(&call->out[1], j.d, A, j.k));
    if (td_is_meta(A) || A->numel == 0) return TD_OK;
    TD_TRY(td_lapack_of(&j.la, j.d));
    j.tau = td_data(call->out[1]);
    TD_TRY(begin(&j, 0));
    td_linalg_parallel(j.a.count, cost(&j), factor_stack, &j);
    td_scratch_end(&j.work);
    return TD_OK;
}
