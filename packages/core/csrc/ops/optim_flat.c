/* optim_flat.c - lists of tensors as one flat index space. */
#include <string.h>
#include "ops/optim.h"
#include "runtime/alloc.h"
#include "runtime/device.h"

/* ---- checks ---- */
static td_status check_tensor(const td_flat *f, const char *name, int list, int64_t i)
{
    const td_tensor *t = f->lists[list][i], *model = f->lists[0][i];
    char got[TD_SHAPE_TEXT], wanted[TD_SHAPE_TEXT];
    if (!t)
        return td_fail(TD_TYPE_ERROR, "%s: entry %lld of list %d is None", name, (long long)i,
                       list);
    if (t->device != f->lists[0][0]->device)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: tensor %lld of list %d is on another device than the first one", name,
                       (long long)i, list);
    if (td_optim_kind((td_dtype)t->dtype) < 0)
        return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for %s (tensor %lld of list %d)",
                       name, td_dtypes[t->dtype].name, (long long)i, list);
    if (t->dtype != model->dtype)
        return td_fail(TD_RUNTIME_ERROR,
                       "%s: tensor %lld of list %d is %s, but the one of the first list is %s",
                       name, (long long)i, list, td_dtypes[t->dtype].name,
                       td_dtypes[model->dtype].name);
    if (!f->only_read && td_has_zero_stride(t))
        return td_fail(
            TD_RUNTIME_ERROR,
            "%s: several elements of tensor %lld of list %d refer to a single memory location",
            name, (long long)i, list);
    if (td_same_shape(t, model)) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: tensor %lld of list %d has shape %s, but the one of the first list %s",
                   name, (long long)i, list, td_shape_text(t->ndim, t->sizes, got),
                   td_shape_text(model->ndim, model->sizes, wanted));
}

/* ---- building ---- */
static bool same_strides(const td_tensor *a, const td_tensor *b)
{
    for (int d = 0; d < a->ndim; d++)
        if (a->sizes[d] > 1 && a->strides[d] != b->strides[d]) return false;
    return true;
}

/* May the i-th tensors be walked as flat memory, side by side? */
static bool walk_together(const td_flat *f, int64_t i)
{
    const td_tensor *model = f->lists[0][i];
    if (!td_is_dense(model)) return false;
    for (int k = 0; k < f->nlists; k++) {
        const td_tensor *t = f->lists[k] ? f->lists[k][i] : NULL;
        if (t && (!same_strides(t, model) || t->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))) return false;
    }
    return true;
}

static td_status stand_in(td_tensor **out, const td_tensor *t)
{
    TD_TRY(td_tensor_empty(out, (td_dtype)t->dtype, (td_device)t->device, t->ndim, t->sizes));
    return td_copy(*out, t);
}

static td_status add_slice(td_flat *f, int64_t i)
{
    bool flat = walk_together(f, i);
    td_slice *s = &f->slices[i];
    s->numel = f->lists[0][i]->numel;
    for (int k = 0; k < f->nlists; k++) {
        if (!f->lists[k]) continue;
        td_tensor **temp = &f->temps[i * f->nlists + k];
        if (!flat) TD_TRY(stand_in(temp, f->lists[k][i]));
        s->data[k] = td_data(flat ? f->lists[k][i] : *temp);
    }
    f->first[i + 1] = f->first[i] + (s->numel + TD_CHUNK - 1) / TD_CHUNK;
    return TD_OK;
}

static td_status fill(td_flat *f, const char *name)
{
    for (int64_t i = 0; i < f->count; i++)
        for (int k = 0; k < f->nlists; k++)
            if (f->lists[k]) TD_TRY(check_tensor(f, name, k, i));
    for (int64_t i = 0; i < f->count; i++)
        if (!td_is_meta(f->lists[0][i])) TD_TRY(add_slice(f, i));
        else f->first[i + 1] = f->first[i];
    return TD_OK;
}

static td_status begin(td_flat *f, const char *name, int nlists, td_tensor **const *lists,
                       int64_t count, bool only_read)
{
    int64_t each = sizeof(td_slice) + sizeof(int64_t) + (int64_t)sizeof(td_tensor *) * nlists;
    *f = (td_flat){.count = count,
                   .nlists = nlists,
                   .only_read = only_read,
                   .bytes = each * count + (int64_t)sizeof(int64_t)};
    char *memory = td_alloc(f->bytes);
    if (!memory)
        return td_fail(TD_MEMORY_ERROR, "%s: no memory for a table of %lld tensors", name,
                       (long long)count);
    memset(memory, 0, (size_t)f->bytes);
    f->slices = (td_slice *)memory;
    f->first = (int64_t *)(f->slices + count);
    f->temps = (td_tensor **)(f->first + count + 1);
    for (int k = 0; k < nlists; k++) f->lists[k] = (td_tensor **)lists[k];
    td_status status = fill(f, name);
    if (status != TD_OK) td_flat_end(f, false);
    return status;
}

td_status td_flat_begin(td_flat *f, const char *name, int nlists, td_tensor **const *lists,
                        int64_t count)
{
    return begin(f, name, nlists, lists, count, false);
}

td_status td_flat_begin_reading(td_flat *f, const char *name, td_tensor **list, int64_t count)
{
    return begin(f, name, 1, &list, count, true);
}

td_status td_flat_end(td_flat *f, bool write)
{
    td_status status = TD_OK;
    for (int64_t i = 0; i < f->count * f->nlists; i++) {
        td_tensor *temp = f->temps[i];
        if (temp && write && status == TD_OK)
            status = td_copy(f->lists[i % f->nlists][i / f->nlists], temp);
        td_tensor_free(temp);
    }
    td_free(f->slices, f->bytes);
    return status;
}

/* ---- where it runs ---- */
static td_device device_of(const td_flat *f)
{
    return f->count ? (td_device)f->lists[0][0]->device : TD_CPU;
}

td_status td_flat_work_on(const td_flat *f, td_flat_work work, const void *params)
{
    td_device device = device_of(f);
    if (!td_has_memory(device)) return TD_OK;
    if (device == TD_CPU) return td_flat_run(f, work, params), TD_OK;
    td_optim_job job = {.flat = f, .work = work, .params = params};
    return td_work_run(TD_WORK_OPTIM, &job, device, "an optimizer's step");
}

td_status td_flat_sums_on(const td_flat *f, double p, double *partial)
{
    td_device device = device_of(f);
    if (device == TD_CPU || !td_has_memory(device)) return td_flat_power_sums(f, p, partial), TD_OK;
    td_optim_job job = {.flat = f, .p = p, .partial = partial};
    return td_work_run(TD_WORK_OPTIM, &job, device, "a norm over a list of tensors");
}
