// A history of the simulator (tests/simulation): the input is its choices, one byte each. Unlike
// seeds, libFuzzer keeps inputs that reached new code. No history breaks an invariant. Built
// without sanitizers, which do not support fibers: preset `fuzz-choices`.

#include "src/base/log.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/simulation/history.hpp"

#include <cstdio>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool quiet =
        (pawl::log::open("/dev/null"), true);  // Thousands of warnings are expected.
    (void)quiet;
    using namespace pawl::simulation;
    Choices choices{std::vector<std::uint8_t>{data, data + size}};
    const auto ended = live(choices, {});
    if (ended.violation)
        std::fprintf(
            stderr,
            "%s\nagain: build/dev/bin/pawl-sim --choices %s\n",
            ended.violation->c_str(),
            text_of(choices.taken()).c_str()
        );
    PAWL_ASSERT(!ended.violation);
    return 0;
}
