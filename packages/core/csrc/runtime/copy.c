/* copy.c - copying, converting and filling whole tensors on any device and between devices: every
 * dtype, any strides, conj and neg bits resolved. */
#include "runtime/device.h"

#define COPY_COST 0.3 /* nanoseconds per element and thread, about */
#define CONVERT_COST 0.5

/* dst and src are disjoint and on one device, or src is a number of the host; flags do not matter.
 */
static td_status move(td_tensor *dst, const td_tensor *src)
{
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 2, (td_tensor *const[]){dst, (td_tensor *)src}));
    td_walk w = {.kind = TD_WALK_COPY,
                 .numbers = src->device != dst->device ? 2 : 0,
                 .dtypes = {dst->dtype, src->dtype},
                 .cost = dst->dtype == src->dtype ? COPY_COST : CONVERT_COST,
                 .nd = &nd};
    return td_walk_run(&w, dst->device);
}

/* Change the sign of one part (0 real, 1 imaginary) of every element, in place. */
static td_status negate_part(td_tensor *t, int part)
{
    td_dtype real = td_to_real((td_dtype)t->dtype);
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 1, &t));
    nd.data[0] += part * td_itemsize(real);
    td_walk w = {.kind = TD_WALK_NEGATE, .dtypes = {(uint8_t)real}, .cost = COPY_COST, .nd = &nd};
    return td_walk_run(&w, t->device);
}

/* Apply the difference of two sets of conj and neg bits. neg bits only come with floating and
 * complex dtypes. */
static td_status apply_bits(td_tensor *t, int bits)
{
    bool complex = td_is_complex((td_dtype)t->dtype);
    bool conj = complex && (bits & TD_FLAG_CONJ), neg = bits & TD_FLAG_NEG;
    if (neg) TD_TRY(negate_part(t, 0));
    if (complex && neg != conj) TD_TRY(negate_part(t, 1));
    return TD_OK;
}

#define SIGN_BITS (TD_FLAG_CONJ | TD_FLAG_NEG)

/* A dense copy of src of another dtype, with `bits` applied in that type. */
static td_status materialise(td_tensor **out, const td_tensor *src, td_dtype dtype, int bits)
{
    td_tensor *copy;
    TD_TRY(td_tensor_empty_like(&copy, src, dtype));
    td_status status = move(copy, src);
    if (status == TD_OK) status = apply_bits(copy, bits & SIGN_BITS);
    if (status == TD_OK) *out = copy;
    else td_tensor_free(copy);
    return status;
}

/* Bits are of the tensor that has them: those of src are applied in its type, those of dst in that
 * of dst. */
static td_status copy_through(td_tensor *dst, const td_tensor *src)
{
    td_tensor *plain, *copy;
    td_dtype from = (td_dtype)src->dtype, to = (td_dtype)dst->dtype;
    if (from == to || !(dst->flags & SIGN_BITS))
        TD_TRY(materialise(&copy, src, from, src->flags ^ dst->flags));
    else {
        TD_TRY(materialise(&plain, src, from, src->flags));
        td_status status = materialise(&copy, plain, to, dst->flags);
        td_tensor_free(plain);
        TD_TRY(status);
    }
    td_status status = move(dst, copy);
    td_tensor_free(copy);
    return status;
}

static td_status check_shapes(const td_tensor *dst, const td_tensor *src)
{
    td_nd nd;
    return td_nd_init(&nd, 2, (td_tensor *const[]){(td_tensor *)dst, (td_tensor *)src});
}

/* ---- between devices ---- */

/* Dense bytes. Two devices of different types, neither of them the host, meet in the host's memory.
 */
static td_status transfer(td_tensor *to, const td_tensor *from, bool wait)
{
    int64_t bytes = to->numel * td_itemsize((td_dtype)to->dtype);
    bool both = to->device != TD_CPU && from->device != TD_CPU;
    if (!both || td_device_type(to->device) == td_device_type(from->device)) {
        td_device owner = to->device != TD_CPU ? to->device : from->device;
        return td_table_of(owner)->transfer(td_data(to), to->device, td_data(from), from->device,
                                            bytes, wait);
    }
    td_tensor *host;
    TD_TRY(td_tensor_empty(&host, (td_dtype)from->dtype, TD_CPU, from->ndim, from->sizes));
    td_status status = transfer(host, from, true);
    if (status == TD_OK) status = transfer(to, host, true);
    td_tensor_free(host);
    return status;
}

