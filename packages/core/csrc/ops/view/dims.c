/* dims.c - views that move, drop, add or cut dimensions. */
#include "ops/view/view.h"
#include "runtime/wraps.h"
#include <string.h>

/* A copy of a tensor's geometry to edit. */
typedef struct geometry {
    int64_t sizes[TD_MAX_DIMS], strides[TD_MAX_DIMS], offset;
    int ndim;
} geometry;

static void geometry_of(geometry *g, const td_tensor *self)
{
    memcpy(g->sizes, self->sizes, (size_t)self->ndim * sizeof *g->sizes);
    memcpy(g->strides, self->strides, (size_t)self->ndim * sizeof *g->strides);
    g->ndim = self->ndim;
    g->offset = self->offset;
}

static td_status view_of(td_tensor **out, const td_tensor *self, const geometry *g)
{
    return td_tensor_view(out, self, g->ndim, g->sizes, g->strides, g->offset);
}

static void drop_dim(geometry *g, int64_t dim)
{
    size_t after = (size_t)(g->ndim - dim - 1) * sizeof *g->sizes;
    memmove(g->sizes + dim, g->sizes + dim + 1, after);
    memmove(g->strides + dim, g->strides + dim + 1, after);
    g->ndim--;
}

static td_status add_dim(geometry *g, int64_t dim, int64_t size, int64_t stride)
{
    size_t after = (size_t)(g->ndim - dim) * sizeof *g->sizes;
    if (g->ndim == TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR, "a tensor has at most %d dimensions", TD_MAX_DIMS);
    memmove(g->sizes + dim + 1, g->sizes + dim, after);
    memmove(g->strides + dim + 1, g->strides + dim, after);
    g->sizes[dim] = size;
    g->strides[dim] = stride;
    g->ndim++;
    return TD_OK;
}

/* ---- order ---- */

td_status td_dim_mask(uint64_t *out, int64_t n, const int64_t *dims, int ndim)
{
    uint64_t mask = 0;
    if (ndim > TD_MAX_DIMS) /* lists of sizes may be longer than any tensor's */
        return td_fail(TD_RUNTIME_ERROR, "a tensor has at most %d dimensions, but got %d",
                       TD_MAX_DIMS, ndim);
    for (int64_t i = 0; i < n; i++) {
        int64_t d;
        TD_TRY(td_wrap_dim(dims[i], ndim, &d));
        if (mask >> d & 1)
            return td_fail(TD_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims",
                           (long long)d);
        mask |= (uint64_t)1 << d;
    }
    *out = mask;
    return TD_OK;
}

td_status td_view_permute(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *dims)
{
    geometry g = {.ndim = self->ndim, .offset = self->offset};
    uint64_t mask = 0;
    char text[TD_SHAPE_TEXT];
    if (n != self->ndim)
        return td_fail(TD_RUNTIME_ERROR,
                       "permute: %lld dims are given for a tensor of %d dimensions %s",
                       (long long)n, self->ndim, td_shape_text(self->ndim, self->sizes, text));
    TD_TRY(td_dim_mask(&mask, n, dims, self->ndim));
    for (int64_t i = 0; i < n; i++) {
        int64_t d = dims[i] < 0 ? dims[i] + n : dims[i];
        g.sizes[i] = self->sizes[d];
        g.strides[i] = self->strides[d];
    }
    return view_of(out, self, &g);
}

td_status td_view_transpose(td_tensor **out, const td_tensor *self, int64_t a, int64_t b)
{
    geometry g;
    TD_TRY(td_wrap_dim(a, self->ndim, &a));
    TD_TRY(td_wrap_dim(b, self->ndim, &b));
    geometry_of(&g, self);
    if (self->ndim == 0) return view_of(out, self, &g);
    g.sizes[a] = self->sizes[b];
    g.sizes[b] = self->sizes[a];
    g.strides[a] = self->strides[b];
    g.strides[b] = self->strides[a];
    return view_of(out, self, &g);
}

