/* packed_quads.h - sums of packed numbers by the instruction that multiplies four pairs of bytes
 * and adds them to an int32 (AVX512-VNNI). Included by packed.c only.
 *
 * Short rows go by four: their sums over lanes are joined at once, and none waits for its own. Long
 * ones go one by one, as memory is fastest where it is read in order. What is fetched ahead lies in
 * that order for both.
 *
 * The instruction takes one factor without sign: int8 weights are read 128 larger, and 128 times
 * the sums of four of the vector's numbers go away again. Two pieces of the vector are stored as 64
 * upper digits, 64 lower ones, and the 16 sums that go away. */
#define TD_HAS_QUADS __attribute__((target("avx512vnni")))
#define ROWS 4     /* at once */
#define SHORT 1024 /* bytes of a row that goes with three others */
#define AHEAD 2048 /* bytes behind the rows that are read, which are fetched meanwhile */

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

/* ---- scales ---- */

/* scales or offsets of 16 parts of a row from `at` on, zeros behind the last of `parts` */
TD_INLINE __m512 sixteen(const td_packed *w, const void *all, int64_t row, int64_t at,
                         int64_t parts)
{
    __mmask16 some = parts - at >= 16 ? 0xffff : (__mmask16)((1u << (parts - at)) - 1);
    bool one = w->scales == 1;
    int64_t place = row * w->scales + (one ? 0 : at);
    if (w->short_scales) {
        const int16_t *from = (const int16_t *)all + place;
        return _mm512_maskz_cvtph_ps(some, one ? _mm256_set1_epi16(*from)
                                               : _mm256_maskz_loadu_epi16(some, from));
    }
    const float *from = (const float *)all + place;
    return one ? _mm512_maskz_mov_ps(some, _mm512_set1_ps(*from))
               : _mm512_maskz_loadu_ps(some, from);
}

/* the same of groups of several pieces, which are spread into `room` first */
TD_INLINE __m512 sixteen_of(const td_packed *w, const void *all, int64_t row, int64_t at,
                            int64_t parts, const float *room)
{
    return room ? _mm512_loadu_ps(room + at) : sixteen(w, all, row, at, parts);
}

/* the steps of 16 pieces, or of 8 twice */
TD_INLINE __m512 steps_of(const bool halves, const td_digits *x, int64_t part)
{
    if (!halves) return _mm512_loadu_ps(x->step + part);
    __m512i lane = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return _mm512_permutexvar_ps(lane, _mm512_castps256_ps512(_mm256_loadu_ps(x->step + part / 2)));
}

/* Factors of a row: scales times the vector's steps. What numbers of 4 bits are with q = 0, times
 * the vector, comes back in lanes: by offsets, or -8 scales where there are none. */
TD_INLINE __m512 factors(const bool nibbles, const bool halves, const td_packed *w,
                         const td_digits *x, int64_t row, float *factor, float *offset)
{
    int64_t parts = w->pieces * (halves ? 2 : 1);
    bool groups = w->scales != 1 && w->scales != parts;
    __m512 rest = _mm512_setzero_ps();
    if (groups) spread(w, w->scale, row, factor);
    if (groups && nibbles && w->offset) spread(w, w->offset, row, offset);
    for (int64_t at = 0; at < parts; at += 16) {
        __m512 scale = sixteen_of(w, w->scale, row, at, parts, groups ? factor : NULL);
        if (nibbles) {
            __m512 zero = w->offset
                              ? sixteen_of(w, w->offset, row, at, parts, groups ? offset : NULL)
                              : _mm512_mul_ps(_mm512_set1_ps(-8), scale);
            rest = _mm512_add_ps(rest, _mm512_mul_ps(zero, _mm512_loadu_ps(x->sum + at)));
        }
        _mm512_storeu_ps(factor + at, _mm512_mul_ps(scale, steps_of(halves, x, at)));
    }
    return rest;
}

/* ---- four rows ---- */

/* lanes i and i + 8, then i + 4 */
TD_INLINE __m128 halved(__m512 lanes)
{
    __m256 all = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}

/* the sums over the lanes of each row: i and i + 8, i + 4, i + 2, i + 1 */
TD_INLINE __m128 joined(const __m512 lanes[ROWS])
{
    __m128 a = halved(lanes[0]), b = halved(lanes[1]), c = halved(lanes[2]), d = halved(lanes[3]);
    __m128 ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
    __m128 cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
    return _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd));
}

/* where four rows lie, and what is fetched while they are read */
typedef struct four {
    const uint8_t *row[ROWS];
    const float *factor[ROWS];
    const uint8_t *ahead;
} four;

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

