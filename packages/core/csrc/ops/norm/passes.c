/* passes.c - normalisation on the processor, or by the device's kernels. */
#include "ops/norm/passes.h"
#include "runtime/alloc.h"
#include "runtime/device.h"

static td_status elsewhere(const td_norm_job *job, td_device device)
{
    return td_work_run(TD_WORK_NORM, job, device, "normalisation");
}

td_status td_pass_rows(const td_norm_forward *p, td_device device)
{
    if (device == TD_CPU) return td_norm_rows_run(p), TD_OK;
    return elsewhere(&(td_norm_job){.what = TD_NORM_ROWS, .forward = p}, device);
}

td_status td_pass_rows_backward(const td_norm_backward *p, td_tensor *dweight, td_tensor *dbias,
                                td_device device)
{
    if (device == TD_CPU) return td_norm_rows_backward_run(p, dweight, dbias);
    return elsewhere(
        &(td_norm_job){
            .what = TD_NORM_ROWS_BACKWARD, .backward = p, .dweight = dweight, .dbias = dbias},
        device);
}

td_status td_pass_scale(td_tensor *out, const td_tensor *x, const td_tensor *numbers,
                        const td_channels *shape)
{
    if (td_on_host(x)) return td_channel_scale(out, x, numbers, shape), TD_OK;
    return elsewhere(
        &(td_norm_job){
            .what = TD_NORM_SCALE, .out = {out}, .x = x, .numbers = numbers, .shape = shape},
        (td_device)x->device);
}

td_status td_pass_mix(td_tensor *out, const td_tensor *grad, const td_tensor *x,
                      const td_tensor *numbers, const td_channels *shape)
{
    if (td_on_host(x)) return td_channel_mix(out, grad, x, numbers, shape), TD_OK;
    return elsewhere(&(td_norm_job){.what = TD_NORM_MIX,
                                    .out = {out},
                                    .grad = grad,
                                    .x = x,
                                    .numbers = numbers,
                                    .shape = shape},
                     (td_device)x->device);
}

td_status td_pass_sums(double *sums, const td_tensor *grad, const td_tensor *x,
                       const td_tensor *mean, const td_channels *shape, bool together)
{
    if (td_on_host(x)) return td_channel_sums(sums, grad, x, mean, shape, together);
    return elsewhere(&(td_norm_job){.what = TD_NORM_SUMS,
                                    .sums = sums,
                                    .grad = grad,
                                    .x = x,
                                    .numbers = mean,
                                    .shape = shape,
                                    .together = together},
                     (td_device)x->device);
}

static td_status host_moments(td_tensor *out[2], const td_tensor *x, const td_channels *shape)
{
    int64_t bytes = 2 * (int64_t)sizeof(double) * shape->channels;
    double *moments = td_alloc(bytes);
    if (!moments)
        return td_fail(TD_MEMORY_ERROR, "no memory for %lld bytes of statistics", (long long)bytes);
    td_channel_moments(moments, x, shape);
    for (int64_t c = 0; c < shape->channels; c++)
        for (int k = 0; k < 2; k++) td_norm_write(out[k], c, moments[2 * c + 1 - k]);
    td_free(moments, bytes);
    return TD_OK;
}

td_status td_pass_moments(td_tensor *out[2], const td_tensor *x, const td_channels *shape)
{
    if (td_on_host(x)) return host_moments(out, x, shape);
    return elsewhere(
        &(td_norm_job){.what = TD_NORM_MOMENTS, .out = {out[0], out[1]}, .x = x, .shape = shape},
        (td_device)x->device);
}

td_status td_pass_numbers(enum td_number_kind kind, const struct td_norm_numbers *job,
                          td_device device)
{
    if (device == TD_CPU) return td_numbers_run(kind, job), TD_OK;
    return elsewhere(&(td_norm_job){.what = TD_NORM_NUMBERS, .kind = kind, .of = job}, device);
}

td_status td_new_sums(td_tensor **out, int64_t n, const td_tensor *like)
{
    return td_tensor_empty(out, TD_F64, (td_device)like->device, 1, (int64_t[]){2 * n});
}
