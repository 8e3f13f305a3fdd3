/* svd.c - singular values and vectors, by divide and conquer. The routine may run for ever on NaN
 * or infinity, so a matrix with one is a failure before it begins. */
#include "ops/linalg/linalg.h"

typedef struct svd_job {
    const td_lapack *la;
    td_dtype d;
    const char *job;
    td_stack a, u, vh;
    char *s;
    int32_t *info;
    bool steps; /* square, with vectors */
    /* bytes into a block of work space where real numbers and integers begin */
    int64_t k, lwork, real_at, int_at;
    td_scratch work;
} svd_job;

/* The sizes are those of LAPACK's manual. */
static int64_t real_work(const svd_job *j)
{
    int64_t k = j->k, most = j->a.rows > j->a.cols ? j->a.rows : j->a.cols;
    if (!td_is_complex(j->d)) return 0;
    if (j->job[0] == 'N') return 7 * k;
    int64_t one = 5 * k * k + 5 * k, other = 2 * most * k + 2 * k * k + k;
    return one > other ? one : other;
}

static void run(const svd_job *j, int64_t i, char *work, int64_t lwork, int64_t *info)
{
    int64_t item = td_itemsize(td_to_real(j->d)), one = 1, ldvt = j->job[0] == 'N' ? 1 : j->vh.rows;
    char *a = td_matrix(&j->a, i), *s = j->s + i * j->k * item;
    char *u = j->job[0] == 'N' ? NULL : td_matrix(&j->u, i),
         *vh = j->job[0] == 'N' ? NULL : td_matrix(&j->vh, i);
    const int64_t *ldu = u ? &j->u.rows : &one;
    if (td_is_complex(j->d))
        j->la->gesdd_complex(j->job, &j->a.rows, &j->a.cols, a, &j->a.rows, s, u, ldu, vh, &ldvt,
                             work, &lwork, work + j->real_at, work + j->int_at, info, 1);
    else
        j->la->gesdd(j->job, &j->a.rows, &j->a.cols, a, &j->a.rows, s, u, ldu, vh, &ldvt, work,
                     &lwork, work + j->int_at, info, 1);
}

static void decompose_stack(void *context, int64_t begin, int64_t end)
{
    svd_job *j = context;
    char *work = td_scratch_take(&j->work);
    for (int64_t i = begin; i < end; i++) {
        int64_t info = 0;
        j->info[i] = -1;
        if (!td_all_finite(j->d, td_matrix(&j->a, i), j->a.rows * j->a.cols)) continue;
        if (!j->steps || !td_svd_steps(j->la, j->d, j->k, td_matrix(&j->a, i),
                                       j->s + i * j->k * td_itemsize(td_to_real(j->d)),
                                       td_matrix(&j->u, i), td_matrix(&j->vh, i), work, &info))
            run(j, i, work, j->lwork, &info);
        j->info[i] = (int32_t)td_lapack_int(&info, 0);
    }
    td_scratch_give(&j->work, work);
}

static td_status begin(svd_job *j)
{
    _Alignas(16) char ask[64];
    int64_t info, bytes;
    j->real_at = j->int_at = 32;
    run(j, 0, ask, -1, &info);
    j->lwork = td_work_size(j->d, ask);
    TD_TRY(td_linalg_fits("linalg.svd", j->lwork));
    j->real_at = (j->lwork * td_itemsize(j->d) + 63) / 64 * 64;
    j->int_at = (j->real_at + real_work(j) * td_itemsize(td_to_real(j->d)) + 63) / 64 * 64;
    bytes = j->int_at + 8 * j->k * TD_LAPACK_INT;
    j->steps = j->job[0] != 'N' && td_svd_by_steps(j->a.rows, j->a.cols);
    if (j->steps && td_svd_steps_work(j->la, j->d, j->k) > bytes)
        bytes = td_svd_steps_work(j->la, j->d, j->k);
    return td_scratch_begin(&j->work, bytes);
}

static td_status decompose(svd_job *j, const td_tensor *A)
{
    TD_TRY(begin(j));
    double flops =
        (double)j->a.rows * (double)j->a.cols * (double)j->k * (j->job[0] == 'N' ? 4 : 12);
    td_status status = td_linalg_iterate("linalg.svd", A, j->a.count, td_linalg_ns(j->d, flops),
                                         decompose_stack, j, &j->info);
    td_scratch_end(&j->work);
    return status;
}

static td_status make_outputs(td_call *call, svd_job *j, const td_tensor *A, bool full)
{
    int64_t m = A->sizes[A->ndim - 2], n = A->sizes[A->ndim - 1];
    TD_TRY(td_vectors_new(&call->out[1], td_to_real(j->d), A, j->k));
    if (j->job[0] == 'N') {
        TD_TRY(td_tensor_empty(&call->out[0], j->d, (td_device)A->device, 1, &(int64_t){0}));
        return td_tensor_empty(&call->out[2], j->d, (td_device)A->device, 1, &(int64_t){0});
    }
    TD_TRY(td_stack_new(&j->u, j->d, A, m, full ? m : j->k));
    call->out[0] = j->u.t;
    TD_TRY(td_stack_new(&j->vh, j->d, A, full ? n : j->k, n));
    call->out[2] = j->vh.t;
    return TD_OK;
}

/* _linalg_svd(A, full_matrices, vectors): (U, S, Vh); empty vectors if they are not wanted */
td_status td_op_linalg_svd(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_matrix("linalg.svd", A));
    int64_t m = A->sizes[A->ndim - 2], n = A->sizes[A->ndim - 1];
    svd_job j = {.d = (td_dtype)A->dtype,
                 .job = !TD_BOOLEAN(2)  ? "N"
                        : TD_BOOLEAN(1) ? "A"
                                        : "S",
                 .k = m < n ? m : n};
    TD_TRY(make_outputs(call, &j, A, TD_BOOLEAN(1)));
    if (td_is_meta(A)) return TD_OK;
    if (A->numel == 0) {
        if (j.job[0] == 'N') return TD_OK;
        td_stack_fill_eye(&j.u);
        td_stack_fill_eye(&j.vh);
        return TD_OK;
    }
    TD_TRY(td_lapack_of(&j.la, j.d));
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    j.s = td_data(call->out[1]);
    td_status status = td_linalg_fits("linalg.svd", m > n ? m : n);
    if (status == TD_OK) status = decompose(&j, A);
    td_tensor_free(j.a.t);
    return status;
}
