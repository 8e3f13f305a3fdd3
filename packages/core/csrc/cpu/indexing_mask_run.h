/* indexing_mask_run.h - the true elements of masks: counted, listed, picked, written, shared out
 * among threads. */
#ifndef TD_INDEXING_MASK_RUN_H
#define TD_INDEXING_MASK_RUN_H
#include "cpu/indexing.h"
#include "runtime/tensor.h"

/* A mask in chunks: their true elements are counted, then each knows where its own begin. */
typedef struct td_mask_chunks {
    const uint8_t *mask;
    int64_t n, count, total;
    int64_t *first; /* count + 1 entries: true elements before each chunk */
    const char *from;
    char *to;
    int size; /* log2 of the itemsize, or -1: places */
} td_mask_chunks;

/* a row-major tensor of bytes; counts */
td_status td_mask_begin(td_mask_chunks *c, const td_tensor *mask);
void td_mask_end(td_mask_chunks *c);
/* int64 [ndim, total]: coordinates */
void td_mask_places(td_mask_chunks *c, td_tensor *out, int ndim, const int64_t *sizes);
/* the elements of a dense tensor where the mask is true */
void td_mask_compress(td_mask_chunks *c, td_tensor *out, const td_tensor *from);

td_status td_mask_fill(td_tensor *out, const td_tensor *self, const td_tensor *mask,
                       const td_scalar *value);
/* The next element of source at every true one; all three dense. RuntimeError if there are too few.
 */
td_status td_mask_place(td_tensor *out, const td_tensor *mask, const td_tensor *source);

#endif
