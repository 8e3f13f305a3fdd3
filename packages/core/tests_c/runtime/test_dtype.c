/* test_dtype.c - promotion and casts: laws that hold for any two types. */
#include "harness.h"
#include "runtime/dtype.h"

TEST(promotion_is_symmetric_and_keeps_its_results)
{
    for (int a = 0; a < TD_NDTYPES; a++)
        for (int b = 0; b < TD_NDTYPES; b++) {
            int both = td_promote((td_dtype)a, (td_dtype)b);
            EQUAL(both, td_promote((td_dtype)b, (td_dtype)a));
            if (both < 0) continue;
            EQUAL(td_promote((td_dtype)both, (td_dtype)a), both);
            CHECK(td_can_cast((td_dtype)a, (td_dtype)both));
        }
}

TEST(a_type_with_itself_stays)
{
    for (int a = 0; a < TD_NDTYPES; a++) {
        EQUAL(td_promote((td_dtype)a, (td_dtype)a), a);
        CHECK(td_can_cast((td_dtype)a, (td_dtype)a));
        CHECK(td_dtypes[a].name && td_itemsize((td_dtype)a) > 0);
    }
}

TEST(complex_types_and_their_parts)
{
    for (int a = TD_C32; a <= TD_C128; a++) EQUAL(td_to_complex(td_to_real((td_dtype)a)), a);
    EQUAL(td_to_complex(TD_I32), TD_C64);
    EQUAL(td_to_complex(TD_F64), TD_C128);
    EQUAL(td_to_real(TD_F32), TD_F32);
    CHECK(!td_can_cast(TD_C64, TD_F32) && !td_can_cast(TD_F32, TD_I64) &&
          !td_can_cast(TD_I64, TD_BOOL));
    CHECK(td_can_cast(TD_I64, TD_F16) && td_can_cast(TD_BOOL, TD_U8));
    EQUAL(td_promote(TD_U8, TD_I8), TD_I16);
    EQUAL(td_promote(TD_F16, TD_BF16), TD_F32);
    EQUAL(td_promote(TD_U16, TD_I32), -1);
    EQUAL(td_promote(TD_U16, TD_BF16), TD_BF16);
    EQUAL(td_promote(TD_F64, TD_C64), TD_C128);
}
