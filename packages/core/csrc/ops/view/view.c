/* view.c - the arithmetic of views: new sizes, strides and offset over the same storage.
 * Views that move or drop dimensions stand in view_dims.c, the operators themselves in view_ops.c.
 */
#include "ops/view/view.h"
#include <string.h>
#include "ops/layout.h"
#include "runtime/address.h"
#include "runtime/wraps.h"

/* ---- shapes of the same elements ---- */

static td_status bad_shape(int64_t numel, int64_t n, const int64_t *sizes)
{
    char text[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "shape '%s' is invalid for input of size %lld",
                   td_shape_text((int)n, sizes, text), (long long)numel);
}

static td_status check_rank(int64_t n)
{
    if (n <= TD_MAX_DIMS) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "a tensor has at most %d dimensions, but %lld were asked for",
                   TD_MAX_DIMS, (long long)n);
}

td_status td_infer_sizes(int64_t numel, int64_t n, const int64_t *sizes, int64_t *out)
{
    int64_t known = 1, open = -1;
    TD_TRY(check_rank(n));
    for (int64_t i = 0; i < n; i++) {
        char text[TD_SHAPE_TEXT];
        out[i] = sizes[i];
        if (sizes[i] == -1 && open >= 0)
            return td_fail(TD_RUNTIME_ERROR, "only one dimension can be inferred, got %s",
                           td_shape_text((int)n, sizes, text));
        if (sizes[i] == -1) open = i;
        else if (sizes[i] < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "invalid shape dimension %lld at index %lld of shape %s",
                           (long long)sizes[i], (long long)i, td_shape_text((int)n, sizes, text));
        else if (td_mul_overflows(known, sizes[i], &known)) return bad_shape(numel, n, sizes);
    }
    if (open >= 0 && known == 0 && numel == 0) {
        char text[TD_SHAPE_TEXT];
        return td_fail(TD_RUNTIME_ERROR,
                       "cannot reshape tensor of 0 elements into shape %s: the size of the "
                       "dimension given as -1 is ambiguous",
                       td_shape_text((int)n, sizes, text));
    }
    if (open >= 0 && known != 0 && numel % known == 0) out[open] = numel / known;
    else if (known != numel) return bad_shape(numel, n, sizes);
    return TD_OK;
}

/* Runs of dimensions that chain, inner first: each is `size` elements at one stride. */
typedef struct run {
    int64_t size, stride;
} run;

static int find_runs(const td_tensor *self, run *runs)
{
    int n = 0;
    for (int d = self->ndim - 1; d >= 0; d--) {
        if (self->sizes[d] == 1) continue;
        if (n && td_wrapping_mul(runs[n - 1].stride, runs[n - 1].size) == self->strides[d])
            runs[n - 1].size *= self->sizes[d];
        else runs[n++] = (run){self->sizes[d], self->strides[d]};
    }
    return n;
}

/* Strides under which self's memory has the shape `sizes` (same number of elements); false if there
 * are none. Every new dimension must lie within one run of old ones. */
static bool chain_strides(const td_tensor *self, int n, const int64_t *sizes, int64_t *strides)
{
    run runs[TD_MAX_DIMS];
    int count = find_runs(self, runs), at = -1;
    int64_t left = 1, step = self->ndim ? self->strides[self->ndim - 1] : 1;
    for (int d = n - 1; d >= 0; d--) {
        if (sizes[d] != 1 && left == 1) {
            if (++at == count) return false;
            left = runs[at].size;
            step = runs[at].stride;
        }
        if (left % sizes[d]) return false;
        strides[d] = step;
        step = td_wrapping_mul(step, sizes[d]);
        left /= sizes[d];
    }
    return true;
}

static bool same_sizes(const td_tensor *self, int64_t n, const int64_t *sizes)
{
    return self->ndim == n && memcmp(self->sizes, sizes, (size_t)n * sizeof *sizes) == 0;
}

static bool strides_for(const td_tensor *self, int64_t n, const int64_t *sizes, int64_t *strides)
{
    if (same_sizes(self, n, sizes)) memcpy(strides, self->strides, (size_t)n * sizeof *strides);
    else if (self->numel == 0) td_row_major((int)n, sizes, strides);
    else return chain_strides(self, (int)n, sizes, strides);
    return true;
}

