/* int8_pool_rows.h - pooling of one type of integers: TYPE, with numbers from LEAST to MOST.
 * int8_pool.c includes this once for each, and NAME(x) is the name for it. */

/* `n` channels of all places of a window, each given to `body` as `x` */
#define EACH_PLACE(body)                                                                 \
    for (int64_t d = w->of[0].first; d < w->of[0].end; d++)                              \
        for (int64_t h = w->of[1].first; h < w->of[1].end; h++) {                        \
            const TYPE *x =                                                              \
                sample + ((d * p->in[1] + h) * p->in[2] + w->of[2].first) * p->channels; \
            for (int64_t k = w->of[2].first; k < w->of[2].end; k++, x += p->channels) {  \
                body                                                                     \
            }                                                                            \
        }

TD_INLINE void NAME(largest)(const td_int8_pool *p, const window *w, const TYPE *sample,
                             const int64_t n, TYPE *restrict to)
{
    TYPE best[BLOCK];
    memset(best, LEAST, sizeof best);
    EACH_PLACE(for (int64_t c = 0; c < n; c++) best[c] = x[c] > best[c] ? x[c] : best[c];)
    memcpy(to, best, (size_t)n);
}

TD_INLINE void NAME(average)(const td_int8_pool *p, const window *w, const TYPE *sample,
                             const int64_t n, TYPE *restrict to)
{
    int32_t sum[BLOCK], before = (int32_t)(w->places * p->zero);
    float zero = (float)p->zero, share = 1.0F / (float)w->divisor;
    memset(sum, 0, sizeof sum);
    EACH_PLACE(for (int64_t c = 0; c < n; c++) sum[c] += x[c];)
    for (int64_t c = 0; c < n; c++) {
        float y = rintf((float)(sum[c] - before) * share + zero);
        y = y < MOST ? y : MOST;
        to[c] = (TYPE)(int32_t)(y > LEAST ? y : LEAST);
    }
}

static void NAME(rows)(const td_int8_pool *p, const void *from, void *out, int64_t begin,
                       int64_t end)
{
    int64_t places = p->in[0] * p->in[1] * p->in[2];
    for (int64_t row = begin; row < end; row++) {
        int64_t line = row % p->out[1], plane = row / p->out[1] % p->out[0],
                at = row / p->out[1] / p->out[0] * places * p->channels;
        for (int64_t column = 0; column < p->out[2]; column++) {
            window w = window_of(p, plane, line, column);
            TYPE *to = (TYPE *)out + (row * p->out[2] + column) * p->channels;
            for (int64_t c = 0; c < p->channels; c += BLOCK) {
                int64_t n = p->channels - c < BLOCK ? p->channels - c : BLOCK;
                const TYPE *sample = (const TYPE *)from + at + c;
                if (p->largest && n == BLOCK) NAME(largest)(p, &w, sample, BLOCK, to + c);
                else if (p->largest) NAME(largest)(p, &w, sample, n, to + c);
                else if (n == BLOCK) NAME(average)(p, &w, sample, BLOCK, to + c);
                else NAME(average)(p, &w, sample, n, to + c);
            }
        }
    }
}
#undef EACH_PLACE
#undef NAME
#undef TYPE
#undef LEAST
#undef MOST
