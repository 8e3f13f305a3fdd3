/* graph.h - work of a stream that is recorded instead of done, and replayed by one call. */
#ifndef TD_CUDA_GRAPH_H
#define TD_CUDA_GRAPH_H
#include "cuda/capture.h"
#include "cuda/device.h"
#include "cuda/pool.h"

typedef struct td_cuda_graph td_cuda_graph;

/* The capture that the thread's current stream of a device belongs to, or NULL. */
td_cuda_graph *td_cuda_capturing_on(int ordinal);
static inline td_cuda_graph *td_cuda_capturing(int ordinal)
{
    return __atomic_load_n(&td_cuda_captures, __ATOMIC_RELAXED) ? td_cuda_capturing_on(ordinal)
                                                                : NULL;
}
/* Refuses work that a graph cannot hold, and what the driver forbids beside a capture, by which it
 * would end; the error names it, the operator and the line. */
td_status td_cuda_not_captured(int ordinal, const char *doing);

/* `pool`: what tensors that are made meanwhile lie in; its owner outlives the graph. `mode`: the
 * driver's number of what other threads may do (0 global, 1 of this thread, 2 anything). */
td_status td_cuda_graph_begin(td_cuda_graph **out, int ordinal, td_cuda_private *pool, int mode);
td_status td_cuda_graph_end(td_cuda_graph *g);
td_status td_cuda_graph_make(td_cuda_graph *g); /* ready to be replayed */
td_status td_cuda_graph_replay(td_cuda_graph *g, void *stream);
td_status td_cuda_graph_dump(const td_cuda_graph *g, const char *path);
void *td_cuda_graph_raw(const td_cuda_graph *g); /* the driver's handle */
void td_cuda_graph_free(td_cuda_graph *g);       /* with the interpreter lock held */

td_cuda_private *td_cuda_graph_pool(const td_cuda_graph *g);
/* Where a captured kernel reads the seed and the block that a replay starts at, and how far `block`
 * lies from there. NULL with an error for other generators than the default one. */
td_status td_cuda_graph_random(td_cuda_graph *g, uint64_t seed, uint64_t block, const void **state,
                               uint64_t *from);

#endif
