/* matmul_product.c - shapes, dtypes and layouts of products; the arithmetic is in gemm.c. */
#include "cpu/matmul/gemm_run.h"
#include "ops/matmul.h"
#include "runtime/device.h"
#include "runtime/pool.h"
#include "runtime/wraps.h"

/* ---- what is refused ---- */
static bool supported(td_dtype d)
{
    if (td_is_floating(d)) return true;
    return d == TD_C64 || d == TD_C128 || d == TD_U8 || d == TD_I8 || d == TD_I16 || d == TD_I32 ||
           d == TD_I64;
}

static td_status check_dtype(const td_matmul *m, const td_tensor *other, const char *what)
{
    if (!other || other->dtype == m->a->dtype) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: expected all tensors to have the same dtype, but the first factor has %s "
                   "and %s has %s",
                   m->op, td_dtypes[m->a->dtype].name, what, td_dtypes[other->dtype].name);
}

static td_status check(const td_matmul *m)
{
    if (m->a->ndim == 0 || m->b->ndim == 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: both factors need at least 1 dimension, but they have %d and %d", m->op,
                       m->a->ndim, m->b->ndim);
    TD_TRY(check_dtype(m, m->b, "the second"));
    TD_TRY(check_dtype(m, m->self, "the tensor added"));
    TD_TRY(check_dtype(m, m->bias, "the bias"));
    if (supported((td_dtype)m->a->dtype)) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", m->op,
                   td_dtypes[m->a->dtype].type_name);
}

/* ---- a factor as a batch of matrices ---- */
typedef struct factor {
    const td_tensor *t;
    int batch; /* dimensions before the matrix */
    int64_t rows, cols, row, col;
} factor;

static factor left_factor(const td_tensor *a)
{
    int last = a->ndim - 1;
    factor f = {a, last > 1 ? last - 1 : 0, 1, a->sizes[last], a->sizes[last], a->strides[last]};
    if (last > 0) {
        f.rows = a->sizes[last - 1];
        if (f.rows != 1) f.row = a->strides[last - 1];
    }
    return f;
}

static factor right_factor(const td_tensor *b, bool turn)
{
    int last = b->ndim - 1;
    factor f = {b, last > 1 ? last - 1 : 0, b->sizes[last], 1, b->strides[last], 1};
    if (last == 0) return f;
    int row = turn ? last : last - 1, col = turn ? last - 1 : last;
    f.rows = b->sizes[row];
    f.row = b->strides[row];
    f.cols = b->sizes[col];
    if (f.cols != 1) f.col = b->strides[col];
    return f;
}

static td_status refuse_shapes(const td_matmul *m, const factor *a, const factor *b)
{
    char left[TD_SHAPE_TEXT], right[TD_SHAPE_TEXT];
    if (m->a->ndim > 1 && m->b->ndim == 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                       m->op, (long long)(a->cols ? m->a->numel / a->cols : a->rows),
                       (long long)a->cols, (long long)b->rows, (long long)b->cols);
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: shapes %s and %s cannot be multiplied: %lld %s of the first meet %lld %s "
                   "of the second",
                   m->op, td_shape_text(m->a->ndim, m->a->sizes, left),
                   td_shape_text(m->b->ndim, m->b->sizes, right), (long long)a->cols,
                   m->a->ndim > 1 ? "columns" : "elements", (long long)b->rows,
                   m->b->ndim == 1 ? "elements"
                   : m->turn_b     ? "columns"
                                   : "rows");
}

static td_status result_shape(const td_matmul *m, const factor *a, const factor *b, int *ndim,
                              int64_t *sizes)
{
    if (a->cols != b->rows) return refuse_shapes(m, a, b);
    TD_TRY(td_broadcast(a->batch, m->a->sizes, b->batch, m->b->sizes, ndim, sizes));
    if (m->a->ndim > 1) sizes[(*ndim)++] = a->rows;
    if (m->b->ndim > 1) sizes[(*ndim)++] = b->cols;
    return TD_OK;
}

/* ---- layout ---- */
/* Can the batch and the rows of a be walked with one stride? Then a product with one matrix b is a
 * single larger one. */
static bool folds(const factor *a, int64_t *rows, int64_t *row)
{
    int64_t count = 1, stride = 0;
    for (int d = a->batch + (a->t->ndim > 1) - 1; d >= 0; d--) {
        if (a->t->sizes[d] == 1) continue;
        if (count == 1) stride = a->t->strides[d];
        else if (a->t->strides[d] != td_wrapping_mul(stride, count)) return false;
        count *= a->t->sizes[d];
    }
    *rows = count;
    *row = count == 1 ? a->cols : stride;
    return true;
}

