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

typedef enum td_border { TD_REFLECT, TD_REPLICATE } td_border;

/* Where the outputs -before, 1 - before, ... of a dimension of `size` inputs read them; n of them
 */
void td_border_places(int64_t *places, int64_t n, int64_t before, int64_t size, td_border border);
/* the same into a row-major tensor of int64 */
void td_border_places_of(td_tensor *places, int64_t before, int64_t size, td_border border);
#endif