td_status td_view_movedim(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *from,
                          const int64_t *to)
{
    int64_t order[TD_MAX_DIMS];
    uint64_t sources = 0, targets = 0;
    TD_TRY(td_dim_mask(&sources, n, from, self->ndim));
    TD_TRY(td_dim_mask(&targets, n, to, self->ndim));
    for (int64_t i = 0; i < n && self->ndim; i++)
        order[to[i] < 0 ? to[i] + self->ndim : to[i]] =
            from[i] < 0 ? from[i] + self->ndim : from[i];
    for (int d = 0, s = 0; d < self->ndim; d++) {
        if (targets >> d & 1) continue;
        while (sources >> s & 1) s++;
        order[d] = s++;
    }
    return td_view_permute(out, self, self->ndim, order);
}

/* ---- dimensions of size 1 ---- */

td_status td_view_unsqueeze(td_tensor **out, const td_tensor *self, int64_t dim)
{
    geometry g;
    TD_TRY(td_wrap_dim(dim, self->ndim + 1, &dim));
    geometry_of(&g, self);
    TD_TRY(add_dim(&g, dim, 1,
                   dim < self->ndim ? td_wrapping_mul(self->sizes[dim], self->strides[dim]) : 1));
    return view_of(out, self, &g);
}

static td_status squeeze_mask(td_tensor **out, const td_tensor *self, uint64_t mask)
{
    geometry g = {.ndim = 0, .offset = self->offset};
    for (int d = 0; d < self->ndim; d++) {
        if ((mask >> d & 1) && self->sizes[d] == 1) continue;
        g.sizes[g.ndim] = self->sizes[d];
        g.strides[g.ndim++] = self->strides[d];
    }
    return view_of(out, self, &g);
}

td_status td_view_squeeze(td_tensor **out, const td_tensor *self, int64_t n, const int64_t *dims)
{
    uint64_t mask = 0;
    TD_TRY(td_dim_mask(&mask, n, dims, self->ndim));
    return squeeze_mask(out, self, mask);
}

td_status td_view_squeeze_all(td_tensor **out, const td_tensor *self)
{
    return squeeze_mask(out, self, ~(uint64_t)0);
}

/* ---- parts ---- */

static td_status refuse_scalar(const td_tensor *self, const char *name, td_status kind)
{
    return self->ndim ? TD_OK : td_fail(kind, "%s() cannot be applied to a 0-dim tensor.", name);
}

td_status td_view_select(td_tensor **out, const td_tensor *self, int64_t dim, int64_t index)
{
    geometry g;
    TD_TRY(refuse_scalar(self, "select", TD_INDEX_ERROR));
    TD_TRY(td_wrap_dim(dim, self->ndim, &dim));
    int64_t size = self->sizes[dim], at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
        char text[TD_SHAPE_TEXT];
        return td_fail(TD_INDEX_ERROR,
                       "select(): index %lld out of range for tensor of size %s at dimension %lld",
                       (long long)index, td_shape_text(self->ndim, self->sizes, text),
                       (long long)dim);
    }
    geometry_of(&g, self);
    g.offset = td_wrapping_add(g.offset, td_wrapping_mul(at, self->strides[dim]));
    drop_dim(&g, dim);
    return view_of(out, self, &g);
}

void td_slice_bounds(int64_t size, int64_t *start, int64_t stop, int64_t step, int64_t *length)
{
    int64_t from = *start == TD_SLICE_NONE ? 0 : *start, to = stop == TD_SLICE_NONE ? size : stop;
    if (from < 0) from = from + size < 0 ? 0 : from + size;
    if (to < 0) to = to + size < 0 ? 0 : to + size;
    if (from > size) from = size;
    if (to > size) to = size;
    *start = from;
    *length = to > from ? (to - from - 1) / step + 1 : 0;
}

td_status td_view_slice(td_tensor **out, const td_tensor *self, int64_t dim, int64_t start,
                        int64_t stop, int64_t step)
{
    geometry g;
    TD_TRY(refuse_scalar(self, "slice", TD_INDEX_ERROR));
    TD_TRY(td_wrap_dim(dim, self->ndim, &dim));
    if (step <= 0)
        return td_fail(TD_RUNTIME_ERROR, "slice step must be positive, got %lld", (long long)step);
    geometry_of(&g, self);
    td_slice_bounds(self->sizes[dim], &start, stop, step, &g.sizes[dim]);
    g.offset = td_wrapping_add(g.offset, td_wrapping_mul(start, self->strides[dim]));
    /* at most one element */
    if (td_mul_overflows(self->strides[dim], step, &g.strides[dim])) g.strides[dim] = INT64_MAX;
    return view_of(out, self, &g);
}

