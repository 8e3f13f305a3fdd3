/* packed.c - the kernels of packed.h: what all instruction sets share, around the sums of one. */
#include "cpu/quantization/packed.h"
#include <string.h>
#include "cpu/simd/gemm_vec.h"
#include "cpu/simd/half.h"
#include "runtime/loops.h"

#if defined(__AVX512F__)
#include "cpu/quantization/packed_quads.h"
#elif defined(__AVX2__)
#include "cpu/quantization/packed_pairs.h"
#else
#include "cpu/quantization/packed_any.h"
#endif

/* ---- the vector ---- */

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
        if (bits >= 0x7f800000u) return false;
        to->step[p] = counts ? most / TD_DIGIT_MOST : 0;
        int32_t sum = counts ? rounded(x + p * TD_PIECE, TD_DIGIT_MOST / most, integers) : 0;
        to->sum[p] = to->step[p] * (float)sum;
        place(to->bytes, p, integers);
    }
    return true;
}

/* ---- scales ---- */

#ifdef __F16C__
TD_INLINE void eight(const uint16_t *from, float *to)
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)from)));
}
#else
TD_INLINE void eight(const uint16_t *from, float *to)
{
    for (int i = 0; i < 8; i++) to[i] = td_f16_load(from[i]);
}
#endif

/* n numbers of a row as float32 */
TD_INLINE void widened(const void *from, bool is_short, int64_t n, float *to)
{
    const uint16_t *half = from;
    int64_t i = 0;
    if (!is_short) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    for (; i + 8 <= n; i += 8) eight(half + i, to + i);
    for (; i < n; i++) to[i] = td_f16_load(half[i]);
}

/* whether each half of a piece has a scale of its own */
TD_INLINE bool has_halves(const td_packed *w) { return w->scales > w->pieces; }

/* the scales or offsets of a row, one for each piece or half of one, then zeros */
TD_INLINE void spread(const td_packed *w, const void *all, int64_t row, float *to)
{
    int64_t bytes = w->short_scales ? 2 : 4, parts = has_halves(w) ? 2 : 1,
            each = parts * w->pieces / w->scales;
    const char *from = (const char *)all + row * w->scales * bytes;
    for (int64_t p = parts * w->pieces; p < parts * TD_PIECES_UP(w->pieces); p++) to[p] = 0;
    if (each == 1) {
        widened(from, w->short_scales, w->scales, to);
        return;
    }
    for (int64_t s = 0; s < w->scales; s++) {
        float scale;
        widened(from + s * bytes, w->short_scales, 1, &scale);
        for (int64_t p = s * each; p < (s + 1) * each; p++) to[p] = scale;
    }
}

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

/* ---- rows ---- */

TD_INLINE TD_HAS_QUADS void some_rows_of_halves(const td_packed *w, const td_digits *x, float *out,
                                                int64_t begin, int64_t end, float *work)
{
    for (int64_t row = begin; row < end; row++) {
        spread(w, w->scale, row, work);
        factors_of_halves(x, w->pieces, work);
        out[row] = sum_bytes(true, w->weight + row * w->row_bytes, x->bytes, work, w->pieces);
    }
}

TD_INLINE TD_HAS_QUADS void some_rows(const bool nibbles, const td_packed *w, const td_digits *x,
                                      float *out, int64_t begin, int64_t end, float *work)
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

static TD_HAS_QUADS void rows(const td_packed *w, const td_digits *x, float *out, int64_t begin,
                              int64_t end, float *work)
{
    if (w->nibbles) some_rows(true, w, x, out, begin, end, work);
    else if (has_halves(w)) some_rows_of_halves(w, x, out, begin, end, work);
    else some_rows(false, w, x, out, begin, end, work);
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
