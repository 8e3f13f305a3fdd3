/* capture.h - what captures forbid, for files that know nothing else of graphs. */
#ifndef TD_CUDA_CAPTURE_H
#define TD_CUDA_CAPTURE_H
#include <stdbool.h>
#include "runtime/error.h"

/* How many captures go on in this process: nearly always none. */
extern int td_cuda_captures;
/* The driver's numbers of whom a capture forbids what may wait, also beside its stream: everybody,
 * the thread that began it, nobody. */
enum { TD_CUDA_GLOBAL, TD_CUDA_OF_THREAD, TD_CUDA_RELAXED };

/* Beside a capture this thread may do what could wait for others, until `td_cuda_strict` with the
 * answer: it is none of the captured work, and nothing of that waits for it. */
int td_cuda_relax(void);
void td_cuda_strict(int mode);

/* Is it one of the driver's codes for what no capture holds? By such a call the capture is lost. */
bool td_cuda_is_of_capture(int code);
/* The error for one, with the operator and the line, which the driver does not know. */
td_status td_cuda_capture_lost(int code, const char *name, const char *doing);

#endif
