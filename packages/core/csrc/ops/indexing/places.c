/* places.c - reading and writing at places where the tensor lies: the processor's loops, or the
 * kernels of its device. */
#include "cpu/indexing_mask_run.h"
#include "cpu/indexing_run.h"
#include "cpu/indexing_sums_run.h"
#include "ops/indexing/index.h"
#include "ops/view/view.h"

static td_status elsewhere(const td_places_job *job)
{
    return td_work_run(TD_WORK_PLACES, job, (td_device)job->out->device, "indexing");
}

td_status td_places_take(td_tensor *out, const td_tensor *self, const td_index_walk *walk)
{
    if (td_on_host(self)) return td_index_take(out, self, walk), TD_OK;
    return elsewhere(
        &(td_places_job){.what = TD_PLACES_TAKE, .out = out, .from = self, .walk = walk});
}

td_status td_places_put(td_tensor *self, const td_index_walk *walk, const td_tensor *source,
                        td_put put)
{
    /* kernels of devices round once themselves */
    if (td_on_host(self) && td_index_rounds(put, (td_dtype)self->dtype))
        return td_sums_put(self, walk, source, put);
    if (td_on_host(self)) return td_index_put(self, walk, source, put), TD_OK;
    return elsewhere(&(td_places_job){
        .what = TD_PLACES_PUT, .out = self, .from = source, .walk = walk, .put = put});
}

td_status td_places_put_at(td_tensor *target, const td_tensor *offsets, const td_tensor *source,
                           td_put put, const char *what)
{
    static const td_index_dims none;
    td_device device = (td_device)target->device;
    td_tensor *there;
    TD_TRY(td_sent_to(&there, offsets, device));
    td_index_walk walk = {.outer = 1,
                          .count = offsets->numel,
                          .inner = 1,
                          .run = td_itemsize((td_dtype)target->dtype),
                          .at = td_data(there),
                          .before = &none,
                          .after = &none};
    td_places_job job = {
        .what = TD_PLACES_PUT, .out = target, .from = source, .walk = &walk, .put = put};
    td_status status = td_work_run(TD_WORK_PLACES, &job, device, what);
    td_tensor_free(there);
    return status;
}

/* of indices of the host; those of a device are looked at there */
static bool in_range(const td_tensor *at, int64_t size)
{
    td_tensor *dense;
    if (!td_on_host(at)) return true;
    if (td_contiguous(&dense, at) != TD_OK) return false;
    bool inside = td_index_all_in_range(td_data(dense), dense->numel, size);
    td_tensor_free(dense);
    return inside;
}

td_status td_places_gather(td_tensor *out, const td_tensor *at, const td_tensor *self, int64_t dim,
                           bool *inside)
{
    if (td_on_host(self)) return *inside = td_index_gather(out, at, self, dim), TD_OK;
    *inside = in_range(at, self->ndim ? self->sizes[dim] : 1);
    if (!*inside) return TD_OK;
    return elsewhere(
        &(td_places_job){.what = TD_PLACES_GATHER, .out = out, .at = at, .from = self, .dim = dim});
}

td_status td_places_scatter(td_tensor *target, int64_t dim, const td_tensor *index,
                            const td_tensor *src, td_put put)
{
    if (td_index_rounds(put, (td_dtype)target->dtype))
        return td_sums_scatter(target, dim, index, src, put);
    if (td_on_host(target)) return td_index_scatter(target, dim, index, src, put);
    return elsewhere(&(td_places_job){.what = TD_PLACES_SCATTER,
                                      .out = target,
                                      .at = index,
                                      .from = src,
                                      .dim = dim,
                                      .put = put});
}

td_status td_places_combine(td_tensor *target, const td_tensor *source, td_put put, double cost)
{
    if (td_on_host(target)) return td_index_combine(target, source, put, cost);
    return elsewhere(
        &(td_places_job){.what = TD_PLACES_COMBINE, .out = target, .from = source, .put = put});
}

