/* tensor.c - making tensors and asking about their layout. */
#include "runtime/address.h"
#include <string.h>
#include "runtime/alloc.h"

/* ---- the struct ---- */
static int64_t dims_bytes(int ndim) { return (int64_t)sizeof(int64_t) * 2 * ndim; }

static td_status new_struct(td_tensor **out, int ndim)
{
    if (ndim < 0 || ndim > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "a tensor has at most %d dimensions, but got %d",
                       TD_MAX_DIMS, ndim);
    td_tensor *t = td_alloc_struct(sizeof *t);
    int64_t *dims = !t                       ? NULL
                    : ndim <= TD_INLINE_DIMS ? t->inline_dims
                                             : td_alloc_struct(dims_bytes(ndim));
    if (!dims) {
        td_free_struct(t, sizeof *t);
        return td_fail(TD_MEMORY_ERROR, "out of memory: no room for a tensor object");
    }
    t->own_version = NULL;
    t->ndim = ndim;
    t->sizes = dims;
    t->strides = dims + (ndim <= TD_INLINE_DIMS ? TD_INLINE_DIMS : ndim);
    t->flags = t->unused = 0;
    *out = t;
    return TD_OK;
}

static void free_struct(td_tensor *t)
{
    if (t->ndim > TD_INLINE_DIMS) td_free_struct(t->sizes, dims_bytes(t->ndim));
    td_free_struct(t, sizeof *t);
}

static void copy_dims(int ndim, int64_t *to, const int64_t *from)
{
    for (int i = 0; i < ndim; i++) to[i] = from[i];
}

static td_version *keep_version(td_version *v)
{
    if (v) __atomic_fetch_add(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

static void drop_version(td_version *v)
{
    if (v && __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) == 0) td_free_struct(v, sizeof *v);
}

void td_tensor_free(td_tensor *t)
{
    if (!t) return;
    td_storage_drop(t->storage);
    drop_version(t->own_version);
    free_struct(t);
}

/* ---- tensors with memory of their own ---- */
static td_status no_room(int ndim, const int64_t *sizes, td_dtype dtype)
{
    char text[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "the size in bytes of a %s tensor of shape %s overflowed 64 bits",
                   td_dtypes[dtype].name, td_shape_text(ndim, sizes, text));
}

td_status td_refuse_quantized(td_dtype dtype)
{
    if (td_category_of(dtype) != TD_CAT_QUANTIZED) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s is the dtype of quantized tensors, whose integers have a scale: use "
                   "quantize_per_tensor, or uint8, int8 or int32 for plain integers",
                   td_dtypes[dtype].name);
}

/* A tensor without strides yet, on a new storage of `elements` elements. */
static td_status on_new_storage(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                                const int64_t *sizes, int64_t numel, int64_t elements)
{
    int64_t nbytes;
    if (td_mul_overflows(elements, td_itemsize(dtype), &nbytes)) return no_room(ndim, sizes, dtype);
    td_tensor *t = NULL;
    TD_TRY(new_struct(&t, ndim));
    td_status status = td_storage_new(&t->storage, nbytes, device);
    if (status != TD_OK) {
        free_struct(t);
        return status;
    }
    t->offset = 0;
    t->numel = numel;
    t->dtype = (uint8_t)dtype;
    t->device = (uint8_t)device;
    copy_dims(ndim, t->sizes, sizes);
    *out = t;
    return TD_OK;
}

static td_status check_rank(int ndim)
{
    if (ndim >= 0 && ndim <= TD_MAX_DIMS) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "a tensor has at most %d dimensions, but got %d", TD_MAX_DIMS,
                   ndim);
}

td_status td_tensor_empty(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                          const int64_t *sizes)
{
    TD_TRY(td_refuse_quantized(dtype));
    return td_tensor_handle(out, dtype, device, ndim, sizes);
}

td_status td_tensor_handle(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                           const int64_t *sizes)
{
    int64_t numel;
    TD_TRY(check_rank(ndim));
    TD_TRY(td_numel(ndim, sizes, &numel));
    TD_TRY(on_new_storage(out, dtype, device, ndim, sizes, numel, numel));
    td_row_major(ndim, sizes, (*out)->strides);
    return TD_OK;
}

