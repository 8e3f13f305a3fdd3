/* float_mode.h - how a thread's arithmetic treats numbers below the normal range. */
#ifndef TD_FLOAT_MODE_H
#define TD_FLOAT_MODE_H
#include <stdbool.h>
#include <stdint.h>

/* of the calling thread; false: this processor has no such switch */
bool td_flush_denormal(bool on);
uint32_t td_float_mode(void); /* the whole control word, to hand to another thread */
void td_take_float_mode(uint32_t mode);

#endif
