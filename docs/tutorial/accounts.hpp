#pragma once

#include <pawl/json.hpp>
#include <pawl/program.hpp>

#include "tutorial/migrations.hpp"
#include "tutorial/statements.hpp"

#include <cstdint>
#include <string>

// Chapter 1's accounts, for the later chapters.
namespace transfers {

struct NotMade {
    std::string why;
};
struct AccountName {
    std::string name;
};
struct Account {
    std::string name;
    std::int64_t cents{};
};

class ShowAccount {
public:
    static constexpr std::string_view name = "show_account";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<AccountName>& at) {
        const auto found = pawl::query_maybe<Account>(read, sql::find_account, at.request.name);
        return found ? pawl::respond(200, *found) : pawl::respond(404, NotMade{"no such account"});
    }
};

inline void open_accounts(pawl::Tx& tx) {
    execute(tx, sql::open_account, "jane", 1000);
    execute(tx, sql::open_account, "joe", 0);
}

}  // namespace transfers
