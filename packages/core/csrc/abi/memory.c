/* memory.c - tensors of any strides, work space, and memory that goes to other libraries or comes
 * from them. */
#include "abi/abi.h"
#include "object/dlpack.h"
#include "ops/layout.h"
#include "runtime/alloc.h"

static int32_t check(const char *slot, int32_t dtype, int32_t number, int32_t ndim,
                     td_device *device, taeda_error *error)
{
    if (dtype < 0 || dtype >= TD_NDTYPES)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "%s: there is no dtype %d", slot, dtype);
    if (ndim < 0 || ndim > TD_MAX_DIMS)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "%s: a tensor has 0 to %d dimensions, not %d",
                            slot, TD_MAX_DIMS, ndim);
    return td_abi_device_from(slot, number, device, error);
}

/* checked arguments */
static int32_t make(int32_t dtype, td_device device, int32_t ndim, const int64_t *sizes,
                    const int64_t *strides, taeda_tensor **out, taeda_error *error)
{
    td_tensor *t;
    td_status status = td_tensor_empty_strided(&t, (td_dtype)dtype, device, ndim, sizes, strides);
    if (!status) *out = td_outer(t);
    return td_abi_status(status, error);
}

int32_t td_abi_empty_strided(int32_t dtype, int32_t number, int32_t ndim, const int64_t *sizes,
                             const int64_t *strides, taeda_tensor **out, taeda_error *error)
{
    td_device device;
    int32_t code = check("empty_strided", dtype, number, ndim, &device, error);
    if (code) return code;
    for (int32_t i = 0; i < ndim; i++)
        if (strides[i] < 0)
            return td_abi_error(error, TAEDA_VALUE_ERROR,
                                "empty_strided: a stride must not be negative, got %lld",
                                (long long)strides[i]);
    return make(dtype, device, ndim, sizes, strides, out, error);
}

int32_t td_abi_empty_format(int32_t dtype, int32_t number, int32_t ndim, const int64_t *sizes,
                            int32_t format, taeda_tensor **out, taeda_error *error)
{
    int64_t strides[TD_MAX_DIMS];
    td_device device;
    int32_t code = check("empty_format", dtype, number, ndim, &device, error);
    if (code) return code;
    if (format != TD_CONTIGUOUS_FORMAT && format != TD_CHANNELS_LAST &&
        format != TD_CHANNELS_LAST_3D)
        return td_abi_error(error, TAEDA_VALUE_ERROR,
                            "empty_format: a memory format is 0, 2 or 3, not %d", format);
    int64_t numel;
    td_status status = td_numel(ndim, sizes, &numel);
    if (!status) status = td_format_strides((td_memory_format)format, ndim, sizes, strides);
    return status ? td_abi_status(status, error)
                  : make(dtype, device, ndim, sizes, strides, out, error);
}

/* ---- work space ---- */
int32_t td_abi_scratch(int64_t bytes, void **out, taeda_error *error)
{
    if (bytes < 0)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "scratch: %lld bytes cannot exist",
                            (long long)bytes);
    void *block = td_alloc(bytes);
    if (!block)
        return td_abi_error(error, TAEDA_MEMORY_ERROR, "scratch: out of memory for %lld bytes",
                            (long long)bytes);
    *out = block;
    return 0;
}
void td_abi_scratch_free(void *block, int64_t bytes) { td_free(block, bytes); }

/* ---- other libraries ---- */
static int32_t lend(const td_tensor *t, struct DLManagedTensorVersioned **out, taeda_error *error)
{
    struct dl_versioned *given = td_dlpack_of(t);
    if (!given) return td_abi_exception(error);
    *out = (struct DLManagedTensorVersioned *)given;
    return 0;
}

int32_t td_abi_to_dlpack(const taeda_tensor *tensor, struct DLManagedTensorVersioned **out,
                         taeda_error *error)
{
    int32_t code;
    TD_NO_UNWIND_BEGIN
    PyGILState_STATE state = PyGILState_Ensure();
    code = lend(td_inner(tensor), out, error);
    PyGILState_Release(state);
    TD_NO_UNWIND_END
    return code;
}

static int32_t borrow(struct DLManagedTensorVersioned *managed, taeda_tensor **out,
                      taeda_error *error)
{
    td_tensor *t = td_tensor_of_dlpack((struct dl_versioned *)managed);
    if (!t) return td_abi_exception(error);
    *out = td_outer(t);
    return 0;
}

int32_t td_abi_from_dlpack(struct DLManagedTensorVersioned *managed, taeda_tensor **out,
                           taeda_error *error)
{
    int32_t code;
    TD_NO_UNWIND_BEGIN
    PyGILState_STATE state = PyGILState_Ensure();
    code = borrow(managed, out, error);
    PyGILState_Release(state);
    TD_NO_UNWIND_END
    return code;
}
