/* packed_quads.h - sums of packed numbers by the instruction that multiplies four pairs of bytes
 * and adds them to an int32 (AVX512-VNNI). Included by packed.c only.
 *
 * It takes one factor without sign: int8 weights are read 128 larger, and 128 times the sums of
 * four of the vector's numbers go away again. Two pieces of the vector are stored as 64 upper
 * digits, 64 lower ones, and the 16 sums that go away. */
#define TD_HAS_QUADS __attribute__((target("avx512vnni")))
#define AHEAD 2048 /* bytes that are fetched before they are read */

TD_INLINE void place(char *bytes, int64_t piece, const int16_t *integers)
{
    char *to = bytes + piece / 2 * (2 * TD_DIGIT_BYTES) + piece % 2 * TD_PIECE;
    int32_t away[TD_PIECE / 4] = {0};
    for (int i = 0; i < TD_PIECE; i++) {
        int upper = (integers[i] + 128) >> 8;
        to[i] = (char)upper;
        to[64 + i] = (char)(integers[i] - 256 * upper);
        away[i / 4] -= 128 * integers[i];
    }
    memcpy(to + 128, away, sizeof away);
}

/* 16 sums of four neighbours: of the upper digits, 256 times, and of the lower ones */
TD_INLINE TD_HAS_QUADS __m512i fours(__m512i weights, const char *x)
{
    __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), weights, _mm512_loadu_si512(x));
    return _mm512_dpbusd_epi32(_mm512_slli_epi32(sums, 8), weights, _mm512_loadu_si512(x + 64));
}

/* the factors of two pieces in 8 lanes each, or of their halves in four */
TD_INLINE __m512 factors_of(const bool halves, const float *factor, int64_t piece)
{
    if (!halves)
        return _mm512_mask_broadcastss_ps(_mm512_set1_ps(factor[piece]), 0xff00,
                                          _mm_load_ss(factor + piece + 1));
    __m512i lane = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(lane, _mm512_castps128_ps512(_mm_loadu_ps(factor + 2 * piece)));
}

TD_INLINE __m512 plus(__m512 lanes, __m512i sums, __m512 factor)
{
    return _mm512_add_ps(lanes, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), factor));
}

/* lanes of the pieces 0 and 1, and of 2 and 3 */
TD_INLINE float joined(__m512 first, __m512 second)
{
    __m512 both = _mm512_add_ps(first, second);
    __m256 all = _mm256_add_ps(_mm512_castps512_ps256(both), _mm512_extractf32x8_ps(both, 1));
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_shuffle_ps(sum, sum, 1)));
}

/* `some`: which of 64 bytes are there */
TD_INLINE TD_HAS_QUADS __m512 with_bytes(__m512 lanes, __mmask64 some, const uint8_t *from,
                                         const char *x, __m512 factor)
{
    __m512i weights =
        _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, from), _mm512_set1_epi8((char)0x80));
    __m512i sums = _mm512_add_epi32(fours(weights, x), _mm512_loadu_si512(x + 128));
    return plus(lanes, sums, factor);
}

TD_INLINE __mmask64 bytes_of(int64_t pieces)
{
    return pieces >= 2 ? ~(__mmask64)0 : pieces == 1 ? 0xffffffffu : 0;
}

TD_INLINE TD_HAS_QUADS float sum_bytes(const bool halves, const uint8_t *row, const char *bytes,
                                       const float *factor, int64_t pieces)
{
    __m512 first = _mm512_setzero_ps(), second = first;
    int64_t p = 0;
    for (; p + 4 <= pieces; p += 4) {
        const uint8_t *from = row + p * TD_PIECE;
        const char *x = bytes + p * TD_DIGIT_BYTES;
        TD_PREFETCH(from + AHEAD);
        TD_PREFETCH(from + AHEAD + 64);
        first = with_bytes(first, bytes_of(2), from, x, factors_of(halves, factor, p));
        second = with_bytes(second, bytes_of(2), from + 64, x + 2 * TD_DIGIT_BYTES,
                            factors_of(halves, factor, p + 2));
    }
    if (p < pieces)
        first = with_bytes(first, bytes_of(pieces - p), row + p * TD_PIECE,
                           bytes + p * TD_DIGIT_BYTES, factors_of(halves, factor, p));
    if (p + 2 < pieces)
        second = with_bytes(second, bytes_of(pieces - p - 2), row + (p + 2) * TD_PIECE,
                            bytes + (p + 2) * TD_DIGIT_BYTES, factors_of(halves, factor, p + 2));
    return joined(first, second);
}

TD_INLINE TD_HAS_QUADS float sum_nibbles(const uint8_t *row, const char *bytes, const float *factor,
                                         int64_t pieces)
{
    __m512 first = _mm512_setzero_ps(), second = first;
    __m512i mask = _mm512_set1_epi8(15);
    for (int64_t p = 0; p < pieces; p += 4, row += 64) {
        __m512i all = _mm512_loadu_si512(row);
        const char *x = bytes + p * TD_DIGIT_BYTES;
        TD_PREFETCH(row + AHEAD);
        first = plus(first, fours(_mm512_and_si512(all, mask), x), factors_of(false, factor, p));
        all = _mm512_and_si512(_mm512_srli_epi16(all, 4), mask);
        second = plus(second, fours(all, x + 2 * TD_DIGIT_BYTES), factors_of(false, factor, p + 2));
    }
    return joined(first, second);
}
