#include "src/core/mutant.hpp"

#include <cstdlib>
#include <utility>

namespace pawl::core {

namespace {

std::string& chosen() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before any thread sets the environment.
    static std::string name = [] {
        const char* given = std::getenv("PAWL_MUTANT");
        return std::string{given != nullptr ? given : ""};
    }();
    return name;
}

}  // namespace

bool is_mutant(std::string_view name) {
    return chosen() == name;
}

const std::string& chosen_mutant() {
    return chosen();
}

void choose_mutant(std::string name) {
    chosen() = std::move(name);
}

}  // namespace pawl::core
