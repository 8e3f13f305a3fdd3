/* indexing_sums_run.h - sums and products of 16-bit numbers where several meet at one place: each
 * place is computed in float32 from all that comes to it, in the order of the indices, and rounded
 * once. */
#ifndef TD_INDEXING_SUMS_RUN_H
#define TD_INDEXING_SUMS_RUN_H
#include "cpu/indexing.h"
#include "runtime/tensor.h"

/* So few numbers are not worth the memory of a copy in float32. */
#define TD_SUMS_FEW 64

/* Would the target round every sum? Then only what stands here may add to it. */
bool td_index_rounds(td_put put, td_dtype dtype);
/* as td_index_put */
td_status td_index_put_many(td_tensor *self, const td_index_walk *walk, const td_tensor *source,
                            td_put put);
/* as td_index_scatter, for few indices: in a large target, or at all */
td_status td_index_scatter_many(td_tensor *target, int64_t dim, const td_tensor *index,
                                const td_tensor *src, td_put put);

#endif
