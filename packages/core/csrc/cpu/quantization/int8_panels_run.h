/* int8_panels_run.h - the kernels of panels that this processor runs. */
#ifndef TD_INT8_PANELS_RUN_H
#define TD_INT8_PANELS_RUN_H
#include "cpu/quantization/int8_panels.h"

const td_int8_panels_kernels *td_int8_kernels_of_panels(void);
#endif
