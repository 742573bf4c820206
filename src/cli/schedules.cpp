#include "src/cli/schedules.hpp"

#include "src/cli/output.hpp"
#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

#include <optional>
#include <string>

namespace pawl::cli {

namespace {

struct ScheduleLine {
    std::string name;
    std::string schedule;  // The cron expression and the time zone.
    std::string next_at;
    std::optional<std::string> last_at;  // The last tick for which a job was staged.
};

}  // namespace

void list_schedules(Service& service, bool json, std::ostream& out) {
    print_rows(
        out, read<ScheduleLine>(service, sql::list_schedules), json, "There are no periodic jobs."
    );
}

}  // namespace pawl::cli
