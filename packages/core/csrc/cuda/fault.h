/* fault.h - what kernels find wrong with numbers that only they read: indices, targets,
 * probabilities. The kernel goes on without such a number and leaves a note in page-locked memory;
 * whoever waits for the device next raises the error. So no launch waits. */
#ifndef TD_CUDA_FAULT_H
#define TD_CUDA_FAULT_H
#include "cuda/device.h"

/* What a kernel is given: where it writes the number's ticket and value. Laid out as in
 * kernels/fault.h. */
typedef struct td_cuda_ticket {
    int64_t *note;
    int64_t number;
} td_cuda_ticket;

typedef enum td_cuda_fault_kind {
    TD_CUDA_BAD_INDEX,  /* of dimension `dim` with `size` places */
    TD_CUDA_BAD_TARGET, /* of `size` classes */
    TD_CUDA_BAD_PROBABILITY,
    TD_CUDA_BAD_EDGES /* of segments of `size` columns */
} td_cuda_fault_kind;

/* `op` is a string constant. */
typedef struct td_cuda_fault {
    td_cuda_fault_kind kind;
    td_status error;
    const char *op;
    int64_t dim, size;
} td_cuda_fault;

/* A ticket for the next launch, which may go wrong in this way. */
td_status td_cuda_fault_ticket(const td_cuda_fault *fault, td_cuda_ticket *ticket);
/* After a wait: has a kernel left a note? Its error, once. */
td_status td_cuda_fault_check(void);
/* With CUDA_LAUNCH_BLOCKING=1 the launch was waited for: the same at once. */
td_status td_cuda_fault_launched(td_status launched);

/* Where Python is, outside of taeda: "file.py:12". Filled by the binding. */
#define TD_CUDA_PLACE_TEXT 96
extern void (*td_cuda_fault_place)(char text[TD_CUDA_PLACE_TEXT]);

#endif
