#pragma once

#include <pawl/detail/rows.hpp>
#include <pawl/service.hpp>

#include "src/cli/output.hpp"
#include "src/engine/engine.hpp"
#include "src/store/blocking.hpp"

#include <vector>

namespace pawl::cli {

// The rows of a statement, each as far as it decodes. Throws StoreError.
template <class R, class... A>
std::vector<Line<R>> read(Service& service, const Sql& statement, const A&... arguments) {
    const auto line = [&](const detail::Row& row) { return line_of_row<R>(row, statement.name); };
    return store::read_now(service.engine().store(), [&](store::Session& session) {
        return detail::read_rows(session, statement, line, arguments...);
    });
}

}  // namespace pawl::cli