/* A factor without elements is never read: its strides, which may be anything, count as none. */
static int64_t batch_stride(const factor *f, int dims, int d)
{
    int own = d - (dims - f->batch);
    return own < 0 || f->t->numel == 0 || f->t->sizes[own] == 1 ? 0 : f->t->strides[own];
}

/* Dimensions of size 1 are dropped, neighbours that chain in all three tensors become one. */
static void set_batch(td_product *p, const factor *a, const factor *b, int dims,
                      const int64_t *sizes)
{
    int64_t c_stride = td_wrapping_mul(p->m, p->n); /* of a batch without elements: anything */
    int64_t size[TD_MAX_DIMS], sa[TD_MAX_DIMS], sb[TD_MAX_DIMS], sc[TD_MAX_DIMS];
    int n = 0; /* from the last dimension to the first */
    for (int d = dims - 1; d >= 0; c_stride = td_wrapping_mul(c_stride, sizes[d]), d--) {
        int64_t at_a = batch_stride(a, dims, d), at_b = batch_stride(b, dims, d);
        if (sizes[d] == 1) continue;
        if (n && at_a == td_wrapping_mul(sa[n - 1], size[n - 1]) &&
            at_b == td_wrapping_mul(sb[n - 1], size[n - 1])) {
            size[n - 1] *= sizes[d];
            continue;
        }
        size[n] = sizes[d];
        sa[n] = at_a;
        sb[n] = at_b;
        sc[n++] = c_stride;
    }
    p->batch_dims = n;
    for (int i = 0; i < n; i++) {
        p->batch[n - 1 - i] = size[i];
        p->a_batch[n - 1 - i] = sa[i];
        p->b_batch[n - 1 - i] = sb[i];
        p->c_batch[n - 1 - i] = sc[i];
    }
}

static bool bias_fuses(const td_matmul *m, td_dtype sums, int ndim, const int64_t *sizes)
{
    const td_tensor *v = m->bias;
    if (!v || !td_is_floating(sums) || ndim == 0 || v->ndim != 1) return false;
    return v->sizes[0] == sizes[ndim - 1] && (v->strides[0] == 1 || v->sizes[0] == 1) &&
           m->b->ndim > 1;
}

static td_status elsewhere(const td_product *p, td_device device)
{
    const td_device_table *table = td_table_of(device);
    if (table->gemm) return table->gemm(p, device);
    return td_fail(TD_NOT_IMPLEMENTED, "products of matrices are not implemented for device '%s'",
                   table->name);
}

/* Everything in `out`'s dtype, which is one that gemm.c computes in; a and b may be bfloat16 where
 * the processor multiplies that, and so may `out` if nothing is added but a bias of each column. */
static td_status multiply(const td_matmul *m, const factor *a, const factor *b, td_tensor *out)
{
    bool rounds = out->dtype == TD_BF16 && out->device == TD_CPU;
    td_product p = {.dtype = rounds ? TD_F32 : (td_dtype)out->dtype,
                    .m = a->rows,
                    .n = b->cols,
                    .k = a->cols,
                    .a = td_data(m->a),
                    .b = td_data(m->b),
                    .c = td_data(out),
                    .a_row = a->row,
                    .a_col = a->col,
                    .b_row = b->row,
                    .b_col = b->col,
                    .c_row = b->cols,
                    .narrow = rounds || m->a->dtype != out->dtype,
                    .rounds = rounds,
                    .alpha = m->alpha,
                    .beta = m->beta};
    if (m->bias && !bias_fuses(m, (td_dtype)out->dtype, out->ndim, out->sizes)) {
        TD_TRY(td_copy(out, m->bias));
        p.beta = td_scalar_int(1);
    } else if (m->bias) {
        p.col_bias = td_data(m->bias);
    } else if (m->self && (m->beta.re != 0 || m->beta.im != 0)) {
        TD_TRY(td_copy(out, m->self));
    } else {
        p.beta = td_scalar_int(0);
    }
    int dims = out->ndim - (m->a->ndim > 1) - (m->b->ndim > 1);
    if (b->batch || !folds(a, &p.m, &p.a_row)) set_batch(&p, a, b, dims, out->sizes);
    if (out->device != TD_CPU) return elsewhere(&p, out->device);
    void *token = td_heavy_begin(10.0 * (double)out->numel + (double)out->numel * (double)p.k / 30);
    td_status status = td_product_run(&p);
    td_heavy_end(token);
    return status;
}

