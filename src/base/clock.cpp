#include "src/base/clock.hpp"

namespace pawl::base {

Clock& system_clock() {
    class Real final : public Clock {
    public:
        TimePoint now() override {
            return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        }
        std::chrono::steady_clock::time_point steady() override {
            return std::chrono::steady_clock::now();
        }
    };
    static Real clock;
    return clock;
}

}  // namespace pawl::base
