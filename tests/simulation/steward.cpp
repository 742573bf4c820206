#include "tests/simulation/steward.hpp"

#include <pawl/lease.hpp>
#include <pawl/tx.hpp>

#include "src/base/random.hpp"
#include "src/core/lease.hpp"
#include "src/engine/tx_factory.hpp"
#include "src/store/blocking.hpp"

#include <cstdint>
#include <variant>

namespace pawl::simulation {

namespace {

constexpr std::string_view books = "the books";
constexpr int pages_of_one = 3;
constexpr milliseconds writing_takes{7'000};  // A third of the ttl: when a keeper renews.

}  // namespace

bool Steward::believes(const std::string& holder, Steady asked_at) {
    const auto end = core::holder_end(asked_at, ttl);
    if (end <= clock_.steady()) return false;
    for (const auto& [other, until] : beliefs_)
        if (other != holder && until > clock_.steady()) wrong_("two hold the lease at once");
    beliefs_[holder] = end;
    return true;
}

void Steward::run_once() {
    const auto holder = base::random_hex(random_, 32);
    struct Forgets {
        Beliefs& beliefs;
        const std::string& holder;
        ~Forgets() { beliefs.erase(holder); }
    } forgets{beliefs_, holder};

    auto asked_at = clock_.steady();
    const auto choice = place_->acquire(books, holder, ttl);
    const auto* taken = std::get_if<core::LeaseAcquired>(&choice);
    if (taken == nullptr) return;
    bool has_it = believes(holder, asked_at);
    try {
        for (int page = 0; page < pages_of_one; ++page) {
            Strand::sleep_until(clock_.steady() + writing_takes);
            asked_at = clock_.steady();
            has_it = has_it && place_->extend(books, taken->epoch, holder, ttl) &&
                     believes(holder, asked_at);
            write_page(holder, taken->epoch);
        }
    } catch (const StaleFencingToken&) {
        if (has_it && beliefs_.at(holder) > clock_.steady())
            wrong_("a holder was fenced although its lease is not over");
        return;
    }
    beliefs_.erase(holder);
    place_->release(books, holder);
}

void Steward::write_page(const std::string& holder, std::int64_t epoch) {
    static constexpr Statement<2> insert{
        "insert_page", "INSERT INTO pages (epoch, holder) VALUES ($1, $2)", {}};
    store::write_now(store_, [&](store::Session& session) {
        detail::TxFactory::with_tx({session, random_}, [&](Tx& tx) {
            check_fencing_token(tx, FencingToken::received(std::string{books}, epoch));
            execute(tx, insert, epoch, holder);
        });
    });
}

}  // namespace pawl::simulation