/* One past the last element that the strides reach; without elements they reach nothing. */
static td_status reach(int ndim, const int64_t *sizes, const int64_t *strides, td_dtype dtype,
                       int64_t numel, int64_t *out)
{
    int64_t last = 0, step;
    for (int i = 0; i < ndim; i++) {
        if (strides[i] < 0) {
            char text[TD_SHAPE_TEXT];
            return td_fail(TD_RUNTIME_ERROR, "strides must not be negative, but got %s",
                           td_shape_text(ndim, strides, text));
        }
        if (td_mul_overflows(numel ? sizes[i] - 1 : 0, strides[i], &step) ||
            td_add_overflows(last, step, &last))
            return no_room(ndim, sizes, dtype);
    }
    return td_add_overflows(last, 1, out) ? no_room(ndim, sizes, dtype) : TD_OK;
}

td_status td_tensor_empty_strided(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                                  const int64_t *sizes, const int64_t *strides)
{
    int64_t numel, elements;
    TD_TRY(td_refuse_quantized(dtype));
    TD_TRY(check_rank(ndim));
    TD_TRY(td_numel(ndim, sizes, &numel));
    TD_TRY(reach(ndim, sizes, strides, dtype, numel, &elements));
    TD_TRY(on_new_storage(out, dtype, device, ndim, sizes, numel, numel ? elements : 0));
    copy_dims(ndim, (*out)->strides, strides);
    return TD_OK;
}

td_status td_tensor_empty_like(td_tensor **out, const td_tensor *like, td_dtype dtype)
{
    if (!td_is_dense(like))
        return td_tensor_empty(out, dtype, (td_device)like->device, like->ndim, like->sizes);
    TD_TRY(td_refuse_quantized(dtype));
    TD_TRY(on_new_storage(out, dtype, (td_device)like->device, like->ndim, like->sizes, like->numel,
                          like->numel));
    copy_dims(like->ndim, (*out)->strides, like->strides);
    return TD_OK;
}

td_status td_tensor_from_scalar(td_tensor **out, const td_scalar *value, td_dtype dtype)
{
    TD_TRY(td_tensor_empty(out, dtype, TD_CPU, 0, NULL));
    td_scalar_store(value, dtype, (*out)->storage->data);
    (*out)->flags = TD_FLAG_WRAPPED;
    return TD_OK;
}

/* ---- tensors on a storage that exists ---- */
td_status td_tensor_on_storage(td_tensor **out, td_storage *s, td_dtype dtype, int ndim,
                               const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    int64_t numel;
    td_tensor *t = NULL;
    if (s->device != TD_META) TD_TRY(td_refuse_quantized(dtype));
    TD_TRY(check_rank(ndim));
    TD_TRY(td_numel(ndim, sizes, &numel));
    TD_TRY(new_struct(&t, ndim));
    t->storage = td_storage_keep(s);
    /* without elements the place is anywhere, but bytes up to it can be counted */
    t->offset = numel || (offset >= 0 && offset < INT64_MAX / 16) ? offset : 0;
    t->numel = numel;
    t->dtype = (uint8_t)dtype;
    t->device = s->device;
    copy_dims(ndim, t->sizes, sizes);
    copy_dims(ndim, t->strides, strides);
    *out = t;
    return TD_OK;
}

td_status td_tensor_view(td_tensor **out, const td_tensor *base, int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset)
{
    TD_TRY(td_tensor_on_storage(out, base->storage, (td_dtype)base->dtype, ndim, sizes, strides,
                                offset));
    (*out)->flags = base->flags & ~TD_FLAG_WRAPPED;
    (*out)->own_version = keep_version(base->own_version);
    return TD_OK;
}

td_status td_tensor_alias(td_tensor **out, const td_tensor *base)
{
    TD_TRY(td_tensor_view(out, base, base->ndim, base->sizes, base->strides, base->offset));
    (*out)->flags = base->flags;
    return TD_OK;
}

td_status td_tensor_detach_version(td_tensor *t)
{
    td_version *v = td_alloc_struct(sizeof *v);
    if (!v) return td_fail(TD_MEMORY_ERROR, "out of memory: no room for a version counter");
    *v = (td_version){.refs = 1};
    drop_version(t->own_version);
    t->own_version = v;
    return TD_OK;
}

/* ---- layout ---- */
bool td_is_contiguous(const td_tensor *t)
{
    if (t->numel == 0) return true;
    int64_t step = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->sizes[i] == 1) continue;
        if (t->strides[i] != step) return false;
        step *= t->sizes[i];
    }
    return true;
}

bool td_is_channels_last(const td_tensor *t)
{
    if (t->ndim != 4 && t->ndim != 5) return false;
    int64_t step = 1;
    for (int k = 0; k < t->ndim; k++) {
        int i = k == 0 ? 1 : k == t->ndim - 1 ? 0 : t->ndim - k; /* 1, last, ..., 2, 0 */
        if (t->sizes[i] == 1) continue;
        if (t->strides[i] != step) return false;
        step *= t->sizes[i];
    }
    return true;
}

