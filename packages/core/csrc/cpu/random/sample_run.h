/* sample_run.h - filling dense memory with samples, shared out among threads. Values depend on the
 * place alone. */
#ifndef TD_SAMPLE_RUN_H
#define TD_SAMPLE_RUN_H
#include "cpu/random/random.h"
#include "runtime/tensor.h"

typedef enum td_sample_kind { /* the parameters of each: cpu/random/random.h */
                              TD_SAMPLE_UNIFORM_F32,
                              TD_SAMPLE_UNIFORM_F64,
                              TD_SAMPLE_OPEN_F64,
                              TD_SAMPLE_NORMAL_F32,
                              TD_SAMPLE_NORMAL_F64,
                              TD_SAMPLE_EXPONENTIAL_F32,
                              TD_SAMPLE_INTEGERS,
                              TD_SAMPLE_WIDE_INTEGERS,
                              TD_SAMPLE_COIN,
                              TD_SAMPLE_COINS_F32,
                              TD_SAMPLE_COINS_F64,
                              TD_SAMPLE_DROPOUT
} td_sample_kind;

typedef struct td_sampling {
    td_sample_kind kind;
    const void *params;
    td_dtype dtype; /* of the samples */
} td_sampling;

/* Fill n contiguous elements at `data`, in parallel; the generator moves on by whole groups. */
void td_sample_run(void *data, int64_t n, td_generator *g, const td_sampling *how);

/* ---- functions of samples, in place: dense float64 ---- */
typedef enum td_transform {
    TD_TRANSFORM_EXPONENTIAL,
    TD_TRANSFORM_CAUCHY,
    TD_TRANSFORM_GEOMETRIC,
    TD_TRANSFORM_LOG_NORMAL
} td_transform;
void td_transform_run(td_tensor *samples, td_transform of, double a, double b);
/* samples * std + mean; std may be NULL for 1; complex numbers are pairs, of samples and means */
void td_scale_shift_run(td_tensor *samples, const td_tensor *mean, const td_tensor *std);
/* its place, or numel */
int64_t td_first_negative(const td_tensor *t);
/* of [0, 1], in float32 or float64 */
int64_t td_first_outside(const td_tensor *t, double *value);

/* ---- dropout ---- */
int td_dropout_kind(td_dtype d); /* in the kernels' tables, or -1 */
/* all dense */
void td_dropout_backward_run(td_tensor *out, const td_tensor *grad, const td_tensor *mask,
                             double scale);

/* ---- a random order: the words of `out` decide it, and are overwritten by it ---- */
td_status td_permutation_run(td_tensor *out);

/* ---- rows of weights; `order` is work space for draws without replacement. RuntimeError for a row
 * that cannot be drawn from ---- */
td_status td_multinomial_run(td_tensor *out, td_tensor *values, td_tensor *uniforms,
                             td_tensor *order, bool replacement);

#endif