td_status td_places_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                         const td_scalar *value)
{
    if (td_on_host(self)) return td_mask_fill(out, self, mask, value);
    return elsewhere(&(td_places_job){
        .what = TD_PLACES_FILL, .out = out, .at = mask, .from = self, .value = value});
}

/* ---- a dense tensor as one row ---- */

/* Both as one dimension: views of row-major tensors. */
static td_status two_rows(td_tensor **a, td_tensor **b, const td_tensor *x, const td_tensor *y)
{
    TD_TRY(td_view_sizes(a, x, 1, &x->numel));
    td_status status = td_view_sizes(b, y, 1, &y->numel);
    if (status != TD_OK) td_tensor_free(*a);
    return status;
}

td_status td_places_take_row(td_tensor *out, const td_tensor *at, const td_tensor *row)
{
    td_tensor *line, *to, *flat;
    if (td_on_host(row)) return td_index_take_row(out, at, row) ? TD_OK : td_index_changed();
    TD_TRY(two_rows(&to, &line, out, row));
    td_status status = td_view_sizes(&flat, at, 1, &at->numel);
    if (status == TD_OK) {
        status = elsewhere(
            &(td_places_job){.what = TD_PLACES_GATHER, .out = to, .at = flat, .from = line});
        td_tensor_free(flat);
    }
    td_tensor_free(to);
    td_tensor_free(line);
    return status;
}

td_status td_places_put_row(td_tensor *row, const td_tensor *at, const td_tensor *values,
                            td_put put)
{
    td_tensor *line, *from;
    if (td_on_host(row) && !td_index_rounds(put, (td_dtype)row->dtype))
        return td_index_put_row(row, at, values, put), TD_OK;
    TD_TRY(two_rows(&line, &from, row, values));
    td_status status = td_places_scatter(line, 0, at, from, put);
    td_tensor_free(line);
    td_tensor_free(from);
    return status;
}

/* ---- masks: their places are found in the host's memory ---- */

td_status td_places_of_row(td_tensor **out, const td_tensor *bytes)
{
    td_mask_chunks c;
    TD_TRY(td_mask_begin(&c, bytes));
    td_status status = td_tensor_empty(out, TD_I64, TD_CPU, 1, &c.total);
    if (status == TD_OK && c.total) td_mask_places(&c, *out, 1, &bytes->numel);
    td_mask_end(&c);
    return status;
}

td_status td_places_compress(td_tensor **out, const td_tensor *dense, const td_tensor *mask)
{
    td_tensor *bytes, *at;
    TD_TRY(td_to_host(&bytes, mask));
    td_status status = td_places_of_row(&at, bytes);
    td_tensor_free(bytes);
    if (status != TD_OK) return status;
    status = td_tensor_empty(out, (td_dtype)dense->dtype, (td_device)dense->device, 1, at->sizes);
    if (status == TD_OK && at->numel) status = td_places_take_row(*out, at, dense);
    td_tensor_free(at);
    return status;
}

td_status td_places_place(td_tensor *out, const td_tensor *mask, const td_tensor *source)
{
    td_tensor *bytes, *at, *first, *line;
    if (td_on_host(out)) return td_mask_place(out, mask, source);
    TD_TRY(td_to_host(&bytes, mask));
    td_status status = td_places_of_row(&at, bytes);
    td_tensor_free(bytes);
    if (status != TD_OK) return status;
    if (at->numel > source->numel)
        status = td_fail(
            TD_RUNTIME_ERROR,
            "masked_scatter: Number of elements of source < number of ones in mask: %lld < %lld",
            (long long)source->numel, (long long)at->numel);
    else if (at->numel && (status = two_rows(&line, &first, out, source)) == TD_OK) {
        status = td_places_scatter(line, 0, at, first, TD_PUT_COPY);
        td_tensor_free(line);
        td_tensor_free(first);
    }
    td_tensor_free(at);
    return status;
}