td_status td_view_sizes(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes)
{
    int64_t wanted[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    TD_TRY(td_infer_sizes(self->numel, n, sizes, wanted));
    if (!strides_for(self, n, wanted, strides)) {
        char text[TD_SHAPE_TEXT], from[TD_SHAPE_TEXT], by[TD_SHAPE_TEXT];
        return td_fail(
            TD_RUNTIME_ERROR,
            "view size %s is not compatible with input tensor's size %s and stride %s (a new "
            "dimension would span memory that does not chain); use reshape(...) to allow a copy",
            td_shape_text((int)n, wanted, text), td_shape_text(self->ndim, self->sizes, from),
            td_shape_text(self->ndim, self->strides, by));
    }
    return td_tensor_view(out, self, (int)n, wanted, strides, self->offset);
}

td_status td_view_reshape(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes)
{
    int64_t wanted[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    TD_TRY(td_infer_sizes(self->numel, n, sizes, wanted));
    if (strides_for(self, n, wanted, strides))
        return td_tensor_view(out, self, (int)n, wanted, strides, self->offset);
    td_tensor *copy;
    TD_TRY(td_tensor_empty(&copy, (td_dtype)self->dtype, (td_device)self->device, (int)n, wanted));
    td_tensor *same;
    td_row_major(self->ndim, self->sizes, strides);
    td_status status = td_tensor_view(&same, copy, self->ndim, self->sizes, strides, 0);
    if (status == TD_OK) {
        status = td_is_meta(self) ? TD_OK : td_copy(same, self);
        td_tensor_free(same);
    }
    if (status == TD_OK) *out = copy;
    else td_tensor_free(copy);
    return status;
}

td_status td_view_flatten(td_tensor **out, const td_tensor *self, int64_t first, int64_t last)
{
    int64_t sizes[TD_MAX_DIMS], one = 1;
    TD_TRY(td_wrap_dim(first, self->ndim, &first));
    TD_TRY(td_wrap_dim(last, self->ndim, &last));
    if (first > last)
        return td_fail(TD_RUNTIME_ERROR, "flatten: start_dim %lld cannot come after end_dim %lld",
                       (long long)first, (long long)last);
    if (self->ndim == 0) return td_view_sizes(out, self, 1, &one);
    if (first == last) return td_tensor_alias(out, self);
    int n = 0;
    for (int64_t d = 0; d < first; d++) sizes[n++] = self->sizes[d];
    TD_TRY(td_numel((int)(last - first + 1), self->sizes + first, &sizes[n++]));
    for (int64_t d = last + 1; d < self->ndim; d++) sizes[n++] = self->sizes[d];
    return td_view_reshape(out, self, n, sizes);
}

/* ---- expand ---- */

static td_status bad_expand(const td_tensor *self, int64_t n, const int64_t *sizes, int64_t d,
                            int64_t have)
{
    char to[TD_SHAPE_TEXT], from[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
                   "non-singleton dimension %lld. Target sizes: %s. Tensor sizes: %s",
                   (long long)sizes[d], (long long)have, (long long)d,
                   td_shape_text((int)n, sizes, to), td_shape_text(self->ndim, self->sizes, from));
}

td_status td_view_expand(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes)
{
    int64_t wanted[TD_MAX_DIMS], strides[TD_MAX_DIMS], numel, lead = n - self->ndim;
    TD_TRY(check_rank(n));
    char to[TD_SHAPE_TEXT], from[TD_SHAPE_TEXT];
    if (lead < 0)
        return td_fail(
            TD_RUNTIME_ERROR,
            "expand: a size of %lld dimensions %s is too short for a tensor of %d dimensions %s",
            (long long)n, td_shape_text((int)n, sizes, to), self->ndim,
            td_shape_text(self->ndim, self->sizes, from));
    for (int64_t d = n - 1; d >= 0; d--) {
        int64_t have = d >= lead ? self->sizes[d - lead] : 1;
        wanted[d] = sizes[d] == -1 && d >= lead ? have : sizes[d];
        if (wanted[d] == -1)
            return td_fail(
                TD_RUNTIME_ERROR,
                "expand: -1 isn't allowed in a leading, non-existing dimension %lld; sizes %s",
                (long long)d, td_shape_text((int)n, sizes, to));
        if (wanted[d] < 0 || (wanted[d] != have && have != 1))
            return bad_expand(self, n, sizes, d, have);
        if (d < lead)
            strides[d] = wanted[d] != 1 ? 0
                         : d + 1 < n    ? td_wrapping_mul(wanted[d + 1], strides[d + 1])
                                        : 1;
        else strides[d] = wanted[d] == have ? self->strides[d - lead] : 0;
    }
    TD_TRY(td_numel((int)n, wanted, &numel));
    return td_tensor_view(out, self, (int)n, wanted, strides, self->offset);
}

/* ---- any strides ---- */

/* The number of elements a storage must have so that all of the view lies in it; -1 on overflow. */
static int64_t storage_needed(int64_t n, const int64_t *sizes, const int64_t *strides,
                              int64_t offset)
{
    int64_t last = offset, span;
    for (int64_t d = 0; d < n; d++)
        if (sizes[d] == 0) return 0; /* wherever it stands */
    for (int64_t d = 0; d < n; d++) {
        if (td_mul_overflows(sizes[d] - 1, strides[d], &span) ||
            td_add_overflows(last, span, &last))
            return -1;
    }
    return td_add_overflows(last, 1, &last) ? -1 : last;
}

td_status td_view_strided(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes,
                          const int64_t *strides, int64_t offset)
{
    int64_t numel, have = self->storage->nbytes / td_itemsize((td_dtype)self->dtype);
    char text[TD_SHAPE_TEXT], by[TD_SHAPE_TEXT];
    TD_TRY(check_rank(n));
    TD_TRY(td_numel((int)n, sizes, &numel));
    for (int64_t d = 0; d < n; d++)
        if (strides[d] < 0)
            return td_fail(TD_RUNTIME_ERROR,
                           "as_strided: negative strides are not supported, got strides %s",
                           td_shape_text((int)n, strides, by));
    if (offset < 0)
        return td_fail(TD_RUNTIME_ERROR, "as_strided: invalid storage offset %lld",
                       (long long)offset);
    int64_t needed = storage_needed(n, sizes, strides, offset);
    if (needed < 0 || needed > have)
        return td_fail(TD_RUNTIME_ERROR,
                       "as_strided: sizes %s, strides %s and storage offset %lld need a storage of "
                       "%lld elements and are out of bounds for storage of size %lld",
                       td_shape_text((int)n, sizes, text), td_shape_text((int)n, strides, by),
                       (long long)offset, needed < 0 ? (long long)INT64_MAX : (long long)needed,
                       (long long)have);
    return td_tensor_view(out, self, (int)n, sizes, strides, offset);
}

/* ---- other dtypes over the same bytes ---- */

static td_status retyped(td_tensor **out, const td_tensor *self, td_dtype dtype, int n,
                         const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    td_tensor *view;
    TD_TRY(td_refuse_quantized(dtype));
    TD_TRY(td_tensor_view(&view, self, n, sizes, strides, offset));
    view->dtype = (uint8_t)dtype;
    /* memory of others, or bytes seen as numbers */
    if (view->numel && !td_is_aligned(td_data(view), dtype)) {
        td_tensor_free(view);
        return td_fail(TD_RUNTIME_ERROR,
                       "cannot view %s as %s: the elements would lie at an address that is not a "
                       "multiple of what %s needs; clone() first",
                       td_dtypes[self->dtype].name, td_dtypes[dtype].name, td_dtypes[dtype].name);
    }
    *out = view;
    return TD_OK;
}

static td_status bad_retype(const td_tensor *self, td_dtype dtype, const char *what, int64_t got)
{
    return td_fail(TD_RUNTIME_ERROR, "%s, to view %s as %s (different element sizes), but got %lld",
                   what, td_dtypes[self->dtype].type_name, td_dtypes[dtype].type_name,
                   (long long)got);
}

/* Wider elements: `ratio` old ones make one new. */
static td_status widen(td_tensor **out, const td_tensor *self, td_dtype dtype, int64_t ratio)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    int last = self->ndim - 1;
    if (self->sizes[last] % ratio)
        return bad_retype(self, dtype,
                          "self.size(-1) must be divisible by the ratio of the element sizes",
                          self->sizes[last]);
    if (self->offset % ratio)
        return bad_retype(
            self, dtype,
            "self.storage_offset() must be divisible by the ratio of the element sizes",
            self->offset);
    for (int d = 0; d < last; d++) {
        if (self->strides[d] % ratio)
            return bad_retype(
                self, dtype,
                "all strides but the last must be divisible by the ratio of the element sizes",
                self->strides[d]);
        sizes[d] = self->sizes[d];
        strides[d] = self->strides[d] / ratio;
    }
    sizes[last] = self->sizes[last] / ratio;
    strides[last] = 1;
    return retyped(out, self, dtype, self->ndim, sizes, strides, self->offset / ratio);
}

/* Narrower elements: one old makes `ratio` new ones. */
static td_status split_elements(td_tensor **out, const td_tensor *self, td_dtype dtype,
                                int64_t ratio)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], numel;
    int last = self->ndim - 1;
    for (int d = 0; d < last; d++) {
        sizes[d] = self->sizes[d];
        strides[d] = td_wrapping_mul(self->strides[d], ratio);
    }
    if (td_mul_overflows(self->sizes[last], ratio, &sizes[last]))
        return bad_retype(self, dtype, "self.size(-1) is too large", self->sizes[last]);
    strides[last] = 1;
    TD_TRY(td_numel(self->ndim, sizes, &numel));
    return retyped(out, self, dtype, self->ndim, sizes, strides, self->offset * ratio);
}

