/* matmul.c - products of matrices and vectors as operators: what ranks and shapes each takes. */
#include "ops/matmul.h"
#include "cpu/matmul/dot_run.h"

static const char *shape(const td_tensor *t, char buffer[TD_SHAPE_TEXT])
{
    return td_shape_text(t->ndim, t->sizes, buffer);
}

static td_status want_rank(const char *op, const char *argument, const td_tensor *t, int rank)
{
    char text[TD_SHAPE_TEXT];
    if (t->ndim == rank) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: %s must be a %dD tensor, but it has shape %s", op,
                   argument, rank, shape(t, text));
}

/* a b without anything added */
static td_status plain(td_call *call, const char *op, bool turn_b)
{
    td_matmul m = {.op = op,
                   .a = TD_TENSOR(0),
                   .b = TD_TENSOR(1),
                   .alpha = td_scalar_int(1),
                   .turn_b = turn_b};
    return td_matmul_run(&m, &call->out[0]);
}

td_status td_op_matmul(td_call *call) { return plain(call, "matmul", false); }

td_status td_op_mm(td_call *call)
{
    TD_TRY(want_rank("mm", "self", TD_TENSOR(0), 2));
    TD_TRY(want_rank("mm", "mat2", TD_TENSOR(1), 2));
    return plain(call, "mm", false);
}

td_status td_op_mv(td_call *call)
{
    TD_TRY(want_rank("mv", "self", TD_TENSOR(0), 2));
    TD_TRY(want_rank("mv", "vec", TD_TENSOR(1), 1));
    return plain(call, "mv", false);
}

static td_status check_batches(const char *op, const td_tensor *a, const td_tensor *b)
{
    char left[TD_SHAPE_TEXT], right[TD_SHAPE_TEXT];
    TD_TRY(want_rank(op, "batch1", a, 3));
    TD_TRY(want_rank(op, "batch2", b, 3));
    if (a->sizes[0] == b->sizes[0]) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: batches of %lld and %lld matrices; the shapes are %s and %s", op,
                   (long long)a->sizes[0], (long long)b->sizes[0], shape(a, left), shape(b, right));
}

td_status td_op_bmm(td_call *call)
{
    TD_TRY(check_batches("bmm", TD_TENSOR(0), TD_TENSOR(1)));
    return plain(call, "bmm", false);
}

/* ---- linear(input, weight, bias): input weight^T + bias ---- */
td_status td_op_linear(td_call *call)
{
    td_tensor *weight = TD_TENSOR(1);
    char text[TD_SHAPE_TEXT];
    if (weight->ndim > 2)
        return td_fail(TD_RUNTIME_ERROR,
                       "linear: weight must have 1 or 2 dimensions, but it has shape %s",
                       shape(weight, text));
    td_matmul m = {.op = "linear",
                   .a = TD_TENSOR(0),
                   .b = weight,
                   .bias = TD_OPT_TENSOR(2),
                   .alpha = td_scalar_int(1),
                   .turn_b = true};
    return td_matmul_run(&m, &call->out[0]);
}

/* ---- beta * self + alpha * a b ---- */

/* self must broadcast to the result, which it never enlarges */
static td_status check_added(const char *op, const td_tensor *self, int ndim, const int64_t *sizes)
{
    char from[TD_SHAPE_TEXT], to[TD_SHAPE_TEXT];
    bool fits = self->ndim <= ndim;
    for (int d = 0; fits && d < self->ndim; d++) {
        int64_t have = self->sizes[self->ndim - 1 - d];
        fits = have == 1 || have == sizes[ndim - 1 - d];
    }
    if (fits) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: self of shape %s does not broadcast to the product's shape %s", op,
                   shape(self, from), td_shape_text(ndim, sizes, to));
}

static td_status added(td_call *call, const char *op)
{
    td_matmul m = {.op = op,
                   .a = TD_TENSOR(1),
                   .b = TD_TENSOR(2),
                   .self = TD_TENSOR(0),
                   .beta = TD_SCALAR(3),
                   .alpha = TD_SCALAR(4)};
    const td_tensor *v = m.self;
    if (v->ndim == 1 && m.beta.re == 1 && m.alpha.re == 1 && m.beta.im == 0 && m.alpha.im == 0 &&
        m.b->ndim > 1) {
        m.bias = m.self; /* the form that fuses */
        m.self = NULL;
        m.beta = td_scalar_int(0);
    }
    return td_matmul_run(&m, &call->out[0]);
}

td_status td_op_addmm(td_call *call)
{
    TD_TRY(want_rank("addmm", "mat1", TD_TENSOR(1), 2));
    TD_TRY(want_rank("addmm", "mat2", TD_TENSOR(2), 2));
    TD_TRY(check_added("addmm", TD_TENSOR(0), 2,
                       (const int64_t[]){TD_TENSOR(1)->sizes[0], TD_TENSOR(2)->sizes[1]}));
    return added(call, "addmm");
}

td_status td_op_addmv(td_call *call)
{
    TD_TRY(want_rank("addmv", "mat", TD_TENSOR(1), 2));
    TD_TRY(want_rank("addmv", "vec", TD_TENSOR(2), 1));
    TD_TRY(check_added("addmv", TD_TENSOR(0), 1, TD_TENSOR(1)->sizes));
    return added(call, "addmv");
}

td_status td_op_baddbmm(td_call *call)
{
    td_tensor *a = TD_TENSOR(1), *b = TD_TENSOR(2);
    TD_TRY(check_batches("baddbmm", a, b));
    TD_TRY(check_added("baddbmm", TD_TENSOR(0), 3,
                       (const int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}));
    return added(call, "baddbmm");
}

/* ---- dot ---- */
td_status td_op_dot(td_call *call)
{
    td_tensor *a = TD_TENSOR(0), *b = TD_TENSOR(1);
    char left[TD_SHAPE_TEXT], right[TD_SHAPE_TEXT];
    if (a->ndim != 1 || b->ndim != 1)
        return td_fail(TD_RUNTIME_ERROR, "dot: 1D tensors expected, but the shapes are %s and %s",
                       shape(a, left), shape(b, right));
    if (a->sizes[0] != b->sizes[0])
        return td_fail(TD_RUNTIME_ERROR,
                       "dot: vectors of %lld and %lld elements; they must have the same number",
                       (long long)a->sizes[0], (long long)b->sizes[0]);
    bool real = a->dtype == b->dtype && (a->dtype == TD_F32 || a->dtype == TD_F64);
    if (!real || a->device != TD_CPU) return plain(call, "dot", false);
    td_tensor *out;
    TD_TRY(td_tensor_empty(&out, (td_dtype)a->dtype, (td_device)a->device, 0, NULL));
    td_status status = td_dot_run(out, a, b);
    if (status == TD_OK) call->out[0] = out;
    else td_tensor_free(out);
    return status;
}
