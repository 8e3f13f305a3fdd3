/* int8_panels_run.c - which kernels of panels: quads need more than AVX-512. */
#include "cpu/quantization/int8_panels_run.h"

const td_int8_panels_kernels *td_int8_kernels_of_panels(void)
{
    if (td_has_tiles()) return TD_PICK(td_int8_tiles_kernels);
    const td_int8_panels_kernels *picked = TD_PICK(td_int8_panels_kernels);
#ifdef __x86_64__
    if (picked == &td_int8_panels_kernels_avx512 && !__builtin_cpu_supports("avx512vnni"))
        return &td_int8_panels_kernels_avx2;
#endif
    return picked;
}
