/* indexing_bags_run.h - rows of a table added up over bags of their numbers. */
#ifndef TD_INDEXING_BAGS_RUN_H
#define TD_INDEXING_BAGS_RUN_H
#include "runtime/tensor.h"

/* All dense: table (words, features) and out (bags, features) of float32 or float64; places of
 * int64; edges (bags + 1) of int64: bag k has the places from edges[k] to before edges[k + 1].
 * IndexError for a place that is no row, RuntimeError for edges that do not rise within the places.
 */
td_status td_bags_run(td_tensor *out, const td_tensor *table, const td_tensor *places,
                      const td_tensor *edges);

#endif
