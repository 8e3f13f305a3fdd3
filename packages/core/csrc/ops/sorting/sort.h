/* sort.h - what the operators of sorting share. */
#ifndef TD_SORT_H
#define TD_SORT_H
#include "cpu/sorting/sort_run.h"
#include "ops/view/view.h"

/* A dense copy of x, or x itself; complex numbers are refused. */
td_status td_sort_dense(td_tensor **out, const td_tensor *x, const char *op);

#endif
