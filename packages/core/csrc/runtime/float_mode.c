/* float_mode.c - the switch for numbers below the normal range; a worker takes the mode of the
 * thread whose job it does. */
#include "runtime/float_mode.h"

#ifdef __x86_64__
#define FLUSH_RESULTS 0x8000u
#define FLUSH_INPUTS 0x0040u
#define SETTINGS 0xffc0u /* without the six marks of what has happened */

uint32_t td_float_mode(void) { return __builtin_ia32_stmxcsr() & SETTINGS; }

void td_take_float_mode(uint32_t mode)
{
    uint32_t now = __builtin_ia32_stmxcsr();
    if ((now & SETTINGS) != mode) __builtin_ia32_ldmxcsr((now & ~SETTINGS) | mode);
}

bool td_flush_denormal(bool on)
{
    uint32_t both = FLUSH_RESULTS | FLUSH_INPUTS;
    td_take_float_mode(on ? td_float_mode() | both : td_float_mode() & ~both);
    return true;
}
#else
uint32_t td_float_mode(void) { return 0; }
void td_take_float_mode(uint32_t mode) { (void)mode; }
bool td_flush_denormal(bool on) { return (void)on, false; }
#endif
