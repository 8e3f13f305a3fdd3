/* sparse.c - rows for products with matrices in compressed rows. */
#include "cpu/sparse_spgemm_run.h"
#include "cpu/sparse_run.h"
#include "runtime/device.h"
#include "runtime/loops.h"
#include "runtime/op.h"

static bool is_index(const td_tensor *t)
{
    return t->ndim == 1 && (t->dtype == TD_I64 || t->dtype == TD_I32);
}

static td_status check_indices(const char *op, const td_tensor *edges, const td_tensor *cols)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    if (is_index(edges) && is_index(cols) && edges->numel > 0) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: wanted offsets (rows + 1) and columns (entries) of int64 or int32, but got "
                   "%s of %s and %s of %s",
                   op, td_shape_text(edges->ndim, edges->sizes, a), td_dtypes[edges->dtype].name,
                   td_shape_text(cols->ndim, cols->sizes, b), td_dtypes[cols->dtype].name);
}

static td_status check_dtypes(const char *op, const td_tensor *a, const td_tensor *b)
{
    if (a->dtype == b->dtype && (a->dtype == TD_F32 || a->dtype == TD_F64)) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED,
                   "%s: both factors are of float32 or of float64, but got %s and %s", op,
                   td_dtypes[a->dtype].name, td_dtypes[b->dtype].name);
}

static td_status misfit(const char *op, const char *wanted, const td_tensor *a, const td_tensor *b)
{
    char first[TD_SHAPE_TEXT], second[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "%s: wanted %s, but got %s and %s", op, wanted,
                   td_shape_text(a->ndim, a->sizes, first),
                   td_shape_text(b->ndim, b->sizes, second));
}

typedef struct operands { /* row-major copies, or the tensors themselves; to be freed */
    td_tensor *edges, *cols, *a, *b;
} operands;

static void drop(operands *o)
{
    td_tensor_free(o->edges);
    td_tensor_free(o->cols);
    td_tensor_free(o->a);
    td_tensor_free(o->b);
}

/* indices from argument `at` on */
static td_status take_indices(operands *o, td_call *call, int at)
{
    TD_TRY(td_cast_contiguous(&o->edges, TD_TENSOR(at), TD_I64));
    return td_cast_contiguous(&o->cols, TD_TENSOR(at + 1), TD_I64);
}

static td_status take(operands *o, td_call *call, int factors)
{
    const int first = 2;
    TD_TRY(take_indices(o, call, 0));
    if (!factors) return TD_OK;
    TD_TRY(td_contiguous(&o->a, TD_TENSOR(first)));
    return td_contiguous(&o->b, TD_TENSOR(first + 1));
}

/* _csr_mm(crow, col, values, mat2) */
td_status td_op_csr_mm(td_call *call)
{
    const char *op = "_csr_mm";
    const td_tensor *edges = TD_TENSOR(0), *values = TD_TENSOR(2), *dense = TD_TENSOR(3);
    TD_TRY(check_indices(op, edges, TD_TENSOR(1)));
    if (values->ndim != 1 || dense->ndim != 2 || values->numel != TD_TENSOR(1)->numel)
        return misfit(op, "a value for each column index and a matrix", values, dense);
    TD_TRY(check_dtypes(op, values, dense));
    int64_t sizes[] = {edges->numel - 1, dense->sizes[1]};
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)values->dtype, (td_device)values->device, 2,
                           sizes));
    if (td_is_meta(values)) return TD_OK;
    operands o = {0};
    td_status status = take(&o, call, 2);
    td_csr m = {op, o.edges, o.cols, dense->sizes[0]};
    if (!status) status = td_csr_times(&m, call->out[0], o.a, o.b);
    drop(&o);
    return status;
}

/* _csr_sampled(crow, col, a, b): the values of (a @ b.T) at the places */
td_status td_op_csr_sampled(td_call *call)
{
    const char *op = "_csr_sampled";
    const td_tensor *edges = TD_TENSOR(0), *cols = TD_TENSOR(1), *a = TD_TENSOR(2),
                    *b = TD_TENSOR(3);
    TD_TRY(check_indices(op, edges, cols));
    if (a->ndim != 2 || b->ndim != 2 || a->sizes[0] != edges->numel - 1 ||
        a->sizes[1] != b->sizes[1])
        return misfit(op, "two matrices of as many columns, the first with a row for each offset",
                      a, b);
    TD_TRY(check_dtypes(op, a, b));
    TD_TRY(
        td_tensor_empty(&call->out[0], (td_dtype)a->dtype, (td_device)a->device, 1, &cols->numel));
    if (td_is_meta(a)) return TD_OK;
    operands o = {0};
    td_status status = take(&o, call, 2);
    td_csr m = {op, o.edges, o.cols, b->sizes[0]};
    if (!status) status = td_csr_sampled(&m, call->out[0], o.a, o.b);
    drop(&o);
    return status;
}

