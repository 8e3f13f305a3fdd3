/* steps.c - the kernels of steps.h. The wider vectors of AVX-512 would wait for memory as well. */
#include "cpu/quantization/steps.h"
#include <math.h>
#include <string.h>
#include "runtime/loops.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

static uint8_t one(const td_steps *s, float x)
{
    float y = fmaf(x, s->inverse, s->zero);
    y = y <= s->least + 255 ? y : s->least + 255; /* NaN as well */
    y = y >= s->least ? y : s->least;
    return (uint8_t)(int32_t)nearbyintf(y);
}

#ifdef __AVX2__
/* 8 numbers, clamped while they are floats: the conversion knows no infinity */
static inline __m256i eight(const td_steps *s, const float *x)
{
    __m256 y =
        _mm256_fmadd_ps(_mm256_loadu_ps(x), _mm256_set1_ps(s->inverse), _mm256_set1_ps(s->zero));
    y = _mm256_min_ps(y, _mm256_set1_ps(s->least + 255));
    return _mm256_cvtps_epi32(_mm256_max_ps(y, _mm256_set1_ps(s->least)));
}

static int64_t quantize_vectors(const td_steps *given, const float *x, int64_t n, uint8_t *to)
{
    const td_steps own = *given, *s = &own; /* no result is written over it */
    /* both packings work on halves of vectors */
    const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    int64_t i = 0;
    for (; i + 32 <= n; i += 32, x += 32) {
        __m256i a = _mm256_packs_epi32(eight(s, x), eight(s, x + 8)),
                b = _mm256_packs_epi32(eight(s, x + 16), eight(s, x + 24));
        __m256i all = s->least < 0 ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
        _mm256_storeu_si256((void *)(to + i), _mm256_permutevar8x32_epi32(all, order));
    }
    return i;
}

static int64_t floats_vectors(const uint8_t *q, uint8_t flip, float scale, float zero, int64_t n,
                              float *to)
{
    const __m256i turned = _mm256_set1_epi32(flip);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(q + i)));
        __m256 y = _mm256_cvtepi32_ps(_mm256_xor_si256(wide, turned));
        y = _mm256_mul_ps(_mm256_sub_ps(y, _mm256_set1_ps(zero)), _mm256_set1_ps(scale));
        _mm256_storeu_ps(to + i, y);
    }
    return i;
}

/* min and max give their second number beside a NaN: `seen` keeps it in mind */
static int64_t range_vectors(const float *x, int64_t n, float ends[2])
{
    int64_t i = 0;
    __m256 low[2], high[2], seen = _mm256_setzero_ps();
    float lanes[8];
    if (n < 16) return 0;
    low[0] = low[1] = high[0] = high[1] = _mm256_set1_ps(x[0]);
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 2; j++) {
            __m256 v = _mm256_loadu_ps(x + i + 8 * j);
            low[j] = _mm256_min_ps(low[j], v);
            high[j] = _mm256_max_ps(high[j], v);
            seen = _mm256_or_ps(seen, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        }
    _mm256_storeu_ps(lanes, _mm256_min_ps(low[0], low[1]));
    for (int j = 0; j < 8; j++) ends[0] = lanes[j] < ends[0] ? lanes[j] : ends[0];
    _mm256_storeu_ps(lanes, _mm256_max_ps(high[0], high[1]));
    for (int j = 0; j < 8; j++) ends[1] = lanes[j] > ends[1] ? lanes[j] : ends[1];
    if (_mm256_movemask_ps(seen)) ends[0] = NAN;
    return i;
}
#else
static int64_t quantize_vectors(const td_steps *s, const float *x, int64_t n, uint8_t *to)
{
    (void)s, (void)x, (void)n, (void)to;
    return 0;
}

static int64_t floats_vectors(const uint8_t *q, uint8_t flip, float scale, float zero, int64_t n,
                              float *to)
{
    (void)q, (void)flip, (void)scale, (void)zero, (void)n, (void)to;
    return 0;
}

static int64_t range_vectors(const float *x, int64_t n, float ends[2])
{
    (void)x, (void)n, (void)ends;
    return 0;
}
#endif

static void quantize(const td_steps *s, const float *x, int64_t n, uint8_t *to)
{
    for (int64_t i = quantize_vectors(s, x, n, to); i < n; i++) to[i] = one(s, x[i]);
}

static void range(const float *x, int64_t n, float ends[2])
{
    ends[0] = ends[1] = x[0];
    int64_t i = range_vectors(x, n, ends);
    for (; i < n; i++) {
        if (x[i] != x[i]) ends[0] = NAN;
        ends[0] = x[i] < ends[0] ? x[i] : ends[0]; /* a NaN stays */
        ends[1] = x[i] > ends[1] ? x[i] : ends[1];
    }
}

static void floats(const uint8_t *restrict q, uint8_t flip, float scale, float zero, int64_t n,
                   float *restrict to)
{
    for (int64_t i = floats_vectors(q, flip, scale, zero, n, to); i < n; i++)
        to[i] = ((float)(uint8_t)(q[i] ^ flip) - zero) * scale;
}

const td_steps_kernels TD_SYM(td_steps_kernels) = {quantize, range, floats};
