/* walk.h - a loop over the elements of strided operands (runtime/loops.h prepares them). */
#ifndef TD_CPU_RUN_WALK_H
#define TD_CPU_RUN_WALK_H
#include "runtime/loops.h"

/* Walk it, in parallel when numel * cost is worth it. cost: about nanoseconds per element (add 0.3,
 * exp 1, pow 10). */
void td_nd_run(const td_nd *nd, td_loop loop, const void *context, double cost);
void td_nd_run_serial(const td_nd *nd, td_loop loop, const void *context);
#endif
