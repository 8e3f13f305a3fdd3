/* nd.c - the geometry of n-dimensional operands: drop, order and merge dimensions. */
#include "runtime/nd_order.h"
#include "runtime/wraps.h"
#include <string.h>

#define SHORT_ROW 8 /* inner dimensions below this change places with a longer neighbour */

static bool comes_before(const td_nd *nd, int a, int b)
{
    for (int k = 0; k < nd->nop; k++) {
        int64_t x = nd->strides[a][k], y = nd->strides[b][k];
        x = x < 0 ? td_wrapping_mul(x, -1) : x;
        y = y < 0 ? td_wrapping_mul(y, -1) : y;
        if (x != y && x != 0 && y != 0) return x < y;
    }
    return false;
}

static void swap_dims(td_nd *nd, int a, int b)
{
    int64_t size = nd->sizes[a];
    nd->sizes[a] = nd->sizes[b];
    nd->sizes[b] = size;
    for (int k = 0; k < nd->nop; k++) {
        int64_t stride = nd->strides[a][k];
        nd->strides[a][k] = nd->strides[b][k];
        nd->strides[b][k] = stride;
    }
}

/* Insertion sort: stable, and dimensions usually arrive in order. */
static void order(td_nd *nd)
{
    for (int i = 1; i < nd->ndim; i++)
        for (int j = i; j > 0 && comes_before(nd, j, j - 1); j--) swap_dims(nd, j, j - 1);
}

static bool chains(const td_nd *nd, int inner, int outer)
{
    for (int k = 0; k < nd->nop; k++)
        if (nd->strides[outer][k] != td_wrapping_mul(nd->strides[inner][k], nd->sizes[inner]))
            return false;
    return true;
}

static void merge(td_nd *nd)
{
    int last = 0;
    for (int d = 1; d < nd->ndim; d++) {
        if (chains(nd, last, d)) {
            nd->sizes[last] *= nd->sizes[d];
            continue;
        }
        last++;
        if (last != d) swap_dims(nd, last, d);
    }
    nd->ndim = last + 1;
}

/* The walk has its dimensions; bring them into the form it promises. */
static void finish(td_nd *nd)
{
    nd->numel = 1;
    for (int d = 0; d < nd->ndim; d++) nd->numel *= nd->sizes[d];
    if (nd->ndim == 0) {
        nd->ndim = 1;
        nd->sizes[0] = 1;
        for (int k = 0; k < nd->nop; k++) nd->strides[0][k] = 0;
    }
    if (nd->ndim == 1 || nd->numel == 0) return;
    order(nd);
    merge(nd);
    if (nd->ndim > 1 && nd->sizes[0] < SHORT_ROW && nd->sizes[1] >= 4 * nd->sizes[0])
        swap_dims(nd, 0, 1);
}

const td_nd *td_nd_in_order(const td_nd *nd, td_nd *room)
{
    if (nd->ndim < 2 || nd->sizes[1] >= SHORT_ROW || !comes_before(nd, 1, 0)) return nd;
    room->ndim = nd->ndim;
    room->nop = nd->nop;
    room->numel = nd->numel;
    memcpy(room->sizes, nd->sizes, (size_t)nd->ndim * sizeof *nd->sizes);
    memcpy(room->strides, nd->strides, (size_t)nd->ndim * sizeof *nd->strides);
    memcpy(room->data, nd->data, sizeof nd->data);
    swap_dims(room, 0, 1);
    return room;
}

static td_status cannot_expand(const td_tensor *from, const td_tensor *to)
{
    char a[TD_SHAPE_TEXT], b[TD_SHAPE_TEXT];
    return td_fail(TD_RUNTIME_ERROR, "a tensor of shape %s cannot be broadcast to shape %s",
                   td_shape_text(from->ndim, from->sizes, a),
                   td_shape_text(to->ndim, to->sizes, b));
}

/* Byte stride of operand `t` along dimension `d` of a walk over `full`; false if it does not
 * broadcast. */
static bool operand_stride(const td_tensor *t, const td_tensor *full, int d, int64_t *stride)
{
    int own = d - (full->ndim - t->ndim);
    if (own < 0 || (t->sizes[own] == 1 && full->sizes[d] != 1)) {
        *stride = 0;
        return true;
    }
    *stride = td_wrapping_mul(t->strides[own], td_itemsize((td_dtype)t->dtype));
    return t->sizes[own] == full->sizes[d];
}

td_status td_nd_init(td_nd *nd, int nop, td_tensor *const *operands)
{
    const td_tensor *full = operands[0];
    nd->nop = nop;
    nd->ndim = 0;
    for (int k = 0; k < nop; k++) {
        if (operands[k]->ndim > full->ndim) return cannot_expand(operands[k], full);
        nd->data[k] = td_data(operands[k]);
    }
    for (int d = full->ndim - 1; d >= 0; d--) {
        int64_t *strides = nd->strides[nd->ndim];
        for (int k = 0; k < nop; k++)
            if (!operand_stride(operands[k], full, d, &strides[k]))
                return cannot_expand(operands[k], full);
        if (full->sizes[d] != 1) nd->sizes[nd->ndim++] = full->sizes[d];
    }
    finish(nd);
    return TD_OK;
}

void td_nd_init_raw(td_nd *nd, int nop, char *const *data, int ndim, const int64_t *sizes,
                    const int64_t *const *strides)
{
    nd->nop = nop;
    nd->ndim = 0;
    for (int k = 0; k < nop; k++) nd->data[k] = data[k];
    for (int d = ndim - 1; d >= 0; d--) {
        if (sizes[d] == 1) continue;
        for (int k = 0; k < nop; k++) nd->strides[nd->ndim][k] = strides[k][d];
        nd->sizes[nd->ndim++] = sizes[d];
    }
    finish(nd);
}
