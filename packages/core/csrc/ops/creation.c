/* creation.c - new tensors: empty, zeros, ones, full, their _like and new_ forms, and fill_, zero_,
 * copy_. */
#include "ops/creation.h"
#include "runtime/device.h"
#include <math.h>
#include <stdio.h>
#include "ops/layout.h"
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])

/* ---- arguments ---- */

static td_status pins(td_call *call, td_device device)
{
    char text[TD_DEVICE_TEXT];
    if (device != TD_CPU)
        return td_fail(TD_RUNTIME_ERROR,
                       "pin_memory=True: only tensors on the cpu can be pinned, got device '%s'",
                       td_device_text(device, text));
    if (td_device_open(TD_CUDA) != TD_OK) {
        char reason[300];
        snprintf(reason, sizeof reason, "%s", td_error_message());
        return td_fail(TD_RUNTIME_ERROR,
                       "Cannot access accelerator device when none is available: pin_memory locks "
                       "memory for one. Leave it out on the CPU. (%s)",
                       reason);
    }
    call->pinned = true;
    return TD_OK;
}

td_status td_factory_options(td_call *call, int at, td_dtype dtype, td_device device,
                             td_options *out)
{
    out->dtype = TD_DTYPE_OR(at, dtype);
    out->device = TD_HAS(at + 2) ? (td_device)TD_INT(at + 2) : device;
    return TD_HAS(at + 3) && TD_BOOLEAN(at + 3) ? pins(call, out->device) : TD_OK;
}

/* largest finite number of the floating formats */
static double largest(td_dtype dtype)
{
    switch (dtype) {
        case TD_BF16: return 0x1.fep127;
        case TD_F32:
        case TD_C64: return 0x1.fffffep127;
        /* float64 holds every number; half and float8 round by their own rules */
        default: return INFINITY;
    }
}

static bool fits(const td_scalar *v, td_dtype dtype)
{
    if (dtype == TD_BOOL) return true;
    if (td_is_complex(dtype))
        return !(isfinite(v->re) && fabs(v->re) > largest(dtype)) &&
               !(isfinite(v->im) && fabs(v->im) > largest(dtype));
    if (v->im != 0) return false;
    if (td_is_integral(dtype)) return td_scalar_fits_integer(v, dtype);
    return !(isfinite(v->re) && fabs(v->re) > largest(dtype));
}

td_status td_check_fits(const td_scalar *value, td_dtype dtype)
{
    if (fits(value, dtype)) return TD_OK;
    if (value->im != 0)
        return td_fail(TD_RUNTIME_ERROR,
                       "value %g%+gj cannot be converted to type %s without overflow", value->re,
                       value->im, td_dtypes[dtype].name);
    return td_fail(TD_RUNTIME_ERROR, "value %.17g cannot be converted to type %s without overflow",
                   value->re, td_dtypes[dtype].name);
}

static td_status filled(td_tensor *t, const td_scalar *value)
{
    TD_TRY(td_check_fits(value, (td_dtype)t->dtype));
    return td_fill(t, value);
}

/* ---- empty ---- */
int td_fill_fresh; /* 1: fresh memory gets a value that shows, so that a use of it repeats itself */

static td_scalar showing(td_dtype dtype)
{
    if (!td_is_integral(dtype)) return td_scalar_float(NAN);
    if (dtype == TD_BOOL) return td_scalar_bool(true);
    int bits = 8 * (int)td_itemsize(dtype) - td_dtypes[dtype].is_signed;
    return td_scalar_int(bits == 64 ? -1 : (int64_t)(((uint64_t)1 << bits) - 1));
}
static td_status fresh(td_call *call, td_status status)
{
    if (status || !td_fill_fresh || td_is_meta(call->out[0])) return status;
    td_scalar value = showing((td_dtype)call->out[0]->dtype);
    return td_fill(call->out[0], &value);
}

static td_status empty(td_call *call)
{
    td_options o = {0};
    int64_t strides[TD_MAX_DIMS], numel;
    TD_TRY(td_factory_options(call, 1, td_default_dtype, TD_CPU, &o));
    if (!TD_HAS(5) || TD_INT(5) == TD_CONTIGUOUS_FORMAT)
        return td_tensor_empty(OUT, o.dtype, o.device, (int)TD_LEN(0), TD_INTS(0));
    if (TD_INT(5) == TD_PRESERVE_FORMAT)
        return td_fail(
            TD_RUNTIME_ERROR,
            "empty: preserve_format has nothing to preserve; use empty_like or another format");
    if (TD_LEN(0) > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "empty: a tensor has at most %d dimensions", TD_MAX_DIMS);
    TD_TRY(td_numel((int)TD_LEN(0), TD_INTS(0), &numel));
    TD_TRY(td_format_strides((td_memory_format)TD_INT(5), (int)TD_LEN(0), TD_INTS(0), strides));
    return td_tensor_empty_strided(OUT, o.dtype, o.device, (int)TD_LEN(0), TD_INTS(0), strides);
}

td_status td_op_empty(td_call *call) { return fresh(call, empty(call)); }

