/* packed_scales.h - the scales of a row as float32, one for each piece or half of one. Included by
 * packed.c only. */

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
