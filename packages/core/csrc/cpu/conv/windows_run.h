/* windows_run.h - the windows of images as columns of a matrix, and columns added back into images.
 */
#ifndef TD_WINDOWS_RUN_H
#define TD_WINDOWS_RUN_H
#include "runtime/tensor.h"

/* Two dimensions of an image, its windows, and how many windows there are. */
typedef struct td_windows {
    int64_t in[2], kernel[2], dilation[2], pad[2], stride[2], count[2];
    int64_t cells; /* windows in all */
} td_windows;

/* Dense `planes` of an image to columns, or `back`. */
td_status td_windows_run(const td_windows *w, const td_tensor *image, const td_tensor *columns,
                         int64_t planes, bool back);

#endif
