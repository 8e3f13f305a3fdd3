/* nd_order.h - walks of several dimensions at once want them in order (runtime/nd.c). */
#ifndef TD_ND_ORDER_H
#define TD_ND_ORDER_H
#include "runtime/loops.h"

/* The walk with its dimensions in the order of the output's strides: td_nd_init lets a short inner
 * dimension change places with a longer neighbour. It is in `room`, or `nd` itself. */
const td_nd *td_nd_in_order(const td_nd *nd, td_nd *room);

#endif
