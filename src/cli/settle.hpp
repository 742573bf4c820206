#pragma once

#include <pawl/service.hpp>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

// What `settle` shows and checks before a decision is recorded, and how a decision is undone. Each
// throws CommandFailed (output.hpp) and StoreError.
namespace pawl::cli {

struct Decision {
    std::string settlement;  // happened, did-not-happen, give-up.
    std::string result;      // happened: a named result of the call, and its fields as JSON.
    std::string value;
    std::string by;
    std::string note;
    bool force{false};    // Allows did-not-happen although the call may still arrive.
    bool dry_run{false};  // Show what would be done; record no decision.
    bool checked{true};   // The result is checked now; otherwise by the server that carries it out.
};

// A request in doubt, as on the attention list.
struct InDoubt {
    std::int64_t key_id{};
    int attempt{};
    std::string recovery_point;
    std::optional<std::string> called_at;  // The first call under its call key; as stored.
    std::string since;                     // When it came to the list; as stored.
    std::optional<std::string> inquiry{};  // The provider's last answer about the call.
};

// What will be done. Its fields are printed by name.
struct SettlePlan {
    std::int64_t id{};
    std::string done{"settle"};
    std::string settlement{};
    std::optional<std::string> result{};
    std::optional<std::string> value{};
    std::optional<int> answer_status{};  // The customer's answer.
    std::optional<std::string> answer{};
    std::optional<std::string>
        called_from{};                       // Instead: the point from which the call is repeated.
    std::optional<std::string> not_known{};  // Instead: why this program can't determine it.
    std::optional<std::string> inquiry{};    // What the provider said when it was asked last.
    std::optional<std::string> too_early{};  // Why it is refused without --force.
    std::optional<std::string> carried_out_at{};
};

// Throws UsageError if a decision to be recorded has no note; called before the database is opened.
void check_note(const Decision& decision);
// Runs the settlement in a transaction that is rolled back, if this program knows the operation.
// Throws CommandFailed if it could not be carried out.
SettlePlan plan_settlement(Service& service, const InDoubt& at, const Decision& decision);
// Throws CommandFailed if the plan is too early and the decision has no `force`.
void check_not_too_early(const SettlePlan& plan, const Decision& decision);
// `decided_at`: when it was recorded; nullopt for a dry run.
void print_plan(
    Service& service,
    SettlePlan plan,
    std::optional<TimePoint> decided_at,
    bool json,
    std::ostream& out
);

struct UndoRequest {
    std::string by;
    std::string note;
};
void undo_settlement(
    Service& service, const InDoubt& at, const UndoRequest& act, bool json, std::ostream& out
);

}  // namespace pawl::cli
