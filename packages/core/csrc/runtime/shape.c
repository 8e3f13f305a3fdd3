/* shape.c - checked arithmetic on shapes. */
#include <stdio.h>
#include "runtime/tensor.h"

const char *td_shape_text(int ndim, const int64_t *sizes, char buffer[TD_SHAPE_TEXT])
{
    int used = snprintf(buffer, TD_SHAPE_TEXT, "[");
    for (int i = 0; i < ndim; i++) {
        char one[32];
        int length = snprintf(one, sizeof one, "%s%lld", i ? ", " : "", (long long)sizes[i]);
        if (used + length + 6 > TD_SHAPE_TEXT) { /* leaves room for ", ...]" */
            used += snprintf(buffer + used, (size_t)(TD_SHAPE_TEXT - used), "...");
            break;
        }
        used += snprintf(buffer + used, (size_t)(TD_SHAPE_TEXT - used), "%s", one);
    }
    snprintf(buffer + used, (size_t)(TD_SHAPE_TEXT - used), "]");
    return buffer;
}

/* Zero counts as one while looking for overflow, so that the strides of an accepted shape never
 * overflow either. */
td_status td_numel(int ndim, const int64_t *sizes, int64_t *out)
{
    int64_t product = 1;
    bool empty = false;
    char text[TD_SHAPE_TEXT];
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] < 0)
            return td_fail(TD_RUNTIME_ERROR, "negative dimension %lld in the shape %s",
                           (long long)sizes[i], td_shape_text(ndim, sizes, text));
        empty |= sizes[i] == 0;
        if (sizes[i] > 0 && td_mul_overflows(product, sizes[i], &product))
            return td_fail(TD_RUNTIME_ERROR,
                           "the number of elements of the shape %s overflowed 64 bits",
                           td_shape_text(ndim, sizes, text));
    }
    *out = empty ? 0 : product;
    return TD_OK;
}

void td_row_major(int ndim, const int64_t *sizes, int64_t *strides)
{
    uint64_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = (int64_t)step;
        step *= sizes[i] > 1 ? (uint64_t)sizes[i] : 1;
    }
}

td_status td_wrap_dim(int64_t dim, int64_t ndim, int64_t *out)
{
    int64_t n = ndim > 0 ? ndim : 1;
    if (dim < -n || dim >= n)
        return td_fail(TD_INDEX_ERROR,
                       "Dimension out of range: expected one in [%lld, %lld], but got %lld",
                       (long long)-n, (long long)n - 1, (long long)dim);
    *out = dim < 0 ? dim + n : dim;
    return TD_OK;
}

static td_status cannot_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int dim,
                                  int64_t x, int64_t y)
{
    char left[TD_SHAPE_TEXT], right[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR,
                   "shapes %s and %s do not broadcast: sizes %lld and %lld must match at "
                   "non-singleton dimension %d",
                   td_shape_text(na, a, left), td_shape_text(nb, b, right), (long long)x,
                   (long long)y, dim);
}

td_status td_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out)
{
    int n = na > nb ? na : nb;
    int64_t result[TD_MAX_DIMS]; /* out may be a or b */
    for (int i = 0; i < n; i++) {
        int64_t x = i < n - na ? 1 : a[i - (n - na)], y = i < n - nb ? 1 : b[i - (n - nb)];
        if (x != y && x != 1 && y != 1) return cannot_broadcast(na, a, nb, b, i, x, y);
        result[i] = x == 1 ? y : x;
    }
    for (int i = 0; i < n; i++) out[i] = result[i];
    *nout = n;
    return TD_OK;
}