static td_status empty_strided(td_call *call, int at, td_dtype dtype, td_device device)
{
    td_options o = {0};
    char sizes[TD_SHAPE_TEXT], strides[TD_SHAPE_TEXT];
    TD_TRY(td_factory_options(call, at + 2, dtype, device, &o));
    if (TD_LEN(at) == TD_LEN(at + 1))
        return td_tensor_empty_strided(OUT, o.dtype, o.device, (int)TD_LEN(at), TD_INTS(at),
                                       TD_INTS(at + 1));
    return td_fail(
        TD_RUNTIME_ERROR,
        "empty_strided: dimensionality of sizes %s must match dimensionality of strides %s",
        td_shape_text((int)TD_LEN(at), TD_INTS(at), sizes),
        td_shape_text((int)TD_LEN(at + 1), TD_INTS(at + 1), strides));
}

td_status td_op_empty_strided(td_call *call)
{
    return fresh(call, empty_strided(call, 0, td_default_dtype, TD_CPU));
}
td_status td_op_new_empty_strided(td_call *call)
{
    return fresh(call, empty_strided(call, 1, (td_dtype)SELF->dtype, (td_device)SELF->device));
}

/* sizes, and the order of the dimensions in memory, outermost first */
static td_status empty_permuted(td_call *call)
{
    td_options o = {0};
    uint64_t mask = 0;
    int64_t strides[TD_MAX_DIMS], numel, step = 1, n = TD_LEN(0);
    char sizes[TD_SHAPE_TEXT], order[TD_SHAPE_TEXT];
    TD_TRY(td_factory_options(call, 2, td_default_dtype, TD_CPU, &o));
    if (TD_LEN(1) != n)
        return td_fail(TD_RUNTIME_ERROR,
                       "empty_permuted: size %s and physical_layout %s must have the same length",
                       td_shape_text((int)n, TD_INTS(0), sizes),
                       td_shape_text((int)TD_LEN(1), TD_INTS(1), order));
    TD_TRY(td_dim_mask(&mask, n, TD_INTS(1), (int)n));
    TD_TRY(td_numel((int)n, TD_INTS(0), &numel));
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t d = TD_INTS(1)[i];
        if (d < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "empty_permuted: physical_layout %s must not be negative",
                           td_shape_text((int)n, TD_INTS(1), order));
        strides[d] = step;
        step *= TD_INTS(0)[d] > 1 ? TD_INTS(0)[d] : 1;
    }
    return td_tensor_empty_strided(OUT, o.dtype, o.device, (int)n, TD_INTS(0), strides);
}

td_status td_op_empty_permuted(td_call *call) { return fresh(call, empty_permuted(call)); }

/* ---- one value everywhere: factory(size, ...), new_x(self, size, ...), x_like(self, ...) ---- */

static td_status sized(td_call *call, int at, const td_options *o, const td_scalar *value)
{
    if (value) TD_TRY(td_check_fits(value, o->dtype));
    TD_TRY(td_tensor_empty(OUT, o->dtype, o->device, (int)TD_LEN(at), TD_INTS(at)));
    return value ? td_fill(call->out[0], value) : TD_OK;
}

static td_status constant(td_call *call, int64_t value)
{
    td_options o = {0};
    td_scalar v = td_scalar_int(value);
    TD_TRY(td_factory_options(call, 1, td_default_dtype, TD_CPU, &o));
    return sized(call, 0, &o, &v);
}

static td_status new_sized(td_call *call, int at, const td_scalar *value)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, at, (td_dtype)SELF->dtype, (td_device)SELF->device, &o));
    return sized(call, 1, &o, value);
}

static td_status like(td_call *call, int at, const td_scalar *value)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, at, (td_dtype)SELF->dtype, (td_device)SELF->device, &o));
    if (value) TD_TRY(td_check_fits(value, o.dtype));
    TD_TRY(td_empty_format(OUT, SELF, o.dtype, o.device,
                           TD_HAS(at + 4) ? (td_memory_format)TD_INT(at + 4) : TD_PRESERVE_FORMAT));
    return value ? td_fill(call->out[0], value) : TD_OK;
}

static const td_scalar zero = {TD_S_INT, 0, 0, 0}, one = {TD_S_INT, 1, 1, 0};

td_status td_op_zeros(td_call *call) { return constant(call, 0); }
td_status td_op_ones(td_call *call) { return constant(call, 1); }
td_status td_op_new_empty(td_call *call) { return fresh(call, new_sized(call, 2, NULL)); }
td_status td_op_new_zeros(td_call *call) { return new_sized(call, 2, &zero); }
td_status td_op_new_ones(td_call *call) { return new_sized(call, 2, &one); }
td_status td_op_new_full(td_call *call) { return new_sized(call, 3, &TD_SCALAR(2)); }
td_status td_op_empty_like(td_call *call) { return fresh(call, like(call, 1, NULL)); }
td_status td_op_zeros_like(td_call *call) { return like(call, 1, &zero); }
td_status td_op_ones_like(td_call *call) { return like(call, 1, &one); }
td_status td_op_full_like(td_call *call) { return like(call, 2, &TD_SCALAR(1)); }

