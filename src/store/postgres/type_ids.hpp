#pragma once

namespace pawl::postgres {

// Object ids of types, as fixed in pg_type.dat.
namespace type_id {
enum : unsigned {
    boolean = 16,
    byte_array = 17,
    int8 = 20,
    int2 = 21,
    int4 = 23,
    float4 = 700,
    float8 = 701,
    timestamp_with_zone = 1184,
    numeric = 1700
};
}

}  // namespace pawl::postgres
