/* sort.h - lines sorted stably by merging: a launch a pass, a thread an element, which finds its
 * place by a search in the run that its own is merged with.
 *
 * A key is an unsigned integer whose order is that of the elements: all NaN are the largest key, -0
 * and 0 the same one; for descending order it is inverted (as cpu/sorting/sort.h has it).
 *
 *   td_sort_alone<td_sort_make<D>>    keys and places of all lines, line after line
 *   td_sort_alone<td_sort_merge<D>>   runs of `width` to runs of twice that; D does not matter
 *   td_sort_alone<td_sort_write<D>>   the first k of each line: values and places
 *   td_sort_alone<td_sort_rank<D>>    one element of each line: by rank, or the most frequent
 *   td_search_alone<td_search_place<D>>   where a value belongs in a sorted sequence */
#ifndef TD_SORT_TEXT_H
#define TD_SORT_TEXT_H
#include "cpu/simd/device/convert.h"

struct td_sort_call { /* laid out as in csrc/cuda/sort.c */
    const char *x;
    char *values;
    int64_t *indices;
    uint64_t *keys[2]; /* read, written */
    int64_t *places[2];
    int64_t units, n, inner, k, width, descending, what; /* units: threads with work */
};
template <int D> VFN uint64_t td_sort_key(typename td_mem<D>::type x)
{
    const uint64_t sign = (uint64_t)1 << 63;
    if constexpr (D == TD_F64) {
        uint64_t bits = x == 0 ? 0 : (uint64_t)__double_as_longlong(x);
        return x != x ? ~(uint64_t)0 : bits & sign ? ~bits : bits | sign;
    } else if constexpr (D == TD_F16 || D == TD_BF16 || D == TD_F32) {
        float v = td_read<D, float>(x);
        uint32_t bits = v == 0 ? 0u : __float_as_uint(v);
        return v != v ? 0xffffffffu : bits >> 31 ? ~bits : bits | 0x80000000u;
    } else if constexpr (D == TD_U64) return x;
    else return (uint64_t)(int64_t)x ^ sign;
}
template <int D> struct td_sort_make {
    static TD_IN void one(const td_sort_call &c, int64_t at)
    {
        int64_t line = at / c.n, i = at % c.n;
        int64_t from = (line / c.inner * c.n + i) * c.inner + line % c.inner;
        uint64_t key = td_sort_key<D>(((const typename td_mem<D>::type *)c.x)[from]);
        c.keys[1][at] = c.descending ? ~key : key;
        c.places[1][at] = i;
    }
};
template <int D> struct td_sort_merge {
    static TD_IN void one(const td_sort_call &c, int64_t at)
    {
        int64_t i = at % c.n, line = at - i, run = i / c.width, other = run ^ 1;
        int64_t begin = other * c.width, end = begin + c.width < c.n ? begin + c.width : c.n;
        uint64_t key = c.keys[0][at];
        int64_t low = begin, high = begin < end ? end : begin;
        while (low < high) { /* of equals, those of the left run come first */
            int64_t middle = low + (high - low) / 2;
            uint64_t there = c.keys[0][line + middle];
            if (there < key || (there == key && other < run)) low = middle + 1;
            else high = middle;
        }
        int64_t first = (run < other ? run : other) * c.width;
        int64_t to = line + first + (i - run * c.width) + (low - begin);
        c.keys[1][to] = key;
        c.places[1][to] = c.places[0][at];
    }
};
template <int D> struct td_sort_write {
    static TD_IN void one(const td_sort_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        int64_t line = at / c.k, i = at % c.k, place = c.places[0][line * c.n + i];
        int64_t outer = line / c.inner, k = line % c.inner;
        int64_t to = (outer * c.k + i) * c.inner + k;
        ((T *)c.values)[to] = ((const T *)c.x)[(outer * c.n + place) * c.inner + k];
        c.indices[to] = place;
    }
};

/* ---- one element of a line, as cpu/reduction/order_run.c picks it ---- */
enum { TD_SORT_KTH, TD_SORT_MEDIAN, TD_SORT_NANMEDIAN, TD_SORT_MODE }; /* td_rank */

/* how many of n sorted keys come before `key` */
VFN int64_t td_sort_before(const uint64_t *keys, int64_t n, uint64_t key)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low;
}
/* where the last of the longest run of equal keys stands, of the first such run */
VFN int64_t td_sort_longest(const uint64_t *keys, int64_t n)
{
    int64_t best = 0, at = 0, run = 0;
    for (int64_t i = 0; i < n; i++) {
        run = i && keys[i] == keys[i - 1] ? run + 1 : 1;
        if (run > best) {
            best = run;
            at = i;
        }
    }
    return at;
}
template <int D> struct td_sort_rank {
    typedef typename td_mem<D>::type T;
    enum { floats = D == TD_F16 || D == TD_BF16 || D == TD_F32 || D == TD_F64 };
    /* places of equal keys rise: the first NaN of the line is the first of theirs */
    static TD_IN int64_t pick(const td_sort_call &c, const uint64_t *keys, const int64_t *places)
    {
        if (c.what == TD_SORT_KTH) return places[c.k];
        if (c.what == TD_SORT_MODE) return places[td_sort_longest(keys, c.n)];
        uint64_t nan = D == TD_F64 ? ~(uint64_t)0 : 0xffffffffu;
        int64_t numbers = floats ? td_sort_before(keys, c.n, nan) : c.n;
        if (numbers < c.n && c.what == TD_SORT_MEDIAN) return places[numbers];
        return numbers == 0 ? 0 : places[(numbers - 1) / 2];
    }
    static TD_IN void one(const td_sort_call &c, int64_t line)
    {
        int64_t place = pick(c, c.keys[0] + line * c.n, c.places[0] + line * c.n);
        int64_t from = (line / c.inner * c.n + place) * c.inner + line % c.inner;
        ((T *)c.values)[line] = ((const T *)c.x)[from];
        if (c.indices) c.indices[line] = place;
    }
};

/* ---- places in sorted sequences: the bisection of cpu/sorting/search_run.c ---- */
struct td_search_call { /* laid out as in csrc/cuda/sort.c */
    const char *sequence, *values;
    const int64_t *sorter;
    char *out;
    int64_t units, n, values_a_row, right, narrow, one_row;
};
template <int D> struct td_search_place {
    static TD_IN void one(const td_search_call &c, int64_t at)
    {
        typedef typename td_mem<D>::type T;
        int64_t row = c.one_row ? 0 : at / c.values_a_row * c.n, low = 0, high = c.n;
        T v = ((const T *)c.values)[at];
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            T there = ((const T *)c.sequence)[row + (c.sorter ? c.sorter[row + middle] : middle)];
            if (c.right ? !(there > v) : !(there >= v)) low = middle + 1;
            else high = middle;
        }
        if (c.narrow) ((int32_t *)c.out)[at] = (int32_t)low;
        else ((int64_t *)c.out)[at] = low;
    }
};
template <class Work>
__global__ void __launch_bounds__(256) td_search_alone(const __grid_constant__ td_search_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.units; at += step)
        Work::one(c, at);
}

template <class Work>
__global__ void __launch_bounds__(256) td_sort_alone(const __grid_constant__ td_sort_call c)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < c.units; at += step)
        Work::one(c, at);
}
#endif
