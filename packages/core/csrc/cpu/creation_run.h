/* creation_run.h - triangles of matrices: copied, and as lists of places. */
#ifndef TD_CREATION_RUN_H
#define TD_CREATION_RUN_H
#include "runtime/tensor.h"

typedef struct td_triangle {
    const char *from;
    char *to;
    int64_t rows, columns, itemsize, diagonal;
    bool upper;
} td_triangle;

/* dense matrices of `numel` elements in all */
void td_triangle_run(const td_triangle *t, int64_t numel);
/* false: more than 64 bits count */
bool td_triangle_count(const td_triangle *t, int64_t *count);
void td_triangle_list(const td_triangle *t, int64_t count, int64_t *out); /* rows, then columns */

#endif
