/* device.h - CUDA devices: contexts, the current device and stream of a thread, and the row in the
 * table of devices. */
#ifndef TD_CUDA_DEVICE_H
#define TD_CUDA_DEVICE_H
#include "cuda/driver.h"
#include "runtime/device.h"

#define TD_CUDA_DEVICES TD_DEVICE_ORDINALS

/* Make device type "cuda" available: the driver is opened and the table registered. Fails with the
 * reason. */
td_status td_cuda_start(void);
bool td_cuda_started(void);
int td_cuda_count(void); /* devices, 0 without a driver; never fails */

/* Make the context of a device current on this thread. Refuses in a forked child of a process that
 * had used CUDA. */
td_status td_cuda_use(int ordinal);
void *td_cuda_context(int ordinal); /* of a device that was used before */
int td_cuda_attribute(int ordinal, int attribute);
int td_cuda_arch(int ordinal); /* 90: compute capability 9.0 */
/* Let a device read and write another's memory, where it can; copies work either way. */
td_status td_cuda_reach(int ordinal, int other);
bool td_cuda_blocking(void); /* CUDA_LAUNCH_BLOCKING=1: every launch waits */

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
extern bool td_cuda_streamed; /* some thread has chosen another stream than the default one */
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
/* softmax.c */
td_status td_cuda_softmax(int kind, td_tensor *out, const td_tensor *a, const td_tensor *b,
                          int64_t dim);

td_status td_cuda_places(const void *job, td_device device);    /* indexing.c */
td_status td_cuda_pair_loss(const void *job, td_device device); /* loss.c */
td_status td_cuda_class_loss(const void *job, td_device device);
td_status td_cuda_margins(const void *job, td_device device);
td_status td_cuda_conv(const void *job, td_device device);      /* conv.c */
td_status td_cuda_attention(const void *job, td_device device); /* attention.c */
td_status td_cuda_optim(const void *job, td_device device);     /* optim.c */
td_status td_cuda_scan(const void *job, td_device device);      /* scan.c */
td_status td_cuda_triangle(const void *job, td_device device);
td_status td_cuda_sort(const void *job, td_device device); /* sort.c */
td_status td_cuda_rank(const void *job, td_device device);
td_status td_cuda_search(const void *job, td_device device);
td_status td_cuda_resample(const void *job, td_device device);      /* resample.c */
td_status td_cuda_resample_grid(const void *job, td_device device); /* resample_grid.c */
td_status td_cuda_norm(const void *job, td_device device);          /* norm.c */
td_status td_cuda_dropout(const void *job, td_device device);       /* random.c */
td_status td_cuda_recurrence(const void *job, td_device device);    /* recurrent.c */
td_status td_cuda_pool_windows(const void *job, td_device device);  /* pooling.c */
td_status td_cuda_distance(const void *job, td_device device);      /* distance.c */
td_status td_cuda_range(const void *job, td_device device);         /* ranges.c */
td_status td_cuda_alignment(const void *job, td_device device);     /* alignment.c */

#endif
