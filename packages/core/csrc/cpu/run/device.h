/* device.h - the processor's answers to runtime/device.h. */
#ifndef TD_CPU_RUN_DEVICE_H
#define TD_CPU_RUN_DEVICE_H
#include "runtime/device.h"

td_status td_cpu_copy(const td_walk *w); /* cpu/run/copy.c */
td_status td_cpu_negate(const td_walk *w);
td_status td_cpu_pointwise(const td_walk *w); /* cpu/pointwise/tiles_run.c */

#endif
