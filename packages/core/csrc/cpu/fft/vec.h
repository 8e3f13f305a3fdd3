/* vec.h - what transforms need beyond gemm_vec.h: complex numbers in memory order to vectors of
 * parts and back, and the order of lanes reversed. */

#if defined(__AVX512F__)
#define ORDER_16(...) _mm512_loadu_si512((const int32_t[16]){__VA_ARGS__})
TD_INLINE void vf_unzip(vf low, vf high, vf *r, vf *i)
{
    *r = _mm512_permutex2var_ps(
        low, ORDER_16(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), high);
    *i = _mm512_permutex2var_ps(
        low, ORDER_16(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), high);
}
TD_INLINE void vf_zip(vf r, vf i, vf *low, vf *high)
{
    *low = _mm512_permutex2var_ps(
        r, ORDER_16(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), i);
    *high = _mm512_permutex2var_ps(
        r, ORDER_16(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), i);
}
TD_INLINE vf vf_reverse(vf a)
{
    return _mm512_permutexvar_ps(ORDER_16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), a);
}
TD_INLINE void vd_unzip(vd low, vd high, vd *r, vd *i)
{
    *r = _mm512_permutex2var_pd(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
    *i = _mm512_permutex2var_pd(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), high);
}
TD_INLINE void vd_zip(vd r, vd i, vd *low, vd *high)
{
    *low = _mm512_permutex2var_pd(r, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), i);
    *high = _mm512_permutex2var_pd(r, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), i);
}
TD_INLINE vd vd_reverse(vd a)
{
    return _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a);
}

#elif defined(__AVX2__)
TD_INLINE void vf_unzip(vf low, vf high, vf *r, vf *i)
{
    vd even = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0x88));
    vd odd = _mm256_castps_pd(_mm256_shuffle_ps(low, high, 0xdd));
    *r = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
    *i = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}
TD_INLINE void vf_zip(vf r, vf i, vf *low, vf *high)
{
    vf a = _mm256_unpacklo_ps(r, i), b = _mm256_unpackhi_ps(r, i);
    *low = _mm256_permute2f128_ps(a, b, 0x20);
    *high = _mm256_permute2f128_ps(a, b, 0x31);
}
TD_INLINE vf vf_reverse(vf a)
{
    return _mm256_permutevar8x32_ps(a, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
TD_INLINE void vd_unzip(vd low, vd high, vd *r, vd *i)
{
    *r = _mm256_permute4x64_pd(_mm256_unpacklo_pd(low, high), 0xd8);
    *i = _mm256_permute4x64_pd(_mm256_unpackhi_pd(low, high), 0xd8);
}
TD_INLINE void vd_zip(vd r, vd i, vd *low, vd *high)
{
    vd a = _mm256_unpacklo_pd(r, i), b = _mm256_unpackhi_pd(r, i);
    *low = _mm256_permute2f128_pd(a, b, 0x20);
    *high = _mm256_permute2f128_pd(a, b, 0x31);
}
TD_INLINE vd vd_reverse(vd a) { return _mm256_permute4x64_pd(a, 0x1b); }

#else
typedef int64_t vl __attribute__((vector_size(32)));
#define TD_ANY_SHUFFLES(v, index, EVEN, ODD, LOW, HIGH, DOWN) \
    TD_INLINE void v##_unzip(v low, v high, v *r, v *i)       \
    {                                                         \
        *r = __builtin_shuffle(low, high, (index)EVEN);       \
        *i = __builtin_shuffle(low, high, (index)ODD);        \
    }                                                         \
    TD_INLINE void v##_zip(v r, v i, v *low, v *high)         \
    {                                                         \
        *low = __builtin_shuffle(r, i, (index)LOW);           \
        *high = __builtin_shuffle(r, i, (index)HIGH);         \
    }                                                         \
    TD_INLINE v v##_reverse(v a) { return __builtin_shuffle(a, (index)DOWN); }
#define TAKE(...) {__VA_ARGS__}
TD_ANY_SHUFFLES(vf, vi, TAKE(0, 2, 4, 6, 8, 10, 12, 14), TAKE(1, 3, 5, 7, 9, 11, 13, 15),
                TAKE(0, 8, 1, 9, 2, 10, 3, 11), TAKE(4, 12, 5, 13, 6, 14, 7, 15),
                TAKE(7, 6, 5, 4, 3, 2, 1, 0))
TD_ANY_SHUFFLES(vd, vl, TAKE(0, 2, 4, 6), TAKE(1, 3, 5, 7), TAKE(0, 4, 1, 5), TAKE(2, 6, 3, 7),
                TAKE(3, 2, 1, 0))
#endif
