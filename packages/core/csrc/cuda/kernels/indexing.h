/* indexing.h - reading and writing at places that indices name. One thread an element; where
 * several indices name one place, one thread meets them in their order, so that the bits are the
 * processor's and the same every time.
 *
 *   td_places_alone<td_place_offsets<D>>     where indices point, in bytes; looks at them
 *   td_places_alone<td_place_take<D>>        blocks at the places of a walk (cpu/indexing.h) into a dense tensor
 *   td_places_alone<td_place_keys<D>>        offsets made ready to be sorted
 *   td_places_alone<td_place_put<Op, D>>     a dense tensor into blocks at sorted offsets
 *   td_places_alone<td_place_gather<D>>      along a dimension every element has an index of its own
 *   td_places_alone<td_place_scatter<Op, D>> the same backwards: a thread for each line along that
 * dimension
 *   td_places_alone<td_place_fill<D>>        a number where a mask is true */
#ifndef TD_INDEXING_TEXT_H
#define TD_INDEXING_TEXT_H
#include "cpu/simd/device/convert.h"
#include "cuda/kernels/division.h"
#include "cuda/kernels/fault.h"

#define TD_PLACES_DIMS 64

struct td_places_call { /* laid out as in csrc/cuda/indexing.c; distances in bytes */
    char *out;
    const char *at, *from;
    td_ticket ticket; /* of indices that name no place among `size` */
    int64_t size, step, wraps, more;
    int64_t n; /* threads that have work */
    /* of a walk: `outer_dims` dimensions before the indexed ones, then those behind */
    int64_t outer, count, inner, run, outer_dims;
    uint64_t *keys;                                      /* offsets, sorted */
    const int64_t *place_at;                             /* offsets as the indices name them */
    int64_t *order;                                      /* which index each sorted one is of */
    int64_t ndim, line, out_apart, at_apart, from_apart; /* of a line along the dimension */
    alignas(16) char number[16];
    int64_t sizes[TD_PLACES_DIMS], out_strides[TD_PLACES_DIMS], at_strides[TD_PLACES_DIMS],
        from_strides[TD_PLACES_DIMS];
};

/* ---- how an element meets the one that was there (PUT of cpu/indexing.c) ---- */
#define TD_PUT_ROW(name, whole, real)                                      \
    struct name {                                                          \
        static TD_IN uint64_t integers(int64_t a, int64_t b, bool u)       \
        {                                                                  \
            (void)u;                                                       \
            return whole;                                                  \
        }                                                                  \
        template <class T> static TD_IN T reals(T a, T b) { return real; } \
    };
#define TD_ABOVE(a, b, u) ((u) ? (uint64_t)(a) > (uint64_t)(b) : (a) > (b))
TD_PUT_ROW(td_put_add, (uint64_t)a + (uint64_t)b, a + b)
TD_PUT_ROW(td_put_mul, (uint64_t)a *(uint64_t)b, a *b)
TD_PUT_ROW(td_put_div, (uint64_t)(a / b - (a % b < 0)), a / b)
TD_PUT_ROW(td_put_max, (uint64_t)(TD_ABOVE(b, a, u) ? b : a), b > a || b != b ? b : a)
TD_PUT_ROW(td_put_min, (uint64_t)(TD_ABOVE(a, b, u) ? b : a), b < a || b != b ? b : a)
struct td_put_copy {
};
template <class A, class B> struct td_is_same {
    enum { value = 0 };
};
template <class A> struct td_is_same<A, A> {
    enum { value = 1 };
};

