/* moments.h - the reducer behind var and std as cpu/reduction/moments.c has it: the same pieces,
 * the same order, and what left its range is read again in the same way. Part of reduce.h. */
#ifndef TD_MOMENTS_TEXT_H
#define TD_MOMENTS_TEXT_H

#define TD_MOMENTS_PART 2048     /* of a piece: squares added in the working precision */
#define TD_MOMENTS_NO_POWER -1e5 /* of zeros: any scale is theirs */

template <class T> struct td_moments_acc;
template <> struct td_moments_acc<float> {
    double n, mean, m2;
};
template <> struct td_moments_acc<double> { /* m2 counts in units of 4^power */
    double n, mean, m2, power;
};

/* ---- what is read again: by every thread of a block alike, which is rare ---- */

/* of a finite first number: the same bits n times */
template <class T> VFN bool td_all_equal(const char *x, int64_t n, int64_t xn)
{
    T first = *(const T *)x;
#pragma unroll 1
    for (int64_t i = 1; i < n; i++) {
        T v = *(const T *)(x + i * xn);
        if (v != first || signbit(v) != signbit(first)) return false;
    }
    return true;
}

/* a piece in double: its sums are in range */
VFN_CALLED td_moments_acc<float> td_moments_again(const float *x, int64_t n)
{
    double all = (double)n, sum = 0, rest = 0, squares = 0;
    if (isfinite(x[0]) && td_all_equal<float>((const char *)x, n, 4)) return {all, (double)x[0], 0};
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) sum += (double)x[i];
    double mean = sum / all;
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) {
        double d = (double)x[i] - mean;
        rest += d;
        squares += d * d;
    }
    rest /= all;
    return {all, rest == rest ? mean + rest : mean, squares - rest * rest * all};
}

VFN int td_power_of(double x)
{
    int power = (int)TD_MOMENTS_NO_POWER;
    if (x != 0) frexp(x, &power);
    return power;
}

/* n numbers xn bytes apart, scaled by a power of 2 to magnitudes below 1 */
VFN_CALLED td_moments_acc<double> td_moments_scaled(const char *x, int64_t n, int64_t xn)
{
    double top = fabs(*(const double *)x), sum = 0, rest = 0, squares = 0, all = (double)n;
    if (xn == 8 && isfinite(top) && td_all_equal<double>(x, n, xn))
        return {all, *(const double *)x, 0, (double)td_power_of(top)};
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(*(const double *)(x + i * xn));
        top = size > top || size != size ? size : top;
    }
    if (top == 0) return {all, 0, 0, TD_MOMENTS_NO_POWER};
    int power = td_power_of(top);
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) sum += scalbn(*(const double *)(x + i * xn), -power);
    double mean = sum / all;
#pragma unroll 1
    for (int64_t i = 0; i < n; i++) {
        double d = scalbn(*(const double *)(x + i * xn), -power) - mean;
        rest += d;
        squares += d * d;
    }
    rest /= all;
    return {all, scalbn(rest == rest ? mean + rest : mean, power), squares - rest * rest * all,
            (double)power};
}

/* ---- joining ---- */

template <class A> VFN A td_moments_plain(A a, A b)
{
    double n = a.n + b.n, delta = b.mean - a.mean, share = b.n / n;
    A made = {}; /* no power: both have none */
    made.n = n;
    made.mean = delta == delta ? a.mean + delta * share : a.mean + b.mean;
    made.m2 = a.m2 + b.m2 + delta * delta * a.n * share;
    return made;
}
VFN td_moments_acc<float> td_moments_join(td_moments_acc<float> a, td_moments_acc<float> b)
{
    return td_moments_plain(a, b);
}
VFN_CALLED td_moments_acc<double> td_moments_join(td_moments_acc<double> a,
                                                  td_moments_acc<double> b)
{
    if (a.power == 0 && b.power == 0) return td_moments_plain(a, b);
    int power = (int)(a.power > b.power ? a.power : b.power);
    double n = a.n + b.n, share = b.n / n, mean = a.mean + b.mean,
           delta = scalbn(b.mean, -power) - scalbn(a.mean, -power);
    if (isfinite(a.mean) && isfinite(b.mean))
        mean = scalbn(scalbn(a.mean, -power) + delta * share, power);
    double m2 = scalbn(a.m2, 2 * ((int)a.power - power)) + scalbn(b.m2, 2 * ((int)b.power - power));
    return {n, mean, m2 + delta * delta * a.n * share, (double)power};
}