td_status td_view_dtype(td_tensor **out, const td_tensor *self, td_dtype dtype)
{
    int64_t from = td_itemsize((td_dtype)self->dtype), to = td_itemsize(dtype);
    if (self->dtype == dtype) return td_tensor_alias(out, self);
    if (self->flags & (TD_FLAG_CONJ | TD_FLAG_NEG))
        return td_fail(TD_RUNTIME_ERROR,
                       "view(dtype) is not supported for a lazily conjugated or negated tensor; "
                       "call resolve_conj() or resolve_neg() first");
    if (from == to)
        return retyped(out, self, dtype, self->ndim, self->sizes, self->strides, self->offset);
    if (self->ndim == 0) return bad_retype(self, dtype, "self.dim() cannot be 0", 0);
    if (self->strides[self->ndim - 1] != 1)
        return bad_retype(self, dtype, "self.stride(-1) must be 1", self->strides[self->ndim - 1]);
    return to > from ? widen(out, self, dtype, to / from)
                     : split_elements(out, self, dtype, from / to);
}

td_status td_view_as_real(td_tensor **out, const td_tensor *self)
{
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS];
    int n = self->ndim;
    if (!td_is_complex((td_dtype)self->dtype))
        return td_fail(TD_RUNTIME_ERROR,
                       "view_as_real is only supported for complex tensors, got %s",
                       td_dtypes[self->dtype].name);
    if (self->flags & TD_FLAG_CONJ)
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_real does not work on a lazily conjugated tensor; call resolve_conj() first");
    TD_TRY(check_rank(n + 1));
    for (int d = 0; d < n; d++) {
        sizes[d] = self->sizes[d];
        strides[d] = td_wrapping_mul(self->strides[d], 2);
    }
    sizes[n] = 2;
    strides[n] = 1;
    return retyped(out, self, td_to_real((td_dtype)self->dtype), n + 1, sizes, strides,
                   self->offset * 2);
}

