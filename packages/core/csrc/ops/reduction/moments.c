/* moments.c - var, std and the two with their means; norms of vectors. */
#include <math.h>
#include "cpu/reduction/magnitude_run.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduction/reduce.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)

/* ---- variance ---- */

/* Of complex numbers: both parts on their own first, then together. */
static td_status spread_of_complex(td_tensor *out[2], int wanted, const td_tensor *x,
                                   const td_reduce_spec *spec)
{
    td_tensor *parts = NULL, *each[2] = {NULL, NULL}, *joined[2] = {NULL, NULL};
    td_dtype real = spec->dtype[0];
    td_reduce_spec apart = *spec;
    apart.dtype[1] = real;
    TD_TRY(td_view_as_real(&parts, x));
    td_status status = td_reduce(each, wanted, parts, &apart);
    td_tensor_free(parts);
    if (status != TD_OK) return status;
    td_reduce_spec together = {spec->op,
                               spec->context.root ? TD_NORM2 : TD_SUM,
                               {.divisor = 1},
                               (uint64_t)1 << (each[0]->ndim - 1),
                               false,
                               true,
                               0,
                               {real, 0}};
    status = td_reduce(joined, 1, each[0], &together);
    if (status == TD_OK && each[1]) status = td_view_as_complex(&out[1], each[1]);
    out[0] = joined[0];
    td_tensor_free(each[0]);
    td_tensor_free(each[1]);
    return status;
}

static td_status spread(td_call *call, const char *op, int root, int wanted, uint64_t dims,
                        bool keepdim, double correction)
{
    td_dtype dtype = (td_dtype)SELF->dtype;
    if (td_is_integral(dtype))
        return td_fail(TD_RUNTIME_ERROR,
                       "%s only supports floating point and complex dtypes, got %s", op,
                       td_dtypes[dtype].name);
    td_reduce_spec spec = {op,
                           TD_MOMENTS,
                           {.correction = correction, .root = root},
                           dims,
                           keepdim,
                           true,
                           NAN,
                           {td_is_complex(dtype) ? td_to_real(dtype) : dtype, dtype}};
    if (td_is_complex(dtype) && !td_is_meta(SELF))
        return spread_of_complex(call->out, wanted, SELF, &spec);
    return td_reduce(call->out, wanted, SELF, &spec);
}

/* The three overloads: (unbiased), (dim, unbiased, keepdim), (dim, *, correction, keepdim). */
#define SPREAD(name, root, wanted)                                                             \
    td_status td_op_##name(td_call *call)                                                      \
    {                                                                                          \
        return spread(call, #name, root, wanted, td_all_dims(SELF), false, (double)TD_INT(1)); \
    }                                                                                          \
    td_status td_op_##name##_dim(td_call *call)                                                \
    {                                                                                          \
        uint64_t dims;                                                                         \
        TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));                             \
        return spread(call, #name, root, wanted, dims, TD_BOOLEAN(3), (double)TD_INT(2));      \
    }                                                                                          \
    td_status td_op_##name##_correction(td_call *call)                                         \
    {                                                                                          \
        uint64_t dims;                                                                         \
        TD_TRY(td_reduce_dims(&call->args[1], SELF, true, &dims));                             \
        return spread(call, #name, root, wanted, dims, TD_BOOLEAN(3),                          \
                      TD_HAS(2) ? TD_SCALAR(2).re : 1);                                        \
    }
SPREAD(var, 0, 1)
SPREAD(std, 1, 1)
SPREAD(var_mean, 0, 3)
SPREAD(std_mean, 1, 3)

/* ---- norms ---- */

/* |x| by the loop of `abs`, which a device knows */
static td_status magnitudes_there(td_tensor *out, td_tensor *x)
{
    td_nd nd;
    const td_loop_entry *entry;
    TD_TRY(td_require_entry("linalg.vector_norm", "abs", (td_dtype)x->dtype, &entry));
    TD_TRY(td_nd_init(&nd, 2, (td_tensor *const[]){out, x}));
    td_walk w = {.kind = TD_WALK_LOOP,
                 .dtypes = {out->dtype, x->dtype},
                 .entry = entry,
                 .cost = 3,
                 .nd = &nd};
    return td_walk_run(&w, (td_device)x->device);
}

/* |x| of a complex tensor, or x itself: the norms of real numbers take magnitudes on the way. */
static td_status magnitudes(td_tensor **out, const td_tensor *x)
{
    td_tensor *wide, *result;
    if (!td_is_complex((td_dtype)x->dtype)) return td_tensor_alias(out, x);
    TD_TRY(td_cast(&wide, x, x->dtype == TD_C32 ? TD_C64 : (td_dtype)x->dtype));
    td_status status = td_tensor_empty_like(&result, wide, td_to_real((td_dtype)wide->dtype));
    if (status == TD_OK && !td_is_meta(x))
        status = td_on_host(x) ? td_magnitude_run(result, wide) : magnitudes_there(result, wide);
    if (status == TD_OK) *out = result;
    td_tensor_free(wide);
    return status;
}

static td_reduction norm_kind(double p)
{
    if (isinf(p)) return p > 0 ? TD_ABSMAX : TD_ABSMIN;
    return p == 0 ? TD_NORM0 : p == 1 ? TD_NORM1 : p == 2 ? TD_NORM2 : TD_NORMP;
}

