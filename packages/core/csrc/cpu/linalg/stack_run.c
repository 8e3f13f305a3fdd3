/* stack_run.c - batches of matrices as LAPACK reads them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cpu/linalg/linalg.h"
#include "runtime/wraps.h"

#define LL(x) ((long long)(x))

/* ---- making ---- */

/* sizes [batch, rows, cols] with strides of the wanted order */
static td_status make(td_stack *s, td_dtype dtype, td_device device, int dims, const int64_t *batch,
                      int64_t rows, int64_t cols, bool turned)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], numel;
    for (int d = 0; d < dims; d++) sizes[d] = batch[d];
    sizes[dims] = rows;
    sizes[dims + 1] = cols;
    TD_TRY(td_numel(dims + 2, sizes, &numel));
    td_row_major(dims + 2, sizes, strides);
    if (!turned) {
        strides[dims] = 1;
        strides[dims + 1] = rows > 1 ? rows : 1;
    }
    TD_TRY(td_tensor_empty_strided(&s->t, dtype, device, dims + 2, sizes, strides));
    *s = (td_stack){s->t,
                    td_is_meta(s->t) ? NULL : td_data(s->t),
                    1,
                    turned ? cols : rows,
                    turned ? rows : cols,
                    td_wrapping_mul(rows * cols, td_itemsize(dtype)),
                    turned};
    for (int d = 0; d < dims; d++) s->count *= batch[d];
    return TD_OK;
}

td_status td_stack_new(td_stack *s, td_dtype dtype, const td_tensor *like, int64_t rows,
                       int64_t cols)
{
    return make(s, dtype, (td_device)like->device, like->ndim - 2, like->sizes, rows, cols, false);
}

td_status td_vectors_new(td_tensor **out, td_dtype dtype, const td_tensor *like, int64_t n)
{
    int64_t sizes[TD_MAX_DIMS];
    int dims = like->ndim - 2;
    for (int d = 0; d < dims; d++) sizes[d] = like->sizes[d];
    if (n >= 0) sizes[dims++] = n;
    return td_tensor_empty(out, dtype, (td_device)like->device, dims, sizes);
}

static bool has_rows(const td_tensor *t)
{
    return t->strides[t->ndim - 1] == 1 && t->sizes[t->ndim - 1] > 1;
}

td_status td_stack_expand(td_stack *s, const td_tensor *from, int dims, const int64_t *batch,
                          td_turn turn)
{
    int64_t rows = from->sizes[from->ndim - 2], cols = from->sizes[from->ndim - 1];
    bool turned = turn == TD_AS_IT_LIES && has_rows(from);
    TD_TRY(
        make(s, (td_dtype)from->dtype, (td_device)from->device, dims, batch, rows, cols, turned));
    td_status status = td_copy(s->t, from);
    if (status != TD_OK) td_tensor_free(s->t);
    return status;
}

td_status td_stack_copy(td_stack *s, const td_tensor *from, td_turn turn)
{
    return td_stack_expand(s, from, from->ndim - 2, from->sizes, turn);
}

td_status td_stack_like(td_stack *s, const td_stack *other)
{
    const td_tensor *t = other->t;
    return make(s, (td_dtype)t->dtype, (td_device)t->device, t->ndim - 2, t->sizes,
                t->sizes[t->ndim - 2], t->sizes[t->ndim - 1], other->turned);
}

/* ---- reading in place ---- */

static bool readable(int64_t step, int64_t ld, int64_t length, int64_t count)
{
    return (step == 1 || length == 1) && (ld >= length || count == 1) && ld > 0;
}

td_status td_stack_read(td_stack *s, const td_tensor *from, int64_t *ld, td_turn turn)
{
    int n = from->ndim;
    int64_t rows = from->sizes[n - 2], cols = from->sizes[n - 1], row = from->strides[n - 2],
            col = from->strides[n - 1];
    bool columns = readable(row, col, rows, cols),
         turned = !columns && readable(col, row, cols, rows);
    if (!columns && (!turned || turn == TD_COLUMNS)) {
        TD_TRY(td_stack_copy(s, from, turn));
        *ld = s->rows > 1 ? s->rows : 1;
        return TD_OK;
    }
    *s = (td_stack){.data = td_data(from),
                    .rows = turned ? cols : rows,
                    .cols = turned ? rows : cols,
                    .turned = turned};
    *ld = turned ? row : col;
    if (*ld < s->rows) *ld = s->rows; /* a single column: its stride says nothing */
    return td_tensor_alias(&s->t, from);
}

int64_t td_batch_offset(const td_tensor *t, int trailing, int dims, const int64_t *batch, int64_t i)
{
    int own = t->ndim - trailing;
    int64_t offset = 0;
    for (int d = dims - 1, k = own - 1; d >= 0 && k >= 0; d--, k--) {
        if (t->sizes[k] != 1) offset += i % batch[d] * t->strides[k];
        i /= batch[d];
    }
    return offset;
}

/* ---- contents ---- */

