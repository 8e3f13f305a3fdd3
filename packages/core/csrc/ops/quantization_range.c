/* quantization_range.c - the scale and zero point of a range, as `choose_parameters` of
 * _composite/fake_quantize.py chooses them for ranges that are not symmetric; a test compares both.
 */
#include "ops/quantization_range.h"
#include <math.h>

#define SMALL 6.1e-5 /* the least scale */

/* the range whose scale is the least one */
static void spread(double *least, double *most, double scale, double steps)
{
    float by = (float)(SMALL / scale);
    if (*least == 0) *most = (float)(SMALL * steps);
    else if (*most == 0) *least = -(float)(SMALL * steps);
    else *least = (float)(*least * by), *most = (float)(*most * by);
}

void td_choose_parameters(const float ends[2], int64_t top, float *scale, int64_t *zero)
{
    double least = ends[0] < 0 ? ends[0] : 0, most = ends[1] > 0 ? ends[1] : 0, steps = (double)top,
           wide = (most - least) / steps;
    if ((float)wide == 0 || isinf(1 / (float)wide)) wide = 0.1;
    if (wide < SMALL) {
        spread(&least, &most, wide, steps);
        wide = (float)SMALL;
    }
    double by_least = -fabs(least / wide), by_most = steps - fabs(most / wide);
    double exact = by_least < by_most ? -least / wide : steps - most / wide;
    double nearest = nearbyint(exact);
    *scale = (float)wide;
    *zero = nearest < 0 ? 0 : nearest > steps ? top : (int64_t)nearest;
}
