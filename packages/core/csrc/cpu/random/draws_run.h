/* draws_run.h - samplers that need a number of draws known only when they are done: rejection,
 * walks along a distribution. */
#ifndef TD_DRAWS_RUN_H
#define TD_DRAWS_RUN_H
#include <math.h>
#include "runtime/random.h"
#include "runtime/tensor.h"

/* Every element has a block of its own, and more of them in the third word of the counter if it
 * needs them. */
typedef struct td_draws {
    uint64_t seed, block;
    uint32_t used;
} td_draws;

/* Two numbers inside (0, 1). */
static inline void td_next_pair(td_draws *d, double *u, double *v)
{
    uint32_t w[4];
    td_philox_at(d->seed, d->block, d->used++, w);
    *u = ((double)(((uint64_t)w[0] << 32 | w[1]) >> 12) + 0.5) * 0x1p-52;
    *v = ((double)(((uint64_t)w[2] << 32 | w[3]) >> 12) + 0.5) * 0x1p-52;
}

/* A standard normal number. */
static inline double td_next_normal(td_draws *d)
{
    double u, v;
    td_next_pair(d, &u, &v);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The sample whose parameter is a, or whose parameters are a and b. */
typedef double (*td_drawing)(double a, double b, td_draws d);
/* a[i] = sample(a[i], b[i]) over contiguous float64 tensors of one shape, in parallel; b may be
 * NULL. `cost`: ns a sample. */
void td_draw_each(td_tensor *a, const td_tensor *b, td_generator *g, td_drawing sample,
                  double cost);

double td_gamma_of(double shape, double unused, td_draws d);
double td_poisson_of(double rate, double unused, td_draws d);
double td_binomial_of(double count, double p, td_draws d);

/* RuntimeError with the first number that no such distribution has; dense float64 */
td_status td_poisson_check(const td_tensor *rates);
td_status td_binomial_check(const td_tensor *counts, const td_tensor *probabilities);

#endif
