/* packed_pairs.h - sums of packed numbers by the instruction that multiplies two pairs of int16 and
 * adds them to each other (AVX2). Included by packed.c only.
 *
 * A word of 16 bits holds two neighbours of int8, so a piece of the vector is stored as its even
 * numbers and then its odd ones. The instruction for pairs of bytes would saturate. */
#define AHEAD 2048 /* bytes that are fetched before they are read */

TD_INLINE void place(char *bytes, int64_t piece, const int16_t *integers)
{
    int16_t turned[TD_PIECE];
    for (int i = 0; i < TD_PIECE / 2; i++) {
        turned[i] = integers[2 * i];
        turned[TD_PIECE / 2 + i] = integers[2 * i + 1];
    }
    memcpy(bytes + piece * TD_DIGIT_BYTES, turned, sizeof turned);
}

/* 8 sums of four neighbours */
TD_INLINE __m256i fours(__m256i even, __m256i odd, const char *x)
{
    __m256i first = _mm256_loadu_si256((const void *)x),
            second = _mm256_loadu_si256((const void *)(x + 32));
    return _mm256_add_epi32(_mm256_madd_epi16(even, first), _mm256_madd_epi16(odd, second));
}

TD_INLINE __m256 plus(__m256 lanes, __m256i sums, __m256 factor)
{
    return _mm256_add_ps(lanes, _mm256_mul_ps(_mm256_cvtepi32_ps(sums), factor));
}

/* the factor of a piece, or those of its halves in four lanes each */
TD_INLINE __m256 factor_of(const bool halves, const float *factor, int64_t piece)
{
    if (!halves) return _mm256_set1_ps(factor[piece]);
    __m256 first = _mm256_set1_ps(factor[2 * piece]),
           second = _mm256_set1_ps(factor[2 * piece + 1]);
    return _mm256_blend_ps(first, second, 0xf0);
}

TD_INLINE float joined(const __m256 lane[4])
{
    __m256 all = _mm256_add_ps(_mm256_add_ps(lane[0], lane[2]), _mm256_add_ps(lane[1], lane[3]));
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_shuffle_ps(sum, sum, 1)));
}

TD_INLINE __m256 with_bytes(__m256 lanes, const uint8_t *from, const char *x, __m256 factor)
{
    __m256i both = _mm256_loadu_si256((const void *)from);
    __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(both, 8), 8);
    return plus(lanes, fours(even, _mm256_srai_epi16(both, 8), x), factor);
}

TD_INLINE float sum_bytes(const bool halves, const uint8_t *row, const char *bytes,
                          const float *factor, int64_t pieces)
{
    __m256 lane[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps()};
    int64_t p = 0;
    for (; p + 4 <= pieces; p += 4) {
        TD_PREFETCH(row + p * TD_PIECE + AHEAD);
        TD_PREFETCH(row + p * TD_PIECE + AHEAD + 64);
        TD_UNROLL for (int i = 0; i < 4; i++) lane[i] =
            with_bytes(lane[i], row + (p + i) * TD_PIECE, bytes + (p + i) * TD_DIGIT_BYTES,
                       factor_of(halves, factor, p + i));
    }
    for (int i = 0; p < pieces; p++, i++)
        lane[i] = with_bytes(lane[i], row + p * TD_PIECE, bytes + p * TD_DIGIT_BYTES,
                             factor_of(halves, factor, p));
    return joined(lane);
}

/* the four numbers in a word: two of piece p, two of piece p + 2 */
TD_INLINE void with_nibbles(__m256 *low, __m256 *high, const uint8_t *from, const char *x,
                            const float *factor)
{
    __m256i all = _mm256_loadu_si256((const void *)from), mask = _mm256_set1_epi16(15);
    __m256i even = _mm256_and_si256(all, mask),
            odd = _mm256_and_si256(_mm256_srli_epi16(all, 8), mask);
    *low = plus(*low, fours(even, odd, x), factor_of(false, factor, 0));
    even = _mm256_and_si256(_mm256_srli_epi16(all, 4), mask);
    odd = _mm256_srli_epi16(all, 12);
    *high = plus(*high, fours(even, odd, x + 2 * TD_DIGIT_BYTES), factor_of(false, factor, 2));
}

TD_INLINE float sum_nibbles(const uint8_t *row, const char *bytes, const float *factor,
                            int64_t pieces)
{
    __m256 lane[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps()};
    for (int64_t p = 0; p < pieces; p += 4, row += 64) {
        const char *x = bytes + p * TD_DIGIT_BYTES;
        TD_PREFETCH(row + AHEAD);
        with_nibbles(&lane[0], &lane[2], row, x, factor + p);
        with_nibbles(&lane[1], &lane[3], row + 32, x + TD_DIGIT_BYTES, factor + p + 1);
    }
    return joined(lane);
}
