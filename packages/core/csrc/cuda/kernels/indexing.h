/* indexing.h - reading and writing at places that indices name. One thread an element; where
 * several indices name one place, one thread meets them in their order, so that the bits are the
 * processor's and the same every time.
 *
 *   td_places_alone<td_place_take<D>>        blocks at the places of a walk (cpu/indexing.h) into a dense tensor
 *   td_places_alone<td_place_put<Op, D>>     a dense tensor into blocks: a thread for each place and element, over
 *                                      order[starts[s]] ... order[starts[s + 1] - 1]
 *   td_places_alone<td_place_gather<D>>      along a dimension every element has an index of its own
 *   td_places_alone<td_place_scatter<Op, D>> the same backwards: a thread for each line along that
 * dimension
 *   td_places_alone<td_place_fill<D>>        a number where a mask is true */
#ifndef TD_INDEXING_TEXT_H
#define TD_INDEXING_TEXT_H
#include "cpu/simd/device/convert.h"

#define TD_PLACES_DIMS 64

struct td_places_call { /* laid out as in csrc/cuda/indexing.c; distances in bytes */
    char *out;
    const char *at, *from;
    int64_t n; /* threads that have work */
    int64_t outer, count, inner, run, places;
    const int64_t *outer_at, *inner_at, *place_at, *order, *starts;
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
            else if constexpr (td_is_same<Op, td_put_div>::value) /* by counts, which are real */
                return T(a.re / b.re, a.im / b.re);
            else return T(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
        } else return td_made<D>(Op::reals(td_read<D, R>(a), td_read<D, R>(b)));
    }
};

/* ---- blocks at places ---- */
template <int D> struct td_place_take {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        int64_t r = at % c.run, rest = at / c.run, k = rest % c.inner;
        rest /= c.inner;
        const char *from = c.from + c.outer_at[rest / c.count] + c.place_at[rest % c.count];
        ((T *)c.out)[at] = ((const T *)(from + c.inner_at[k]))[r];
    }
};
template <class Op, int D> struct td_place_put {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        int64_t r = at % c.run, rest = at / c.run, k = rest % c.inner;
        rest /= c.inner;
        int64_t o = rest / c.places, place = rest % c.places;
        int64_t first = c.starts[place], end = c.starts[place + 1];
        char *row = c.out + c.outer_at[o] + c.place_at[c.order[first]] + c.inner_at[k];
        T *to = (T *)row + r, made = *to;
        if (td_is_same<Op, td_put_copy>::value) first = end - 1; /* the last one stays */
        for (int64_t i = first; i < end; i++)
            made = td_meeting<Op, D>::of(
                made, ((const T *)c.from)[((o * c.count + c.order[i]) * c.inner + k) * c.run + r]);
        *to = made;
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
        int64_t place = *(const int64_t *)(c.at + o.at);
        *(T *)(c.out + o.out) = *(const T *)(c.from + o.from + place * c.from_apart);
    }
};
template <class Op, int D> struct td_place_scatter {
    typedef typename td_mem<D>::type T;
    static TD_IN void one(const td_places_call &c, int64_t at)
    {
        td_offsets o = td_offsets_of(c, at);
#pragma unroll 1
        for (int64_t i = 0; i < c.line; i++) {
            int64_t place = c.at ? *(const int64_t *)(c.at + o.at + i * c.at_apart) : i;
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
