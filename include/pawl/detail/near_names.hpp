#pragma once

// Members that are optional, and so would be ignored silently under another name. The lists have
// each of these names with a missing, a doubled or two swapped letters, and in the plural; for
// names of two words, without the underscore and as camelCase.

#include <type_traits>

// NOLINTBEGIN(cppcoreguidelines-macro-usage): C++20 can't make a name from text. Undefined below.
// clang-format off
#define PAWL_NEAR_SETTINGS(X) \
    X(sttings) X(setings) X(settngs) X(settigs) X(settins) X(setting) X(esttings) X(stetings) \
    X(setitngs) X(settnigs) X(settigns) X(settinsg) X(ssettings) X(seettings) X(setttings) \
    X(settiings) X(settinngs) X(settinggs) X(settingss)
#define PAWL_NEAR_ABANDON(X) \
    X(aandon) X(abndon) X(abadon) X(abanon) X(abandn) X(abando) X(baandon) X(aabndon) X(abnadon) \
    X(abadnon) X(abanodn) X(abandno) X(aabandon) X(abbandon) X(abaandon) X(abanndon) X(abanddon) \
    X(abandoon) X(abandonn) X(abandons)
#define PAWL_NEAR_BEFORE_KEY(X) \
    X(bfore_key) X(beore_key) X(befre_key) X(befoe_key) X(befor_key) X(beforekey) X(before_ey) \
    X(before_ky) X(before_ke) X(ebfore_key) X(bfeore_key) X(beofre_key) X(befroe_key) \
    X(befoer_key) X(befor_ekey) X(beforek_ey) X(before_eky) X(before_kye) X(bbefore_key) \
    X(beefore_key) X(beffore_key) X(befoore_key) X(beforre_key) X(beforee_key) X(before_kkey) \
    X(before_keey) X(before_keyy) X(beforeKey) X(before_keys)
#define PAWL_NEAR_CALL_TARGET(X) \
    X(cll_target) X(cal_target) X(calltarget) X(call_arget) X(call_trget) X(call_taget) \
    X(call_taret) X(call_targt) X(call_targe) X(acll_target) X(clal_target) X(cal_ltarget) \
    X(callt_arget) X(call_atrget) X(call_traget) X(call_tagret) X(call_taregt) X(call_targte) \
    X(ccall_target) X(caall_target) X(calll_target) X(call_ttarget) X(call_taarget) \
    X(call_tarrget) X(call_targget) X(call_targeet) X(call_targett) X(callTarget) \
    X(call_targets)
#define PAWL_NEAR_PARTITION(X) \
    X(prtition) X(patition) X(parition) X(parttion) X(partiion) X(partiton) X(partitin) \
    X(partitio) X(aprtition) X(pratition) X(patrition) X(parittion) X(parttiion) X(partiiton) \
    X(partitoin) X(partitino) X(ppartition) X(paartition) X(parrtition) X(parttition) \
    X(partiition) X(partittion) X(partitiion) X(partitioon) X(partitionn) X(partitions)
#define PAWL_NEAR_PROBLEM(X) \
    X(poblem) X(prblem) X(prolem) X(probem) X(problm) X(proble) X(rpoblem) X(porblem) X(prbolem) \
    X(prolbem) X(probelm) X(problme) X(pproblem) X(prroblem) X(prooblem) X(probblem) X(probllem) \
    X(probleem) X(problemm) X(problems)
#define PAWL_NEAR_SETTLED_BY(X) \
    X(ettled_by) X(sttled_by) X(setled_by) X(setted_by) X(settld_by) X(settle_by) X(settledby) \
    X(settled_y) X(settled_b) X(esttled_by) X(stetled_by) X(setlted_by) X(setteld_by) \
    X(settlde_by) X(settle_dby) X(settledb_y) X(settled_yb) X(ssettled_by) X(seettled_by) \
    X(setttled_by) X(settlled_by) X(settleed_by) X(settledd_by) X(settled_bby) X(settled_byy) \
    X(settledBy) X(settled_bys)
// clang-format on

