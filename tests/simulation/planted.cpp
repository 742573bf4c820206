#include "tests/simulation/planted.hpp"

#include <atomic>
#include <cstdlib>
#include <utility>

namespace pawl {

namespace {

std::string& chosen() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before any thread sets the environment.
    static std::string name = [] {
        const char* given = std::getenv("PAWL_PLANTED");
        return std::string{given != nullptr ? given : ""};
    }();
    return name;
}

std::atomic<const char*> noted{nullptr};

}  // namespace

bool planted(std::string_view name) {
    return chosen() == name;
}

void note_assertion(const char* condition) {
    const char* none = nullptr;
    noted.compare_exchange_strong(none, condition);
}

const std::string& simulation::chosen_fault() {
    return chosen();
}

void simulation::choose_fault(std::string name) {
    chosen() = std::move(name);
    noted = nullptr;
}

const char* simulation::noted_assertion() {
    return noted;
}

}  // namespace pawl
