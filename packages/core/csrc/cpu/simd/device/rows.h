/* rows.h - folds are written apart where a thread computes (csrc/cuda/kernels). */
