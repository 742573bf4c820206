#include "tests/conformance/recording_store.hpp"

#include "store/statements.hpp"
#include "tests/passing_session.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace pawl::conformance {

namespace {

std::mutex mutex;
std::map<std::string, std::set<std::string, std::less<>>> executed;  // By store.

// Records executed statements.
struct Notes {
    const std::string& store;
    RecordingStore::Trace& trace;

    void add(const Sql& statement) const {
        trace.add(statement.name);
        const std::lock_guard guard{mutex};
        executed[store].emplace(statement.name);
    }
};

class RecordingSession final : public testing::PassingSession {
public:
    RecordingSession(store::Session& inner, const Notes& notes)
        : PassingSession{inner}, notes_{notes} {}
    std::int64_t run(
        const Sql& statement,
        std::span<const store::Value> parameters,
        detail::FunctionRef<void(const store::Row&)> each
    ) override {
        const auto changed = inner_.run(statement, parameters, each);
        notes_.add(statement);
        return changed;
    }
    void send(const Sql& statement, std::span<const store::Value> parameters) override {
        inner_.send(statement, parameters);
        notes_.add(statement);
    }
    void fence(const Sql& statement, std::span<const store::Value> parameters) override {
        inner_.fence(statement, parameters);
        notes_.add(statement);
    }

private:
    Notes notes_;
};

class RecordingWork final : public store::Work {
public:
    RecordingWork(std::unique_ptr<store::Work> inner, const Notes& notes)
        : inner_{std::move(inner)}, notes_{notes} {}
    void run(store::Session& session) override {
        RecordingSession recording{session, notes_};
        inner_->run(recording);
    }
    void done(std::exception_ptr failed) noexcept override { inner_->done(std::move(failed)); }
    std::chrono::milliseconds deadline() const override { return inner_->deadline(); }
    Isolation isolation() const override { return inner_->isolation(); }
    const void* kind() const override { return inner_->kind(); }

private:
    std::unique_ptr<store::Work> inner_;
    Notes notes_;
};

class EveryStatement final : public ::testing::Environment {
public:
    void TearDown() override {
        if (std::getenv("PAWL_CHECK_STATEMENTS") == nullptr) return;
        EXPECT_FALSE(executed.empty());
        for (const auto& [store, names] : executed)
            for (const Sql* statement : sql::all)
                EXPECT_TRUE(names.contains(statement->name))
                    << "no test executed " << statement->name << " on the store " << store;
    }
};

[[maybe_unused]] const auto* const environment =
    ::testing::AddGlobalTestEnvironment(new EveryStatement);  // GoogleTest owns it.

}  // namespace

void RecordingStore::Trace::add(std::string_view name) {
    const std::lock_guard guard{mutex_};
    names_.emplace_back(name);
}

std::vector<std::string> RecordingStore::Trace::take() {
    const std::lock_guard guard{mutex_};
    return std::exchange(names_, {});
}

RecordingStore::RecordingStore(std::unique_ptr<store::Store> inner, std::string name)
    : name_{std::move(name)}, inner_{std::move(inner)} {}

void RecordingStore::write(std::unique_ptr<store::Work> work, store::Urgency urgency) {
    inner_->write(std::make_unique<RecordingWork>(std::move(work), Notes{name_, trace_}), urgency);
}

void RecordingStore::read(std::unique_ptr<store::Work> work) {
    inner_->read(std::make_unique<RecordingWork>(std::move(work), Notes{name_, trace_}));
}

void RecordingStore::lookup(std::unique_ptr<store::Lookup> lookup) {
    Notes{name_, trace_}.add(lookup->statement());
    inner_->lookup(std::move(lookup));
}

std::string_view RecordingStore::text_of(const Sql& statement) const {
    return inner_->text_of(statement);
}

}  // namespace pawl::conformance