/* ---- the reducer ---- */

template <int D> struct td_moments {
    typedef typename td_mem<D>::type T;
    typedef typename td_vector<T>::type V;
    typedef td_moments_acc<T> acc;
    enum { columns = 1, lanes = td_vector<T>::lanes / 2 }; /* SUM_BYTES */
    struct deviations {
        double sum, squares;
    };
    static TD_IN acc start() { return {}; }
    static TD_IN void step(acc &a, T v, int64_t, const td_reduce_call &)
    {
        double delta = (double)v - a.mean;
        a.n += 1;
        a.mean += delta / a.n;
        a.m2 += delta * ((double)v - a.mean);
    }
    static TD_IN acc join(acc a, acc b) { return td_moments_join(a, b); }
    static TD_IN deviations deviate(const T *x, int64_t n, T mean)
    {
        V s = V(T(0)), q = V(T(0)), m = V(mean);
        int64_t at = 0;
        int lane = (int)threadIdx.x;
        for (; at + 2 * lanes <= n; at += 2 * lanes)
            if (lane < lanes) {
                V d = V(x[at + lane]) - m, e = V(x[at + lanes + lane]) - m;
                s = s + (d + e);
                q = q + vfma(d, d, e * e);
            }
        for (int64_t i = at + lane; lane < lanes && i < n; i += lanes) {
            V d = V(x[i]) - m;
            s = s + d;
            q = vfma(d, d, q);
        }
        double sum = (double)td_tree<td_fold_sum, T>(s, lanes);
        return {sum, (double)td_tree<td_fold_sum, T>(q, lanes)};
    }
    static TD_IN acc part(const T *x, int64_t n, int64_t, const td_reduce_call &)
    {
        T mean = (T)(td_fold_sum_of<td_fold_sum, D, T>(x, n) / (double)n);
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i += TD_MOMENTS_PART) {
            deviations d = deviate(x + i, n - i < TD_MOMENTS_PART ? n - i : TD_MOMENTS_PART, mean);
            sum = i ? sum + d.sum : d.sum;
            squares = i ? squares + d.squares : d.squares;
        }
        if constexpr (sizeof(T) == 4)
            if (!(squares >= 0x1p-100 && squares < INFINITY)) return td_moments_again(x, n);
        double rest = sum / (double)n;
        acc made = {};
        made.n = (double)n;
        made.mean = rest == rest ? (double)mean + rest : (double)mean;
        made.m2 = squares - sum * rest;
        return made;
    }
    static TD_IN acc chain(bool begun, acc a, acc part)
    {
        return begun ? td_moments_plain(a, part) : part;
    }
    static TD_IN acc row(const T *x, int64_t n, int64_t first, const td_reduce_call &c)
    {
        return td_row_of_parts<td_moments>(x, n, TD_ROW_BLOCK, first, c);
    }
    static TD_IN acc column(const char *x, int64_t n, int64_t xn)
    {
        acc made = {};
        made.n = (double)n;
#pragma unroll 1
        for (int64_t i = 0; i < n; i++) {
            double v = (double)*(const T *)(x + i * xn), delta = v - made.mean;
            made.mean += delta * (1 / (double)(i + 1));
            made.m2 += delta * (v - made.mean);
        }
        return made;
    }
    /* a block of double whose squares left the range, or come near its end, is read again */
    static TD_IN acc kept(acc a, const char *x, int64_t n, int64_t xn)
    {
        if constexpr (sizeof(T) == 8)
            if (!(a.m2 >= 0x1p-900 && a.m2 <= 0x1p900)) return td_moments_scaled(x, n, xn);
        return a;
    }
    static TD_IN double spread(const td_reduce_call &c, acc a)
    {
        double freedom = a.n - c.correction,
               variance = (a.m2 < 0 ? 0 : a.m2) / (freedom < 0 ? 0 : freedom);
        if constexpr (sizeof(T) == 8)
            if (a.power != 0)
                return c.root ? scalbn(sqrt(variance), (int)a.power)
                              : scalbn(variance, 2 * (int)a.power);
        return c.root ? sqrt(variance) : variance;
    }
    static TD_IN void finish(const td_reduce_call &c, acc a, char *out, int k)
    {
        *(T *)out = (T)(k ? a.mean : spread(c, a));
    }
};
template <> struct td_reads_again<td_moments<TD_F64>> {
    enum { value = 1 };
};
#endif
