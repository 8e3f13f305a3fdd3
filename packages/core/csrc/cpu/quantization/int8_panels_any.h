/* int8_panels_any.h - sums of a tile by plain integers. Included by int8_panels.c only. */
#define TD_HAS_SUMS
#define MR 4
#define WIDE 1
#define FOR_ROWS(X) X(1) X(2) X(3) X(4)

TD_INLINE void tile(const int mr, const int panels, const bool narrow, int64_t words,
                    const uint8_t *x, int64_t row, const int8_t *b, int32_t (*sums)[TD_PANEL])
{
    (void)panels, (void)narrow;
    memset(sums, 0, (size_t)mr * sizeof *sums);
    for (int64_t w = 0; w < words; w++, b += TD_PANEL * TD_WORD)
        for (int i = 0; i < mr; i++)
            for (int j = 0; j < TD_PANEL; j++) {
                const uint8_t *from = x + i * row + w * TD_WORD;
                int32_t sum = 0;
                for (int q = 0; q < TD_WORD; q++) sum += from[q] * b[j * TD_WORD + q];
                sums[i][j] = (int32_t)((uint32_t)sums[i][j] + (uint32_t)sum);
            }
}
