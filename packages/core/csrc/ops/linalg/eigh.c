/* eigh.c - eigenvalues and eigenvectors of Hermitian matrices, by divide and conquer. */
#include "ops/linalg/linalg.h"

typedef struct eigh_job {
    const td_lapack *la;
    td_dtype d;
    const char *job, *uplo;
    td_stack a; /* becomes the vectors */
    char *values;
    int32_t *info;
    /* sizes of the work space, bytes where its parts begin */
    int64_t lwork, lrwork, liwork, real_at, int_at;
    td_scratch work;
} eigh_job;

static void run(const eigh_job *j, int64_t i, char *work, int64_t *info)
{
    const int64_t *n = &j->a.rows;
    char *a = td_matrix(&j->a, i), *values = j->values + i * *n * td_itemsize(td_to_real(j->d));
    if (td_is_complex(j->d))
        j->la->heevd(j->job, j->uplo, n, a, n, values, work, &j->lwork, work + j->real_at,
                     &j->lrwork, work + j->int_at, &j->liwork, info, 1, 1);
    else
        j->la->syevd(j->job, j->uplo, n, a, n, values, work, &j->lwork, work + j->int_at,
                     &j->liwork, info, 1, 1);
}

/* Of the triangle that is read. */
static bool finite_triangle(const eigh_job *j, const char *a)
{
    int64_t n = j->a.rows, item = td_itemsize(j->d);
    bool lower = j->uplo[0] == 'L';
    for (int64_t c = 0; c < n; c++)
        if (!td_all_finite(j->d, a + (c * n + (lower ? c : 0)) * item, lower ? n - c : c + 1))
            return false;
    return true;
}

static void decompose_stack(void *context, int64_t begin, int64_t end)
{
    eigh_job *j = context;
    char *work = td_scratch_take(&j->work);
    for (int64_t i = begin; i < end; i++) {
        int64_t info = 0;
        j->info[i] = -1;
        if (!finite_triangle(j, td_matrix(&j->a, i))) continue;
        run(j, i, work, &info);
        j->info[i] = (int32_t)td_lapack_int(&info, 0);
    }
    td_scratch_give(&j->work, work);
}

static td_status begin(eigh_job *j)
{
    _Alignas(16) char ask[96];
    int64_t info;
    j->lwork = j->lrwork = j->liwork = -1;
    j->real_at = 32;
    j->int_at = 64;
    run(j, 0, ask, &info);
    j->lwork = td_work_size(j->d, ask);
    j->lrwork = td_is_complex(j->d) ? td_work_size(td_to_real(j->d), ask + 32) : 0;
    j->liwork = td_lapack_int(ask + 64, 0);
    TD_TRY(td_linalg_fits("linalg.eigh", j->lwork > j->lrwork ? j->lwork : j->lrwork));
    j->real_at = (j->lwork * td_itemsize(j->d) + 63) / 64 * 64;
    j->int_at = (j->real_at + j->lrwork * td_itemsize(td_to_real(j->d)) + 63) / 64 * 64;
    return td_scratch_begin(&j->work, j->int_at + j->liwork * TD_LAPACK_INT);
}

static td_status decompose(eigh_job *j, const td_tensor *A)
{
    TD_TRY(begin(j));
    double n = (double)j->a.rows;
    td_status status = td_linalg_iterate("linalg.eigh", A, j->a.count,
                                         td_linalg_ns(j->d, n * n * n * (j->job[0] == 'N' ? 2 : 6)),
                                         decompose_stack, j, &j->info);
    td_scratch_end(&j->work);
    return status;
}

/* _linalg_eigh(A, UPLO, vectors): (values in ascending order, vectors as columns; empty if they are
 * not wanted) */
td_status td_op_linalg_eigh(td_call *call)
{
    const td_tensor *A = TD_TENSOR(0);
    TD_TRY(td_linalg_square("linalg.eigh", A));
    char side = call->args[1].str[0];
    bool vectors = TD_BOOLEAN(2);
    eigh_job j = {.d = (td_dtype)A->dtype,
                  .job = vectors ? "V" : "N",
                  .uplo = side == 'U' || side == 'u' ? "U" : "L"};
    TD_TRY(td_vectors_new(&call->out[0], td_to_real(j.d), A, A->sizes[A->ndim - 1]));
    TD_TRY(td_stack_copy(&j.a, A, TD_COLUMNS));
    if (vectors) call->out[1] = j.a.t;
    td_status status = TD_OK;
    if (!td_is_meta(A) && A->numel) {
        j.values = td_data(call->out[0]);
        status = td_lapack_of(&j.la, j.d);
        if (status == TD_OK) status = td_linalg_fits("linalg.eigh", j.a.rows);
        if (status == TD_OK) status = decompose(&j, A);
    }
    if (!vectors) td_tensor_free(j.a.t);
    if (!vectors && status == TD_OK)
        status = td_tensor_empty(&call->out[1], j.d, (td_device)A->device, 1, &(int64_t){0});
    return status;
}
