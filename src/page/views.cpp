#include "src/page/views.hpp"

#include "src/cli/audit.hpp"
#include "src/cli/schedules.hpp"
#include "src/cli/servers.hpp"
#include "src/page/flow.hpp"
#include "src/page/key_views.hpp"
#include "src/page/overview.hpp"
#include "src/page/parts.hpp"
#include "src/page/printed.hpp"
#include "src/page/providers.hpp"
#include "src/page/stuck.hpp"
#include "src/page/work_views.hpp"

#include <array>

namespace pawl::page {

using boost::json::object;
using boost::json::value;

namespace {

value read_servers(const Asked& asked) {
    return printed([&](std::ostream& out) { cli::list_servers(asked.service, true, out); });
}

Html show_servers(const Asked&, const value& data) {
    return table(
        "Servers",
        data,
        {{"id host version since seen_at keys jobs staged_jobs"}},
        "There are no servers."
    );
}

value read_schedules(const Asked& asked) {
    return printed([&](std::ostream& out) { cli::list_schedules(asked.service, true, out); });
}

Html show_schedules(const Asked&, const value& data) {
    std::vector<Column> columns;
    if (!data.get_array().empty())
        for (const auto& member : data.get_array().front().get_object())
            columns.push_back({member.key()});
    return table("Schedules", data, columns, "There are no periodic jobs.");
}

value read_audit(const Asked& asked) {
    return printed([&](std::ostream& out) {
        cli::list_audit(
            asked.service, {asked.fields.number("below"), asked.fields.limit()}, true, out
        );
    });
}

Html show_audit(const Asked& asked, const value& data) {
    return {
        table(
            "Audit",
            data,
            {{"at actor action"},
             {"key_id", [](const object& row) { return key_link(row, "key_id"); }},
             {"detail"}},
            "Nobody has changed anything."
        ),
        next_page(asked, data, "/audit", "below")};
}

}  // namespace

std::span<const View> views() {
    static constexpr std::array all{
        View{"/", "Overview", "Overview", &read_overview, &show_overview},
        View{"/keys", "Keys", "Keys", &read_keys, &show_keys, &search_keys},
        View{"/keys/{id}", "Key", "", &read_key, &show_key},
        View{"/attention", "Attention", "Attention", &read_attention, &show_attention},
        View{"/attention/{id}", "Needs a decision", "", &read_entry, &show_entry},
        View{"/stuck", "Stuck and stranded", "Stuck", &read_stuck, &show_stuck},
        View{"/unrecorded", "Unrecorded results", "Unrecorded", &read_unrecorded, &show_unrecorded},
        View{"/queues", "Queues", "Queues", &read_queues, &show_queues},
        View{"/jobs", "Jobs", "Jobs", &read_jobs, &show_jobs, &search_jobs},
        View{"/jobs/{id}", "Job", "", &read_job, &show_job},
        View{"/dead", "Dead letters", "Dead letters", &read_dead, &show_dead, &search_dead},
        View{"/dead/{id}", "Dead letter", "", &read_dead_letter, &show_dead_letter},
        View{"/providers", "Providers", "Providers", &read_providers, &show_providers},
        View{"/flow", "Flow", "Flow", &read_flow, &show_flow},
        View{"/schedules", "Schedules", "Schedules", &read_schedules, &show_schedules},
        View{"/servers", "Servers", "Servers", &read_servers, &show_servers},
        View{"/audit", "Audit", "Audit", &read_audit, &show_audit}};
    return all;
}

}  // namespace pawl::page