/* _csr_transpose(crow, col, columns) -> (ccol, row, order) */
td_status td_op_csr_transpose(td_call *call)
{
    const char *op = "_csr_transpose";
    const td_tensor *edges = TD_TENSOR(0), *cols = TD_TENSOR(1);
    int64_t columns = TD_INT(2), length;
    TD_TRY(check_indices(op, edges, cols));
    if (columns < 0 || td_add_overflows(columns, 1, &length))
        return td_fail(TD_VALUE_ERROR, "%s: a matrix has 0 columns or more, but got %lld", op,
                       (long long)columns);
    td_device device = (td_device)edges->device;
    TD_TRY(td_tensor_empty(&call->out[0], TD_I64, device, 1, &length));
    TD_TRY(td_tensor_empty(&call->out[1], TD_I64, device, 1, &cols->numel));
    TD_TRY(td_tensor_empty(&call->out[2], TD_I64, device, 1, &cols->numel));
    if (td_is_meta(edges)) return TD_OK;
    operands o = {0};
    td_status status = take(&o, call, 0);
    td_csr m = {op, o.edges, o.cols, columns};
    if (!status) status = td_csr_turned(&m, call->out[0], call->out[1], call->out[2]);
    drop(&o);
    return status;
}

/* ---- sparse times sparse ---- */
static td_status fill(td_call *call, td_csr_spgemm *made, int64_t entries, const operands *a,
                      const operands *b)
{
    td_device device = (td_device)a->a->device;
    TD_TRY(td_tensor_empty(&call->out[2], TD_I64, device, 1, &entries));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)a->a->dtype, device, 1, &entries));
    return entries ? td_csr_spgemm_fill(made, a->a, b->a, call->out[2], call->out[0]) : TD_OK;
}

static td_status spgemm(td_call *call, const operands *a, const operands *b, int64_t columns)
{
    const char *op = "_csr_spgemm";
    td_csr first = {op, a->edges, a->cols, b->edges->numel - 1};
    td_csr second = {op, b->edges, b->cols, columns};
    td_csr_spgemm *made;
    int64_t entries;
    TD_TRY(td_tensor_empty(&call->out[1], TD_I64, (td_device)a->a->device, 1, &a->edges->numel));
    TD_TRY(
        td_csr_spgemm_begin(&made, &first, &second, (td_dtype)a->a->dtype, call->out[1], &entries));
    td_status status = fill(call, made, entries, a, b);
    td_csr_spgemm_end(made);
    return status;
}

/* _csr_spgemm(crow, col, values, crow2, col2, values2, columns) -> (values, crow, col) */
td_status td_op_csr_spgemm(td_call *call)
{
    const char *op = "_csr_spgemm";
    const td_tensor *values = TD_TENSOR(2), *values2 = TD_TENSOR(5);
    int64_t columns = TD_INT(6);
    TD_TRY(check_indices(op, TD_TENSOR(0), TD_TENSOR(1)));
    TD_TRY(check_indices(op, TD_TENSOR(3), TD_TENSOR(4)));
    if (values->ndim != 1 || values2->ndim != 1 || values->numel != TD_TENSOR(1)->numel ||
        values2->numel != TD_TENSOR(4)->numel)
        return misfit(op, "a value for each column index of both matrices", values, values2);
    TD_TRY(check_dtypes(op, values, values2));
    if (columns < 0)
        return td_fail(TD_VALUE_ERROR, "%s: a matrix has 0 columns or more, but got %lld", op,
                       (long long)columns);
    if (td_is_meta(values))
        return td_fail(
            TD_NOT_IMPLEMENTED,
            "%s: the number of entries depends on indices, which meta tensors do not have", op);
    operands a = {0}, b = {0};
    td_status status = take_indices(&a, call, 0);
    if (!status) status = take_indices(&b, call, 3);
    if (!status) status = td_contiguous(&a.a, values);
    if (!status) status = td_contiguous(&b.a, values2);
    if (!status) status = spgemm(call, &a, &b, columns);
    drop(&a);
    drop(&b);
    return status;
}
