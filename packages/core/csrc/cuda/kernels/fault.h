/* fault.h - a kernel's note about a number that names nothing (csrc/cuda/fault.c). */
#ifndef TD_FAULT_TEXT_H
#define TD_FAULT_TEXT_H
#include "cpu/simd/vec.h"

struct td_ticket { /* laid out as in csrc/cuda/fault.h */
    int64_t *note;
    int64_t number;
};
/* Of several bad numbers any stays: each of them is one. */
VFN void td_note_fault(const td_ticket &t, int64_t value)
{
    t.note[1] = value;
    t.note[0] = t.number;
}
/* the place that an index names, or -1; negative ones count from the end if they may */
VFN int64_t td_checked(const td_ticket &t, int64_t index, int64_t size, bool wraps)
{
    int64_t at = wraps && index < 0 ? index + size : index;
    if (at >= 0 && at < size) return at;
    td_note_fault(t, index);
    return -1;
}
#endif
