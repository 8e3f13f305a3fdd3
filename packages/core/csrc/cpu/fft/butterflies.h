/* butterflies.h - transforms of a few points in registers. Included by fft.c per element type
 * (fft_numbers.h). Sums over halves of halves for powers of two; Winograd's and Rader's savings do
 * not pay with fused products, so 3 and 5 are written out and other odd numbers are sums over
 * points that mirror each other. */

TD_INLINE void G(dft1)(CV *a) { (void)a; }

TD_INLINE void G(dft2)(CV *a)
{
    CV t = a[1];
    a[1] = G(sub)(a[0], t);
    a[0] = G(add)(a[0], t);
}

TD_INLINE void G(dft4_of)(CV *a, CV *b, CV *c, CV *d)
{
    CV s = G(add)(*a, *c), t = G(sub)(*a, *c), u = G(add)(*b, *d), w = G(times_i)(G(sub)(*b, *d));
    *a = G(add)(s, u);
    *b = G(sub)(t, w);
    *c = G(sub)(s, u);
    *d = G(add)(t, w);
}
TD_INLINE void G(dft4)(CV *a) { G(dft4_of)(a, a + 1, a + 2, a + 3); }

/* a +- exp(-pi i / 4) b and a +- exp(-3 pi i / 4) b, as (sum, difference): the root of a half goes
 * into the sums */
TD_INLINE void G(eighth)(CV a, CV b, CV *sum, CV *difference)
{
    const VEC half = V(set1)((REAL)0.70710678118654752440);
    CV turned = {b.r + b.i, b.i - b.r};
    *sum = G(add_part)(a, half, turned);
    *difference = G(add_part)(a, -half, turned);
}
TD_INLINE void G(dft8)(CV *a)
{
    CV o1, o3;
    G(dft4_of)(a, a + 2, a + 4, a + 6);
    G(dft4_of)(a + 1, a + 3, a + 5, a + 7);
    /* now a[2 k] is the k-th of the even points, a[2 k + 1] that of the odd ones */
    CV e0 = a[0], e1 = a[2], e2 = a[4], e3 = a[6], f0 = a[1], f2 = G(times_i)(a[5]);
    o1 = a[3];
    o3 = G(times_i)(a[7]); /* exp(-3 pi i / 4) = -i exp(-pi i / 4) */
    a[0] = G(add)(e0, f0);
    a[4] = G(sub)(e0, f0);
    a[2] = G(sub)(e2, f2);
    a[6] = G(add)(e2, f2);
    G(eighth)(e1, o1, &a[1], &a[5]);
    G(eighth)(e3, o3, &a[7], &a[3]);
}

/* 16 = 4 x 4; the nine inner factors are powers of exp(-pi i / 8). */
TD_INLINE void G(dft16)(CV *a)
{
    const VEC c = V(set1)((REAL)0.92387953251128675613), s = V(set1)((REAL)0.38268343236508977173);
    const VEC h = V(set1)((REAL)0.70710678118654752440);
    const CV w1 = {c, -s}, w3 = {s, -c};
    TD_UNROLL for (int j = 0; j < 4; j++) G(dft4_of)(a + j, a + j + 4, a + j + 8, a + j + 12);
    a[5] = G(mul)(a[5], w1);
    a[6] = (CV){(a[6].r + a[6].i) * h, (a[6].i - a[6].r) * h};
    a[7] = G(mul)(a[7], w3);
    a[9] = (CV){(a[9].r + a[9].i) * h, (a[9].i - a[9].r) * h};
    a[10] = (CV){a[10].i, -a[10].r};
    a[11] = (CV){(a[11].i - a[11].r) * h, -(a[11].i + a[11].r) * h};
    a[13] = G(mul)(a[13], w3);
    a[14] = (CV){(a[14].i - a[14].r) * h, -(a[14].i + a[14].r) * h};
    a[15] = G(mul)(a[15], (CV){-c, s}); /* the ninth power */
    TD_UNROLL for (int k = 0; k < 4; k++) G(dft4)(a + 4 * k);
    /* a[4 k + m] is X[k + 4 m] */
    CV b[16];
    TD_UNROLL for (int i = 0; i < 16; i++) b[i] = a[i];
    TD_UNROLL for (int i = 0; i < 16; i++) a[i / 4 + 4 * (i % 4)] = b[i];
}

