/* int8_panels_put.h - from the 16 sums of a row and a panel to results. Included by int8_panels.c,
 * int8_tiles.c and int8_depthwise.c. A panel at a time in the vectors of AVX-512, half of one in
 * those of AVX2, else number after number: each step is one operation of float32, so all have the
 * same bits. */

#if defined(__AVX512F__)
/* what a panel adds and multiplies with: rows that follow each other share it */
typedef struct scales {
    __m512i start, weight_zero;
    __m512 factor, bias, zero, least;
    __m128i flip;
    __mmask16 there; /* which of its columns */
} scales;

TD_INLINE scales scales_of(const td_int8_product *p, int64_t column)
{
    int64_t width = p->n - column < TD_PANEL ? p->n - column : TD_PANEL;
    return (scales){.start = _mm512_loadu_si512(p->start + column),
                    .weight_zero = p->weight_zero ? _mm512_loadu_si512(p->weight_zero + column)
                                                  : _mm512_setzero_si512(),
                    .factor = _mm512_loadu_ps(p->factor + column),
                    .bias = _mm512_loadu_ps(p->bias + column),
                    .zero = _mm512_set1_ps(p->zero),
                    .least = _mm512_set1_ps(p->least),
                    .flip = _mm_set1_epi8((char)p->flip),
                    .there = (__mmask16)((1u << width) - 1)};
}

TD_INLINE __m512 as_floats(const scales *s, bool relu, __m512i sum)
{
    __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), s->factor, s->bias);
    return relu ? _mm512_max_ps(_mm512_setzero_ps(), y) : y; /* a NaN stays */
}

/* min gives its second number beside a NaN */
TD_INLINE __m128i as_bytes(const scales *s, __m512i sum)
{
    const __m512 far = _mm512_set1_ps(1024);
    __m512 y = _mm512_add_ps(_mm512_cvtepi32_ps(sum), s->bias);
    y = _mm512_min_ps(_mm512_mul_ps(y, s->factor), far);
    y = _mm512_max_ps(y, _mm512_sub_ps(_mm512_setzero_ps(), far));
    y = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    y = _mm512_min_ps(_mm512_add_ps(y, s->zero), _mm512_set1_ps(255));
    __m128i bytes = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_max_ps(y, s->least)));
    return _mm_xor_si128(bytes, s->flip);
}

/* the results of `count` rows and a panel: `apart` numbers from the sums of one row to the next */
TD_INLINE void put(const td_int8_product *p, const td_int8_rows *r, int64_t row, int count,
                   int64_t column, const int32_t *sums, int64_t apart)
{
    const scales s = scales_of(p, column);
    const int32_t *of_rows = r->sums;
    const bool to_bytes = p->to_bytes, relu = p->relu;
    const int64_t size = to_bytes ? 1 : sizeof(float), next = r->out_row * size;
    char *to = (char *)r->out + row * next + column * size;
    for (int i = 0; i < count; i++, to += next) {
        __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(sums + i * apart), s.start);
        if (of_rows)
            sum = _mm512_sub_epi32(
                sum, _mm512_mullo_epi32(s.weight_zero, _mm512_set1_epi32(of_rows[row + i])));
        if (to_bytes) _mm_mask_storeu_epi8(to, s.there, as_bytes(&s, sum));
        else _mm512_mask_storeu_ps(to, s.there, as_floats(&s, relu, sum));
    }
}
#else
#if defined(__AVX2__)
#define HALF (TD_PANEL / 2)

/* half of the sums, with what zero points ask for */
TD_INLINE __m256i half_of(const td_int8_product *p, int64_t column, int32_t row_sum,
                          const int32_t *sums)
{
    __m256i sum = _mm256_add_epi32(_mm256_loadu_si256((const void *)sums),
                                   _mm256_loadu_si256((const void *)(p->start + column)));
    if (!p->weight_zero) return sum;
    __m256i zero = _mm256_loadu_si256((const void *)(p->weight_zero + column));
    return _mm256_sub_epi32(sum, _mm256_mullo_epi32(zero, _mm256_set1_epi32(row_sum)));
}

TD_INLINE __m256 float_half(const td_int8_product *p, int64_t column, __m256i sum)
{
    __m256 y = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(p->factor + column),
                               _mm256_loadu_ps(p->bias + column));
    return p->relu ? _mm256_max_ps(_mm256_setzero_ps(), y) : y; /* a NaN stays */
}

