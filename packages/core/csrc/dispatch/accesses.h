/* accesses.h - what a call did to the memory of CUDA devices, for taeda.cuda._sanitizer and for
 * graphs. */
#ifndef TD_ACCESSES_H
#define TD_ACCESSES_H
#include "runtime/streams.h"
#include "dispatch/dispatch.h"

/* A call is done, whose work was queued under a number. Calls
 * taeda.cuda._sanitizer.worked(number, op, accesses). 0, or -1 with its exception. */
int td_tell_accesses(const td_frame *f, const td_made *made, int64_t number);
/* A call was recorded instead of done: `td_recorded` hears of all memory that it had. */
void td_tell_recorded(const td_frame *f, int ordinal, const td_made *made);
#endif
