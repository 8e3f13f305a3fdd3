/* numbers_run.c - the numbers of channels on the processor: too few to share out. */
#include "cpu/norm/norm_job.h"

#define EACH(KIND, name)                                             \
    case KIND:                                                       \
        for (int64_t i = 0; i < of->n; i++) td_number_##name(of, i); \
        break;

void td_numbers_run(enum td_number_kind kind, const struct td_norm_numbers *of)
{
    switch (kind) {
        EACH(TD_NUMBER_INVERSE, inverse)
        EACH(TD_NUMBER_RUNNING, running)
        EACH(TD_NUMBER_SCALE, scale)
        EACH(TD_NUMBER_MIX, mix)
        EACH(TD_NUMBER_GRADIENT, gradient)
        EACH(TD_NUMBER_TOGETHER, together)
        EACH(TD_NUMBER_SPREAD, spread)
        EACH(TD_NUMBER_GROUP_MIX, group_mix)
        EACH(TD_NUMBER_GROUP_GRADIENT, group_gradient)
        case TD_NUMBER_KINDS: break;
    }
}