/* Converted and made dense where it is, sent, and spread where it arrives. */
static td_status copy_across(td_tensor *dst, const td_tensor *src, bool wait)
{
    td_tensor *sent, *landed;
    bool plain = !(dst->flags & SIGN_BITS),
         number = src->numel == 1 && src->device == TD_CPU && !(src->flags & SIGN_BITS);
    if (plain && number) return move(dst, src);
    TD_TRY(td_cast_contiguous(&sent, src, (td_dtype)dst->dtype));
    td_status status = TD_OK;
    if (plain && td_is_contiguous(dst) && td_same_shape(dst, sent)) {
        status = transfer(dst, sent, wait);
    } else {
        status =
            td_tensor_empty(&landed, (td_dtype)dst->dtype, dst->device, sent->ndim, sent->sizes);
        if (status == TD_OK) {
            status = transfer(landed, sent, wait || landed->device == TD_CPU);
            if (status == TD_OK) status = td_copy(dst, landed);
            td_tensor_free(landed);
        }
    }
    td_tensor_free(sent);
    return status;
}

static td_status copy(td_tensor *dst, const td_tensor *src, bool wait)
{
    if (td_is_meta(dst) || td_is_meta(src) || dst->numel == 0) return check_shapes(dst, src);
    if (dst->device != src->device) {
        TD_TRY(check_shapes(dst, src));
        return copy_across(dst, src, wait);
    }
    bool bits = (dst->flags ^ src->flags) & SIGN_BITS;
    bool same = dst->dtype == src->dtype && td_same_layout(dst, src);
    if (same && !bits) return TD_OK;
    if (td_may_overlap(dst, src) || (bits && dst->dtype != src->dtype))
        return copy_through(dst, src);
    TD_TRY(move(dst, src));
    return bits ? apply_bits(dst, (dst->flags ^ src->flags) & SIGN_BITS) : TD_OK;
}

td_status td_copy(td_tensor *dst, const td_tensor *src) { return copy(dst, src, true); }
td_status td_copy_queued(td_tensor *dst, const td_tensor *src) { return copy(dst, src, false); }

static td_status filled(td_tensor **out, td_tensor *fresh,
                        const td_tensor *src) /* takes `fresh` over */
{
    td_status status = td_copy(fresh, src);
    if (status == TD_OK) *out = fresh;
    else td_tensor_free(fresh);
    return status;
}

td_status td_contiguous(td_tensor **out, const td_tensor *src)
{
    return td_cast_contiguous(out, src, (td_dtype)src->dtype);
}

td_status td_cast(td_tensor **out, const td_tensor *src, td_dtype dtype)
{
    if (src->dtype == dtype && !(src->flags & SIGN_BITS)) return td_tensor_alias(out, src);
    td_tensor *copy;
    TD_TRY(td_tensor_empty_like(&copy, src, dtype));
    return filled(out, copy, src);
}

td_status td_cast_contiguous(td_tensor **out, const td_tensor *src, td_dtype dtype)
{
    if (src->dtype == dtype && td_is_contiguous(src) && !(src->flags & SIGN_BITS))
        return td_tensor_alias(out, src);
    td_tensor *copy;
    TD_TRY(td_tensor_empty(&copy, dtype, (td_device)src->device, src->ndim, src->sizes));
    return filled(out, copy, src);
}

td_status td_cast_optional(td_tensor **out, const td_tensor *src, td_dtype dtype)
{
    *out = NULL;
    return src ? td_cast_contiguous(out, src, dtype) : TD_OK;
}

/* ---- filling ---- */

/* The number that, read through the tensor's bits, is `value`. */
static td_scalar behind_bits(const td_tensor *t, td_scalar value)
{
    bool conj = td_is_complex((td_dtype)t->dtype) && (t->flags & TD_FLAG_CONJ),
         neg = t->flags & TD_FLAG_NEG;
    if (!conj && !neg) return value;
    return td_scalar_complex(neg ? -value.re : value.re, conj != neg ? -value.im : value.im);
}

td_status td_fill(td_tensor *dst, const td_scalar *value)
{
    if (td_is_meta(dst) || dst->numel == 0) return TD_OK;
    _Alignas(16) char element[16] = {0};
    td_scalar stored = behind_bits(dst, *value);
    td_scalar_store(&stored, (td_dtype)dst->dtype, element);
    td_nd nd;
    TD_TRY(td_nd_init(&nd, 1, &dst));
    nd.nop = 2;
    nd.data[1] = element;
    for (int d = 0; d < nd.ndim; d++) nd.strides[d][1] = 0;
    td_walk w = {.kind = TD_WALK_COPY,
                 .numbers = 2,
                 .dtypes = {dst->dtype, dst->dtype},
                 .cost = COPY_COST,
                 .nd = &nd};
    return td_walk_run(&w, dst->device);
}
