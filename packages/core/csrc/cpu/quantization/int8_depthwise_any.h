/* int8_depthwise_any.h - sums of some windows by plain integers. Included by int8_depthwise.c only.
 */
#define TD_HAS_SUMS
#define MR 1

TD_INLINE void tile(const int mr, int64_t words, const uint8_t *const *at, int64_t taps,
                    int64_t channel, const int width, uint8_t flip, const int8_t *b,
                    int32_t (*sums)[TD_PANEL])
{
    uint32_t acc[TD_PANEL] = {0};
    (void)mr;
    for (int64_t q = 0; q < taps; q++) {
        const int8_t *w = b + q / TD_WORD * TD_PANEL * TD_WORD + q % TD_WORD;
        const uint8_t *x = at[q] + channel;
        for (int j = 0; j < width; j++) acc[j] += (uint32_t)((x[j] ^ flip) * w[j * TD_WORD]);
    }
    (void)words;
    memcpy(sums[0], acc, sizeof acc);
}
