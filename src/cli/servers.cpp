#include "src/cli/servers.hpp"

#include "src/cli/read_rows.hpp"
#include "src/engine/server_settings.hpp"
#include "store/statements.hpp"

namespace pawl::cli {

namespace {

std::string text_of(const std::vector<core::SettingDifference>& found) {
    std::string all;
    std::string_view last;
    for (const auto& one : found) {
        if (one.name == last) continue;  // There are several other values.
        all += (all.empty() ? "" : "; ") + one.name + ' ' + one.here;
        last = one.name;
    }
    return all;
}

}  // namespace

std::vector<Line<ServerLine>> read_servers(Service& service) {
    auto lines = read<ServerLine>(service, sql::list_servers);
    std::vector<core::ServerSettings> all;
    for (const auto& [server, damage] : lines)
        all.push_back({server.id, engine::parse_settings(server.differs)});
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i].row.differs = text_of(core::compare_settings(all[i].settings, all));
    return lines;
}

void list_servers(Service& service, bool json, std::ostream& out) {
    print_rows(out, read_servers(service), json, "There are no servers.");
}

}  // namespace pawl::cli
