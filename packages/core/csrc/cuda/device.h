/* device.h - CUDA devices: contexts, the current device and stream of a thread, and the slots of
 * the table of devices. */
#ifndef TD_CUDA_DEVICE_H
#define TD_CUDA_DEVICE_H
#include "cuda/driver.h"
#include "runtime/device.h"

bool td_cuda_started(void); /* is the type there? start.h */
int td_cuda_count(void);    /* devices, 0 without a driver; never fails */

/* Make the context of a device current on this thread. Refuses in a forked child of a process that
 * had used CUDA. */
td_status td_cuda_use(int ordinal);
void *td_cuda_context(int ordinal); /* of a device that was used before */
int td_cuda_attribute(int ordinal, int attribute);
int td_cuda_arch(int ordinal); /* 90: compute capability 9.0 */
/* Let a device read and write another's memory, where it can; copies work either way. */
td_status td_cuda_reach(int ordinal, int other);
bool td_cuda_blocking(void); /* CUDA_LAUNCH_BLOCKING=1: every launch waits */
void td_cuda_set_blocking(bool yes);

/* What waits for a device without being asked to tells it here, and may be refused
 * (set_sync_debug_mode). */
enum { TD_CUDA_SYNC_FREE, TD_CUDA_SYNC_WARN, TD_CUDA_SYNC_ERROR };
extern int td_cuda_sync_mode;
extern td_status (*td_cuda_warn)(const char *text); /* filled by the binding */
td_status td_cuda_waits(const char *doing);
static inline td_status td_cuda_note_wait(const char *doing)
{
    return td_cuda_sync_mode == TD_CUDA_SYNC_FREE ? TD_OK : td_cuda_waits(doing);
}

/* of this thread */
int td_cuda_current(void);
void td_cuda_set_current(int ordinal);
void *td_cuda_stream(int ordinal); /* NULL: the default stream */
void td_cuda_set_stream(int ordinal, void *stream);
/* Later work of stream `later` comes after what stream `first` has now. */
td_status td_cuda_follow(int first_device, void *first, int later_device, void *later);

/* Slots of the table. */
td_status td_cuda_alloc(char **out, int64_t bytes, td_device device, void **block); /* pool.c */
void td_cuda_release(void *block, char *data, int64_t bytes);
td_status td_cuda_walk(const td_walk *w, td_device device); /* walk.c */
td_status td_cuda_transfer(char *to, td_device to_device, const char *from, td_device from_device,
                           int64_t bytes, bool wait);
td_status td_cuda_synchronize(td_device device);
td_status td_cuda_reduce(const struct td_reduce_plan *plan, td_device device); /* reduce.c */
td_status td_cuda_product(const struct td_product *product, td_device device); /* matmul.c */

#endif
