/* reduce.c - from a reduction as an operator asks for it to results: dtypes, shapes, empty inputs,
 * complex numbers. */
#include "ops/reduction/reduce.h"
#include "ops/view/view.h"
#include "runtime/device.h"

uint64_t td_all_dims(const td_tensor *x)
{
    return x->ndim == 64 ? UINT64_MAX : ((uint64_t)1 << x->ndim) - 1;
}

td_status td_reduce_dims(const td_arg *arg, const td_tensor *x, bool empty_is_all, uint64_t *out)
{
    *out = td_all_dims(x);
    if (arg->kind == TD_ARG_NONE || (arg->kind == TD_ARG_INTS && arg->n == 0 && empty_is_all))
        return TD_OK;
    bool one = arg->kind == TD_ARG_INT;
    TD_TRY(td_dim_mask(out, one ? 1 : arg->n, one ? &arg->i : arg->ints, x->ndim));
    *out &= td_all_dims(x); /* a 0-dim tensor may be asked for its dimension 0, which it has not */
    return TD_OK;
}

int td_reduced_shape(const td_tensor *x, uint64_t dims, bool keepdim, int64_t sizes[TD_MAX_DIMS])
{
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool gone = dims >> d & 1;
        if (!gone || keepdim) sizes[n++] = gone ? 1 : x->sizes[d];
    }
    return n;
}

int64_t td_reduced_count(const td_tensor *x, uint64_t dims)
{
    int64_t count = 1;
    for (int d = 0; d < x->ndim; d++)
        if (dims >> d & 1) count *= x->sizes[d];
    return count;
}

/* ---- dtypes: what a kernel computes from, and what it gives ---- */

static bool is_half(td_dtype d) { return d == TD_F16 || d == TD_BF16; }

/* What a dtype without a kernel of its own is converted to: it has room for every number of it. */
static td_dtype wider(td_dtype d)
{
    if (is_half(d)) return TD_F32;
    return d == TD_C32 ? TD_C64 : d == TD_U16 ? TD_I32 : d == TD_U32 ? TD_I64 : d;
}

static bool is_of_truth(td_reduction kind)
{
    return kind == TD_ANY || kind == TD_ALL || kind == TD_COUNT;
}

/* Loops over bools ask whether a byte is 0, so they read integers of a byte as they are: a copy of
 * them would take most of the time. */
static bool reads_as_bools(const td_reduce_spec *spec, const td_tensor *x)
{
    bool byte = x->dtype == TD_U8 || x->dtype == TD_I8;
    return byte && is_of_truth(spec->kind) && td_on_host(x);
}

/* The dtype to convert x to before a kernel of this kind can read it. */
static td_status kernel_dtype(const td_reduce_spec *spec, td_dtype from, td_dtype *out)
{
    bool truth = is_of_truth(spec->kind);
    *out = truth && !td_is_float8(from) ? TD_BOOL : from;
    if (td_find_reducer(spec->kind, *out)->size) return TD_OK;
    *out = wider(from);
    if (td_find_reducer(spec->kind, *out)->size) return TD_OK;
    return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for '%s'", spec->op,
                   td_dtypes[from].type_name);
}

static td_status make_results(td_tensor *out[2], int wanted, const td_tensor *x,
                              const td_reduce_spec *spec, const td_dtype *dtype)
{
    int64_t sizes[TD_MAX_DIMS];
    int ndim = td_reduced_shape(x, spec->dims, spec->keepdim, sizes);
    for (int k = 0; k < 2; k++)
        if (wanted >> k & 1)
            TD_TRY(td_tensor_empty(&out[k], dtype[k], (td_device)x->device, ndim, sizes));
    return TD_OK;
}

static void drop_results(td_tensor *out[2])
{
    for (int k = 0; k < 2; k++) {
        td_tensor_free(out[k]);
        out[k] = NULL;
    }
}

static td_status convert_result(td_tensor **t, td_dtype dtype)
{
    td_tensor *converted;
    if (!*t || (*t)->dtype == dtype) return TD_OK;
    TD_TRY(td_cast(&converted, *t, dtype));
    td_tensor_free(*t);
    *t = converted;
    return TD_OK;
}

static td_status fill_empty(td_tensor *const out[2], const td_reduce_spec *spec)
{
    td_scalar value = td_scalar_float(spec->empty);
    for (int k = 0; k < 2; k++)
        if (out[k]) TD_TRY(td_fill(out[k], &value));
    return TD_OK;
}

static td_status compute(td_tensor *out[2], int wanted, const td_tensor *x,
                         const td_reduce_spec *spec)
{
    td_dtype from;
    td_tensor *input;
    TD_TRY(kernel_dtype(spec, (td_dtype)x->dtype, &from));
    const td_reducer *reducer = td_find_reducer(spec->kind, from);
    TD_TRY(make_results(out, wanted, x, spec,
                        (td_dtype[2]){(td_dtype)reducer->dtype[0], (td_dtype)reducer->dtype[1]}));
    if (x->numel == 0) return fill_empty(out, spec);
    if (reads_as_bools(spec, x)) {
        TD_TRY(td_tensor_alias(&input, x));
        input->dtype = TD_BOOL;
    } else TD_TRY(td_cast(&input, x, from));
    td_status status = td_reduce_run(spec->kind, &spec->context, input, spec->dims, out);
    td_tensor_free(input);
    return status;
}

/* A sum of complex numbers is the sum of their parts: one more dimension, of size 2, that is kept.
 */
static td_status compute_parts(td_tensor *out[2], const td_tensor *x, const td_reduce_spec *spec)
{
    td_tensor *parts = NULL, *wide, *halves[2] = {NULL, NULL};
    td_dtype complex = x->dtype == TD_C32 ? TD_C64 : (td_dtype)x->dtype;
    TD_TRY(td_cast(&wide, x, complex));
    td_status status = make_results(out, 1, x, spec, &complex);
    if (status == TD_OK) status = td_view_as_real(&parts, wide);
    if (status == TD_OK) status = td_view_as_real(&halves[0], out[0]);
    if (status == TD_OK)
        status = x->numel ? td_reduce_run(spec->kind, &spec->context, parts, spec->dims, halves)
                          : fill_empty(out, spec);
    td_tensor_free(halves[0]);
    td_tensor_free(parts);
    td_tensor_free(wide);
    return status;
}

td_status td_reduce(td_tensor *out[2], int wanted, const td_tensor *x, const td_reduce_spec *spec)
{
    out[0] = out[1] = NULL;
    td_status status;
    if (td_is_meta(x)) status = make_results(out, wanted, x, spec, spec->dtype);
    else if (td_is_complex((td_dtype)x->dtype) && spec->kind == TD_SUM)
        status = compute_parts(out, x, spec);
    else status = compute(out, wanted, x, spec);
    for (int k = 0; k < 2 && status == TD_OK; k++) status = convert_result(&out[k], spec->dtype[k]);
    if (status != TD_OK) drop_results(out);
    return status;
}
