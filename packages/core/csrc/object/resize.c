/* resize.c - a tensor of other sizes on its own storage, which grows if it must. */
#include "object/watch.h"

static td_status resized(td_tensor **out, const td_tensor *t, int ndim, const int64_t *sizes)
{
    int64_t numel, bytes, strides[TD_MAX_DIMS];
    TD_TRY(td_numel(ndim, sizes, &numel));
    if (td_add_overflows(numel, t->offset, &bytes) ||
        td_mul_overflows(bytes, td_itemsize((td_dtype)t->dtype), &bytes))
        return td_fail(TD_RUNTIME_ERROR, "resize_: the new size overflows 64 bits");
    td_row_major(ndim, sizes, strides);
    TD_TRY(td_tensor_view(out, t, ndim, sizes, strides, t->offset));
    td_status status = bytes > t->storage->nbytes ? td_storage_resize(t->storage, bytes) : TD_OK;
    if (status) td_tensor_free(*out);
    return status;
}

int td_resize(PyObject *o, int ndim, const int64_t *sizes)
{
    td_tensor *t;
    td_note_untraced("a tensor is resized");
    td_status status = resized(&t, TD_T(o), ndim, sizes);
    if (status) return td_raised(status);
    td_publish(o, t);
    return 0;
}
