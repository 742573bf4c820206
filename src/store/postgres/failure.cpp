#include "src/store/postgres/failure.hpp"

#include <utility>

namespace pawl::postgres {

using Kind = StoreError::Kind;

StoreError::Kind kind_of_state(std::string_view state) {
    if (state.size() != 5) return Kind::unavailable;
    // Whole codes before their classes.
    if (state == "40001" || state == "40P01") return Kind::contention;
    if (state == "55P03") return Kind::locked;
    if (state == "57014" || state == "25P03") return Kind::deadline;
    if (state == "53100") return Kind::full;
    if (state == "53400" || state == "54000") return Kind::statement;
    if (state == "25006") return Kind::read_only;
    // A cached plan may not fit after a migration: the next run prepares it anew.
    if (state == "0A000") return Kind::statement;
    // A named statement is missing or already there: a pooler has switched sessions.
    if (state == "26000" || state == "42P05") return Kind::unavailable;
    if (state == "40003") return Kind::unavailable;  // Whether it happened is unknown.
    const auto cls = state.substr(0, 2);
    if (cls == "23") return Kind::constraint;
    // The transaction is not in the state that the store expects.
    if (cls == "25") return Kind::unavailable;
    if (cls == "40") return Kind::contention;
    if (cls == "08" || cls == "53" || cls == "57" || cls == "58" || cls == "XX")
        return Kind::unavailable;
    return Kind::statement;
}

// 40003 is statement_completion_unknown. Class 08, connection exceptions (08007 is
// transaction_resolution_unknown), may also come from a foreign data wrapper about its own server:
// before the COMMIT the transaction is certainly rolled back then.
bool outcome_unknown(std::string_view state, bool at_commit) {
    return state == "40003" || (at_commit && state.starts_with("08"));
}

std::string_view hint_for_state(std::string_view state) {
    if (state == "26000" || state == "42P05")
        return "; behind PgBouncer in transaction mode add prepared=off to the URL";
    if (state == "53300") return "; reduce connections= in the URL, or use PgBouncer";
    if (state == "25006") return "; is it a standby? Pawl needs the primary";
    return {};
}

std::string message_without_values(std::string_view state, Message message) {
    const auto cls = state.substr(0, 2);
    auto& text = message.primary;
    if (const auto quote = text.find('"'); cls == "22" && quote != text.npos)
        text.replace(quote, text.rfind('"') + 1 - quote, "(a value)");
    if (cls == "22" || cls == "23") message.detail.clear();
    for (const auto& more : {message.detail, message.hint})
        if (!more.empty()) text.append(" (").append(more).append(")");
    return std::move(text);
}

}  // namespace pawl::postgres
