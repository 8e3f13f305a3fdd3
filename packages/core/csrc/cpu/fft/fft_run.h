/* fft_run.h - transforms of many lines in memory, over all threads. */
#ifndef TD_FFT_RUN_H
#define TD_FFT_RUN_H
#include "cpu/fft/fft_plan.h"

typedef enum td_fft_kind { TD_FFT_C2C, TD_FFT_R2C, TD_FFT_C2R } td_fft_kind;

/* `count` lines of adjacent numbers, one behind the other. A complex spectrum of real points has
 * points / 2 + 1 numbers, or all of them if `whole`. in may be out for complex to complex. */
typedef struct td_fft_job {
    td_fft_kind kind;
    const td_fft_plan *plan; /* of td_fft_plan_points(kind, points) */
    const void *in;
    void *out;
    int64_t count, points;
    int sign;     /* 1 forward, -1 backward; real to complex is forward, complex to real backward */
    double scale; /* of the result */
    bool whole;
    bool cold; /* `in` comes from memory, although it would fit the cache */
} td_fft_job;

/* Real lines of even length are complex ones of half the length. */
static inline int64_t td_fft_plan_points(td_fft_kind kind, int64_t points)
{
    return kind != TD_FFT_C2C && points % 2 == 0 ? points / 2 : points;
}

td_status td_fft_run(const td_fft_job *job);

/* Complex lines along the middle one of outer x points x inner, where plan->whole is there. in may
 * be out. */
td_status td_fft_columns(const td_fft_plan *plan, const void *in, void *out, int64_t outer,
                         int64_t inner, int sign, double scale);
#endif
