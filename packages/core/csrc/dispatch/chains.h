/* chains.h - who is asked for functions of chains (ops/pointwise/chains.h). */
#ifndef TD_DISPATCH_CHAINS_H
#define TD_DISPATCH_CHAINS_H
#include "dispatch/dispatch.h"

/* Call whoever listens, if chains were asked for since; -1 if an interrupt came meanwhile. */
int td_tell_of_chains(void);
#endif