const void *td_linalg_one(td_dtype d)
{
    static const float f[2] = {1, 0};
    static const double g[2] = {1, 0};
    return td_to_real(d) == TD_F32 ? (const void *)f : g;
}

const void *td_linalg_minus_one(td_dtype d)
{
    static const float f[2] = {-1, 0};
    static const double g[2] = {-1, 0};
    return td_to_real(d) == TD_F32 ? (const void *)f : g;
}

void td_stack_fill_eye(const td_stack *s)
{
    int64_t item = td_itemsize((td_dtype)s->t->dtype), k = s->rows < s->cols ? s->rows : s->cols;
    if (!s->bytes || !s->count) return;
    memset(s->data, 0, (size_t)(s->count * s->bytes));
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j < k; j++)
            memcpy(td_matrix(s, i) + j * (s->rows + 1) * item, td_linalg_one((td_dtype)s->t->dtype),
                   (size_t)item);
}

void td_clear_below(td_dtype d, char *a, int64_t rows, int64_t cols)
{
    int64_t item = td_itemsize(d);
    for (int64_t j = 0; j < cols && j + 1 < rows; j++)
        memset(a + (j * rows + j + 1) * item, 0, (size_t)((rows - j - 1) * item));
}

void td_clear_above(td_dtype d, char *a, int64_t rows, int64_t cols)
{
    int64_t item = td_itemsize(d);
    for (int64_t j = 1; j < cols; j++)
        memset(a + j * rows * item, 0, (size_t)((j < rows ? j : rows) * item));
}

bool td_all_finite(td_dtype d, const char *x, int64_t n)
{
    n *= td_is_complex(d) ? 2 : 1;
    bool bad = false; /* x - x is NaN for NaN and infinity */
    if (td_to_real(d) == TD_F32)
        for (int64_t i = 0; i < n; i++) bad |= ((const float *)x)[i] - ((const float *)x)[i] != 0;
    else
        for (int64_t i = 0; i < n; i++) bad |= ((const double *)x)[i] - ((const double *)x)[i] != 0;
    return !bad;
}

double td_largest(td_dtype d, const char *x, int64_t n)
{
    n *= td_is_complex(d) ? 2 : 1;
    if (td_to_real(d) == TD_F64) {
        double most = 0;
        for (int64_t i = 0; i < n; i++)
            most = fabs(((const double *)x)[i]) > most ? fabs(((const double *)x)[i]) : most;
        return most;
    }
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabsf(((const float *)x)[i]) > most ? fabsf(((const float *)x)[i]) : most;
    return most;
}

/* ---- running ---- */

double td_linalg_ns(td_dtype d, double flops)
{
    double each = d == TD_F32 ? 0.025 : d == TD_F64 ? 0.05 : d == TD_C64 ? 0.1 : 0.2;
    return 300 + flops * each;
}

void td_linalg_parallel(int64_t count, double ns, td_range_fn body, void *context)
{
    double grain = 20000 / ns;
    void *token = td_heavy_begin((double)count * ns);
    td_blas_parallel(count, grain < 1 ? 1 : (int64_t)grain, body, context);
    td_heavy_end(token);
}

int64_t td_work_size(td_dtype d, const void *work)
{
    double size =
        td_to_real(d) == TD_F32 ? (double)*(const float *)work * (1 + 1e-6) : *(const double *)work;
    return size < 1 ? 1 : (int64_t)size + 1;
}

td_status td_linalg_fits(const char *op, int64_t n)
{
    if (td_blas_fits(n)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: the library counts in 32 bits, and this needs sizes up to %lld; use "
                   "smaller matrices, or set TAEDA_BLAS to one that counts in 64 bits",
                   op, LL(n));
}

static td_status converged(const char *op, const td_tensor *like, const int32_t *info,
                           int64_t count)
{
    char which[48] = "";
    for (int64_t i = 0; i < count; i++) {
        if (!info[i]) continue;
        if (like->ndim > 2) snprintf(which, sizeof which, "(Batch element %lld): ", LL(i));
        if (info[i] == -2)
            return td_fail(TD_LINALG_ERROR,
                           "%s: %sThe solution could not be computed because the input matrix does "
                           "not have full rank.",
                           op, which);
        if (info[i] < 0)
            return td_fail(TD_LINALG_ERROR,
                           "%s: %sThe algorithm failed to converge because the input matrix "
                           "contained non-finite values.",
                           op, which);
        return td_fail(TD_LINALG_ERROR,
                       "%s: %sThe algorithm failed to converge because the input matrix is "
                       "ill-conditioned or has too many repeated values (error code: %d).",
                       op, which, info[i]);
    }
    return TD_OK;
}

td_status td_linalg_iterate(const char *op, const td_tensor *like, int64_t count, double ns,
                            td_range_fn body, void *context, int32_t **info)
{
    int64_t bytes = count * 4;
    if (!(*info = td_alloc(bytes)))
        return td_fail(TD_MEMORY_ERROR, "%s: no memory for %lld numbers", op, LL(count));
    td_linalg_parallel(count, ns, body, context);
    td_status status = converged(op, like, *info, count);
    td_free(*info, bytes);
    return status;
}
