#include "src/ops/overdue_code.hpp"

#include "src/base/log.hpp"
#include "src/ops/rounds.hpp"

namespace pawl::ops {

namespace {

using Where = base::RunningCode::Where;

constexpr std::chrono::seconds look_every{1};
constexpr std::chrono::minutes report_every{1};

void log_overdue(const base::RunningCode::Seen& code) {
    log::limited_warning(
        "handler_overdue",
        code.name + " " + code.step,
        {{"code", "PAWL0031"},
         {"where", name_of(code.where)},
         {"name", code.name},
         {"step", code.step},
         {"subject", subject_of(code)},
         {"thread", code.thread},
         {"ran_ms", code.ran.count()},
         {"limit_ms", code.limit.count()}},
        log::burst_of_names
    );
}

}  // namespace

bool is_overdue(const base::RunningCode::Seen& code) {
    return code.ran > code.limit + overdue_grace;
}

std::string_view name_of(Where where) {
    switch (where) {
        case Where::transaction:
            return "transaction";
        case Where::query:
            return "query";
        case Where::job:
            return "job";
        case Where::call:
            break;
    }
    return "call";
}

std::string subject_of(const base::RunningCode::Seen& code) {
    if (!code.jid.empty()) return "job " + code.jid;
    return code.key_id ? "key " + std::to_string(*code.key_id) : std::string{};
}

int OverdueCode::run_once() {
    int lines = 0;
    std::map<std::uint64_t, std::chrono::milliseconds> reported;
    for (const auto& code : code_.list()) {
        if (!is_overdue(code)) continue;
        const auto before = reported_.find(code.number);
        const bool known = before != reported_.end();
        const bool due = !known || code.ran >= before->second + report_every;
        reported.emplace(code.number, due ? code.ran : before->second);
        if (!due) continue;
        log_overdue(code);
        ++lines;
    }
    reported_ = std::move(reported);
    return lines;
}

void OverdueCode::run(const std::stop_token& stop, const std::function<void()>& also) {
    rounds(stop, clock_, look_every, "overdue", [&](TimePoint) {
        also();
        run_once();
        return false;
    });
}

}  // namespace pawl::ops