TD_INLINE void G(dft3)(CV *a)
{
    const VEC sine = V(set1)((REAL)0.86602540378443864676);
    CV s = G(add)(a[1], a[2]), d = G(times_i)(G(sub)(a[1], a[2]));
    CV middle = G(add_part)(a[0], V(set1)((REAL)-0.5), s);
    a[0] = G(add)(a[0], s);
    a[1] = G(add_part)(middle, -sine, d);
    a[2] = G(add_part)(middle, sine, d);
}

TD_INLINE void G(dft5)(CV *a)
{
    const VEC c1 = V(set1)((REAL)0.30901699437494742410),
              c2 = V(set1)((REAL)-0.80901699437494742410);
    const VEC s1 = V(set1)((REAL)0.95105651629515357212),
              s2 = V(set1)((REAL)0.58778525229247312917);
    CV p = G(add)(a[1], a[4]), q = G(add)(a[2], a[3]);
    CV d = G(times_i)(G(sub)(a[1], a[4])), e = G(times_i)(G(sub)(a[2], a[3]));
    CV m1 = G(add_part)(G(add_part)(a[0], c1, p), c2, q),
       m2 = G(add_part)(G(add_part)(a[0], c2, p), c1, q);
    CV n1 = G(add_part)(G(scaled)(d, s1, s1), s2, e),
       n2 = G(add_part)(G(scaled)(d, s2, s2), -s1, e);
    a[0] = G(add)(a[0], G(add)(p, q));
    a[1] = G(sub)(m1, n1);
    a[4] = G(add)(m1, n1);
    a[2] = G(sub)(m2, n2);
    a[3] = G(add)(m2, n2);
}

/* Any odd radix. X[k] and X[radix - k] are the sum and the difference of a sum over a[j] + a[radix
 * - j], with cosines, and one over a[j] - a[radix - j], with sines. */
TD_INLINE void G(dft_odd)(CV *a, const int64_t radix, const REAL *roots)
{
    CV s[TD_FFT_MAX_PRIME / 2 + 1], d[TD_FFT_MAX_PRIME / 2 + 1], first = a[0];
    int64_t half = radix / 2;
    for (int64_t j = 1; j <= half; j++) {
        s[j] = G(add)(a[j], a[radix - j]);
        d[j] = G(times_i)(G(sub)(a[j], a[radix - j]));
        a[0] = G(add)(a[0], s[j]);
    }
    for (int64_t k = 1; k <= half; k++) {
        CV even = first, odd = {V(zero)(), V(zero)()};
        for (int64_t j = 1, t = k; j <= half; j++, t += k - (t + k >= radix ? radix : 0)) {
            even = G(add_part)(even, V(set1)(roots[2 * t]), s[j]);
            odd = G(add_part)(odd, V(set1)(roots[2 * t + 1]), d[j]);
        }
        a[k] = G(sub)(even, odd);
        a[radix - k] = G(add)(even, odd);
    }
}

static void G(dft_any)(CV *a, int64_t radix, const REAL *roots) { G(dft_odd)(a, radix, roots); }

TD_INLINE void G(dft7)(CV *a)
{
    static const REAL roots[14] = {
        1,
        0,
        0.62348980185873353053,
        0.78183148246802980871,
        -0.22252093395631440429,
        0.97492791218182360702,
        -0.90096886790241912624,
        0.43388373911755812048,
        -0.90096886790241912624,
        -0.43388373911755812048,
        -0.22252093395631440429,
        -0.97492791218182360702,
        0.62348980185873353053,
        -0.78183148246802980871,
    };
    G(dft_odd)(a, 7, roots);
}