TD_INLINE TD_HAS_QUADS __m128 sums_bytes(const int count, const bool halves, const four *at,
                                         const char *bytes, int64_t pieces)
{
    __m512 lanes[2][ROWS];
    TD_UNROLL for (int i = 0; i < ROWS; i++) lanes[0][i] = lanes[1][i] = _mm512_setzero_ps();
    int64_t p = 0;
    for (; p + 4 <= pieces; p += 4) TD_UNROLL for (int i = 0; i < count; i++)
        {
            TD_PREFETCH(at->ahead + p * TD_PIECE * count + i * 128);
            TD_PREFETCH(at->ahead + p * TD_PIECE * count + i * 128 + 64);
            TD_UNROLL for (int j = 0; j < 2; j++) lanes[j][i] = with_bytes(
                lanes[j][i], bytes_of(2), at->row[i] + (p + 2 * j) * TD_PIECE,
                bytes + (p + 2 * j) * TD_DIGIT_BYTES, factors_of(halves, at->factor[i], p + 2 * j));
        }
    for (int j = 0; p < pieces; p += 2, j++)
        TD_UNROLL for (int i = 0; i < count; i++) lanes[j][i] =
            with_bytes(lanes[j][i], bytes_of(pieces - p), at->row[i] + p * TD_PIECE,
                       bytes + p * TD_DIGIT_BYTES, factors_of(halves, at->factor[i], p));
    TD_UNROLL for (int i = 0; i < ROWS; i++) lanes[0][i] = _mm512_add_ps(lanes[0][i], lanes[1][i]);
    return joined(lanes[0]);
}

TD_INLINE TD_HAS_QUADS __m128 sums_nibbles(const int count, const four *at, const char *bytes,
                                           int64_t pieces)
{
    __m512 lanes[2][ROWS];
    __m512i mask = _mm512_set1_epi8(15);
    TD_UNROLL for (int i = 0; i < ROWS; i++) lanes[0][i] = lanes[1][i] = _mm512_setzero_ps();
    for (int64_t p = 0; p < pieces; p += 4) {
        const char *x = bytes + p * TD_DIGIT_BYTES;
        TD_UNROLL for (int i = 0; i < count; i++)
        {
            TD_PREFETCH(at->ahead + p * (TD_PIECE / 2) * count + i * 64);
            __m512i all = _mm512_loadu_si512(at->row[i] + p * (TD_PIECE / 2));
            lanes[0][i] = plus(lanes[0][i], fours(_mm512_and_si512(all, mask), x),
                               factors_of(false, at->factor[i], p));
            all = _mm512_and_si512(_mm512_srli_epi16(all, 4), mask);
            lanes[1][i] = plus(lanes[1][i], fours(all, x + 2 * TD_DIGIT_BYTES),
                               factors_of(false, at->factor[i], p + 2));
        }
    }
    TD_UNROLL for (int i = 0; i < ROWS; i++) lanes[0][i] = _mm512_add_ps(lanes[0][i], lanes[1][i]);
    return joined(lanes[0]);
}

/* rows behind the last one are that one again, and are not written */
TD_INLINE TD_HAS_QUADS void some_rows(const int count, const bool nibbles, const bool halves,
                                      const td_packed *w, const td_digits *x, float *out,
                                      int64_t begin, int64_t end, float *work)
{
    int64_t each = TD_PACKED_WORK(w->pieces) / ROWS;
    for (int64_t row = begin; row < end; row += count) {
        four at = {.ahead = w->weight + (count == 1 ? row : row + count) * w->row_bytes + AHEAD};
        __m512 rest[ROWS] = {_mm512_setzero_ps()};
        for (int i = 0; i < count; i++) {
            int64_t this = row + i < end ? row + i : end - 1;
            float *factor = work + i * each;
            rest[i] = factors(nibbles, halves, w, x, this, factor, factor + each / 2);
            at.row[i] = w->weight + this * w->row_bytes;
            at.factor[i] = factor;
        }
        __m128 sums = nibbles
                          ? _mm_add_ps(sums_nibbles(count, &at, x->bytes, w->pieces), joined(rest))
                          : sums_bytes(count, halves, &at, x->bytes, w->pieces);
        int64_t left = end - row < count ? end - row : count;
        _mm_mask_storeu_ps(out + row, (__mmask8)((1u << left) - 1), sums);
    }
}

TD_INLINE TD_HAS_QUADS void rows_by(const int count, const td_packed *w, const td_digits *x,
                                    float *out, int64_t begin, int64_t end, float *work)
{
    if (w->nibbles) some_rows(count, true, false, w, x, out, begin, end, work);
    else if (has_halves(w)) some_rows(count, false, true, w, x, out, begin, end, work);
    else some_rows(count, false, false, w, x, out, begin, end, work);
}

static TD_HAS_QUADS void rows(const td_packed *w, const td_digits *x, float *out, int64_t begin,
                              int64_t end, float *work)
{
    if (w->row_bytes < SHORT) rows_by(ROWS, w, x, out, begin, end, work);
    else rows_by(1, w, x, out, begin, end, work);
}
