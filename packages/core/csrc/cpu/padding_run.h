/* padding_run.h - rows of a larger tensor whose every element is one of a smaller one. */
#ifndef TD_PADDING_RUN_H
#define TD_PADDING_RUN_H
#include "runtime/tensor.h"

/* Both dense. place[d][i]: where output position i of dimension d reads the input; NULL: at i. */
typedef struct td_placing {
    const char *from;
    char *to;
    int ndim;
    int64_t itemsize, in[TD_MAX_DIMS], out[TD_MAX_DIMS];
    const int64_t *place[TD_MAX_DIMS];
    /* along the last dimension, outputs begin <= i < end are neighbours in the input as well */
    int64_t begin, end;
} td_placing;

void td_placing_run(const td_placing *p);
#endif
