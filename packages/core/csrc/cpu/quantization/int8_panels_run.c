/* int8_panels_run.c - which kernels of panels. */
#include "cpu/quantization/int8_panels_run.h"

const td_int8_panels_kernels *td_int8_kernels_of_panels(void)
{
    if (td_has_tiles()) return TD_PICK(td_int8_tiles_kernels);
    return TD_PICK_QUADS(td_int8_panels_kernels);
}
