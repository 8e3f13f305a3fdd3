/* int8_depthwise_quads.h - sums of some windows by the instruction that multiplies four pairs of
 * bytes and adds them to an int32 (AVX512-VNNI). Included by int8_depthwise.c only. Four taps of 16
 * channels become 16 words of four taps, which is how a panel lies. */
#define TD_HAS_SUMS __attribute__((target("avx512vnni")))
#define MR 4 /* windows of a tile, a vector of sums each */

/* the channels of one tap; behind `width` of them there may be no memory */
TD_INLINE __m128i lanes(const uint8_t *from, int width)
{
    __mmask16 there = (__mmask16)((1u << width) - 1);
    return width < TD_PANEL ? _mm_maskz_loadu_epi8(there, from)
                            : _mm_loadu_si128((const void *)from);
}

/* words of four taps */
TD_INLINE __m512i words_of(const uint8_t *const *tap, int64_t channel, int width, __m512i flip)
{
    const __m512i fours = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i all = _mm512_castsi128_si512(lanes(tap[0] + channel, width));
    all = _mm512_inserti32x4(all, lanes(tap[1] + channel, width), 1);
    all = _mm512_inserti32x4(all, lanes(tap[2] + channel, width), 2);
    all = _mm512_inserti32x4(all, lanes(tap[3] + channel, width), 3);
    all = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(fours, all), bytes);
    return _mm512_xor_si512(all, flip);
}

TD_INLINE TD_HAS_SUMS void tile(const int mr, int64_t words, const uint8_t *const *at, int64_t taps,
                                int64_t channel, const int width, uint8_t flip, const int8_t *b,
                                int32_t (*sums)[TD_PANEL])
{
    __m512i acc[MR], turn = _mm512_set1_epi8((char)flip);
    TD_UNROLL for (int i = 0; i < mr; i++) acc[i] = _mm512_setzero_si512();
    for (int64_t w = 0; w < words; w++, b += TD_PANEL * TD_WORD, at += TD_WORD) {
        __m512i panel = _mm512_loadu_si512(b);
        TD_UNROLL for (int i = 0; i < mr; i++) acc[i] =
            _mm512_dpbusd_epi32(acc[i], words_of(at + i * taps, channel, width, turn), panel);
    }
    TD_UNROLL for (int i = 0; i < mr; i++) _mm512_storeu_si512(sums[i], acc[i]);
}
