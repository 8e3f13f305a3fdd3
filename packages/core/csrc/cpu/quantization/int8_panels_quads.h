/* int8_panels_quads.h - sums of a tile by the instruction that multiplies four pairs of bytes and
 * adds them to an int32 (AVX512-VNNI). Included by int8_panels.c only. */
#define TD_HAS_SUMS __attribute__((target("avx512vnni")))
#define MR 8   /* rows of a tile */
#define WIDE 2 /* its panels, a vector of sums each */
#define FOR_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
#define AHEAD 2048 /* bytes of the matrix, in reading order */

TD_INLINE TD_HAS_SUMS void tile(const int mr, const int panels, const bool narrow, int64_t words,
                                const uint8_t *x, int64_t row, const int8_t *b,
                                int32_t (*sums)[TD_PANEL])
{
    __m512i acc[MR * WIDE];
    int64_t other = words * TD_PANEL * TD_WORD; /* bytes to the second panel */
    (void)narrow;
    TD_UNROLL for (int i = 0; i < mr * panels; i++) acc[i] = _mm512_setzero_si512();
    for (int64_t w = 0; w < words; w++, b += TD_PANEL * TD_WORD, x += TD_WORD) {
        __m512i column[WIDE];
        TD_UNROLL for (int j = 0; j < panels; j++)
        {
            column[j] = _mm512_loadu_si512(b + j * other);
            TD_PREFETCH(b + j * other + AHEAD);
        }
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            int32_t word;
            memcpy(&word, x + i * row, sizeof word);
            __m512i q = _mm512_set1_epi32(word);
            TD_UNROLL for (int j = 0; j < panels; j++) acc[i * panels + j] =
                _mm512_dpbusd_epi32(acc[i * panels + j], q, column[j]);
        }
    }
    TD_UNROLL for (int i = 0; i < mr * panels; i++) _mm512_storeu_si512(sums[i], acc[i]);
}
