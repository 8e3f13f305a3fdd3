/* counts_run.c - a sample of the Poisson and of the binomial distribution. */
#include "cpu/random/draws_run.h"

/* ---- poisson ---- */

/* Walk up the distribution until its mass passes u. */
static double poisson_small(double rate, td_draws *d)
{
    double u, unused, mass = exp(-rate), k = 0;
    td_next_pair(d, &u, &unused);
    for (; u > mass && mass > 0; k++) {
        u -= mass;
        mass *= rate / (k + 1);
    }
    return k;
}

/* Transformed rejection with squeeze (Hörmann, 1993), for rates from 10. */
static double poisson_large(double rate, td_draws *d)
{
    double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u, v;
        int sign;
        td_next_pair(d, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v * inverse_alpha / (a / (us * us) + b)) <=
            k * log(rate) - rate - lgamma_r(k + 1, &sign))
            return k;
    }
}

double td_poisson_of(double rate, double unused, td_draws d)
{
    if (rate == 0 || isinf(rate)) return rate;
    if (rate < 10) return poisson_small(rate, &d);
    if (rate < 0x1p50) return poisson_large(rate, &d);
    /* a double's steps are wider than what tells the two distributions apart */
    return floor(rate + sqrt(rate) * td_next_normal(&d));
}

td_status td_poisson_check(const td_tensor *rates)
{
    const double *v = td_data(rates);
    for (int64_t i = 0; i < rates->numel; i++)
        if (!(v[i] >= 0))
            return td_fail(TD_RUNTIME_ERROR, "poisson expects rates >= 0, but got %g", v[i]);
    return TD_OK;
}

/* ---- binomial ---- */

/* Walk from one success to the next: the failures between them are geometric. For few expected
 * successes. */
static double binomial_walk(double count, double p, td_draws *d)
{
    double u, v, place = 0, successes = -1, log_q = log1p(-p);
    for (; place <= count; successes++) {
        td_next_pair(d, &u, &v);
        place += 1 + floor(log(u) / log_q);
    }
    return successes;
}

/* log(k!) without Stirling's main terms; the formula of the rejection below needs the rest only */
static double stirling_rest(double k)
{
    if (k < 10) {
        int sign;
        return lgamma_r(k + 1, &sign) - ((k + 0.5) * log(k + 1) - (k + 1) + 0.91893853320467274);
    }
    double z = 1 / ((k + 1) * (k + 1));
    return (1.0 / 12 - z * (1.0 / 360 - z / 1260)) / (k + 1);
}

/* Transformed rejection (Hörmann, 1993: algorithm BTRD), for p <= 1/2 and 10 or more expected
 * successes. */
static double binomial_reject(double n, double p, td_draws *d)
{
    double q = 1 - p, spread = sqrt(n * p * q), b = 1.15 + 2.53 * spread,
           a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
    double alpha = (2.83 + 5.1 / b) * spread, v_r = 0.92 - 4.2 / b, odds = p / q,
           mode = floor((n + 1) * p);
    for (;;) {
        double u, v;
        td_next_pair(d, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || k > n) continue;
        double bound =
            (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + stirling_rest(mode) +
            stirling_rest(n - mode) + (n + 1) * log((n - mode + 1) / (n - k + 1)) +
            (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) - stirling_rest(k) - stirling_rest(n - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

double td_binomial_of(double count, double p, td_draws d)
{
    double n = floor(count), rare = p < 0.5 ? p : 1 - p, k;
    if (isnan(p)) return p;
    if (n == 0 || rare == 0) return p < 0.5 ? 0 : n;
    if (n * rare < 10) k = binomial_walk(n, rare, &d);
    else if (n < 0x1p50) k = binomial_reject(n, rare, &d);
    else k = fmin(fmax(floor(n * rare + sqrt(n * rare * (1 - rare)) * td_next_normal(&d)), 0), n);
    return p < 0.5 ? k : n - k;
}

td_status td_binomial_check(const td_tensor *counts, const td_tensor *probabilities)
{
    const double *n = td_data(counts), *p = td_data(probabilities);
    for (int64_t i = 0; i < counts->numel; i++) {
        if (!(n[i] >= 0 && n[i] < INFINITY))
            return td_fail(TD_RUNTIME_ERROR, "binomial expects finite counts >= 0, but got %g",
                           n[i]);
        if (!(p[i] >= 0 && p[i] <= 1) && !isnan(p[i]))
            return td_fail(TD_RUNTIME_ERROR, "binomial expects probabilities in [0, 1], but got %g",
                           p[i]);
    }
    return TD_OK;
}
