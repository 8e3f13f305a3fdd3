/* counts.c - samples of counts: poisson, binomial. */
#include "ops/random/draws.h"

#define SELF TD_TENSOR(0)
#define OUT (&call->out[0])
#define GENERATOR(k) (call->args[k].generator)

/* ---- poisson ---- */

td_status td_op_poisson(td_call *call)
{
    TD_TRY(td_random_floating((td_dtype)SELF->dtype, false, "poisson"));
    TD_TRY(td_tensor_empty_like(OUT, SELF, (td_dtype)SELF->dtype));
    if (td_is_meta(SELF)) return TD_OK;
    td_tensor *values;
    TD_TRY(td_widened(&values, SELF, SELF, TD_F64));
    td_status status = td_poisson_check(values);
    if (status == TD_OK) {
        td_draw_each(values, NULL, GENERATOR(1), td_poisson_of, 80);
        status = td_copy(call->out[0], values);
    }
    td_tensor_free(values);
    return status;
}

/* ---- binomial ---- */

/* counts and probabilities of the broadcast shape; the counts become the samples */
static td_status draw_binomial(td_tensor *out, const td_tensor *count, const td_tensor *prob,
                               td_generator *g)
{
    td_tensor *n, *p = NULL;
    TD_TRY(td_widened(&n, count, out, TD_F64));
    td_status status = td_widened(&p, prob, out, TD_F64);
    if (status == TD_OK) status = td_binomial_check(n, p);
    if (status == TD_OK) {
        td_draw_each(n, p, g, td_binomial_of, 120);
        status = td_copy(out, n);
    }
    td_tensor_free(n);
    td_tensor_free(p);
    return status;
}

td_status td_op_binomial(td_call *call)
{
    const td_tensor *count = SELF, *prob = TD_TENSOR(1);
    int ndim;
    int64_t sizes[TD_MAX_DIMS];
    TD_TRY(td_random_floating((td_dtype)count->dtype, false, "binomial"));
    if (count->dtype != prob->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "binomial: expected count and prob of one dtype, but got %s and %s",
                       td_dtypes[count->dtype].name, td_dtypes[prob->dtype].name);
    TD_TRY(td_broadcast(count->ndim, count->sizes, prob->ndim, prob->sizes, &ndim, sizes));
    TD_TRY(td_tensor_empty(OUT, (td_dtype)count->dtype, (td_device)count->device, ndim, sizes));
    return td_is_meta(count) ? TD_OK : draw_binomial(call->out[0], count, prob, GENERATOR(2));
}
