/* numbers.h - what normalisation computes of numbers a channel, between its passes over elements:
 * one line each for the processor, which calls them in a loop, and for a device, where a thread
 * computes one (cuda/kernels/norm.h). Plain C that is C++, too.
 *
 * Numbers are float or double in memory and double between; which one an array holds, a bit of
 * `wide` says. A segment is a channel of a sample; a row is a group of `each` segments. */
#ifndef TD_NORM_NUMBERS_H
#define TD_NORM_NUMBERS_H
#include <math.h>
#include <stdint.h>

enum td_number_kind {
    TD_NUMBER_INVERSE,
    TD_NUMBER_RUNNING,
    TD_NUMBER_SCALE,
    TD_NUMBER_MIX,
    TD_NUMBER_GRADIENT,
    TD_NUMBER_TOGETHER,
    TD_NUMBER_SPREAD,
    TD_NUMBER_GROUP_MIX,
    TD_NUMBER_GROUP_GRADIENT,
    TD_NUMBER_KINDS
};

enum { /* bits of `wide`, and places in `of` */
       TD_OF_MEAN,
       TD_OF_RSTD, /* or the variance that it is made of */
       TD_OF_WEIGHT,
       TD_OF_BIAS,
       TD_OF_OUT,
       TD_OF_COUNT
};

struct td_norm_numbers {
    int64_t n; /* numbers to make: threads that have work */
    int64_t channels, samples, each;
    char *of[TD_OF_COUNT];
    double *sums; /* of a segment: sum of g, sum of g * (x - mean) */
    int64_t wide, which;
    double count, eps, momentum, factor;
};

static inline double td_number_of(const struct td_norm_numbers *j, int what, int64_t i)
{
    return j->wide >> what & 1 ? ((const double *)j->of[what])[i]
                               : (double)((const float *)j->of[what])[i];
}
static inline double td_number_or(const struct td_norm_numbers *j, int what, int64_t i,
                                  double otherwise)
{
    return j->of[what] ? td_number_of(j, what, i) : otherwise;
}
static inline void td_number_put(const struct td_norm_numbers *j, int64_t i, double value)
{
    if (j->wide >> TD_OF_OUT & 1) ((double *)j->of[TD_OF_OUT])[i] = value;
    else ((float *)j->of[TD_OF_OUT])[i] = (float)value;
}

/* sqrt(x * x + eps) of a standard deviation, whose square may not fit */
static inline double td_number_root(double x, double eps)
{
    double side = sqrt(eps < 0 ? -eps : eps);
    return eps < 0 ? sqrt(x - side) * sqrt(x + side) : hypot(x, side);
}
/* 1 / sqrt(variance + eps). `which`: of a standard deviation. */
static inline void td_number_inverse(const struct td_norm_numbers *j, int64_t c)
{
    double value = td_number_of(j, TD_OF_RSTD, c);
    td_number_put(j, c, 1 / (j->which ? td_number_root(value, j->eps) : sqrt(value + j->eps)));
}
/* (1 - momentum) * running + momentum * factor * value; running stands in MEAN, value in RSTD.
 * `which`: of the value's square. */
static inline void td_number_running(const struct td_norm_numbers *j, int64_t c)
{
    double value = td_number_of(j, TD_OF_RSTD, c);
    td_number_put(j, c,
                  (1 - j->momentum) * td_number_of(j, TD_OF_MEAN, c) +
                      j->momentum * j->factor * (j->which ? value * value : value));
}
/* weight * rstd, then bias, then mean. Bias and mean do not become one number: the mean goes first,
 * or a constant is not what its mean is. */
static inline void td_number_scale(const struct td_norm_numbers *j, int64_t s)
{
    int64_t row = s / j->each, c = s % j->channels;
    td_number_put(j, s, td_number_of(j, TD_OF_RSTD, row) * td_number_or(j, TD_OF_WEIGHT, c, 1));
    td_number_put(j, j->n + s, td_number_or(j, TD_OF_BIAS, c, 0));
    td_number_put(j, 2 * j->n + s, td_number_of(j, TD_OF_MEAN, row));
}

/* ---- gradients of batches: dx = grad * [0] + x * [1] + [2] ---- */
static inline void td_number_mix(const struct td_norm_numbers *j, int64_t c)
{
    double s = td_number_of(j, TD_OF_RSTD, c), a = s * td_number_or(j, TD_OF_WEIGHT, c, 1);
    double b = j->sums ? -a * s * s * j->sums[2 * c + 1] / j->count : 0;
    td_number_put(j, c, a);
    td_number_put(j, j->n + c, b);
    td_number_put(j, 2 * j->n + c,
                  j->sums ? -a * j->sums[2 * c] / j->count - b * td_number_of(j, TD_OF_MEAN, c)
                          : 0);
}
static inline void td_number_gradient(const struct td_norm_numbers *j, int64_t c)
{
    td_number_put(
        j, c, j->which == 1 ? j->sums[2 * c + 1] * td_number_of(j, TD_OF_RSTD, c) : j->sums[2 * c]);
}
/* the sums of a channel's segments come together in the first of them */
static inline void td_number_together(const struct td_norm_numbers *j, int64_t c)
{
    for (int64_t s = c + j->channels; s < j->samples * j->channels; s += j->channels) {
        j->sums[2 * c] += j->sums[2 * s];
        j->sums[2 * c + 1] += j->sums[2 * s + 1];
    }
}

/* ---- gradients of groups ---- */

/* a row's mean for each of its segments */
static inline void td_number_spread(const struct td_norm_numbers *j, int64_t s)
{
    td_number_put(j, s, td_number_of(j, TD_OF_MEAN, s / j->each));
}
/* of a row, for all of its segments */
static inline void td_number_group_mix(const struct td_norm_numbers *j, int64_t row)
{
    int64_t segments = j->samples * j->channels;
    double r = td_number_of(j, TD_OF_RSTD, row), m = td_number_of(j, TD_OF_MEAN, row), sum_g = 0,
           sum_gx = 0;
    for (int64_t s = row * j->each; s < (row + 1) * j->each; s++) {
        double w = td_number_or(j, TD_OF_WEIGHT, s % j->channels, 1);
        sum_g += w * j->sums[2 * s];
        sum_gx += w * j->sums[2 * s + 1];
    }
    double b = -r * r * r * sum_gx / j->count;
    for (int64_t s = row * j->each; s < (row + 1) * j->each; s++) {
        td_number_put(j, s, r * td_number_or(j, TD_OF_WEIGHT, s % j->channels, 1));
        td_number_put(j, segments + s, b);
        td_number_put(j, 2 * segments + s, -r * sum_g / j->count - b * m);
    }
}
static inline void td_number_group_gradient(const struct td_norm_numbers *j, int64_t c)
{
    double total = 0;
    for (int64_t s = c; s < j->samples * j->channels; s += j->channels)
        total += j->sums[2 * s + (j->which == 1)] *
                 (j->which == 1 ? td_number_of(j, TD_OF_RSTD, s / j->each) : 1);
    td_number_put(j, c, total);
}

#endif
