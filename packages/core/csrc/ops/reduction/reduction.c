/* reduction.c - the operators that reduce by adding, multiplying or comparing: sum, mean, prod,
 * nansum, any, all, count_nonzero, min, max and their indices. */
#include <math.h>
#include "ops/reduction/reduce.h"

#define SELF TD_TENSOR(0)

static td_dtype summed_dtype(td_dtype d) { return td_is_integral(d) ? TD_I64 : d; }

static td_status one_result(td_call *call, const td_tensor *x, const td_reduce_spec *spec)
{
    td_tensor *out[2];
    TD_TRY(td_reduce(out, 1, x, spec));
    call->out[0] = out[0];
    return TD_OK;
}

/* ---- sums and products: `dtype` converts the elements first ---- */

static td_status accumulate(td_call *call, const char *op, td_reduction kind, uint64_t dims,
                            bool keepdim, const td_arg *dtype)
{
    td_tensor *x;
    td_dtype own = (td_dtype)SELF->dtype,
             result = dtype->kind != TD_ARG_NONE ? (td_dtype)dtype->i : summed_dtype(own);
    td_reduce_spec spec = {op,      kind, {.divisor = 1},  dims,
                           keepdim, true, kind == TD_PROD, {result, 0}};
    bool exact =
        own == result || (td_is_integral(own) && td_is_integral(result) && result != TD_BOOL);
    TD_TRY(exact ? td_tensor_alias(&x, SELF) : td_cast(&x, SELF, result));
    td_status status = one_result(call, x, &spec);
    td_tensor_free(x);
    return status;
}

td_status td_op_sum(td_call *call)
{
    return accumulate(call, "sum", TD_SUM, td_all_dims(SELF), false, &call->args[1]);
}

td_status td_op_sum_dim(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    return accumulate(call, "sum", TD_SUM, dims, TD_BOOLEAN(2), &call->args[3]);
}

td_status td_op_prod(td_call *call)
{
    return accumulate(call, "prod", TD_PROD, td_all_dims(SELF), false, &call->args[1]);
}

td_status td_op_prod_dim(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    return accumulate(call, "prod", TD_PROD, dims, TD_BOOLEAN(2), &call->args[3]);
}

td_status td_op_nansum(td_call *call)
{
    uint64_t dims;
    if (td_is_complex((td_dtype)SELF->dtype))
        return td_fail(TD_RUNTIME_ERROR, "nansum does not support complex inputs, got %s",
                       td_dtypes[SELF->dtype].name);
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    td_dtype result = TD_DTYPE_OR(3, (td_dtype)SELF->dtype);
    /* no NaN to skip */
    bool whole = td_is_integral((td_dtype)SELF->dtype) || td_is_integral(result);
    return accumulate(call, "nansum", whole ? TD_SUM : TD_NANSUM, dims, TD_BOOLEAN(2),
                      &call->args[3]);
}

static td_status mean(td_call *call, uint64_t dims, bool keepdim, const td_arg *dtype)
{
    td_tensor *x;
    td_dtype result = dtype->kind != TD_ARG_NONE ? (td_dtype)dtype->i : (td_dtype)SELF->dtype;
    if (td_is_integral(result))
        return td_fail(TD_RUNTIME_ERROR,
                       "mean(): %s dtype must be either a floating point or complex dtype, got %s",
                       dtype->kind != TD_ARG_NONE ? "dtype: the"
                                                  : "could not infer output dtype; the input",
                       td_dtypes[result].type_name);
    double divisor = (double)td_reduced_count(SELF, dims);
    td_reduce_spec spec = {"mean", TD_SUM, {.divisor = divisor}, dims, keepdim,
                           true,   NAN,    {result, 0}};
    TD_TRY(td_cast(&x, SELF, result));
    td_status status = one_result(call, x, &spec);
    td_tensor_free(x);
    return status;
}

td_status td_op_mean(td_call *call) { return mean(call, td_all_dims(SELF), false, &call->args[1]); }

td_status td_op_mean_dim(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    return mean(call, dims, TD_BOOLEAN(2), &call->args[3]);
}

/* ---- truth ---- */

static td_status truth(td_call *call, const char *op, td_reduction kind, uint64_t dims,
                       bool keepdim)
{
    td_dtype result = kind == TD_COUNT ? TD_I64 : SELF->dtype == TD_U8 ? TD_U8 : TD_BOOL;
    td_reduce_spec spec = {op, kind, {0}, dims, keepdim, true, kind == TD_ALL, {result, 0}};
    return one_result(call, SELF, &spec);
}

td_status td_op_any(td_call *call) { return truth(call, "any", TD_ANY, td_all_dims(SELF), false); }
td_status td_op_all(td_call *call) { return truth(call, "all", TD_ALL, td_all_dims(SELF), false); }

/* an empty list of dims reduces none of them */
td_status td_op_any_dim(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, false, &dims));
    return truth(call, "any", TD_ANY, dims, TD_BOOLEAN(2));
}

td_status td_op_all_dim(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, false, &dims));
    return truth(call, "all", TD_ALL, dims, TD_BOOLEAN(2));
}

td_status td_op_count_nonzero(td_call *call)
{
    uint64_t dims;
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    return truth(call, "count_nonzero", TD_COUNT, dims, false);
}