template <class Op, int D> struct td_meeting {
    typedef typename td_mem<D>::type T;
    static TD_IN T of(T a, T b)
    {
        typedef typename td_value<D>::type R;
        if constexpr (td_is_same<Op, td_put_copy>::value) return b;
        else if constexpr (D == TD_BOOL)
            return td_is_same<Op, td_put_add>::value || td_is_same<Op, td_put_max>::value
                       ? (T)(a || b)
                       : (T)(a && b);
        else if constexpr (td_is_whole<D>::value)
            return (T)Op::integers((int64_t)a, (int64_t)b, D >= TD_U16);
        else if constexpr (D == TD_C64 || D == TD_C128) {
            if constexpr (td_is_same<Op, td_put_add>::value) return T(a.re + b.re, a.im + b.im);
            else if constexpr (td_is_same<Op, td_put_div>::value) {
                /* by counts, whose larger part is the real one: cdivide of cpu/simd */
                typedef decltype(T::re) R;
                R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
                return T((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
            } else return T(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
        } else return td_made<D>(Op::reals(td_read<D, R>(a), td_read<D, R>(b)));
    }
};

/* ---- blocks at places ---- */
#define TD_NOWHERE INT64_MIN /* the offset of an index that names no place */

template <int D> struct td_place_offsets {
    static TD_IN void one(const td_places_call &c, int64_t i)
    {
        int64_t *out = (int64_t *)c.out, before = c.more ? out[i] : 0;
        int64_t at = td_checked(c.ticket, ((const int64_t *)c.at)[i], c.size, c.wraps);
        out[i] = at < 0 || before == TD_NOWHERE ? TD_NOWHERE : before + at * c.step;
    }
};
template <int D> struct td_place_keys {
    static TD_IN void one(const td_places_call &c, int64_t i)
    {
        c.keys[i] = (uint64_t)c.place_at[i];
        c.order[i] = i;
    }
};
/* the offset of place `at` among those of dimensions [from, to) */
VFN int64_t td_dims_at(const td_places_call &c, int64_t at, int64_t from, int64_t to)
{
    int64_t offset = 0;
#pragma unroll 1
    for (int64_t d = to - 1; d >= from; d--) {
        int64_t rest = td_over(at, c.sizes[d]);
        offset += (at - rest * c.sizes[d]) * c.out_strides[d];
        at = rest;
    }
    return offset;
}
struct td_block_at {
    int64_t outer, index, inner, element; /* inner, element: of a block and within its run */
};
VFN td_block_at td_block_of(const td_places_call &c, int64_t at)
{
    td_block_at b;
    int64_t rest = td_over(at, c.run);
    b.element = at - rest * c.run;
    at = td_over(rest, c.inner);
    b.inner = rest - at * c.inner;
    b.outer = td_over(at, c.count);
    b.index = at - b.outer * c.count;
    return b;
}
VFN int64_t td_beside(const td_places_call &c, const td_block_at &b)
{
    return td_dims_at(c, b.outer, 0, c.outer_dims) + td_dims_at(c, b.inner, c.outer_dims, c.ndim);
}
template <int D> struct td_place_take {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_block_at b = td_block_of(c, at);
        int64_t place = c.place_at[b.index];
        const char *from = c.from + td_beside(c, b);
        ((T *)c.out)[at] = place == TD_NOWHERE ? T(0) : ((const T *)(from + place))[b.element];
    }
};
/* What is written at one place. Sums and products of 16 bits are float32, rounded once. */
template <class Op, int D> struct td_written {
    typedef typename td_mem<D>::type T;
    enum {
        rounds = (D == TD_F16 || D == TD_BF16) &&
                 (td_is_same<Op, td_put_add>::value || td_is_same<Op, td_put_mul>::value)
    };
    static TD_IN T all(const td_places_call &c, const T *from, int64_t apart, T made, int64_t at,
                       int64_t end)
    {
        if constexpr (rounds) {
            float sum = td_read<D, float>(made);
            for (; at < end; at++)
                sum = Op::reals(sum, td_read<D, float>(from[c.order[at] * apart]));
            return td_made<D>(sum);
        } else {
            for (; at < end; at++) made = td_meeting<Op, D>::of(made, from[c.order[at] * apart]);
            return made;
        }
    }
};
/* A thread for each sorted offset and element; the first of a place meets all that name it. */
template <class Op, int D> struct td_place_put {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_block_at b = td_block_of(c, at);
        uint64_t place = c.keys[b.index];
        if (place == (uint64_t)TD_NOWHERE || (b.index && c.keys[b.index - 1] == place)) return;
        int64_t first = b.index, end = first + 1;
        while (end < c.count && c.keys[end] == place) end++;
        if (td_is_same<Op, td_put_copy>::value) first = end - 1; /* the last one stays */
        T *to = (T *)(c.out + td_beside(c, b) + (int64_t)place) + b.element;
        int64_t apart = c.inner * c.run;
        const T *from = (const T *)c.from + b.outer * c.count * apart + b.inner * c.run + b.element;
        *to = td_written<Op, D>::all(c, from, apart, *to, first, end);
    }
};

/* ---- an index for every element ---- */
struct td_offsets {
    int64_t out, at, from;
};
VFN_CALLED td_offsets td_offsets_of(const td_places_call &c, int64_t at)
{
    td_offsets found = {0, 0, 0};
#pragma unroll 1
    for (int64_t d = c.ndim - 1; d >= 0; d--) {
        int64_t index = at % c.sizes[d];
        at /= c.sizes[d];
        found.out += index * c.out_strides[d];
        found.at += index * c.at_strides[d];
        found.from += index * c.from_strides[d];
    }
    return found;
}
template <int D> struct td_place_gather {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_offsets o = td_offsets_of(c, at);
        int64_t place = td_checked(c.ticket, *(const int64_t *)(c.at + o.at), c.size, false);
        *(T *)(c.out + o.out) =
            place < 0 ? T(0) : *(const T *)(c.from + o.from + place * c.from_apart);
    }
};
template <class Op, int D> struct td_place_scatter {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_offsets o = td_offsets_of(c, at);
#pragma unroll 1
        for (int64_t i = 0; i < c.line; i++) {
            int64_t place = i;
            if (c.at)
                place = td_checked(c.ticket, *(const int64_t *)(c.at + o.at + i * c.at_apart),
                                   c.size, false);
            if (place < 0) continue;
            T *to = (T *)(c.out + o.out + place * c.out_apart);
            *to = td_meeting<Op, D>::of(*to, *(const T *)(c.from + o.from + i * c.from_apart));
        }
    }
};
template <int D> struct td_place_fill {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_offsets o = td_offsets_of(c, at);
        *(T *)(c.out + o.out) =
            *(const T *)(*(const uint8_t *)(c.at + o.at) ? c.number : c.from + o.from);
    }
};

template <class Work>
__global__ void __launch_bounds__(256) td_places_alone(const __grid_constant__ td_places_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.n; at += step)
        Work::one(c, at);
}
#endif
