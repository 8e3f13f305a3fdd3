/* kernels.h - the kernels for one type T; kernels.c includes it for each. */

/* ---- boxes ---- */

/* The places of `order` (by falling score) whose box overlaps no box that was kept before by more
 * than `threshold` of their union. `gone` has a zero for each box; the number kept is returned. */
int64_t NAME(nms)(const T *boxes, const int64_t *order, int64_t count, double threshold,
                  uint8_t *gone, int64_t *kept)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        if (gone[order[i]]) continue;
        const T *a = boxes + 4 * order[i];
        T own = (a[2] - a[0]) * (a[3] - a[1]);
        kept[found++] = order[i];
        for (int64_t j = i + 1; j < count; j++) {
            const T *b = boxes + 4 * order[j];
            T width = (T)fmin(a[2], b[2]) - (T)fmax(a[0], b[0]);
            T height = (T)fmin(a[3], b[3]) - (T)fmax(a[1], b[1]);
            T common = (width > 0 ? width : 0) * (height > 0 ? height : 0);
            T other = (b[2] - b[0]) * (b[3] - b[1]);
            if (common / (own + other - common) > threshold) gone[order[j]] = 1;
        }
    }
    return found;
}

/* ---- a place between four points of a picture ---- */
typedef struct NAME(corner) {
    int64_t at[4];
    T weight[4];
} NAME(corner);

/* 0 outside of the picture by more than a point; inside of that the edge goes on */
static int NAME(place)(T y, T x, int64_t height, int64_t width, NAME(corner) * c)
{
    if (!(y >= -1 && y <= height && x >= -1 && x <= width)) return 0;
    y = y > 0 ? y : 0;
    x = x > 0 ? x : 0;
    int64_t top = (int64_t)y, left = (int64_t)x, bottom = top + 1, right = left + 1;
    if (top >= height - 1) y = (T)(top = bottom = height - 1);
    if (left >= width - 1) x = (T)(left = right = width - 1);
    T down = y - top, across = x - left;
    int64_t at[4] = {top * width + left, top * width + right, bottom * width + left,
                     bottom * width + right};
    T weight[4] = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across),
                   down * across};
    for (int k = 0; k < 4; k++) c->at[k] = at[k], c->weight[k] = weight[k];
    return 1;
}

/* ---- averages of samples ---- */
typedef struct NAME(region) {
    int64_t picture, down, across; /* samples of a bin along its sides */
    T top, left, bin_height, bin_width, samples;
} NAME(region);

static NAME(region) NAME(region_of)(const Bins *b, const T *roi)
{
    NAME(region) r = {.picture = (int64_t)roi[0]};
    T half = b->aligned ? (T)0.5 : 0, scale = (T)b->scale;
    r.left = roi[1] * scale - half, r.top = roi[2] * scale - half;
    T width = roi[3] * scale - half - r.left, height = roi[4] * scale - half - r.top;
    if (!b->aligned) width = width > 1 ? width : 1, height = height > 1 ? height : 1;
    r.bin_height = height / b->rows, r.bin_width = width / b->columns;
    r.down = b->samples > 0 ? b->samples : (int64_t)ceil(r.bin_height);
    r.across = b->samples > 0 ? b->samples : (int64_t)ceil(r.bin_width);
    r.samples = (T)(r.down > 0 && r.across > 0 ? r.down * r.across : 1);
    return r;
}

/* the channel of the picture that a bin reads: its own, or one of each bin (position-sensitive) */
static int64_t NAME(source)(const Bins *b, int64_t channel, int64_t row, int64_t column)
{
    return b->of_picture == b->channels ? channel : (channel * b->rows + row) * b->columns + column;
}

/* result[bin] = mean of samples; or, with `gradient`, the pictures' gradient gets each bin's */
static void NAME(align)(const Bins *b, const T *rois, const T *pictures, T *result,
                        const T *gradient, T *into)
{
    int64_t size = b->height * b->width;
    for (int64_t k = 0, bin = 0; k < b->regions; k++) {
        NAME(region) r = NAME(region_of)(b, rois + 5 * k);
        for (int64_t c = 0; c < b->channels; c++)
            for (int64_t i = 0; i < b->rows; i++)
                for (int64_t j = 0; j < b->columns; j++, bin++) {
                    int64_t at = (r.picture * b->of_picture + NAME(source)(b, c, i, j)) * size;
                    T sum = 0;
                    for (int64_t v = 0; v < r.down; v++)
                        for (int64_t h = 0; h < r.across; h++) {
                            T y = r.top + i * r.bin_height + (v + (T)0.5) * r.bin_height / r.down;
                            T x = r.left + j * r.bin_width + (h + (T)0.5) * r.bin_width / r.across;
                            NAME(corner) p;
                            if (!NAME(place)(y, x, b->height, b->width, &p)) continue;
                            for (int n = 0; n < 4; n++)
                                if (gradient)
                                    into[at + p.at[n]] += gradient[bin] * p.weight[n] / r.samples;
                                else sum += pictures[at + p.at[n]] * p.weight[n];
                        }
                    if (!gradient) result[bin] = sum / r.samples;
                }
    }
}

