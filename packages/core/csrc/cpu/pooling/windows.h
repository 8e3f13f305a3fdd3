/* windows.h - the largest numbers of windows side by side, as vector code; rows.h includes this
 * once for each type with
 *   VECTOR  the vector        WIDTH  its numbers        V(f)  the function f of it
 *
 * A vector holds windows next to each other and stays in a register over all places of them. Rows
 * with padding are copied with LOWEST at both ends, which no number is less than. */

#ifndef TD_POOLING_WINDOWS
#define TD_POOLING_WINDOWS
#define WINDOW_ROWS 25        /* of one window */
#define ROW_ROOM 336          /* numbers of a row that BLOCK windows read, and one vector more */
#define MOST_PLACES (1 << 24) /* that a float counts */

/* How many numbers of a row n windows read. */
static inline int64_t span(const td_pool *p, int64_t n)
{
    return (n - 1) * p->stride[2] + (p->window[2] - 1) * p->dilation[2] + 1;
}
static inline bool has_vectors(const td_pool *p)
{
    return p->stride[2] <= 2 && p->window[0] * p->window[1] <= WINDOW_ROWS &&
           p->window[2] <= MOST_PLACES / WINDOW_ROWS && span(p, BLOCK) <= ROW_ROOM - 16;
}
#endif

/* The rows that windows c0 to c0 + n of an output row read, from their first column on, and the
 * number of the first place of each; rows that begin or end in the padding are copied to `room`. */
static inline int NAME(window_rows)(const td_pool *p, const TYPE *plane, int64_t od, int64_t oh,
                                    int64_t c0, int64_t n, TYPE (*room)[ROW_ROOM],
                                    const TYPE **rows, int32_t *first)
{
    int64_t d0 = od * p->stride[0] - p->pad[0], h0 = oh * p->stride[1] - p->pad[1];
    int64_t w0 = c0 * p->stride[2] - p->pad[2], length = span(p, n);
    int64_t left = w0 < 0 ? least(-w0, length) : 0;
    int64_t right = w0 + length > p->in[2] ? least(w0 + length - p->in[2], length) : 0;
    int count = 0;
    for (int64_t kd = first_place(d0, p->dilation[0]);
         kd < p->window[0] && d0 + kd * p->dilation[0] < p->in[0]; kd++)
        for (int64_t kh = first_place(h0, p->dilation[1]);
             kh < p->window[1] && h0 + kh * p->dilation[1] < p->in[1]; kh++) {
            const TYPE *row =
                plane +
                ((d0 + kd * p->dilation[0]) * p->in[1] + h0 + kh * p->dilation[1]) * p->in[2] + w0;
            first[count] = (int32_t)((kd * p->window[1] + kh) * p->window[2]);
            if (left || right) {
                TYPE *copy = room[count];
                for (int64_t i = 0; i < length; i += WIDTH) V(store)(copy + i, V(set)(LOWEST));
                for (int64_t i = left; i < length - right; i += WIDTH) {
                    int64_t some = least(WIDTH, length - right - i);
                    V(store_n)(copy + i, V(load_n)(row + i, some), some);
                }
                row = copy;
            }
            rows[count++] = row;
        }
    return count;
}

/* n <= WIDTH numbers at a distance of 1 or 2 */
static inline __attribute__((always_inline)) VECTOR NAME(apart)(const TYPE *at, int64_t n,
                                                                int64_t stride)
{
    int64_t read = (n - 1) * stride + 1;
    VECTOR low = read >= WIDTH ? V(load)(at) : V(load_n)(at, read);
    if (stride == 1) return low;
    VECTOR high = read > WIDTH ? V(load_n)(at + WIDTH, read - WIDTH) : low;
    return __builtin_shuffle(low, high, V(lanes)(0, 4, 2));
}

/* The largest numbers of n <= WIDTH windows, and their places: the first of equal ones, a NaN
 * before all. `where` holds the place that a window without a number counts as. */
static inline __attribute__((always_inline)) void
NAME(window_tops)(const td_pool *p, const TYPE *const *rows, const int32_t *first, int count,
                  int64_t at, int64_t n, int64_t stride, ACC *best, int32_t *place)
{
    VECTOR top = V(set)(LOWEST), where = V(set)(0);
    TYPE spot[WIDTH];
    if (place) {
        for (int64_t i = 0; i < n; i++) spot[i] = (TYPE)place[i];
        where = V(load_n)(spot, n);
    }
    for (int r = 0; r < count; r++)
        for (int64_t kw = 0; kw < p->window[2]; kw++) {
            VECTOR x = NAME(apart)(rows[r] + at * stride + kw * p->dilation[2], n, stride);
            if (place) {
                __typeof__(NEWER(top, x)) newer = NEWER(top, x);
                top = vsel(newer, x, top);
                where = vsel(newer, V(set)((TYPE)(first[r] + kw)), where);
            } else {
                top = vsel(visnan(x), x, vmax(x, top));
            }
        }
    V(store_n)(best, top, n);
    if (!place) return;
    V(store)(spot, where);
    for (int64_t i = 0; i < n; i++) place[i] = (int32_t)spot[i];
}

/* As max_block, whose `place` begins with each window's first place that is no padding. */
static inline __attribute__((always_inline)) void
NAME(window_block)(const td_pool *p, const TYPE *plane, int64_t od, int64_t oh, int64_t c0,
                   int64_t n, ACC *restrict best, int32_t *restrict place)
{
    TYPE room[WINDOW_ROWS][ROW_ROOM];
    const TYPE *rows[WINDOW_ROWS];
    int32_t first[WINDOW_ROWS];
    int count = NAME(window_rows)(p, plane, od, oh, c0, n, room, rows, first);
    for (int64_t c = 0; c < n; c += WIDTH) {
        int64_t some = least(WIDTH, n - c);
        int32_t *to = place ? place + c : NULL;
        if (p->stride[2] == 1) NAME(window_tops)(p, rows, first, count, c, some, 1, best + c, to);
        else NAME(window_tops)(p, rows, first, count, c, some, 2, best + c, to);
    }
}
