/* view.h - checked views: the arithmetic behind the view operators, for any C code that needs one.
 * Each function checks its arguments and sets *out only on success; the result shares self's
 * storage, and the caller frees it. Conj and neg bits come along. Dimensions may be negative
 * (counted from the end). */
#ifndef TD_VIEW_H
#define TD_VIEW_H
#include "runtime/op.h"

/* No bound: pass as `start` or `stop` of a slice where Python would have None. */
#define TD_SLICE_NONE INT64_MIN

/* one -1 allowed */
td_status td_view_sizes(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes);
td_status td_view_dtype(td_tensor **out, const td_tensor *self, td_dtype dtype);
/* or a copy */
td_status td_view_reshape(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes);
/* or a copy */
td_status td_view_flatten(td_tensor **out, const td_tensor *self, int64_t first, int64_t last);
/* -1 keeps */
td_status td_view_expand(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes);
td_status td_view_strided(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *sizes,
                          const int64_t *strides, int64_t offset);

td_status td_view_permute(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *dims);
td_status td_view_transpose(td_tensor **out, const td_tensor *self, int64_t a, int64_t b);
td_status td_view_movedim(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *from,
                          const int64_t *to);
td_status td_view_unsqueeze(td_tensor **out, const td_tensor *self, int64_t dim);
td_status td_view_squeeze(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *dims);
td_status td_view_squeeze_all(td_tensor **out, const td_tensor *self);

td_status td_view_select(td_tensor **out, const td_tensor *self, int64_t dim, int64_t index);
td_status td_view_slice(td_tensor **out, const td_tensor *self, int64_t dim, int64_t start,
                        int64_t stop, int64_t step);
td_status td_view_narrow(td_tensor **out, const td_tensor *self, int64_t dim, int64_t start,
                         int64_t length);
td_status td_view_diagonal(td_tensor **out, const td_tensor *self, int64_t offset, int64_t dim1,
                           int64_t dim2);
td_status td_view_unfold(td_tensor **out, const td_tensor *self, int64_t dim, int64_t size,
                         int64_t step);

td_status td_view_as_real(td_tensor **out, const td_tensor *self);
td_status td_view_as_complex(td_tensor **out, const td_tensor *self);
td_status td_view_conj(td_tensor **out, const td_tensor *self);

/* Bring *length indices [*start, stop) with `step` into the bounds of a dimension of `size`, as
 * Python's slices do. */
void td_slice_bounds(int64_t size, int64_t *start, int64_t stop, int64_t step, int64_t *length);

/* The dims of a list, wrapped, as a mask of 64 bits; RuntimeError if one stands there twice. */
td_status td_dim_mask(uint64_t *out, int64_t n, const int64_t *dims, int ndim);

/* Replace one -1 among `sizes` so that they hold `numel` elements; checks that they do. `out` has n
 * entries. */
td_status td_infer_sizes(int64_t numel, int64_t n, const int64_t *sizes, int64_t *out);

#endif