namespace pawl::detail {

// Whether a class has a member of a name, even private, overloaded or a template: then the name is
// ambiguous in a class derived from both.
struct OptionalNames {
#define PAWL_DECLARE(name) void name();
    PAWL_DECLARE(settings)
    PAWL_DECLARE(abandon)
    PAWL_DECLARE(before_key)
    PAWL_DECLARE(call_target)
    PAWL_DECLARE(settled_by)
    PAWL_NEAR_SETTINGS(PAWL_DECLARE)
    PAWL_NEAR_ABANDON(PAWL_DECLARE)
    PAWL_NEAR_BEFORE_KEY(PAWL_DECLARE)
    PAWL_NEAR_CALL_TARGET(PAWL_DECLARE)
    PAWL_NEAR_SETTLED_BY(PAWL_DECLARE)
#undef PAWL_DECLARE
};
template <class Op>
struct WithOptionalNames : Op, OptionalNames {};
// Can't be derived from: only accessible members are seen.
template <class Op>
requires std::is_final_v<Op>
struct WithOptionalNames<Op> : OptionalNames {
};

#define PAWL_HAS(name)                \
    || !requires {                    \
        &WithOptionalNames<Op>::name; \
    }                                 \
    || requires {                     \
        &Op::name;                    \
    }

#define PAWL_OPTIONAL_MEMBER(name, NEAR_NAMES)        \
    template <class Op>                               \
    constexpr bool has_##name = false PAWL_HAS(name); \
    template <class Op>                               \
    constexpr bool almost_##name = false NEAR_NAMES(PAWL_HAS);
PAWL_OPTIONAL_MEMBER(settings, PAWL_NEAR_SETTINGS)
PAWL_OPTIONAL_MEMBER(abandon, PAWL_NEAR_ABANDON)
PAWL_OPTIONAL_MEMBER(before_key, PAWL_NEAR_BEFORE_KEY)
PAWL_OPTIONAL_MEMBER(call_target, PAWL_NEAR_CALL_TARGET)
PAWL_OPTIONAL_MEMBER(settled_by, PAWL_NEAR_SETTLED_BY)
#undef PAWL_OPTIONAL_MEMBER

#define PAWL_CHECK(name)                                                                          \
    static_assert(                                                                                \
        !almost_##name<Op>,                                                                       \
        "pawl: a member of this operation is named almost like `" #name "`, and would be ignored" \
    );
template <class Op>
constexpr bool check_near_names() {
    PAWL_CHECK(settings)
    PAWL_CHECK(abandon)
    PAWL_CHECK(before_key)
    PAWL_CHECK(call_target)
    PAWL_CHECK(settled_by)
    return true;
}
#undef PAWL_CHECK

// A request's fields may have any name: only functions count.
#define PAWL_HAS_FUNCTION(name)                                         \
    || requires {                                                       \
        requires std::is_member_function_pointer_v<decltype(&T::name)>; \
    }
#define PAWL_HAS_STATIC(name)                                   \
    || requires {                                               \
        requires !std::is_member_pointer_v<decltype(&T::name)>; \
    }
template <class T>
constexpr bool almost_problem = false PAWL_NEAR_PROBLEM(PAWL_HAS_FUNCTION);
// So may a job's.
template <class T>
constexpr bool almost_partition = false PAWL_NEAR_PARTITION(PAWL_HAS_FUNCTION);
template <class T>
constexpr bool almost_static_settings = false PAWL_NEAR_SETTINGS(PAWL_HAS_STATIC);

}  // namespace pawl::detail

#undef PAWL_HAS
#undef PAWL_HAS_FUNCTION
#undef PAWL_HAS_STATIC
#undef PAWL_NEAR_SETTINGS
#undef PAWL_NEAR_ABANDON
#undef PAWL_NEAR_BEFORE_KEY
#undef PAWL_NEAR_CALL_TARGET
#undef PAWL_NEAR_SETTLED_BY
#undef PAWL_NEAR_PARTITION
#undef PAWL_NEAR_PROBLEM
// NOLINTEND(cppcoreguidelines-macro-usage)
