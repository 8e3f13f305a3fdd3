/* packed.c - the kernels of packed.h: what all instruction sets share, around the sums of one. */
#include "cpu/quantization/packed.h"
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "cpu/simd/half.h"
#include "runtime/loops.h"

#include "cpu/quantization/packed_scales.h"

#if defined(__AVX512F__)
#include "cpu/quantization/packed_quads.h"
#else
#if defined(__AVX2__)
#include "cpu/quantization/packed_pairs.h"
#else
#include "cpu/quantization/packed_any.h"
#endif
#include "cpu/quantization/packed_rows.h"
#endif

/* ---- the vector ---- */

#define MOST 0x71800000u /* the bits of 2^100 */

/* the largest magnitude, as its bits: those of NaN and infinity are above all others */
TD_INLINE uint32_t largest(const float *x)
{
    uint32_t bits[TD_PIECE], most = 0;
    memcpy(bits, x, sizeof bits);
    for (int i = 0; i < TD_PIECE; i++) {
        uint32_t size = bits[i] & 0x7fffffffu;
        most = size > most ? size : most;
    }
    return most;
}

/* Adding 1.5 * 2^23 leaves the nearest integer, half to even; |x| * inverse is below 2^22. */
TD_INLINE int32_t rounded(const float *x, float inverse, int16_t *to)
{
    int32_t sum = 0;
    for (int i = 0; i < TD_PIECE; i++) {
        int32_t q = (int32_t)((x[i] * inverse + 0x1.8p23f) - 0x1.8p23f);
        to[i] = (int16_t)q;
        sum += q;
    }
    return sum;
}

static bool digits(const float *x, int64_t pieces, const td_digits *to)
{
    for (int64_t p = 0; p < TD_PIECES_UP(pieces); p++) {
        int16_t integers[TD_PIECE] = {0};
        uint32_t bits = p < pieces ? largest(x + p * TD_PIECE) : 0;
        float most = td_f32_bits(bits);
        bool counts = most >= 0x1p-100f;
        if (bits >= MOST) return false;
        to->step[p] = counts ? most / TD_DIGIT_MOST : 0;
        int32_t sum = counts ? rounded(x + p * TD_PIECE, TD_DIGIT_MOST / most, integers) : 0;
        to->sum[p] = to->step[p] * (float)sum;
        place(to->bytes, p, integers);
    }
    return true;
}

/* ---- as float32 ---- */

/* parts: numbers that have a scale, of `count` each */
TD_INLINE void expand_bytes(const int count, const uint8_t *from, const float *scale, int64_t parts,
                            float *to)
{
    const int8_t *q = (const int8_t *)from;
    for (int64_t p = 0; p < parts; p++)
        for (int i = 0; i < count; i++) to[p * count + i] = (float)q[p * count + i] * scale[p];
}

/* scale * (q - 8) is one rounding, so it is not the sum of a product and an offset */
TD_INLINE void expand_nibbles(const uint8_t *from, const float *scale, const float *offset,
                              int64_t pieces, float *to)
{
    for (int64_t p = 0; p < pieces; p++) {
        const uint8_t *bytes = from + p / 4 * 64 + p % 2 * TD_PIECE;
        int shift = p % 4 < 2 ? 0 : 4, zero = offset ? 0 : 8;
        float more = offset ? offset[p] : 0;
        for (int i = 0; i < TD_PIECE; i++)
            to[p * TD_PIECE + i] = (float)((bytes[i] >> shift & 15) - zero) * scale[p] + more;
    }
}

static void expand(const td_packed *w, float *to, int64_t begin, int64_t end, float *work)
{
    float *offset = w->offset ? work + TD_PIECES_UP(w->pieces) : NULL;
    for (int64_t row = begin; row < end; row++, to += w->pieces * TD_PIECE) {
        const uint8_t *from = w->weight + row * w->row_bytes;
        spread(w, w->scale, row, work);
        if (offset) spread(w, w->offset, row, offset);
        if (w->nibbles) expand_nibbles(from, work, offset, w->pieces, to);
        else if (has_halves(w)) expand_bytes(TD_PIECE / 2, from, work, 2 * w->pieces, to);
        else expand_bytes(TD_PIECE, from, work, w->pieces, to);
    }
}

const td_packed_kernels TD_SYM(td_packed_kernels) = {digits, rows, expand};
