/* start.h - how CUDA comes into the table of devices. */
#ifndef TD_CUDA_START_H
#define TD_CUDA_START_H
#include "runtime/device.h"

/* Make device type "cuda" available: the driver is opened and the table registered. Fails with the
 * reason. */
td_status td_cuda_start(void);
extern const td_device_opener td_cuda_opener;
#endif
