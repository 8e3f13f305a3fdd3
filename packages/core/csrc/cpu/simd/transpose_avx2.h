/* transpose_avx2.h - the 4-byte transpose in registers: 8 x 8 (AVX2) or 16 x 16 (AVX-512) elements
 * at a time. Included by convert.c only. */
#include <immintrin.h>

#ifdef __AVX512F__
#define TILE_4 16
/* Interleave 32-bit, then 64-bit elements within 128-bit lanes; then move the lanes. */
static inline void transpose_4_tile(char *out, int64_t so, const char *in, int64_t si)
{
    __m512i a[16], b[16];
    for (int k = 0; k < 16; k++) a[k] = _mm512_loadu_si512(in + k * si);
    for (int k = 0; k < 16; k += 2) {
        b[k] = _mm512_unpacklo_epi32(a[k], a[k + 1]);
        b[k + 1] = _mm512_unpackhi_epi32(a[k], a[k + 1]);
    }
    for (int k = 0; k < 16; k += 4) {
        a[k] = _mm512_unpacklo_epi64(b[k], b[k + 2]);
        a[k + 1] = _mm512_unpackhi_epi64(b[k], b[k + 2]);
        a[k + 2] = _mm512_unpacklo_epi64(b[k + 1], b[k + 3]);
        a[k + 3] = _mm512_unpackhi_epi64(b[k + 1], b[k + 3]);
    }
    for (int k = 0; k < 4; k++) {
        b[k] = _mm512_shuffle_i32x4(a[k], a[k + 4], 0x88);
        b[k + 4] = _mm512_shuffle_i32x4(a[k], a[k + 4], 0xdd);
        b[k + 8] = _mm512_shuffle_i32x4(a[k + 8], a[k + 12], 0x88);
        b[k + 12] = _mm512_shuffle_i32x4(a[k + 8], a[k + 12], 0xdd);
    }
    for (int k = 0; k < 4; k++) {
        a[k] = _mm512_shuffle_i32x4(b[k], b[k + 8], 0x88);
        a[k + 4] = _mm512_shuffle_i32x4(b[k + 4], b[k + 12], 0x88);
        a[k + 8] = _mm512_shuffle_i32x4(b[k], b[k + 8], 0xdd);
        a[k + 12] = _mm512_shuffle_i32x4(b[k + 4], b[k + 12], 0xdd);
    }
    for (int k = 0; k < 16; k++) _mm512_storeu_si512(out + k * so, a[k]);
}
#else
#define TILE_4 8
static inline void transpose_4_tile(char *out, int64_t so, const char *in, int64_t si)
{
    __m256 a[8], b[8];
    for (int k = 0; k < 8; k++) a[k] = _mm256_loadu_ps((const float *)(in + k * si));
    for (int k = 0; k < 8; k += 2) {
        b[k] = _mm256_unpacklo_ps(a[k], a[k + 1]);
        b[k + 1] = _mm256_unpackhi_ps(a[k], a[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) {
        a[k] = _mm256_shuffle_ps(b[k], b[k + 2], 0x44);
        a[k + 1] = _mm256_shuffle_ps(b[k], b[k + 2], 0xee);
        a[k + 2] = _mm256_shuffle_ps(b[k + 1], b[k + 3], 0x44);
        a[k + 3] = _mm256_shuffle_ps(b[k + 1], b[k + 3], 0xee);
    }
    for (int k = 0; k < 4; k++) {
        _mm256_storeu_ps((float *)(out + k * so), _mm256_permute2f128_ps(a[k], a[k + 4], 0x20));
        _mm256_storeu_ps((float *)(out + (k + 4) * so),
                         _mm256_permute2f128_ps(a[k], a[k + 4], 0x31));
    }
}
#endif