/* min gives its second number beside a NaN */
TD_INLINE __m256i byte_half(const td_int8_product *p, int64_t column, __m256i sum)
{
    const __m256 far = _mm256_set1_ps(1024);
    __m256 y = _mm256_add_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(p->bias + column));
    y = _mm256_min_ps(_mm256_mul_ps(y, _mm256_loadu_ps(p->factor + column)), far);
    y = _mm256_max_ps(y, _mm256_sub_ps(_mm256_setzero_ps(), far));
    y = _mm256_round_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    y = _mm256_min_ps(_mm256_add_ps(y, _mm256_set1_ps(p->zero)), _mm256_set1_ps(255));
    return _mm256_cvtps_epi32(_mm256_max_ps(y, _mm256_set1_ps(p->least)));
}

TD_INLINE void as_floats(const td_int8_product *p, int64_t column, int32_t row_sum,
                         const int32_t *sums, float *to)
{
    for (int h = 0; h < TD_PANEL; h += HALF) {
        __m256i sum = half_of(p, column + h, row_sum, sums + h);
        _mm256_storeu_ps(to + h, float_half(p, column + h, sum));
    }
}

TD_INLINE void as_bytes(const td_int8_product *p, int64_t column, int32_t row_sum,
                        const int32_t *sums, uint8_t *to)
{
    __m256i half[2];
    for (int h = 0; h < 2; h++) {
        int64_t at = column + h * HALF;
        half[h] = byte_half(p, at, half_of(p, at, row_sum, sums + h * HALF));
    }
    /* packing works on quarters of a panel: 0 2 1 3 */
    __m256i all = _mm256_permute4x64_epi64(_mm256_packs_epi32(half[0], half[1]), 0xd8);
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    _mm_storeu_si128((void *)to, _mm_xor_si128(bytes, _mm_set1_epi8((char)p->flip)));
}
#else
TD_INLINE int32_t one_of(const td_int8_product *p, int64_t column, int32_t row_sum, int32_t sum)
{
    uint32_t made = (uint32_t)sum + (uint32_t)p->start[column];
    if (p->weight_zero) made -= (uint32_t)p->weight_zero[column] * (uint32_t)row_sum;
    return (int32_t)made;
}

TD_INLINE void as_floats(const td_int8_product *p, int64_t column, int32_t row_sum,
                         const int32_t *sums, float *to)
{
    for (int i = 0; i < TD_PANEL; i++) {
        float y = fmaf((float)one_of(p, column + i, row_sum, sums[i]), p->factor[column + i],
                       p->bias[column + i]);
        to[i] = p->relu && y < 0 ? 0 : y;
    }
}

TD_INLINE void as_bytes(const td_int8_product *p, int64_t column, int32_t row_sum,
                        const int32_t *sums, uint8_t *to)
{
    for (int i = 0; i < TD_PANEL; i++) {
        float y = (float)one_of(p, column + i, row_sum, sums[i]) + p->bias[column + i];
        y *= p->factor[column + i];
        y = y <= 1024 ? y : 1024; /* NaN as well */
        y = nearbyintf(y >= -1024 ? y : -1024) + p->zero;
        y = y < 255 ? y : 255;
        y = y > p->least ? y : p->least;
        to[i] = (uint8_t)(int32_t)y ^ p->flip;
    }
}
#endif

/* the results of a row and a panel, of which those that are there go to their place */
TD_INLINE void put_row(const td_int8_product *p, const td_int8_rows *r, int64_t row, int64_t column,
                       const int32_t *sums)
{
    int64_t width = p->n - column < TD_PANEL ? p->n - column : TD_PANEL,
            at = row * r->out_row + column, size = p->to_bytes ? 1 : sizeof(float);
    int32_t row_sum = r->sums ? r->sums[row] : 0;
    _Alignas(float) char part[TD_PANEL * sizeof(float)];
    char *to = (char *)r->out + at * size;
    char *made = width == TD_PANEL ? to : part;
    if (p->to_bytes) as_bytes(p, column, row_sum, sums, (uint8_t *)made);
    else as_floats(p, column, row_sum, sums, (float *)made);
    if (made == part) memcpy(to, part, (size_t)(width * size));
}

/* the same of `count` rows: `apart` numbers from the sums of one row to the next */
TD_INLINE void put(const td_int8_product *p, const td_int8_rows *r, int64_t row, int count,
                   int64_t column, const int32_t *sums, int64_t apart)
{
    for (int i = 0; i < count; i++) put_row(p, r, row + i, column, sums + i * apart);
}
#endif