void NAME(roi_align)(const Bins *b, const T *rois, const T *pictures, T *result)
{
    NAME(align)(b, rois, pictures, result, 0, 0);
}
void NAME(roi_align_backward)(const Bins *b, const T *rois, const T *gradient, T *into)
{
    NAME(align)(b, rois, 0, 0, gradient, into);
}

/* ---- the largest of whole places, and their mean ---- */

/* the first and the end of the places of a bin, within `most` */
static void NAME(span)(int64_t start, T bin, int64_t number, int64_t most, int64_t span[2])
{
    span[0] = limit((int64_t)floor(number * bin) + start, 0, most);
    span[1] = limit((int64_t)ceil((number + 1) * bin) + start, 0, most);
}

/* places: where the largest lies, -1 of an empty bin, whose result is 0 */
void NAME(roi_pool)(const Bins *b, const T *rois, const T *pictures, T *result, int32_t *places)
{
    for (int64_t k = 0, bin = 0; k < b->regions; k++) {
        const T *roi = rois + 5 * k;
        T scale = (T)b->scale;
        int64_t left = (int64_t)round(roi[1] * scale), top = (int64_t)round(roi[2] * scale);
        int64_t wide = (int64_t)round(roi[3] * scale) - left + 1;
        int64_t high = (int64_t)round(roi[4] * scale) - top + 1;
        T tall = (T)(high > 1 ? high : 1) / b->rows, broad = (T)(wide > 1 ? wide : 1) / b->columns;
        for (int64_t c = 0; c < b->channels; c++) {
            const T *picture =
                pictures + ((int64_t)roi[0] * b->channels + c) * b->height * b->width;
            for (int64_t i = 0; i < b->rows; i++)
                for (int64_t j = 0; j < b->columns; j++, bin++) {
                    int64_t down[2], across[2], best = -1;
                    NAME(span)(top, tall, i, b->height, down);
                    NAME(span)(left, broad, j, b->width, across);
                    for (int64_t y = down[0]; y < down[1]; y++)
                        for (int64_t x = across[0]; x < across[1]; x++) {
                            int64_t at = y * b->width + x;
                            if (best < 0 || picture[at] > picture[best]) best = at;
                        }
                    result[bin] = best < 0 ? 0 : picture[best];
                    places[bin] = (int32_t)best;
                }
        }
    }
}

void NAME(roi_pool_backward)(const Bins *b, const T *rois, const int32_t *places, const T *gradient,
                             T *into)
{
    int64_t size = b->height * b->width, bins = b->rows * b->columns;
    for (int64_t k = 0, bin = 0; k < b->regions; k++)
        for (int64_t c = 0; c < b->channels; c++) {
            T *picture = into + ((int64_t)rois[5 * k] * b->channels + c) * size;
            for (int64_t n = 0; n < bins; n++, bin++)
                if (places[bin] >= 0) picture[places[bin]] += gradient[bin];
        }
}

/* Places end before the last row and column, as in the library whose operator this is; the gradient
 * goes to the places that were read. */
static void NAME(pool_means)(const Bins *b, const T *rois, const T *pictures, T *result,
                             const T *gradient, T *into)
{
    for (int64_t k = 0, bin = 0; k < b->regions; k++) {
        const T *roi = rois + 5 * k;
        T scale = (T)b->scale;
        int64_t left = (int64_t)round(roi[1] * scale), top = (int64_t)round(roi[2] * scale);
        int64_t wide = (int64_t)round(roi[3] * scale) - left;
        int64_t high = (int64_t)round(roi[4] * scale) - top;
        T tall = (T)(high > 1 ? high : 1) / b->rows, broad = (T)(wide > 1 ? wide : 1) / b->columns;
        for (int64_t c = 0; c < b->channels; c++)
            for (int64_t i = 0; i < b->rows; i++)
                for (int64_t j = 0; j < b->columns; j++, bin++) {
                    int64_t down[2], across[2];
                    NAME(span)(top, tall, i, b->height - 1, down);
                    NAME(span)(left, broad, j, b->width - 1, across);
                    int64_t count = (down[1] - down[0]) * (across[1] - across[0]);
                    int64_t at = ((int64_t)roi[0] * b->of_picture + NAME(source)(b, c, i, j)) *
                                 b->height * b->width;
                    T sum = 0;
                    for (int64_t y = down[0]; y < down[1]; y++)
                        for (int64_t x = across[0]; x < across[1]; x++)
                            if (gradient) into[at + y * b->width + x] += gradient[bin] / count;
                            else sum += pictures[at + y * b->width + x];
                    if (!gradient)
                        result[bin] = down[0] < down[1] && across[0] < across[1] ? sum / count : 0;
                }
    }
}

