/* bags_run.h - embeddings of integers, over threads. */
#ifndef TD_BAGS_RUN_H
#define TD_BAGS_RUN_H
#include "cpu/quantization/bags.h"

/* A table (rows, columns) whose number q of a row is q * scale + shift. A bag is the indices from
 * one of `starts` to the next; without `starts` each index is one. `weights`: a factor for each
 * index, or NULL. */
typedef struct td_bags {
    const uint8_t *table;
    int64_t rows, columns;
    const float *scales, *shifts;
    const int64_t *indices, *starts;
    int64_t count, bags; /* indices and bags */
    const float *weights;
    float *out; /* (bags, columns) */
} td_bags;

enum { TD_BAGS_DONE = -1 };
/* TD_BAGS_DONE, or the place of an index or of a start that is out of range. They are looked at as
 * they are read: another thread may write them meanwhile. */
int64_t td_bags_sum(const td_bags *b);
#endif
