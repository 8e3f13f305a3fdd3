/* lost.h - which work a device was lost by. */
#ifndef TD_CUDA_LOST_H
#define TD_CUDA_LOST_H
#include <stdbool.h>

/* Work was queued under a name, which lives as long as the program. */
void td_cuda_launched(const char *name);
/* Does the driver answer everything with this code from now on? */
bool td_cuda_is_fatal(int code);
/* What an error says of a device that is lost, or "": the first one with such a code tells what was
 * going on then, and all later ones repeat it. `doing`: the call that failed. */
const char *td_cuda_lost(int code, const char *doing);

#endif
