/* creation_run.h - triangles of matrices: copied, and as lists of places. */
#ifndef TD_CREATION_RUN_H
#define TD_CREATION_RUN_H
#include "runtime/tensor.h"
#include "runtime/work.h"

typedef struct td_triangle {
    const char *from;
    char *to;
    int64_t rows, columns, itemsize, diagonal;
    bool upper;
} td_triangle;

/* What a device with kernels of its own is asked for (TD_WORK_TRIANGLE): the next one. */
typedef struct td_triangle_job {
    const td_triangle *triangle;
    int64_t numel;
} td_triangle_job;

/* dense matrices of `numel` elements in all */
void td_triangle_run(const td_triangle *t, int64_t numel);
/* false: more than 64 bits count */
bool td_triangle_count(const td_triangle *t, int64_t *count);
void td_triangle_list(const td_triangle *t, int64_t count, int64_t *out); /* rows, then columns */

#endif
