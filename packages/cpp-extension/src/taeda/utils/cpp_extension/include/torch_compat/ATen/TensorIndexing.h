/* ATen/TensorIndexing.h - torch's name for headers of taeda_torch/. */
#ifndef TAEDA_COMPAT_ATEN_TENSORINDEXING_H
#define TAEDA_COMPAT_ATEN_TENSORINDEXING_H
#include "taeda_torch/indexing.hpp"
#endif
