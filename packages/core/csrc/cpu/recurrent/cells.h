/* cells.h - the cells, for one type of number: included once for each, by recurrent.c and by the
 * text of a device. */
/* One vector at place j of the rows r; k is WIDTH but at the end of a row, and known when this is
 * compiled. */
#define ONE(x) vset(x, 1)
#define AT(p) ((real *)(p) + j)
#define SLOT(s) (AT(r->slots) + (s) * r->apart)
#define TO(p, s) (AT(p) + (s) * r->to_apart)
#define GET(p) (k == WIDTH ? LOAD(p) : LOAD_N(p, k))
#define PUT(p, x) (k == WIDTH ? STORE(p, x) : STORE_N(p, x, k))
#define SLOPE(s) ((s) * (ONE(s) - (s))) /* of the logistic curve, by its value */
#define PART(name) VFN void REAL(name)(const td_cell_rows *r, int64_t j, int64_t k)

/* ---- LSTM ---- */
PART(lstm_forward_part)
{
    vec i = vsigmoid(GET(SLOT(0))), f = vsigmoid(GET(SLOT(1))), g = vtanh(GET(SLOT(2))),
        o = vsigmoid(GET(SLOT(3)));
    vec c = vfma(f, GET(AT(r->before)), i * g);
    PUT(SLOT(0), i);
    PUT(SLOT(1), f);
    PUT(SLOT(2), g);
    PUT(SLOT(3), o);
    PUT(AT(r->cell), c);
    PUT(AT(r->hidden), o * vtanh(c));
}

PART(lstm_backward_part)
{
    vec i = GET(SLOT(0)), f = GET(SLOT(1)), g = GET(SLOT(2)), o = GET(SLOT(3));
    vec t = vtanh(GET(AT(r->cell))), dh = GET(AT(r->grad)),
        dc = vfma(dh * o, ONE(t) - t * t, GET(AT(r->carry)));
    PUT(TO(r->to_state, 0), dc * g * SLOPE(i));
    PUT(TO(r->to_state, 1), dc * GET(AT(r->before)) * SLOPE(f));
    PUT(TO(r->to_state, 2), dc * i * (ONE(g) - g * g));
    PUT(TO(r->to_state, 3), dh * t * SLOPE(o));
    PUT(AT(r->carry), dc * f);
}

/* ---- GRU ---- */
PART(gru_forward_part)
{
    vec reset = vsigmoid(GET(SLOT(0))), z = vsigmoid(GET(SLOT(1))),
        n = vtanh(vfma(reset, GET(SLOT(3)), GET(SLOT(2))));
    PUT(SLOT(0), reset);
    PUT(SLOT(1), z);
    PUT(SLOT(2), n);
    PUT(AT(r->hidden), vfma(z, GET(AT(r->before)) - n, n));
}

PART(gru_backward_part)
{
    vec reset = GET(SLOT(0)), z = GET(SLOT(1)), n = GET(SLOT(2)), own = GET(SLOT(3));
    vec dh = GET(AT(r->grad)) + GET(AT(r->carry)), dn = dh * (ONE(z) - z) * (ONE(n) - n * n);
    vec dr = dn * own * SLOPE(reset), dz = dh * (GET(AT(r->before)) - n) * SLOPE(z);
    PUT(TO(r->to_state, 0), dr);
    PUT(TO(r->to_state, 1), dz);
    PUT(TO(r->to_state, 2), dn * reset);
    PUT(TO(r->to_share, 0), dr);
    PUT(TO(r->to_share, 1), dz);
    PUT(TO(r->to_share, 2), dn);
    PUT(AT(r->carry), dh * z);
}

/* ---- RNN ---- */
PART(tanh_forward_part) { PUT(SLOT(0), vtanh(GET(SLOT(0)))); }
PART(tanh_backward_part)
{
    vec h = GET(SLOT(0));
    PUT(TO(r->to_state, 0), GET(AT(r->grad)) * (ONE(h) - h * h));
}

PART(relu_forward_part)
{
    vec x = GET(SLOT(0));
    PUT(SLOT(0), vmax(vzero(x), x)); /* NaN stays NaN */
}

PART(relu_backward_part)
{
    vec h = GET(SLOT(0)), grad = GET(AT(r->grad));
    PUT(TO(r->to_state, 0), vsel(vle(h, vzero(h)), vzero(h), grad));
}

ROW(lstm_forward, lstm_forward_part)
ROW(lstm_backward, lstm_backward_part)
ROW(gru_forward, gru_forward_part)
ROW(gru_backward, gru_backward_part)
ROW(tanh_forward, tanh_forward_part)
ROW(tanh_backward, tanh_backward_part)
ROW(relu_forward, relu_forward_part)
ROW(relu_backward, relu_backward_part)

#undef REAL
#undef WIDTH
#undef LOAD
#undef LOAD_N
#undef STORE
#undef STORE_N
#undef real
#undef vec
#undef ONE
#undef AT
#undef SLOT
#undef TO
#undef GET
#undef PUT
#undef SLOPE
#undef PART