td_status td_view_as_complex(td_tensor **out, const td_tensor *self)
{
    int64_t strides[TD_MAX_DIMS];
    int n = self->ndim - 1;
    td_dtype dtype = (td_dtype)self->dtype;
    if (dtype != TD_F16 && dtype != TD_F32 && dtype != TD_F64)
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_complex is only supported for half, float and double tensors, got %s",
            td_dtypes[dtype].name);
    if (n < 0 || self->sizes[n] != 2) {
        char text[TD_SHAPE_TEXT];
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_complex: the tensor must have a last dimension of size 2, got shape %s",
            td_shape_text(self->ndim, self->sizes, text));
    }
    if (self->strides[n] != 1)
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_complex: the tensor must have a last dimension with stride 1, got %lld",
            (long long)self->strides[n]);
    if (self->flags & TD_FLAG_NEG)
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_complex does not work on a lazily negated tensor; call resolve_neg() first");
    for (int d = 0; d < n; d++) {
        if (self->strides[d] % 2 && self->sizes[d] > 1)
            return td_fail(TD_RUNTIME_ERROR,
                           "view_as_complex: the tensor must have a stride divisible by 2 for all "
                           "but the last dimension, got %lld",
                           (long long)self->strides[d]);
        strides[d] = self->strides[d] / 2;
    }
    if (self->offset % 2)
        return td_fail(
            TD_RUNTIME_ERROR,
            "view_as_complex: the tensor must have a storage offset divisible by 2, got %lld",
            (long long)self->offset);
    return retyped(out, self, td_to_complex(dtype), n, self->sizes, strides, self->offset / 2);
}

td_status td_view_conj(td_tensor **out, const td_tensor *self)
{
    TD_TRY(td_tensor_alias(out, self));
    if (td_is_complex((td_dtype)self->dtype)) (*out)->flags ^= TD_FLAG_CONJ;
    return TD_OK;
}
