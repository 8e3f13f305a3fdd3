/* passes.h - Stockham's passes. Included by fft.c per element type (fft_numbers.h).
 *
 *   butterfly (p, q):  points q + done * (p + left * j)  ->  q + done * (radix * p + j),  j = 0 ..
 * radix - 1,
 *   the j-th of them times exp(-2 pi i p j / (radix * left))
 *
 * so that the last pass leaves the points in order. The first pass may read and the last one write
 * pairs, adjacent complex numbers, which are lanes as they stand in memory. */

#define FFT_ENDS(kind, suffix, UNROLL)                                                          \
    kind void G(read##suffix)(CV * a, const int64_t radix, const td_fft_end *in, int64_t first, \
                              int64_t step)                                                     \
    {                                                                                           \
        const REAL *p = (const REAL *)in->data + first * in->point;                             \
        step *= in->point;                                                                      \
        if (in->pairs) {                                                                        \
            VEC sign = V(set1)((REAL)in->im);                                                   \
            UNROLL for (int64_t j = 0; j < radix; j++)                                          \
            {                                                                                   \
                a[j] = G(load_pairs)(p + j * step);                                             \
                a[j].i = a[j].i * sign;                                                         \
            }                                                                                   \
        } else {                                                                                \
            UNROLL for (int64_t j = 0; j < radix; j++) a[j] = G(load_split)(p + j * step);      \
        }                                                                                       \
    }                                                                                           \
    kind void G(write##suffix)(const CV *a, const int64_t radix, const td_fft_end *out,         \
                               int64_t first, int64_t step)                                     \
    {                                                                                           \
        REAL *p = (REAL *)out->data + first * out->point;                                       \
        step *= out->point;                                                                     \
        if (out->pairs) {                                                                       \
            VEC re = V(set1)((REAL)out->re), im = V(set1)((REAL)out->im);                       \
            UNROLL for (int64_t j = 0; j < radix; j++)                                          \
                G(store_pairs)(p + j * step, G(scaled)(a[j], re, im));                          \
        } else {                                                                                \
            UNROLL for (int64_t j = 0; j < radix; j++) G(store_split)(p + j * step, a[j]);      \
        }                                                                                       \
    }
FFT_ENDS(TD_INLINE, , TD_UNROLL)
FFT_ENDS(static __attribute__((noinline)), _any, )

/* The branches on the kind of end stay inside the loops: four copies of each butterfly would not
 * fit the first cache. */
#define FFT_PASS(RADIX, DFT)                                                  \
    static void G(pass##RADIX)(const td_fft_pass *pass, const td_fft_end *in, \
                               const td_fft_end *out)                         \
    {                                                                         \
        const int64_t radix = RADIX, left = pass->left, done = pass->done;    \
        const REAL *w = pass->twiddles;                                       \
        for (int64_t p = 0; p < left; p++, w += 2 * (radix - 1))              \
            for (int64_t q = 0; q < done; q++) {                              \
                CV a[RADIX];                                                  \
                G(read)(a, radix, in, q + done * p, done * left);             \
                DFT(a);                                                       \
                if (p)                                                        \
                    TD_UNROLL for (int64_t j = 1; j < radix; j++) a[j] =      \
                        G(mul)(a[j], G(spread)(w + 2 * (j - 1)));             \
                G(write)(a, radix, out, q + done * radix * p, done);          \
            }                                                                 \
    }
FFT_PASS(1, G(dft1))
FFT_PASS(2, G(dft2))
FFT_PASS(3, G(dft3))
FFT_PASS(4, G(dft4))
FFT_PASS(5, G(dft5))
FFT_PASS(7, G(dft7))
FFT_PASS(8, G(dft8))
FFT_PASS(16, G(dft16))

static void G(pass_any)(const td_fft_pass *pass, const td_fft_end *in, const td_fft_end *out)
{
    const int64_t radix = pass->radix, left = pass->left, done = pass->done;
    const REAL *w = pass->twiddles;
    for (int64_t p = 0; p < left; p++, w += 2 * (radix - 1))
        for (int64_t q = 0; q < done; q++) {
            CV a[TD_FFT_MAX_PRIME];
            G(read_any)(a, radix, in, q + done * p, done * left);
            G(dft_any)(a, radix, pass->roots);
            for (int64_t j = 1; p && j < radix; j++)
                a[j] = G(mul)(a[j], G(spread)(w + 2 * (j - 1)));
            G(write_any)(a, radix, out, q + done * radix * p, done);
        }
}

static void G(pass)(const td_fft_pass *pass, const td_fft_end *in, const td_fft_end *out)
{
    switch (pass->radix) {
        case 1: G(pass1)(pass, in, out); return;
        case 2: G(pass2)(pass, in, out); return;
        case 3: G(pass3)(pass, in, out); return;
        case 4: G(pass4)(pass, in, out); return;
        case 5: G(pass5)(pass, in, out); return;
        case 7: G(pass7)(pass, in, out); return;
        case 8: G(pass8)(pass, in, out); return;
        case 16: G(pass16)(pass, in, out); return;
        default: G(pass_any)(pass, in, out);
    }
}

/* Pass k writes half k % 2 of the work memory, the last one `out`. */
static void G(stages)(const td_fft_stages *plan, const td_fft_end *in, const td_fft_end *out,
                      void *work)
{
    td_fft_end half[2] = {{work, SPLIT, false, 1, 1},
                          {(REAL *)work + plan->n * SPLIT, SPLIT, false, 1, 1}};
    for (int k = 0; k < plan->count; k++)
        G(pass)(&plan->pass[k], k ? &half[(k - 1) % 2] : in,
                k + 1 < plan->count ? &half[k % 2] : out);
}
