/* conv.c - patches and planes of convolutions, float and double, on one instruction set. */
#include "cpu/conv/conv.h"
#include <stddef.h>
#include "cpu/matmul/isa.h"
#include "cpu/simd/gemm_vec.h"
#include "runtime/loops.h"

#define NR (TD_NV * LANES)

#include "cpu/simd/of_float.h"
#include "cpu/conv/patches.h"
#include "cpu/conv/plane.h"

#include "cpu/simd/of_double.h"
#include "cpu/conv/patches.h"
#include "cpu/conv/plane.h"

static void pair(const uint16_t *from, uint32_t *to, int64_t plane, int64_t n, int64_t pairs,
                 bool alone)
{
    for (; pairs > 0; pairs--, from += 2 * plane, to += plane) {
        int64_t i = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
        for (; i < n; i += 16) { /* rows of weights are short: tails by masks */
            __mmask16 here = (__mmask16)td_lanes(n - i, 16);
            __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(here, from + i));
            __m256i high = _mm256_maskz_loadu_epi16(alone ? 0 : here, from + plane + i);
            __m512i word = _mm512_or_si512(low, _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
            _mm512_mask_storeu_epi32(to + i, here, word);
        }
#endif
        for (; i < n; i++) to[i] = from[i] | (alone ? 0 : (uint32_t)from[plane + i] << 16);
    }
}

const td_conv_kernels TD_SYM(td_conv_kernels) = {
    {
        {patches_f32, patches_work_f32, turned_f32, turned_work_f32, plane_f32, plane_work_f32,
         plane_weight_f32},
        {patches_f64, patches_work_f64, turned_f64, turned_work_f64, plane_f64, plane_work_f64,
         plane_weight_f64},
    },
    pair};
