#pragma once

#include "src/base/time_text.hpp"
#include "src/queue/embedded/embedded_jobs.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

namespace pawl::testing {

// Jobs of two workers, jobs that outlive their lease, and faulty handlers.

struct Note {
    static constexpr std::string_view kind = "note";
    std::string text;
};

inline void write_note(Tx& tx, const std::string& text) {
    static constexpr Statement<1> insert{"insert_note", "INSERT INTO notes (text) VALUES ($1)", {}};
    execute(tx, insert, text);
}

class NoteInTx {
public:
    explicit NoteInTx(std::function<void(Tx&, const Job<Note>&)> then = {})
        : then_{std::move(then)} {}
    void work(Tx& tx, const Job<Note>& job) {
        write_note(tx, job.args.text);
        if (then_) then_(tx, job);
    }

private:
    std::function<void(Tx&, const Job<Note>&)> then_;
};

class NoteInCall {
public:
    explicit NoteInCall(std::function<JobResult(KeyedCall&, const Job<Note>&)> then)
        : then_{std::move(then)} {}
    JobResult work(KeyedCall& call, const Job<Note>& job) { return then_(call, job); }

private:
    std::function<JobResult(KeyedCall&, const Job<Note>&)> then_;
};

// A Note with a time-out of its own.
struct HurriedNote {
    static constexpr std::string_view kind = Note::kind;
    static constexpr JobSettings settings{.timeout = 1ms};
    std::string text;
};
class NoteInAHurry {
public:
    explicit NoteInAHurry(std::function<JobResult(KeyedCall&)> then) : then_{std::move(then)} {}
    JobResult work(KeyedCall& call, const Job<HurriedNote>&) { return then_(call); }

private:
    std::function<JobResult(KeyedCall&)> then_;
};

class NoteAsOperation {
public:
    static constexpr std::string_view name = "note_as_operation";
    using Started = pawl::Started<Note>;
    Finish write(Tx& tx, const Started& at) {
        write_note(tx, at.request.text);
        return answer(200, std::string{"noted"});
    }
    using Flow = Steps<Atomic<&NoteAsOperation::write>>;
};

class JobTest : public ::testing::Test {
protected:
    void SetUp() override {
        world.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
    }
    template <class H>
    void handle(H handler) {
        auto form = detail::erase_job(std::make_shared<H>(std::move(handler)));
        one.add(form);
        two.add(form);
    }
    void stage(const std::string& text = "a", std::chrono::milliseconds due_in = 0ms) {
        store::write_now(world.store, [&](store::Session& session) {
            detail::TxFactory::with_tx(
                {session, base::system_random(), std::nullopt, nullptr},
                [&](Tx& tx) {
                    tx.stage(Note{text}, {.due_in = due_in});
                    return 0;
                }
            );
        });
    }
    // As any worker's upkeep does when a lease has ended.
    void rescue_after_lease() {
        world.clock.advance(options.lease);
        ASSERT_EQ(queue.rescue(options.lease), 1);
    }
    World world;
    queue::EmbeddedQueue queue{world.store};
    ops::WorkerOptions options{.retry_layers = {10s}};
    ops::Pauses pauses{world.store, world.clock, 0ms};
    ops::Worker one{*world.engine, queue, pauses, options};
    ops::Worker two{*world.engine, queue, pauses, options};
};

}  // namespace pawl::testing
