/* packed_rows.h - one row of a packed matrix after the other: what generic text and AVX2 share
 * around their sums. Included by packed.c only. */

/* lane i and lane i + half, and so on down to one */
TD_INLINE float joined_all(float lane[16])
{
    for (int i = 0; i < 8; i++) lane[i] += lane[i + 8];
    for (int i = 0; i < 4; i++) lane[i] += lane[i + 4];
    for (int i = 0; i < 2; i++) lane[i] += lane[i + 2];
    return lane[0] + lane[1];
}

/* Scales become factors, which count the vector's steps in. What numbers of 4 bits are with q = 0,
 * times the vector: by offsets, or -8 scales where `offset` is NULL. */
TD_INLINE float factors(const bool nibbles, const float *offset, const td_digits *x, int64_t pieces,
                        float *scale)
{
    float lane[16] = {0};
    for (int64_t p = 0; p < pieces; p += 16) {
        if (nibbles && offset)
            for (int i = 0; i < 16; i++) lane[i] += offset[p + i] * x->sum[p + i];
        else if (nibbles)
            for (int i = 0; i < 16; i++) lane[i] += (-8 * scale[p + i]) * x->sum[p + i];
        for (int i = 0; i < 16; i++) scale[p + i] *= x->step[p + i];
    }
    return nibbles ? joined_all(lane) : 0;
}

/* the same of scales for each half of a piece */
TD_INLINE void factors_of_halves(const td_digits *x, int64_t pieces, float *scale)
{
    for (int64_t p = 0; p < pieces; p++) {
        scale[2 * p] *= x->step[p];
        scale[2 * p + 1] *= x->step[p];
    }
}

TD_INLINE void some_rows_of_halves(const td_packed *w, const td_digits *x, float *out,
                                   int64_t begin, int64_t end, float *work)
{
    for (int64_t row = begin; row < end; row++) {
        spread(w, w->scale, row, work);
        factors_of_halves(x, w->pieces, work);
        out[row] = sum_bytes(true, w->weight + row * w->row_bytes, x->bytes, work, w->pieces);
    }
}

TD_INLINE void some_rows(const bool nibbles, const td_packed *w, const td_digits *x, float *out,
                         int64_t begin, int64_t end, float *work)
{
    int64_t pieces = TD_PIECES_UP(w->pieces);
    float *offset = w->offset ? work + pieces : NULL;
    for (int64_t row = begin; row < end; row++) {
        const uint8_t *from = w->weight + row * w->row_bytes;
        spread(w, w->scale, row, work);
        if (offset) spread(w, w->offset, row, offset);
        float rest = factors(nibbles, offset, x, pieces, work);
        out[row] = nibbles ? sum_nibbles(from, x->bytes, work, w->pieces) + rest
                           : sum_bytes(false, from, x->bytes, work, w->pieces);
    }
}

static void rows(const td_packed *w, const td_digits *x, float *out, int64_t begin, int64_t end,
                 float *work)
{
    if (w->nibbles) some_rows(true, w, x, out, begin, end, work);
    else if (has_halves(w)) some_rows_of_halves(w, x, out, begin, end, work);
    else some_rows(false, w, x, out, begin, end, work);
}
