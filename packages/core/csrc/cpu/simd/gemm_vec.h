/* gemm_vec.h - the few vector operations that the matrix, convolution and attention kernels are
 * written in. vf_ is a vector of float, vd_ one of double; both have the ISA's full width. Masks
 * are integers with a bit per lane. Every ISA fuses multiply and add except the generic one. Loads
 * and stores need no alignment. */
#ifndef TD_GEMM_VEC_H
#define TD_GEMM_VEC_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#define TD_INLINE static inline __attribute__((always_inline, unused))
#define TD_UNROLL _Pragma("GCC unroll 32")

/* Does a load under a mask that takes all lanes cost more than one without? */
#if defined(__AVX512F__)
#define TD_MASKS_COST 0
#else
#define TD_MASKS_COST 1
#endif

/* Would the places of a vector's lanes, this far apart, need more than 32 bits? Gathers with places
 * of 32 bits take half the time. */
TD_INLINE int td_is_far(int64_t stride)
{
    return (uint64_t)stride > INT32_MAX / 16; /* negative ones, too */
}

#if defined(__AVX512F__)
#include "cpu/simd/gemm_vec512.h"
#elif defined(__AVX2__)
#include "cpu/simd/gemm_vec256.h"
#else
#include "cpu/simd/gemm_vec_any.h"
#endif

/* the mask of the first n lanes; n may be negative or larger than a vector */
TD_INLINE uint32_t td_lanes(int64_t n, int width)
{
    return n >= width ? (uint32_t)((1ull << width) - 1) : n > 0 ? (1u << n) - 1 : 0;
}

#define TD_PREFETCH_L2(address) __builtin_prefetch((const void *)(address), 0, 2)
#define TD_PREFETCH(address) __builtin_prefetch((const void *)(address), 0, 3)
#endif
