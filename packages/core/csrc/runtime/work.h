/* work.h - families of operators that a device computes with kernels of its own, beside its table.
 *
 *   operator (ops/) ──td_work_run(TD_WORK_PLACES, &job, device)──▶ td_workers[type][TD_WORK_PLACES]
 *
 * `job` is a struct that the family's header in cpu/ defines. The processor is not asked here: its
 * operators call cpu/<family>_run.c. */
#ifndef TD_WORK_H
#define TD_WORK_H
#include "runtime/tensor.h"

typedef enum td_work {
    TD_WORK_PLACES,     /* td_places_job of cpu/indexing.h */
    TD_WORK_PAIR_LOSS,  /* td_pair_job of cpu/loss_run.h */
    TD_WORK_CLASS_LOSS, /* td_class_job of cpu/loss_class_run.h */
    TD_WORK_CONV,       /* td_conv_job of cpu/conv/conv_run.h */
    TD_WORK_NORM,       /* td_norm_job of cpu/norm/norm_job.h */
    TD_WORK_POOLING,    /* td_pool_job of cpu/pooling/pooling_run.h */
    TD_WORK_DROPOUT,    /* td_dropout_job of cpu/random/dropout_job.h */
    TD_WORK_ATTENTION,  /* td_attention_job of cpu/attention_run.h */
    TD_WORK_OPTIM,      /* td_optim_job of cpu/optim_run.h */
    TD_WORK_SCAN,       /* td_scan_job of cpu/scan_run.h */
    TD_WORK_TRIANGLE,   /* td_triangle_job of cpu/creation_run.h */
    TD_WORK_SORT,       /* td_sort_job of cpu/sorting/sort_run.h */
    TD_WORK_RESAMPLE,   /* td_resample_job of cpu/resample_run.h */
    TD_WORK_GRID,       /* td_grid_job of cpu/resample_grid.h */
    TD_WORK_SEARCH,     /* td_search_job of cpu/sorting/search_run.h */
    TD_WORK_RECURRENCE, /* td_recurrence_job of cpu/recurrent/recurrent_run.h */
    TD_WORK_MARGINS,    /* td_margins of cpu/loss_margin_run.h */
    TD_WORK_RANK,       /* td_rank_job of cpu/reduction/order_run.h */
    TD_WORK_DISTANCE,   /* td_distance_job of cpu/distance_run.h */
    TD_WORK_ALIGNMENT,  /* td_alignment_job of cpu/loss_alignment_run.h */
    TD_WORK_RANGE,      /* td_range_job of cpu/creation_ranges.h */
    TD_WORK_SOFTMAX,    /* td_softmax_job of cpu/softmax_run.h */
    TD_WORKS
} td_work;

typedef td_status (*td_worker)(const void *job, td_device device);

/* Filled when a type of device becomes available; NULL: no kernels of its own. */
extern td_worker td_workers[TD_DEVICE_TYPES][TD_WORKS];

/* NotImplementedError that names `what` if the device has no such kernels. */
td_status td_work_run(td_work work, const void *job, td_device device, const char *what);

/* `t` on `device`: an alias if it lies there, else a row-major copy. */
td_status td_moved_to(td_tensor **out, const td_tensor *t, td_device device);
/* The same without a wait, of a row-major tensor of the host: the device takes the bytes along. */
td_status td_sent_to(td_tensor **out, const td_tensor *t, td_device device);
/* The same of numbers that depend on sizes and options alone, a table or a window: a graph that is
 * captured keeps them, for each replay would send the same. */
td_status td_sent_constant(td_tensor **out, const td_tensor *t, td_device device);

#endif