/* ---- extrema ---- */

static td_status check_ordered(const td_tensor *x, const char *op, td_status kind)
{
    if (td_is_complex((td_dtype)x->dtype))
        return td_fail(kind,
                       "%s(): does not support complex input (%s): complex numbers have no order",
                       op, td_dtypes[x->dtype].name);
    return TD_OK;
}

/* Nothing to choose from is an error: which one depends on whether a dimension was named. */
static td_status check_not_empty(const td_tensor *x, const char *op, const td_arg *dim,
                                 uint64_t dims, td_status kind)
{
    bool named = dim && (dim->kind == TD_ARG_INT || (dim->kind == TD_ARG_INTS && dim->n));
    if (!named) {
        if (x->numel) return TD_OK;
        return td_fail(kind,
                       "%s(): Expected reduction dim to be specified for input.numel() == 0. "
                       "Specify the reduction dim with the 'dim' argument.",
                       op);
    }
    for (int d = 0; d < x->ndim; d++)
        if ((dims >> d & 1) && x->sizes[d] == 0)
            return td_fail(TD_INDEX_ERROR, "%s(): Expected reduction dim %d to have non-zero size.",
                           op, d);
    return TD_OK;
}

static td_status extremum(td_call *call, const char *op, td_reduction kind, const td_arg *dim,
                          bool keepdim)
{
    uint64_t dims = td_all_dims(SELF);
    TD_TRY(check_ordered(SELF, op, TD_NOT_IMPLEMENTED));
    if (dim) TD_TRY(td_reduce_dims(dim, SELF, true, &dims));
    TD_TRY(check_not_empty(SELF, op, dim, dims, TD_RUNTIME_ERROR));
    td_reduce_spec spec = {op, kind, {0}, dims, keepdim, false, 0, {(td_dtype)SELF->dtype, 0}};
    return one_result(call, SELF, &spec);
}

td_status td_op_max(td_call *call) { return extremum(call, "max", TD_MAX, NULL, false); }
td_status td_op_min(td_call *call) { return extremum(call, "min", TD_MIN, NULL, false); }
td_status td_op_amax(td_call *call)
{
    return extremum(call, "amax", TD_MAX, &call->args[1], TD_BOOLEAN(2));
}
td_status td_op_amin(td_call *call)
{
    return extremum(call, "amin", TD_MIN, &call->args[1], TD_BOOLEAN(2));
}

td_status td_op_aminmax(td_call *call)
{
    td_tensor *out[2];
    uint64_t dims;
    TD_TRY(check_ordered(SELF, "aminmax", TD_NOT_IMPLEMENTED));
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    if (TD_HAS(1)) TD_TRY(check_not_empty(SELF, "aminmax", &call->args[1], dims, TD_RUNTIME_ERROR));
    if (td_reduced_count(SELF, dims) == 0)
        return td_fail(TD_RUNTIME_ERROR, "aminmax(): cannot compute aminmax over an empty "
                                         "dimension as the operation has no identity.");
    td_reduce_spec spec = {"aminmax",     TD_MIN, {0}, dims,
                           TD_BOOLEAN(2), false,  0,   {(td_dtype)SELF->dtype, 0}};
    TD_TRY(td_reduce(out, 1, SELF, &spec));
    call->out[0] = out[0];
    spec.kind = TD_MAX;
    TD_TRY(td_reduce(out, 1, SELF, &spec));
    call->out[1] = out[0];
    return TD_OK;
}

static td_status extremum_and_index(td_call *call, const char *op, td_reduction kind)
{
    uint64_t dims;
    TD_TRY(check_ordered(SELF, op, TD_RUNTIME_ERROR));
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    TD_TRY(check_not_empty(SELF, op, &call->args[1], dims, TD_INDEX_ERROR));
    td_reduce_spec spec = {
        op, kind, {0}, dims, TD_BOOLEAN(2), true, 0, {(td_dtype)SELF->dtype, TD_I64}};
    return td_reduce(call->out, 3, SELF, &spec);
}

td_status td_op_max_dim(td_call *call) { return extremum_and_index(call, "max", TD_ARGMAX); }
td_status td_op_min_dim(td_call *call) { return extremum_and_index(call, "min", TD_ARGMIN); }

static td_status index_of(td_call *call, const char *op, td_reduction kind)
{
    uint64_t dims;
    td_tensor *out[2];
    if (td_is_complex((td_dtype)SELF->dtype) || SELF->dtype == TD_BOOL)
        return td_fail(TD_RUNTIME_ERROR, "%s(): does not support %s input", op,
                       SELF->dtype == TD_BOOL ? "bool" : "complex");
    TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));
    TD_TRY(check_not_empty(SELF, op, &call->args[1], dims, TD_INDEX_ERROR));
    td_reduce_spec spec = {
        op, kind, {0}, dims, TD_BOOLEAN(2), true, 0, {(td_dtype)SELF->dtype, TD_I64}};
    TD_TRY(td_reduce(out, 2, SELF, &spec));
    call->out[0] = out[1];
    return TD_OK;
}

td_status td_op_argmax(td_call *call) { return index_of(call, "argmax", TD_ARGMAX); }
td_status td_op_argmin(td_call *call) { return index_of(call, "argmin", TD_ARGMIN); }
