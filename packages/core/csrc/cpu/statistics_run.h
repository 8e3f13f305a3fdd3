/* statistics_run.h - sums of weights in the cells of a grid. Everything is dense. */
#ifndef TD_STATISTICS_RUN_H
#define TD_STATISTICS_RUN_H
#include "runtime/tensor.h"

typedef struct td_grid_counts {
    int dims;
    const void *edges[TD_MAX_DIMS]; /* ascending, at least one of each */
    int64_t counts[TD_MAX_DIMS];    /* how many edges */
} td_grid_counts;

/* The cell of each point of `at` (int64), a row of x; -1 for those outside the grid or with a NaN.
 * The last edge belongs to the cell before it. float32 or float64. */
void td_grid_cells(td_tensor *at, const td_tensor *x, const td_grid_counts *grid);
/* Adds 1 to each point's cell of float64 sums, or its weight, in the order of the points. */
void td_grid_add(td_tensor *sums, const td_tensor *at, const td_tensor *weights);

#endif