/* ---- dtypes that are computed in another one ---- */
static td_dtype compute_dtype(td_dtype d, td_device device)
{
    if (!td_is_floating(d) || d == TD_F64) return d;
    bool as_it_is = (d == TD_F16 || d == TD_BF16) && td_table_of(device)->short_products;
    return as_it_is ? d : TD_F32;
}

static td_status cast_maybe(td_tensor **out, td_tensor *from, td_dtype dtype)
{
    *out = NULL;
    return from ? td_cast(out, from, dtype) : TD_OK;
}

/* Products that become bfloat16 while their sums are near; `m->bias` is float32. */
static td_status run_rounded(const td_matmul *m, const factor *a, const factor *b, int ndim,
                             const int64_t *sizes, td_tensor **out)
{
    TD_TRY(td_tensor_empty(out, TD_BF16, (td_device)m->a->device, ndim, sizes));
    td_status status = (*out)->numel ? multiply(m, a, b, *out) : TD_OK;
    if (status != TD_OK) td_tensor_free(*out);
    return status;
}

static td_status run_summed(const td_matmul *m, const factor *a, const factor *b, int ndim,
                            const int64_t *sizes, td_tensor **out)
{
    td_tensor *sums;
    TD_TRY(td_tensor_empty(&sums, TD_F32, (td_device)m->a->device, ndim, sizes));
    td_status status = sums->numel ? multiply(m, a, b, sums) : TD_OK;
    if (status == TD_OK) status = td_cast(out, sums, TD_BF16);
    td_tensor_free(sums);
    return status;
}

/* bfloat16 times bfloat16, summed and finished in float32. */
static td_status run_narrow(const td_matmul *m, const factor *a, const factor *b, int ndim,
                            const int64_t *sizes, td_tensor **out)
{
    td_matmul mixed = *m;
    mixed.self = mixed.bias = NULL;
    td_status status = cast_maybe(&mixed.bias, m->bias, TD_F32);
    if (status == TD_OK) status = cast_maybe(&mixed.self, m->self, TD_F32);
    bool adds = mixed.self || (mixed.bias && !bias_fuses(&mixed, TD_F32, ndim, sizes));
    if (status == TD_OK) status = (adds ? run_summed : run_rounded)(&mixed, a, b, ndim, sizes, out);
    td_tensor_free(mixed.self);
    td_tensor_free(mixed.bias);
    return status;
}

static td_status run_wider(const td_matmul *m, td_tensor **out)
{
    td_matmul wide = *m;
    td_tensor *result = NULL;
    td_dtype compute = compute_dtype((td_dtype)m->a->dtype, (td_device)m->a->device);
    td_status status = cast_maybe(&wide.a, m->a, compute);
    wide.b = wide.self = wide.bias = NULL;
    if (status == TD_OK) status = cast_maybe(&wide.b, m->b, compute);
    if (status == TD_OK) status = cast_maybe(&wide.self, m->self, compute);
    if (status == TD_OK) status = cast_maybe(&wide.bias, m->bias, compute);
    if (status == TD_OK) status = td_matmul_run(&wide, &result);
    if (status == TD_OK) status = td_cast(out, result, (td_dtype)m->a->dtype);
    td_tensor *made[] = {wide.a, wide.b, wide.self, wide.bias, result};
    for (int i = 0; i < 5; i++) td_tensor_free(made[i]);
    return status;
}

td_status td_matmul_run(const td_matmul *m, td_tensor **out)
{
    int ndim;
    int64_t sizes[TD_MAX_DIMS + 2];
    TD_TRY(check(m));
    factor a = left_factor(m->a), b = right_factor(m->b, m->turn_b);
    TD_TRY(result_shape(m, &a, &b, &ndim, sizes));
    if (ndim > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "%s: a result of %d dimensions; the most is %d", m->op,
                       ndim, TD_MAX_DIMS);
    td_dtype dtype = (td_dtype)m->a->dtype;
    if (dtype == TD_BF16 && m->a->device == TD_CPU && td_multiplies_bf16())
        return run_narrow(m, &a, &b, ndim, sizes, out);
    if (!td_is_meta(m->a) && compute_dtype(dtype, (td_device)m->a->device) != dtype)
        return td_matmul_wants_pieces(m) ? td_matmul_pieces(m, ndim, sizes, out)
                                         : run_wider(m, out);
    td_tensor *result;
    TD_TRY(td_tensor_empty(&result, dtype, (td_device)m->a->device, ndim, sizes));
    td_status status = td_is_meta(m->a) || result->numel == 0 ? TD_OK : multiply(m, &a, &b, result);
    if (status == TD_OK) *out = result;
    else td_tensor_free(result);
    return status;
}
