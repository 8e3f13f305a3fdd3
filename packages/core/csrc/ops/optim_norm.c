/* optim_norm.c - norms over lists of tensors: of each, and of all together. */
#include <math.h>
#include "ops/optim.h"
#include "runtime/alloc.h"
#include "runtime/device.h"

/* The norm of chunks [begin, end), joined from left to right: a fixed order, whoever computed them.
 */
static double join(const double *partial, int64_t begin, int64_t end, double p)
{
    double all = p == -INFINITY ? INFINITY : 0;
    for (int64_t i = begin; i < end; i++) {
        double x = partial[i];
        if (!isinf(p)) all += x;
        else if (x != x || (p > 0 ? x > all : x < all)) all = x;
    }
    return p == 0 || isinf(p) ? all : p == 2 ? sqrt(all) : p == 1 ? all : pow(all, 1 / p);
}

/* Call `finish` with the table and the partial norms of all chunks. */
static td_status with_partials(td_call *call, const char *name, double p,
                               td_status (*finish)(td_call *, const td_flat *, const double *,
                                                   double))
{
    td_flat f;
    TD_TRY(td_flat_begin_reading(&f, name, call->args[0].tensors, TD_LEN(0)));
    int64_t bytes = (f.first[f.count] + 1) * (int64_t)sizeof(double);
    double *partial = td_alloc(bytes);
    td_status status;
    if (!partial)
        status = td_fail(TD_MEMORY_ERROR, "%s: no memory for %lld bytes of work space", name,
                         (long long)bytes);
    else {
        status = td_flat_sums_on(&f, p, partial);
        if (status == TD_OK) status = finish(call, &f, partial, p);
    }
    td_free(partial, bytes);
    td_flat_end(&f, false);
    return status;
}

static td_status new_number(td_tensor **out, double value, td_dtype dtype, td_device device)
{
    td_scalar number = td_scalar_float(value);
    TD_TRY(td_tensor_empty(out, dtype, device, 0, NULL));
    if (device == TD_CPU) return td_scalar_store(&number, dtype, td_data(*out)), TD_OK;
    return td_has_memory(device) ? td_fill(*out, &number) : TD_OK;
}

/* ---- all together ---- */
static td_status finish_all(td_call *call, const td_flat *f, const double *partial, double p)
{
    int dtype = f->count ? f->lists[0][0]->dtype : td_default_dtype;
    td_device device = f->count ? (td_device)f->lists[0][0]->device : TD_CPU;
    for (int64_t i = 1; i < f->count; i++)
        dtype = td_promote((td_dtype)dtype, (td_dtype)f->lists[0][i]->dtype);
    return new_number(&call->out[0], join(partial, 0, f->first[f->count], p), (td_dtype)dtype,
                      device);
}

td_status td_op__global_norm(td_call *call)
{
    return with_partials(call, "_global_norm", TD_FLOAT(1), finish_all);
}

/* ---- each ---- */
static td_status finish_each(td_call *call, const td_flat *f, const double *partial, double p)
{
    TD_TRY(td_outs(call, f->count));
    for (int64_t i = 0; i < f->count; i++) {
        const td_tensor *t = f->lists[0][i];
        td_dtype dtype = TD_DTYPE_OR(2, (td_dtype)t->dtype);
        if (!td_is_floating(dtype))
            return td_fail(TD_RUNTIME_ERROR,
                           "_flat_norms: dtype must be floating-point, but got %s",
                           td_dtypes[dtype].name);
        TD_TRY(new_number(&call->outs[i], join(partial, f->first[i], f->first[i + 1], p), dtype,
                          (td_device)t->device));
    }
    return TD_OK;
}

td_status td_op__flat_norms(td_call *call)
{
    td_scalar ord = TD_SCALAR(1);
    if (ord.kind == TD_S_COMPLEX)
        return td_fail(TD_RUNTIME_ERROR,
                       "_flat_norms expects a real ord, but got a complex number");
    return with_partials(call, "_flat_norms", ord.re, finish_each);
}