void NAME(ps_roi_pool)(const Bins *b, const T *rois, const T *pictures, T *result)
{
    NAME(pool_means)(b, rois, pictures, result, 0, 0);
}
void NAME(ps_roi_pool_backward)(const Bins *b, const T *rois, const T *gradient, T *into)
{
    NAME(pool_means)(b, rois, 0, 0, gradient, into);
}

/* ---- deformable convolution: its columns, and what comes back through them ---- */

/* the value at a place of one channel, zero outside, and its slopes down and across */
static T NAME(read)(const T *picture, const Window *w, T y, T x, T slope[2])
{
    int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
    T down = y - top, across = x - left, corner[4];
    slope[0] = slope[1] = 0;
    if (!(y > -1 && y < w->height && x > -1 && x < w->width)) return 0;
    for (int n = 0; n < 4; n++) {
        int64_t row = top + n / 2, column = left + n % 2;
        int inside = row >= 0 && row < w->height && column >= 0 && column < w->width;
        corner[n] = inside ? picture[row * w->width + column] : 0;
    }
    slope[0] = (1 - across) * (corner[2] - corner[0]) + across * (corner[3] - corner[1]);
    slope[1] = (1 - down) * (corner[1] - corner[0]) + down * (corner[3] - corner[2]);
    return (1 - down) * ((1 - across) * corner[0] + across * corner[1]) +
           down * ((1 - across) * corner[2] + across * corner[3]);
}

static void NAME(add)(T *picture, const Window *w, T y, T x, T value)
{
    if (!(y > -1 && y < w->height && x > -1 && x < w->width)) return;
    int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
    T down = y - top, across = x - left;
    T weight[4] = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across),
                   down * across};
    for (int n = 0; n < 4; n++) {
        int64_t row = top + n / 2, column = left + n % 2;
        if (row >= 0 && row < w->height && column >= 0 && column < w->width)
            picture[row * w->width + column] += weight[n] * value;
    }
}

/* One picture. Without `gradient`: columns[channel][tap][place] from the picture. With it, which
 * has that shape: the gradients of the picture, of offsets and of the mask get what comes back. */
static void NAME(deform)(const Window *w, const T *picture, const T *offsets, const T *mask,
                         T *columns, const T *gradient, T *to_picture, T *to_offsets, T *to_mask)
{
    int64_t taps = w->rows * w->columns, places = w->out_height * w->out_width;
    int64_t together = w->channels / w->offset_groups;
    for (int64_t c = 0, at = 0; c < w->channels; c++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t number = (c / together) * taps + tap, skip = c * w->height * w->width;
            for (int64_t p = 0; p < places; p++, at++) {
                int64_t down = 2 * number * places + p, right = down + places;
                int64_t masked = number * places + p;
                T y = (p / w->out_width) * w->stride[0] - w->padding[0] +
                      (tap / w->columns) * w->dilation[0] + offsets[down];
                T x = (p % w->out_width) * w->stride[1] - w->padding[1] +
                      (tap % w->columns) * w->dilation[1] + offsets[right];
                T factor = w->masked ? mask[masked] : 1, slope[2];
                T value = NAME(read)(picture + skip, w, y, x, slope);
                if (!gradient) {
                    columns[at] = factor * value;
                    continue;
                }
                to_offsets[down] += gradient[at] * factor * slope[0];
                to_offsets[right] += gradient[at] * factor * slope[1];
                if (w->masked) to_mask[masked] += gradient[at] * value;
                NAME(add)(to_picture + skip, w, y, x, gradient[at] * factor);
            }
        }
}

void NAME(deform_columns)(const Window *w, const T *picture, const T *offsets, const T *mask,
                          T *columns)
{
    NAME(deform)(w, picture, offsets, mask, columns, 0, 0, 0, 0);
}
void NAME(deform_columns_backward)(const Window *w, const T *picture, const T *offsets,
                                   const T *mask, const T *gradient, T *to_picture, T *to_offsets,
                                   T *to_mask)
{
    NAME(deform)(w, picture, offsets, mask, 0, gradient, to_picture, to_offsets, to_mask);
}