td_status td_view_narrow(td_tensor **out, const td_tensor *self, int64_t dim, int64_t start,
                         int64_t length)
{
    TD_TRY(refuse_scalar(self, "narrow", TD_RUNTIME_ERROR));
    TD_TRY(td_wrap_dim(dim, self->ndim, &dim));
    int64_t size = self->sizes[dim], from = start < 0 ? start + size : start;
    if (length < 0)
        return td_fail(TD_RUNTIME_ERROR, "narrow(): length must be non-negative, got %lld",
                       (long long)length);
    if (start < -size || start > size)
        return td_fail(TD_INDEX_ERROR,
                       "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                       (long long)-size, (long long)size, (long long)start);
    if (length > size - from)
        return td_fail(TD_RUNTIME_ERROR,
                       "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                       (long long)from, (long long)length, (long long)size);
    return td_view_slice(out, self, dim, from, from + length, 1);
}

td_status td_view_diagonal(td_tensor **out, const td_tensor *self, int64_t offset, int64_t dim1,
                           int64_t dim2)
{
    geometry g;
    int64_t a, b;
    TD_TRY(td_wrap_dim(dim1, self->ndim, &a));
    TD_TRY(td_wrap_dim(dim2, self->ndim, &b));
    if (a == b)
        return td_fail(TD_RUNTIME_ERROR, "diagonal dimensions cannot be identical %lld, %lld",
                       (long long)dim1, (long long)dim2);
    geometry_of(&g, self);
    int64_t rows = g.sizes[a], columns = g.sizes[b],
            step = td_wrapping_add(g.strides[a], g.strides[b]), length;
    /* the diagonal begins `offset` columns to the right, or -offset rows down; it may miss the
     * matrix */
    if (offset >= 0)
        length = offset >= columns ? 0 : columns - offset < rows ? columns - offset : rows;
    else
        length = -(uint64_t)offset >= (uint64_t)rows ? 0
                 : rows + offset < columns           ? rows + offset
                                                     : columns;
    if (length)
        g.offset = td_wrapping_add(g.offset, offset >= 0 ? td_wrapping_mul(offset, g.strides[b])
                                                         : td_wrapping_mul(-offset, g.strides[a]));
    drop_dim(&g, a > b ? a : b);
    drop_dim(&g, a > b ? b : a);
    TD_TRY(add_dim(&g, g.ndim, length, step));
    return view_of(out, self, &g);
}

td_status td_view_unfold(td_tensor **out, const td_tensor *self, int64_t dim, int64_t size,
                         int64_t step)
{
    geometry g;
    TD_TRY(td_wrap_dim(dim, self->ndim, &dim));
    int64_t have = self->ndim ? self->sizes[dim] : 1, stride = self->ndim ? self->strides[dim] : 1,
            apart;
    if (size < 0)
        return td_fail(TD_RUNTIME_ERROR, "unfold: size is %lld but must be >= 0", (long long)size);
    if (step <= 0)
        return td_fail(TD_RUNTIME_ERROR, "unfold: step is %lld but must be > 0", (long long)step);
    if (size > have)
        return td_fail(TD_RUNTIME_ERROR,
                       "maximum size for tensor at dimension %lld is %lld but size is %lld",
                       (long long)dim, (long long)have, (long long)size);
    geometry_of(&g, self);
    /* one window: bytes must fit, too */
    if (td_mul_overflows(stride, step, &apart) || apart > INT64_MAX / 16) apart = stride;
    if (self->ndim) {
        g.sizes[dim] = (have - size) / step + 1;
        g.strides[dim] = apart;
    }
    TD_TRY(add_dim(&g, g.ndim, size, stride));
    return view_of(out, self, &g);
}
