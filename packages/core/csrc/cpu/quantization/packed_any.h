/* packed_any.h - sums of packed numbers by plain integers. Included by packed.c only. */

/* integers of a piece side by side */
TD_INLINE void place(char *bytes, int64_t piece, const int16_t *integers)
{
    memcpy(bytes + piece * TD_DIGIT_BYTES, integers, TD_PIECE * sizeof *integers);
}

/* weights of a piece: int8, or halves of bytes */
TD_INLINE int at(const bool nibbles, const uint8_t *row, int64_t piece, int i)
{
    if (!nibbles) return ((const int8_t *)row)[piece * TD_PIECE + i];
    return row[piece / 4 * 64 + piece % 2 * TD_PIECE + i] >> (piece % 4 < 2 ? 0 : 4) & 15;
}

TD_INLINE float joined(float lane[4][8])
{
    float *sum = lane[0];
    for (int j = 0; j < 8; j++) sum[j] = (sum[j] + lane[2][j]) + (lane[1][j] + lane[3][j]);
    for (int width = 4; width > 0; width /= 2)
        for (int j = 0; j < width; j++) sum[j] += sum[j + width];
    return sum[0];
}

/* halves: `factor` has two numbers for each piece */
TD_INLINE float sum_of(const bool nibbles, const bool halves, const uint8_t *row, const char *bytes,
                       const float *factor, int64_t pieces)
{
    float lane[4][8] = {{0}};
    for (int64_t p = 0; p < pieces; p++) {
        int16_t x[TD_PIECE];
        memcpy(x, bytes + p * TD_DIGIT_BYTES, sizeof x);
        for (int j = 0; j < 8; j++) {
            int32_t sum = 0;
            for (int i = 4 * j; i < 4 * j + 4; i++) sum += at(nibbles, row, p, i) * x[i];
            lane[p % 4][j] += (float)sum * (halves ? factor[2 * p + j / 4] : factor[p]);
        }
    }
    return joined(lane);
}

TD_INLINE float sum_bytes(const bool halves, const uint8_t *row, const char *bytes,
                          const float *factor, int64_t pieces)
{
    return sum_of(false, halves, row, bytes, factor, pieces);
}

static float sum_nibbles(const uint8_t *row, const char *bytes, const float *factor, int64_t pieces)
{
    return sum_of(true, false, row, bytes, factor, pieces);
}
