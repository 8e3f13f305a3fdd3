/* scan.h - what of the scans other files launch. */
#ifndef TD_CUDA_SCAN_H
#define TD_CUDA_SCAN_H
#include "runtime/tensor.h"

/* log of the sum of exponentials of each row of a dense complex128 matrix, a thread a row. */
td_status td_cuda_complex_logsumexp(td_tensor *out, const td_tensor *rows, td_device device);

#endif
