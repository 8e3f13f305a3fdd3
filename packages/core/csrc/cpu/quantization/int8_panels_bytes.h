/* int8_panels_bytes.h - sums of a tile by two instructions of AVX2. Included by int8_panels.c only.
 *
 * vpmaddubsw multiplies bytes and adds two products in 16 bits, where it saturates: with numbers of
 * x up to 128 it never does (128 * 127 * 2 = 32512, 128 * -128 * 2 = -32768). Others are multiplied
 * as 16 bits, even and odd ones apart. Both give the exact sum. */
#define TD_HAS_SUMS
#define MR 4   /* rows of a tile: two vectors of sums each */
#define WIDE 1 /* its panels */
#define FOR_ROWS(X) X(1) X(2) X(3) X(4)
#define AHEAD 2048 /* bytes of the matrix, in reading order */

TD_INLINE __m256i quad(const uint8_t *x)
{
    int32_t word;
    memcpy(&word, x, sizeof word);
    return _mm256_set1_epi32(word);
}

TD_INLINE __m256i even(__m256i w) { return _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8); }
TD_INLINE __m256i odd(__m256i w) { return _mm256_srai_epi16(w, 8); }

TD_INLINE __m256i added_narrow(__m256i sum, __m256i x, __m256i w)
{
    __m256i pairs = _mm256_maddubs_epi16(x, w);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

TD_INLINE __m256i added_wide(__m256i sum, __m256i x, __m256i w_even, __m256i w_odd)
{
    __m256i x_even = _mm256_and_si256(x, _mm256_set1_epi16(255)), x_odd = _mm256_srli_epi16(x, 8);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x_even, w_even));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x_odd, w_odd));
}

TD_INLINE void tile(const int mr, const int panels, const bool narrow, int64_t words,
                    const uint8_t *x, int64_t row, const int8_t *b, int32_t (*sums)[TD_PANEL])
{
    __m256i acc[MR][2];
    (void)panels;
    TD_UNROLL for (int i = 0; i < mr; i++) acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    for (int64_t w = 0; w < words; w++, b += TD_PANEL * TD_WORD, x += TD_WORD) {
        __m256i left = _mm256_loadu_si256((const void *)b),
                right = _mm256_loadu_si256((const void *)(b + 32));
        TD_PREFETCH(b + AHEAD);
        if (narrow) {
            TD_UNROLL for (int i = 0; i < mr; i++)
            {
                __m256i q = quad(x + i * row);
                acc[i][0] = added_narrow(acc[i][0], q, left);
                acc[i][1] = added_narrow(acc[i][1], q, right);
            }
            continue;
        }
        __m256i left_even = even(left), left_odd = odd(left), right_even = even(right),
                right_odd = odd(right);
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            __m256i q = quad(x + i * row);
            acc[i][0] = added_wide(acc[i][0], q, left_even, left_odd);
            acc[i][1] = added_wide(acc[i][1], q, right_even, right_odd);
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++)
    {
        _mm256_storeu_si256((void *)sums[i], acc[i][0]);
        _mm256_storeu_si256((void *)(sums[i] + 8), acc[i][1]);
    }
}