/* Dims of more than one element, those with the smaller stride first. */
static int by_stride(const td_tensor *t, int order[TD_MAX_DIMS])
{
    int n = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (t->sizes[i] < 2) continue;
        int k = n++;
        for (; k > 0 && t->strides[order[k - 1]] > t->strides[i]; k--) order[k] = order[k - 1];
        order[k] = i;
    }
    return n;
}

bool td_is_dense(const td_tensor *t)
{
    if (t->numel > 0 && td_is_contiguous(t)) return true;
    int order[TD_MAX_DIMS], n = by_stride(t, order);
    uint64_t step = 1;
    for (int k = 0; k < n; k++) {
        if (t->strides[order[k]] != (int64_t)step) return false;
        step *= (uint64_t)t->sizes[order[k]];
    }
    return true;
}

bool td_may_overlap_itself(const td_tensor *t)
{
    int order[TD_MAX_DIMS], n = t->numel ? by_stride(t, order) : 0;
    int64_t reached = 0; /* by the dims of smaller strides: the next step must go beyond */
    for (int k = 0; k < n; k++) {
        if (t->strides[order[k]] <= reached) return true;
        reached += (t->sizes[order[k]] - 1) * t->strides[order[k]];
    }
    return false;
}

bool td_has_zero_stride(const td_tensor *t)
{
    for (int i = 0; t->numel && i < t->ndim; i++)
        if (t->strides[i] == 0 && t->sizes[i] > 1) return true;
    return false;
}

/* First and one past the last byte, counted from address 0. */
static void byte_range(const td_tensor *t, uintptr_t *begin, uintptr_t *end)
{
    int64_t low = t->offset, high = t->offset + 1;
    for (int i = 0; i < t->ndim; i++) {
        int64_t far = (t->sizes[i] - 1) * t->strides[i];
        if (far < 0) low += far;
        else high += far;
    }
    int64_t size = td_itemsize((td_dtype)t->dtype);
    *begin = (uintptr_t)t->storage->data + (uintptr_t)(low * size);
    *end = (uintptr_t)t->storage->data + (uintptr_t)(high * size);
}

bool td_ranges_meet(const td_tensor *a, const td_tensor *b)
{
    if (a->numel == 0 || b->numel == 0) return false;
    if (a->storage != b->storage && (!a->storage->data || !b->storage->data)) return false;
    uintptr_t begin_a, end_a, begin_b, end_b;
    byte_range(a, &begin_a, &end_a);
    byte_range(b, &begin_b, &end_b);
    return begin_a < end_b && begin_b < end_a;
}

static bool equal_dims(int ndim, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < ndim; i++)
        if (a[i] != b[i]) return false;
    return true;
}

bool td_same_shape(const td_tensor *a, const td_tensor *b)
{
    return a->ndim == b->ndim && equal_dims(a->ndim, a->sizes, b->sizes);
}

td_scalar td_meant_number(const td_tensor *t, td_scalar value)
{
    bool neg = t->flags & TD_FLAG_NEG;
    if (value.kind == TD_S_COMPLEX) {
        bool conj = t->flags & TD_FLAG_CONJ;
        return td_scalar_complex(neg ? -value.re : value.re, conj != neg ? -value.im : value.im);
    }
    /* the neg bit comes with floating-point and complex numbers only */
    return neg ? td_scalar_float(-value.re) : value;
}

bool td_same_layout(const td_tensor *a, const td_tensor *b)
{
    return a->storage == b->storage && a->offset == b->offset && td_same_shape(a, b) &&
           td_itemsize((td_dtype)a->dtype) == td_itemsize((td_dtype)b->dtype) &&
           equal_dims(a->ndim, a->strides, b->strides);
}

td_overlap td_overlap_of(const td_tensor *out, const td_tensor *t)
{
    if (!td_may_overlap(out, t)) return TD_APART;
    if (td_same_layout(out, t) && out->dtype == t->dtype) return TD_IDENTICAL;
    return td_is_dense(out) && td_is_dense(t) ? TD_TANGLED : TD_UNCLEAR;
}

td_status td_fail_overlap(void)
{
    return td_fail(
        TD_RUNTIME_ERROR,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation.");
}

td_status td_fail_overlap_within(void)
{
    return td_fail(
        TD_RUNTIME_ERROR,
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.");
}
