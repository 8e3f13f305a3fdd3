/* search_run.h - places in sorted sequences, counts of values. Everything is dense. */
#ifndef TD_SEARCH_RUN_H
#define TD_SEARCH_RUN_H
#include "runtime/tensor.h"
#include "runtime/work.h"

/* RuntimeError if it leads out of a dimension of n */
td_status td_search_check(const td_tensor *sorter, int64_t n);
/* int64, float32 or float64; a sequence of one dimension serves all values, else their rows belong
 * together. out is int32 or int64. */
void td_search_run(td_tensor *out, const td_tensor *sequence, const td_tensor *values,
                   const td_tensor *sorter, bool right);

/* What a device with kernels of its own is asked for (TD_WORK_SEARCH). */
typedef struct td_search_job {
    td_tensor *out;
    const td_tensor *sequence, *values, *sorter;
    bool right;
} td_search_job;

/* RuntimeError for a negative number */
td_status td_count_length(const td_tensor *x, int64_t minlength, int64_t *length);
/* int64; of float32 or float64 with weights */
void td_count_run(td_tensor *out, const td_tensor *x, const td_tensor *weights);

/* The range of the elements where low equals high; RuntimeError for one that is not finite or
 * upside down. */
td_status td_histogram_range(const td_tensor *x, double *low, double *high);
/* float32 or float64 elements; counts, int64, begin at 0. They have one place more than bins, for
 * what lies outside. */
void td_histogram_run(td_tensor *counts, const td_tensor *x, double low, double high);

#endif
