/* halves.h - spectra of real lines. Included by fft.c per element type (fft_numbers.h).
 *
 * A line of 2 m real points is transformed as m complex ones, Z. With E and O the spectra of its
 * even and odd points and w = exp(-2 pi i / 2 m):
 *
 *   E[k] = (Z[k] + conj Z[m - k]) / 2,  i O[k] = (Z[k] - conj Z[m - k]) / 2,  X[k] = E[k] + w^k
 * O[k],  X[m - k] = conj(E[k] - w^k O[k]) */

/* vectors k .. k + lanes - 1, and m - k downwards */
TD_INLINE CV G(load_down)(const REAL *p)
{
    CV a = G(load_pairs)(p - 2 * (LANES - 1));
    return (CV){V(reverse)(a.r), V(reverse)(a.i)};
}
TD_INLINE void G(store_down)(REAL *p, CV a, int64_t n)
{
    CV up = {V(reverse)(a.r), V(reverse)(a.i)};
    if (n == LANES) G(store_pairs)(p - 2 * (LANES - 1), up);
    else G(store_last)(p - 2 * (LANES - 1), up, n);
}

/* w^k for lane 0, 1, ... of k = 1 + lanes * block */
TD_INLINE CV G(turning)(const void *fine, const void *coarse, int64_t block)
{
    return G(mul)(G(load_split)(fine), G(spread)((const REAL *)coarse + 2 * block));
}
static void G(turning_lane)(const void *fine, const void *coarse, int64_t k, REAL *re, REAL *im)
{
    const REAL *f = (const REAL *)fine + (k - 1) % LANES,
               *c = (const REAL *)coarse + (k - 1) / LANES * 2;
    *re = f[0] * c[0] - f[LANES] * c[1];
    *im = f[0] * c[1] + f[LANES] * c[0];
}

TD_INLINE void G(unfold_pair)(CV w, CV *z, CV *y)
{
    const VEC half = V(set1)((REAL)0.5);
    CV mirror = G(conj)(*y), even = G(add)(*z, mirror), odd = G(mul)(G(sub)(*z, mirror), w);
    even = G(scaled)(even, half, half);
    odd = G(times_i)(G(scaled)(odd, half, half)); /* that is -w^k O */
    *z = G(sub)(even, odd);
    *y = G(conj)(G(add)(even, odd));
}

static void G(unfold_lane)(REAL *row, int64_t m, int64_t k, REAL wr, REAL wi)
{
    REAL *z = row + 2 * k, *y = row + 2 * (m - k);
    REAL er = (z[0] + y[0]) / 2, ei = (z[1] - y[1]) / 2, dr = (z[0] - y[0]) / 2,
         di = (z[1] + y[1]) / 2;
    REAL tr = dr * wr - di * wi, ti = dr * wi + di * wr;
    y[0] = er - ti, y[1] = -(ei + tr); /* first, for k = m / 2, where both are one place */
    z[0] = er + ti, z[1] = ei - tr;
}

/* The two vectors of a pair meet in the middle: both are read before one is written, and each keeps
 * its side. Lines shorter than both go by single numbers. */
static void G(unfold)(void *line, int64_t m, const void *fine, const void *coarse)
{
    REAL *row = line, first = row[0], last = row[1], wr, wi;
    int64_t k = 1;
    for (; m >= 2 * LANES && k <= m / 2; k += LANES) {
        int64_t low = m / 2 - k + 1, high = (m - 1) / 2 - k + 1;
        CV z = G(load_pairs)(row + 2 * k), y = G(load_down)(row + 2 * (m - k));
        G(unfold_pair)(G(turning)(fine, coarse, k / LANES), &z, &y);
        if (high >= LANES) G(store_pairs)(row + 2 * k, z);
        else G(store_some)(row + 2 * k, z, low < LANES ? low : LANES);
        G(store_down)(row + 2 * (m - k), y, high < LANES ? high : LANES);
    }
    for (; k <= m / 2; k++) {
        G(turning_lane)(fine, coarse, k, &wr, &wi);
        G(unfold_lane)(row, m, k, wr, wi);
    }
    row[0] = first + last, row[1] = 0;
    row[2 * m] = first - last, row[2 * m + 1] = 0;
}

