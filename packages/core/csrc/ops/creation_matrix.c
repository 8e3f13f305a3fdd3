/* creation_matrix.c - eye, tril and triu, and the indices of triangles. */
#include "cpu/creation_run.h"
#include "ops/creation.h"
#include "ops/view/view.h"
#include "runtime/device.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- eye ---- */

static td_status eye(td_call *call, int64_t rows, int64_t columns, int at)
{
    td_options o = {0};
    td_tensor *diagonal;
    td_scalar zero = td_scalar_int(0), one = td_scalar_int(1);
    TD_TRY(td_factory_options(call, at, td_default_dtype, TD_CPU, &o));
    if (rows < 0 || columns < 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "eye: n and m must be greater or equal to 0, got %lld and %lld",
                       (long long)rows, (long long)columns);
    TD_TRY(td_tensor_empty(OUT, o.dtype, o.device, 2, (int64_t[]){rows, columns}));
    TD_TRY(td_fill(call->out[0], &zero));
    TD_TRY(td_view_diagonal(&diagonal, call->out[0], 0, 0, 1));
    td_status status = td_fill(diagonal, &one);
    td_tensor_free(diagonal);
    return status;
}

td_status td_op_eye(td_call *call) { return eye(call, TD_INT(0), TD_INT(0), 1); }
td_status td_op_eye_m(td_call *call) { return eye(call, TD_INT(0), TD_INT(1), 2); }

/* ---- tril, triu: row by row, one part copied and the other zeroed ---- */

static td_status take_triangle(td_call *call, const char *name, bool upper)
{
    td_tensor *dense;
    int n = SELF->ndim;
    char shape[TD_SHAPE_TEXT];
    if (n < 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: input tensor must have at least 2 dimensions, got shape %s", name,
                       td_shape_text(n, SELF->sizes, shape));
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n, SELF->sizes));
    if (SELF->numel == 0 || td_is_meta(SELF)) return TD_OK;
    TD_TRY(td_contiguous(&dense, SELF));
    td_triangle t = {td_data(dense),
                     td_data(call->out[0]),
                     SELF->sizes[n - 2],
                     SELF->sizes[n - 1],
                     td_itemsize((td_dtype)SELF->dtype),
                     TD_INT(1),
                     upper};
    td_status status = TD_OK;
    td_triangle_job job = {&t, SELF->numel};
    if (td_on_host(dense)) td_triangle_run(&t, SELF->numel);
    else status = td_work_run(TD_WORK_TRIANGLE, &job, (td_device)dense->device, name);
    td_tensor_free(dense);
    return status;
}

td_status td_op_tril(td_call *call) { return take_triangle(call, "tril", false); }
td_status td_op_triu(td_call *call) { return take_triangle(call, "triu", true); }

/* ---- tril_indices, triu_indices: (2, count) ---- */

static td_status triangle_indices(td_call *call, const char *name, bool upper)
{
    td_options o = {0};
    td_tensor *made;
    int64_t count = 0;
    TD_TRY(td_factory_options(call, 3, TD_I64, TD_CPU, &o));
    td_triangle t = {
        .rows = TD_INT(0), .columns = TD_INT(1), .diagonal = TD_INT(2), .upper = upper};
    if (t.rows < 0 || t.columns < 0)
        return td_fail(TD_RUNTIME_ERROR, "%s: row and col must be non-negative, got %lld and %lld",
                       name, (long long)t.rows, (long long)t.columns);
    if (o.dtype != TD_I64 && o.dtype != TD_I32)
        return td_fail(TD_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name,
                       td_dtypes[o.dtype].type_name);
    if (t.columns == 0) t.rows = 0;
    if (!td_triangle_count(&t, &count))
        return td_fail(TD_RUNTIME_ERROR, "the number of indices overflowed 64 bits");
    if (o.device == TD_META)
        return td_tensor_empty(OUT, o.dtype, TD_META, 2, (int64_t[]){2, count});
    TD_TRY(td_tensor_empty(&made, TD_I64, TD_CPU, 2, (int64_t[]){2, count}));
    if (count) td_triangle_list(&t, count, td_data(made));
    td_status status = td_cast(OUT, made, o.dtype);
    td_tensor_free(made);
    return status;
}

td_status td_op_tril_indices(td_call *call)
{
    return triangle_indices(call, "tril_indices", false);
}
td_status td_op_triu_indices(td_call *call) { return triangle_indices(call, "triu_indices", true); }

/* ---- diag_embed: zeros, and the last dimension written onto diagonals ---- */

td_status td_op_diag_embed(td_call *call)
{
    int64_t sizes[TD_MAX_DIMS], dim1, dim2, offset = TD_INT(1), side;
    int n = SELF->ndim + 1, k = 0;
    td_scalar zero = td_scalar_int(0);
    td_tensor *diagonal;
    if (SELF->ndim == 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "diag_embed needs at least one dimension, got a 0-dim tensor");
    if (n > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "diag_embed: a tensor has at most %d dimensions",
                       TD_MAX_DIMS);
    TD_TRY(td_wrap_dim(TD_INT(2), n, &dim1));
    TD_TRY(td_wrap_dim(TD_INT(3), n, &dim2));
    if (dim1 == dim2)
        return td_fail(TD_RUNTIME_ERROR, "diagonal dimensions cannot be identical %lld, %lld",
                       (long long)TD_INT(2), (long long)TD_INT(3));
    if (offset == INT64_MIN ||
        td_add_overflows(SELF->sizes[n - 2], offset < 0 ? -offset : offset, &side))
        return td_fail(TD_RUNTIME_ERROR, "diag_embed: offset %lld is too large", (long long)offset);
    for (int d = 0; d < n; d++) sizes[d] = d == dim1 || d == dim2 ? side : SELF->sizes[k++];
    TD_TRY(td_tensor_empty(OUT, (td_dtype)SELF->dtype, (td_device)SELF->device, n, sizes));
    TD_TRY(td_fill(call->out[0], &zero));
    TD_TRY(td_view_diagonal(&diagonal, call->out[0], offset, dim1, dim2));
    td_status status = td_copy(diagonal, SELF);
    td_tensor_free(diagonal);
    return status;
}
