/* layout.h - memory formats: which strides a new tensor gets. */
#ifndef TD_LAYOUT_H
#define TD_LAYOUT_H
#include "runtime/op.h"

/* the values of a MemoryFormat argument */
typedef enum td_memory_format {
    TD_CONTIGUOUS_FORMAT,
    TD_PRESERVE_FORMAT,
    TD_CHANNELS_LAST,
    TD_CHANNELS_LAST_3D
} td_memory_format;

/* Strides of a tensor of these sizes in `format` (not preserve); RuntimeError if the rank does not
 * fit. */
td_status td_format_strides(td_memory_format format, int ndim, const int64_t *sizes,
                            int64_t *strides);

/* Strides of a dense tensor whose dimensions lie in the order of `like`'s: the same ones if `like`
 * is dense. */
void td_dense_strides_like(const td_tensor *like, int64_t *strides);

/* Is self laid out as `format` asks, so that contiguous() has nothing to do? */
td_status td_has_format(const td_tensor *self, td_memory_format format, bool *out);

/* A new tensor of the sizes of `like` in `format`. */
td_status td_empty_format(td_tensor **out, const td_tensor *like, td_dtype dtype, td_device device,
                          td_memory_format format);

/* If `like` is laid out in channels_last and not row-major, so becomes *out (a tensor of its rank,
 * replaced). */
td_status td_match_channels_last(td_tensor **out, const td_tensor *like);

#endif