/* The same for lines in lanes. */
static void G(unfold_lanes)(void *split, int64_t m, const void *fine, const void *coarse)
{
    REAL *row = split, w[2];
    CV ends = G(load_split)(row);
    for (int64_t k = 1; k <= m / 2; k++) {
        CV z = G(load_split)(row + k * SPLIT), y = G(load_split)(row + (m - k) * SPLIT);
        G(turning_lane)(fine, coarse, k, &w[0], &w[1]);
        G(unfold_pair)(G(spread)(w), &z, &y);
        /* first, for k = m / 2, where both are one place */
        G(store_split)(row + (m - k) * SPLIT, y);
        G(store_split)(row + k * SPLIT, z);
    }
    G(store_split)(row, (CV){ends.r + ends.i, V(zero)()});
    G(store_split)(row + m * SPLIT, (CV){ends.r - ends.i, V(zero)()});
}

TD_INLINE void G(fold_pair)(CV w, CV *x, CV *y)
{
    CV mirror = G(conj)(*y), even = G(add)(*x, mirror),
       odd = G(times_i)(G(mul)(G(sub)(*x, mirror), G(conj)(w)));
    *x = G(add)(even, odd);
    *y = G(conj)(G(sub)(even, odd));
}

static void G(fold_lane)(REAL *out, const REAL *row, int64_t m, int64_t k, REAL wr, REAL wi)
{
    const REAL *x = row + 2 * k, *y = row + 2 * (m - k);
    REAL er = x[0] + y[0], ei = x[1] - y[1], dr = x[0] - y[0], di = x[1] + y[1];
    REAL tr = dr * wr + di * wi, ti = di * wr - dr * wi;
    out[2 * (m - k)] = er + ti, out[2 * (m - k) + 1] = tr - ei;
    out[2 * k] = er - ti, out[2 * k + 1] = ei + tr;
}

static void G(fold)(void *result, const void *line, int64_t m, const void *fine, const void *coarse)
{
    REAL *out = result, wr, wi;
    const REAL *row = line;
    int64_t k = 1;
    for (; m >= 2 * LANES && k <= m / 2; k += LANES) {
        int64_t low = m / 2 - k + 1, high = (m - 1) / 2 - k + 1;
        CV x = G(load_pairs)(row + 2 * k), y = G(load_down)(row + 2 * (m - k));
        G(fold_pair)(G(turning)(fine, coarse, k / LANES), &x, &y);
        if (high >= LANES) G(store_pairs)(out + 2 * k, x);
        else G(store_some)(out + 2 * k, x, low < LANES ? low : LANES);
        G(store_down)(out + 2 * (m - k), y, high < LANES ? high : LANES);
    }
    for (; k <= m / 2; k++) {
        G(turning_lane)(fine, coarse, k, &wr, &wi);
        G(fold_lane)(out, row, m, k, wr, wi);
    }
    out[0] = row[0] + row[2 * m], out[1] = row[0] - row[2 * m];
}

static void G(fold_lanes)(void *split, int64_t m, const void *fine, const void *coarse)
{
    REAL *row = split, w[2];
    VEC first = V(load)(row), last = V(load)(row + m * SPLIT);
    for (int64_t k = 1; k <= m / 2; k++) {
        CV x = G(load_split)(row + k * SPLIT), y = G(load_split)(row + (m - k) * SPLIT);
        G(turning_lane)(fine, coarse, k, &w[0], &w[1]);
        G(fold_pair)(G(spread)(w), &x, &y);
        G(store_split)(row + (m - k) * SPLIT, G(conj)(y));
        G(store_split)(row + k * SPLIT, G(conj)(x));
    }
    G(store_split)(row, (CV){first + last, last - first});
}

/* ---- lines of odd length, and whole spectra ---- */

static void G(widen)(void *out, const void *real, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        ((REAL *)out)[2 * k] = ((const REAL *)real)[k];
        ((REAL *)out)[2 * k + 1] = 0;
    }
}

static void G(narrow)(void *real, const void *line, int64_t n)
{
    for (int64_t k = 0; k < n; k++) ((REAL *)real)[k] = ((const REAL *)line)[2 * k];
}

static void G(mirror)(void *line, int64_t n)
{
    REAL *x = line;
    for (int64_t k = n / 2 + 1; k < n; k++) {
        x[2 * k] = x[2 * (n - k)];
        x[2 * k + 1] = -x[2 * (n - k) + 1];
    }
}
