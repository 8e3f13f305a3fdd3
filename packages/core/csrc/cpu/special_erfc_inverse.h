/* special_erfc_inverse.h - the inverse of erfc for results above 0.81: t times a quotient of
 * polynomials in t = sqrt(-log y), one for each range of t. Errors stand beside them. */
#ifndef TD_SPECIAL_ERFC_INVERSE_H
#define TD_SPECIAL_ERFC_INVERSE_H
#include "cpu/simd/vmath.h"

#define ERFC_INVERSE_NEAR_P                                                               \
    {0.0005649503670971019, 0.8787922272219408,   2.0483115615225147, 4.826498319754532,  \
     6.973131943147927,     6.677483678090703,    5.878025619468826,  1.3836038149135705, \
     0.03929659343004458,   -0.002837785690000356}
#define ERFC_INVERSE_NEAR_Q \
    {1,                     \
     2.259298118649515,     \
     6.145790332296478,     \
     8.472528277796888,     \
     11.160309049670186,    \
     8.617674449260958,     \
     6.009021956889254,     \
     1.3785079238591205,    \
     0.03924780766818045,   \
     -0.00283737300913791}
#define ERFC_INVERSE_FAR_P                                                               \
    {-0.004156707426431353, 0.8968554375652619, 2.047773508746986,   3.1428706145937424, \
     3.344363601105512,     1.0343513200304841, 0.09298819894685009, 0.0019798978669814966}
#define ERFC_INVERSE_FAR_Q \
    {1,                    \
     2.2767245464799863,   \
     4.275506184681362,    \
     4.3803079184891365,   \
     3.513261823860978,    \
     1.0396674396543453,   \
     0.09299793786995147,  \
     0.0019798625717937016}
#define ERFC_INVERSE_EXTREME_P                                           \
    {0.10783840559630914,   0.4617717248857389,     2.250712187649937,   \
     1.5462037205515078,    0.35219294700147835,    0.03165980739324258, \
     0.0011508839847273078, 1.5536435223362725e-05, 5.7653419244981627e-08}
#define ERFC_INVERSE_EXTREME_Q \
    {1,                        \
     1.7694823844951144,       \
     2.702969452902335,        \
     1.600644951674977,        \
     0.3547010928276829,       \
     0.03170207149149146,      \
     0.0011510876044019702,    \
     1.553648954054933e-05,    \
     5.765337909175215e-08}

/* t from 1.17 to 3.2 (4e-19), to 6.2 (4e-20), and to 27.4, where y is the smallest double (5e-18)
 */
VFN vd vd_erfc_inverse_near(vd t)
{
    static const double p[] = ERFC_INVERSE_NEAR_P, q[] = ERFC_INVERSE_NEAR_Q;
    return VPOLY(t, p) / VPOLY(t, q);
}
VFN vd vd_erfc_inverse_far(vd t)
{
    static const double p[] = ERFC_INVERSE_FAR_P, q[] = ERFC_INVERSE_FAR_Q;
    return VPOLY(t, p) / VPOLY(t, q);
}
VFN vd vd_erfc_inverse_extreme(vd t)
{
    static const double p[] = ERFC_INVERSE_EXTREME_P, q[] = ERFC_INVERSE_EXTREME_Q;
    return VPOLY(t, p) / VPOLY(t, q);
}
/* (0.5625 - y^2) of erfinv near 0: y times this is the inverse of erf for |y| below 0.75 (8e-21) */
VFN vd vd_erf_inverse_middle(vd s)
{
    static const double p[] = {1.0845597967968248, 8.262044521379861,   24.956789810692687,
                               38.11584235993435,  31.11046973399075,   13.1961789460932,
                               2.606512106327512,  0.18461559875333294, 0.002083624038399718};
    static const double q[] = {1,
                               8.136626358818177,
                               26.61248428003167,
                               44.84692055736341,
                               41.50654555712382,
                               20.824036480743036,
                               5.230017595774963,
                               0.5471680432367457,
                               0.015047197910457};
    return VPOLY(s, p) / VPOLY(s, q);
}

#endif
