/* int8_depthwise_pairs.h - sums of some windows by the instruction that multiplies pairs of int16
 * and adds them to an int32. Included by int8_depthwise.c only. The first and third tap of a word
 * make pairs, and the second and fourth: the bytes of a panel widen to these without a shuffle. */
#define TD_HAS_SUMS
#define MR 4 /* windows of a tile: two vectors of sums each */

/* the channels of one tap; behind `width` of them there may be no memory */
TD_INLINE __m128i lanes(const uint8_t *from, int width, __m128i flip)
{
    uint8_t part[TD_PANEL] = {0};
    if (width < TD_PANEL) from = memcpy(part, from, (size_t)width);
    return _mm_xor_si128(_mm_loadu_si128((const void *)from), flip);
}

TD_INLINE __m256i added(__m256i sum, __m128i pairs, __m256i w)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_cvtepu8_epi16(pairs), w));
}

TD_INLINE __m256i even(__m256i w) { return _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8); }
TD_INLINE __m256i odd(__m256i w) { return _mm256_srai_epi16(w, 8); }

TD_INLINE void tile(const int mr, int64_t words, const uint8_t *const *at, int64_t taps,
                    int64_t channel, const int width, uint8_t flip, const int8_t *b,
                    int32_t (*sums)[TD_PANEL])
{
    __m256i acc[MR][2];
    __m128i turn = _mm_set1_epi8((char)flip);
    TD_UNROLL for (int i = 0; i < mr; i++) acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    for (int64_t w = 0; w < words; w++, b += TD_PANEL * TD_WORD, at += TD_WORD) {
        __m256i left = _mm256_loadu_si256((const void *)b),
                right = _mm256_loadu_si256((const void *)(b + 32));
        TD_UNROLL for (int i = 0; i < mr; i++)
        {
            const uint8_t *const *tap = at + i * taps;
            __m128i q0 = lanes(tap[0] + channel, width, turn),
                    q1 = lanes(tap[1] + channel, width, turn),
                    q2 = lanes(tap[2] + channel, width, turn),
                    q3 = lanes(tap[3] + channel, width, turn);
            acc[i][0] = added(acc[i][0], _mm_unpacklo_epi8(q0, q2), even(left));
            acc[i][0] = added(acc[i][0], _mm_unpacklo_epi8(q1, q3), odd(left));
            acc[i][1] = added(acc[i][1], _mm_unpackhi_epi8(q0, q2), even(right));
            acc[i][1] = added(acc[i][1], _mm_unpackhi_epi8(q1, q3), odd(right));
        }
    }
    TD_UNROLL for (int i = 0; i < mr; i++)
    {
        _mm256_storeu_si256((void *)sums[i], acc[i][0]);
        _mm256_storeu_si256((void *)(sums[i] + 8), acc[i][1]);
    }
}
