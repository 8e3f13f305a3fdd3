/* numbers.h - a vector of complex numbers, parts apart. Included by fft.c per element type, as the
 * next three, with REAL the type, VEC its vector, V(op) an operation of gemm_vec.h or fft_vec.h,
 * LANES, and G(name) a name of that type. */

typedef struct G(cv) {
    VEC r, i;
} G(cv);
#define CV G(cv)
#define SPLIT (2 * LANES) /* reals of a point in split memory */

TD_INLINE CV G(add)(CV a, CV b) { return (CV){a.r + b.r, a.i + b.i}; }
TD_INLINE CV G(sub)(CV a, CV b) { return (CV){a.r - b.r, a.i - b.i}; }
TD_INLINE CV G(times_i)(CV a) { return (CV){-a.i, a.r}; }
TD_INLINE CV G(conj)(CV a) { return (CV){a.r, -a.i}; }
TD_INLINE CV G(scaled)(CV a, VEC re, VEC im) { return (CV){a.r * re, a.i * im}; }
/* a + s * b */
TD_INLINE CV G(add_part)(CV a, VEC s, CV b)
{
    return (CV){V(fma)(s, b.r, a.r), V(fma)(s, b.i, a.i)};
}
TD_INLINE CV G(mul)(CV a, CV w)
{
    return (CV){V(fma)(a.r, w.r, -(a.i * w.i)), V(fma)(a.r, w.i, a.i * w.r)};
}
TD_INLINE CV G(spread)(const REAL *w) { return (CV){V(set1)(w[0]), V(set1)(w[1])}; }

TD_INLINE CV G(load_split)(const REAL *p) { return (CV){V(load)(p), V(load)(p + LANES)}; }
TD_INLINE void G(store_split)(REAL *p, CV a)
{
    V(store)(p, a.r);
    V(store)(p + LANES, a.i);
}
TD_INLINE CV G(load_pairs)(const REAL *p)
{
    CV a;
    V(unzip)(V(load)(p), V(load)(p + LANES), &a.r, &a.i);
    return a;
}
TD_INLINE void G(store_pairs)(REAL *p, CV a)
{
    VEC low, high;
    V(zip)(a.r, a.i, &low, &high);
    V(store)(p, low);
    V(store)(p + LANES, high);
}
/* the first n lanes; the others are 0, or stay as they are */
TD_INLINE CV G(load_some)(const REAL *p, int64_t n)
{
    CV a;
    VEC low = V(load_part)(td_lanes(2 * n, LANES), p);
    VEC high = V(load_part)(td_lanes(2 * n - LANES, LANES), p + LANES);
    V(unzip)(low, high, &a.r, &a.i);
    return a;
}
TD_INLINE void G(store_some)(REAL *p, CV a, int64_t n)
{
    VEC low, high;
    V(zip)(a.r, a.i, &low, &high);
    V(store_part)(p, td_lanes(2 * n, LANES), low);
    V(store_part)(p + LANES, td_lanes(2 * n - LANES, LANES), high);
}
/* the last n lanes, to where they would stand in a full vector at p */
TD_INLINE void G(store_last)(REAL *p, CV a, int64_t n)
{
    VEC low, high;
    const uint32_t all = td_lanes(LANES, LANES);
    V(zip)(a.r, a.i, &low, &high);
    V(store_part)(p, all & ~td_lanes(2 * (LANES - n), LANES), low);
    V(store_part)(p + LANES, all & ~td_lanes(LANES - 2 * n, LANES), high);
}