static td_status check_norm(const td_tensor *x, double p, uint64_t dims, td_dtype dtype,
                            bool has_dtype)
{
    if (td_is_integral((td_dtype)x->dtype))
        return td_fail(
            TD_RUNTIME_ERROR,
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s",
            td_dtypes[x->dtype].type_name);
    if (has_dtype && td_is_complex(dtype) != td_is_complex((td_dtype)x->dtype))
        return td_fail(
            TD_RUNTIME_ERROR, "linalg.vector_norm: dtype should be %s for %s inputs, but got %s",
            td_is_complex((td_dtype)x->dtype) ? "complex" : "real",
            td_is_complex((td_dtype)x->dtype) ? "complex" : "real", td_dtypes[dtype].type_name);
    if (has_dtype && (td_is_integral(dtype) || td_promote(x->dtype, dtype) != (int)dtype))
        return td_fail(TD_RUNTIME_ERROR,
                       "linalg.vector_norm: the dtype of the input (%s) should be convertible "
                       "without narrowing to the specified dtype (%s)",
                       td_dtypes[x->dtype].type_name, td_dtypes[dtype].type_name);
    if ((p < 0 || isinf(p)) && td_reduced_count(x, dims) == 0) {
        int64_t sizes[TD_MAX_DIMS], left = 1;
        int ndim = td_reduced_shape(x, dims, false, sizes);
        for (int i = 0; i < ndim; i++) left *= sizes[i];
        if (left)
            return td_fail(TD_RUNTIME_ERROR,
                           "linalg.vector_norm cannot compute the %g norm on an empty tensor "
                           "because the operation does not have an identity",
                           p);
    }
    return TD_OK;
}

/* x / power, its norms, and those times the power */
static td_status scaled_norm(td_tensor **made, const td_tensor *x, const td_reduce_spec *spec,
                             const td_tensor *power, const td_tensor *shape)
{
    td_tensor *scaled, *factor = NULL, *found[2] = {NULL};
    TD_TRY(td_tensor_empty_like(&scaled, x, TD_F64));
    td_status status = td_norm_scaled(scaled, x, power);
    if (status == TD_OK) status = td_reduce(found, 1, scaled, spec);
    td_tensor_free(scaled);
    if (status == TD_OK) status = td_view_reshape(&factor, power, shape->ndim, shape->sizes);
    if (status == TD_OK) status = td_norm_unscaled(found[0], found[0], factor);
    if (status == TD_OK) status = td_cast(made, found[0], (td_dtype)shape->dtype);
    td_tensor_free(factor);
    td_tensor_free(found[0]);
    return status;
}

/* Powers of the terms leave the range of double long before the norm does: those of numbers scaled
 * by their largest do not. On the processor: a device would have to wait for the norms. */
static td_status norm_again(td_tensor **out, const td_tensor *x, td_reduce_spec spec)
{
    td_tensor *wide, *largest[2], *made = NULL;
    bool powers = spec.kind == TD_NORMP || (spec.kind == TD_NORM2 && (*out)->dtype == TD_F64);
    double exponent = spec.kind == TD_NORM2 ? 2 : spec.context.exponent;
    if (!powers || !td_on_host(x) || td_is_meta(x) || td_itemsize((td_dtype)(*out)->dtype) < 4 ||
        !td_norm_is_extreme(*out, exponent))
        return TD_OK;
    TD_TRY(td_cast(&wide, x, TD_F64));
    spec.dtype[0] = TD_F64;
    td_reduce_spec most = spec;
    most.kind = TD_ABSMAX, most.keepdim = true;
    td_status status = td_reduce(largest, 1, wide, &most);
    if (status == TD_OK) {
        if (td_norm_powers(largest[0])) status = scaled_norm(&made, wide, &spec, largest[0], *out);
        td_tensor_free(largest[0]);
    }
    td_tensor_free(wide);
    if (status != TD_OK || !made) return status;
    td_tensor_free(*out);
    *out = made;
    return TD_OK;
}

td_status td_op_vector_norm(td_call *call)
{
    uint64_t dims;
    td_tensor *x, *out[2];
    td_dtype dtype = TD_DTYPE_OR(4, (td_dtype)SELF->dtype),
             real = td_is_complex(dtype) ? td_to_real(dtype) : dtype;
    double p = TD_SCALAR(1).re;
    TD_TRY(td_reduce_dims(&call->args[2], SELF, true, &dims));
    TD_TRY(check_norm(SELF, p, dims, dtype, TD_HAS(4)));
    TD_TRY(magnitudes(&x, SELF));
    td_tensor *wide = NULL;
    td_status status =
        td_is_float8(real)
            ? TD_OK
            : td_cast(&wide, x,
                      td_itemsize(real) > td_itemsize((td_dtype)x->dtype) ? real
                                                                          : (td_dtype)x->dtype);
    td_reduce_spec spec = {"linalg.vector_norm",
                           norm_kind(p),
                           {.divisor = 1, .exponent = p},
                           dims,
                           TD_BOOLEAN(3),
                           true,
                           0,
                           {real, 0}};
    if (status == TD_OK) status = td_reduce(out, 1, wide ? wide : x, &spec);
    if (status == TD_OK) {
        call->out[0] = out[0];
        status = norm_again(&call->out[0], wide ? wide : x, spec);
    }
    td_tensor_free(wide);
    td_tensor_free(x);
    return status;
}
