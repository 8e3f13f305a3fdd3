/* loss_alignment.c - the recursion of connectionist temporal classification. */
#include "cpu/loss_alignment_run.h"
#include "runtime/device.h"
#include "runtime/loops.h"
#include "runtime/op.h"
#include "runtime/work.h"

static td_status wrong_shapes(const td_tensor *emitted, const td_tensor *skips,
                              const td_tensor *states, const td_tensor *steps)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT], c[TD_SHAPE_TEXT], d[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "_alignments: expected emitted (T, N, S), skips (N, S) of bool, states (N) and "
                   "steps (N) of int64, but got %s, %s of %s, %s of %s and %s of %s",
                   td_shape_text(emitted->ndim, emitted->sizes, a),
                   td_shape_text(skips->ndim, skips->sizes, b), td_dtypes[skips->dtype].name,
                   td_shape_text(states->ndim, states->sizes, c), td_dtypes[states->dtype].name,
                   td_shape_text(steps->ndim, steps->sizes, d), td_dtypes[steps->dtype].name);
}

static bool is_vector(const td_tensor *t, int64_t n)
{
    return t->ndim == 1 && t->sizes[0] == n && t->dtype == TD_I64;
}

static td_status check(const td_tensor *emitted, const td_tensor *skips, const td_tensor *states,
                       const td_tensor *steps)
{
    if (emitted->dtype != TD_F32 && emitted->dtype != TD_F64)
        return td_fail(TD_NOT_IMPLEMENTED, "_alignments takes float32 and float64, got %s",
                       td_dtypes[emitted->dtype].name);
    bool fits = emitted->ndim == 3 && skips->ndim == 2 && skips->dtype == TD_BOOL &&
                skips->sizes[0] == emitted->sizes[1] && skips->sizes[1] == emitted->sizes[2] &&
                is_vector(states, emitted->sizes[1]) && is_vector(steps, emitted->sizes[1]);
    return fits ? TD_OK : wrong_shapes(emitted, skips, states, steps);
}

/* Counts that are used for addresses are looked at on the host. */
static td_status on_device(const td_alignments *a, td_tensor *out)
{
    td_tensor *states = NULL, *steps = NULL;
    td_status status = td_to_host(&states, a->states);
    if (status == TD_OK) status = td_to_host(&steps, a->steps);
    if (status == TD_OK) status = td_alignments_check(states, steps, out);
    td_tensor_free(states);
    td_tensor_free(steps);
    TD_TRY(status);
    return td_work_run(TD_WORK_ALIGNMENT, &(td_alignment_job){a, out}, (td_device)out->device,
                       "_alignments");
}

static td_status compute(const td_alignments *a, td_tensor *out)
{
    return out->device == TD_CPU ? td_alignments_run(a, out) : on_device(a, out);
}

/* (emitted, skips, states, steps, back) */
td_status td_op__alignments(td_call *call)
{
    const td_tensor *given[] = {TD_TENSOR(0), TD_TENSOR(1), TD_TENSOR(2), TD_TENSOR(3)},
                    *emitted = given[0];
    td_tensor *dense[4] = {NULL, NULL, NULL, NULL};
    TD_TRY(check(given[0], given[1], given[2], given[3]));
    TD_TRY(td_tensor_empty(&call->out[0], (td_dtype)emitted->dtype, (td_device)emitted->device, 3,
                           emitted->sizes));
    if (td_is_meta(emitted) || emitted->numel == 0) return TD_OK;
    td_status status = TD_OK;
    for (int k = 0; k < 4 && status == TD_OK; k++) status = td_contiguous(&dense[k], given[k]);
    if (status == TD_OK)
        status = compute(&(td_alignments){dense[0], dense[1], dense[2], dense[3], TD_BOOLEAN(4)},
                         call->out[0]);
    for (int k = 0; k < 4; k++) td_tensor_free(dense[k]);
    return status;
}