td_status td_op_full(td_call *call)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, 2, td_scalar_dtype(&TD_SCALAR(1)), TD_CPU, &o));
    return sized(call, 0, &o, &TD_SCALAR(1));
}

td_status td_op_scalar_tensor(td_call *call)
{
    td_options o = {0};
    TD_TRY(td_factory_options(call, 1, td_default_dtype, TD_CPU, &o));
    TD_TRY(td_tensor_empty(OUT, o.dtype, o.device, 0, NULL));
    return filled(call->out[0], &TD_SCALAR(0));
}

/* ---- writing into a tensor that exists ---- */

td_status td_op_fill_scalar_(td_call *call)
{
    call->out[0] = SELF;
    return filled(SELF, &TD_SCALAR(1));
}

td_status td_op_fill_tensor_(td_call *call)
{
    const td_tensor *value = TD_TENSOR(1);
    if (value->ndim)
        return td_fail(
            TD_RUNTIME_ERROR,
            "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
            value->ndim);
    call->out[0] = SELF;
    if (td_is_meta(SELF) || td_is_meta(value)) return TD_OK;
    _Alignas(16) char element[16];
    TD_TRY(td_element(value, element));
    td_scalar number = td_scalar_load((td_dtype)value->dtype, element);
    if (td_is_complex((td_dtype)value->dtype) && !td_is_complex((td_dtype)SELF->dtype) &&
        SELF->dtype != TD_BOOL)
        number = td_scalar_float(number.re);
    return td_fill(SELF, &number);
}

td_status td_op_fill_scalar(td_call *call)
{
    TD_TRY(td_check_fits(&TD_SCALAR(1), (td_dtype)SELF->dtype));
    TD_TRY(td_empty_format(OUT, SELF, (td_dtype)SELF->dtype, (td_device)SELF->device,
                           TD_PRESERVE_FORMAT));
    return td_fill(call->out[0], &TD_SCALAR(1));
}

td_status td_op_fill_tensor(td_call *call)
{
    td_tensor *self = SELF, *made;
    TD_TRY(td_empty_format(&made, self, (td_dtype)self->dtype, (td_device)self->device,
                           TD_PRESERVE_FORMAT));
    call->args[0].tensor = made; /* fill_ writes into its first argument and returns it */
    td_status status = td_op_fill_tensor_(call);
    call->args[0].tensor = self;
    call->out[0] = status == TD_OK ? made : NULL;
    if (status != TD_OK) td_tensor_free(made);
    return status;
}

td_status td_op_zero_(td_call *call)
{
    call->out[0] = SELF;
    return td_fill(SELF, &zero);
}

td_status td_op_copy_(td_call *call)
{
    const td_tensor *source = TD_TENSOR(1);
    if (td_has_zero_stride(SELF))
        return td_fail(TD_RUNTIME_ERROR, "copy_: more than one element of the written-to tensor "
                                         "refers to a single memory location; clone() it first");
    if (td_is_meta(source) && !td_is_meta(SELF))
        return td_fail(TD_NOT_IMPLEMENTED, "cannot copy out of a meta tensor: it has no data");
    call->out[0] = SELF;
    return TD_HAS(2) && TD_BOOLEAN(2) ? td_copy_queued(SELF, source) : td_copy(SELF, source);
}

/* ---- complex numbers from two halves ---- */

td_status td_op_complex(td_call *call)
{
    const td_tensor *parts[] = {SELF, TD_TENSOR(1)};
    td_dtype dtype = (td_dtype)SELF->dtype;
    int64_t sizes[TD_MAX_DIMS];
    int ndim;
    if (dtype != TD_F16 && dtype != TD_F32 && dtype != TD_F64)
        return td_fail(
            TD_RUNTIME_ERROR,
            "complex: expected both inputs to be Half, Float or Double tensors but got %s and %s",
            td_dtypes[dtype].type_name, td_dtypes[parts[1]->dtype].type_name);
    if (parts[1]->dtype != dtype)
        return td_fail(
            TD_RUNTIME_ERROR,
            "complex: expected object of scalar type %s but got scalar type %s for second argument",
            td_dtypes[dtype].type_name, td_dtypes[parts[1]->dtype].type_name);
    TD_TRY(td_broadcast(SELF->ndim, SELF->sizes, parts[1]->ndim, parts[1]->sizes, &ndim, sizes));
    TD_TRY(td_tensor_empty(OUT, td_to_complex(dtype), (td_device)SELF->device, ndim, sizes));
    td_tensor *pairs, *half;
    TD_TRY(td_view_as_real(&pairs, call->out[0]));
    td_status status = TD_OK;
    for (int k = 0; k < 2 && status == TD_OK; k++) {
        status = td_view_select(&half, pairs, -1, k);
        if (status == TD_OK) {
            status = td_copy(half, parts[k]);
            td_tensor_free(half);
        }
    }
    td_tensor_free(pairs);
    return status;
}
