/* matmul_int8.c - int8 times int8 in int32, for quantized layers. */
#include "cpu/matmul/int8_run.h"
#include "ops/matmul.h"

static td_status check(const td_tensor *a, const td_tensor *b)
{
    char left[TD_SHAPE_TEXT], right[TD_SHAPE_TEXT];
    if (a->dtype != TD_I8 || b->dtype != TD_I8)
        return td_fail(TD_RUNTIME_ERROR,
                       "_int_mm: self and mat2 must be of dtype int8, but they are of %s and %s",
                       td_dtypes[a->dtype].name, td_dtypes[b->dtype].name);
    if (a->ndim == 2 && b->ndim == 2 && a->sizes[1] == b->sizes[0]) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "_int_mm: self (m, k) and mat2 (k, n) must be two matrices that fit, but their "
                   "shapes are %s and %s",
                   td_shape_text(a->ndim, a->sizes, left), td_shape_text(b->ndim, b->sizes, right));
}

/* by int32: on processors without an instruction, and on other devices */
static td_status multiply_wide(td_tensor *a, td_tensor *b, td_tensor **out)
{
    td_matmul m = {.op = "_int_mm", .alpha = td_scalar_int(1)};
    td_status status = td_cast(&m.a, a, TD_I32);
    if (status == TD_OK) status = td_cast(&m.b, b, TD_I32);
    if (status == TD_OK) status = td_matmul_run(&m, out);
    td_tensor_free(m.a);
    td_tensor_free(m.b);
    return status;
}

static td_status multiply(td_tensor *a, td_tensor *b, td_tensor *out)
{
    td_tensor *left, *right;
    bool turned = b->strides[0] == 1 && b->strides[1] >= b->sizes[0];
    TD_TRY(td_contiguous(&left, a));
    td_status status = turned ? td_tensor_alias(&right, b) : td_contiguous(&right, b);
    if (status == TD_OK) {
        td_int8_gemm g = {.m = a->sizes[0],
                          .n = b->sizes[1],
                          .k = a->sizes[1],
                          .a = td_data(left),
                          .b = td_data(right),
                          .a_row = a->sizes[1],
                          .b_row = turned ? 1 : b->sizes[1],
                          .b_col = turned ? b->strides[1] : 1,
                          .c = td_data(out)};
        status = td_int8_run(&g);
        td_tensor_free(right);
    }
    td_tensor_free(left);
    return status;
}

/* _int_mm(self, mat2): int8 (m, k) times int8 (k, n) is int32 (m, n) */
td_status td_op_int_mm(td_call *call)
{
    td_tensor *a = TD_TENSOR(0), *b = TD_TENSOR(1), **out = &call->out[0];
    TD_TRY(check(a, b));
    int64_t sizes[] = {a->sizes[0], b->sizes[1]};
    bool meta = td_is_meta(a), nothing = sizes[0] == 0 || sizes[1] == 0 || a->sizes[1] == 0;
    bool wide = a->device != TD_CPU || !td_multiplies_int8();
    if (!meta && !nothing && wide) return multiply_wide(a, b, out);
    TD_TRY(td_tensor_empty(out, TD_I32, (td_device)a->device, 2, sizes));
    if (meta) return TD_OK;
    if (!nothing) return multiply(a, b, *out);
    td_scalar zero = td_scalar_int(0);
    return td_fill(*out, &zero);
}
