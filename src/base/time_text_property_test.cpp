#include "src/base/time_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace pawl::base {
namespace {

using std::chrono::milliseconds;

// From the year 0001 to 9999: what fits the fixed width.
TimePoint any_time() {
    return TimePoint{
        milliseconds{*rc::gen::inRange<std::int64_t>(-62'135'596'800'000, 253'402'300'800'000)}};
}

RC_GTEST_PROP(TimeTextLaw, a_time_comes_back_from_its_text, ()) {
    const auto at = any_time();

    RC_ASSERT(time_from_text(time_text(at)) == at);
}

// The database compares times as text.
RC_GTEST_PROP(TimeTextLaw, texts_are_ordered_as_their_times_are, ()) {
    const auto a = any_time();
    const auto b =
        *rc::gen::arbitrary<bool>() ? any_time() : a + milliseconds{*rc::gen::inRange(-5, 5)};

    RC_ASSERT((time_text(a) < time_text(b)) == (a < b));
}

RC_GTEST_PROP(
    TimeTextLaw, no_text_is_a_time_but_the_one_that_the_time_has, (const std::string& noise)
) {
    auto text = time_text(any_time());
    const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
    text[place] = *rc::gen::arbitrary<char>();
    if (*rc::gen::inRange(0, 4) == 0) text += noise;

    if (const auto at = time_from_text(text)) RC_ASSERT(time_text(*at) == text);
}

}  // namespace
}  // namespace pawl::base
