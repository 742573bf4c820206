// A service whose code does not come back, for stuck_cases.py. STUCK in the environment names a
// folder: code that spins returns once it has a file `release`, a poisoned job kills no server once
// it has a file `tame`, and each run of a job or a step adds its name to the file `begun`.
#include <pawl/json.hpp>
#include <pawl/program.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;

std::string path_of(std::string_view name) {
    const char* folder = std::getenv("STUCK");
    return std::string{folder != nullptr ? folder : "."} + "/" + std::string{name};
}

void note(std::string_view file, std::string_view name) {
    std::ofstream{path_of(file), std::ios::app} << std::string{name} + "\n" << std::flush;
}

// Ignores every stop.
void spin(std::string_view name) {
    note("begun", name);
    while (!std::filesystem::exists(path_of("release")))
        std::this_thread::sleep_for(10ms);  // tidy: allow sleep: it hangs, and others need the CPU
}

struct SpinTx {
    static constexpr std::string_view kind = "spin_tx";
    int number{};
};
struct SpinCall {
    static constexpr std::string_view kind = "spin_call";
    int number{};
};
struct SpinKeyed {
    static constexpr std::string_view kind = "spin_keyed";
    int number{};
};
struct Poison {
    static constexpr std::string_view kind = "poison";
    int number{};
};
struct Healthy {
    static constexpr std::string_view kind = "healthy";
    int number{};
};

struct SpinTxWorker {
    void work(pawl::Tx&, const pawl::Job<SpinTx>&) { spin("spin_tx"); }
};
struct SpinCallWorker {
    void work(pawl::Call&, const pawl::Job<SpinCall>&) { spin("spin_call"); }
};
struct SpinKeyedWorker {
    void work(pawl::KeyedCall&, const pawl::Job<SpinKeyed>&) { spin("spin_keyed"); }
};
struct PoisonWorker {
    void work(pawl::Call&, const pawl::Job<Poison>&) {
        note("begun", "poison");
        if (!std::filesystem::exists(path_of("tame"))) ::kill(::getpid(), SIGKILL);
    }
};
// Longer than the time between two kills of a storm.
struct HealthyWorker {
    void work(pawl::Call&, const pawl::Job<Healthy>& job) {
        note("begun", "healthy");
        std::this_thread::sleep_for(1200ms);  // tidy: allow sleep: a slow receiver
        note("done", std::to_string(job.args.number));
    }
};

struct JobsToStage {
    std::string job{};
    int count{};
};
struct Done {
    bool done{true};
};

class Stage {
public:
    static constexpr std::string_view name = "stage";
    using Started = pawl::Started<JobsToStage>;
    pawl::Finish stage(pawl::Tx& tx, const Started& at) {
        for (int i = 0; i < at.request.count; ++i) stage_one(tx, at.request.job, i);
        return pawl::answer(201, Done{});
    }
    using Flow = pawl::Steps<pawl::Atomic<&Stage::stage>>;

private:
    static void stage_one(pawl::Tx& tx, const std::string& kind, int number) {
        if (kind == SpinTx::kind)
            tx.stage(SpinTx{number});
        else if (kind == SpinCall::kind)
            tx.stage(SpinCall{number});
        else if (kind == SpinKeyed::kind)
            tx.stage(SpinKeyed{number});
        else if (kind == Poison::kind)
            tx.stage(Poison{number});
        else
            tx.stage(Healthy{number});
    }
};

struct SpinRequest {
    std::string where{};
};

class Spin {
public:
    static constexpr std::string_view name = "spin";
    using Started = pawl::Started<SpinRequest>;
    struct Begun {
        static constexpr std::string_view name = "spin_begun";
        std::string where{};
    };
    struct Ended {
        bool ended{true};
    };
    pawl::Next<Begun> begin(pawl::Tx&, const Started& at) {
        if (at.request.where == "phase") spin("phase");
        return Begun{at.request.where};
    }
    pawl::Outcome<Ended> call(pawl::KeyedCall&, const Begun& at) {
        if (at.where == "call") spin("call");
        return Ended{};
    }
    std::string call_target(const Begun&) const { return "itself"; }
    pawl::Finish keep(pawl::Tx&, const Begun&, const Ended&) { return pawl::answer(201, Done{}); }
    using Flow = pawl::Steps<
        pawl::Atomic<&Spin::begin>,
        pawl::Foreign<pawl::Repeat::safe_with_key, &Spin::call, &Spin::keep>>;
};

}  // namespace

int main(int argc, char** argv) {
    return pawl::run_program(
        {.name = "stuck_server",
         .summary = "A service whose code does not come back",
         .add =
             [](pawl::Service& service) {
                 service.add(SpinTxWorker{});
                 service.add(SpinCallWorker{});
                 service.add(SpinKeyedWorker{});
                 service.add(PoisonWorker{});
                 service.add(HealthyWorker{});
                 service.add(Stage{});
                 service.add(Spin{});
             },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Stage>("/jobs");
                 server.post<Spin>("/spins");
             },
         .service =
             {.lease = 3s,
              .complete_after = 200ms,
              .phase_deadline = 500ms,
              .call_timeout = 1s,
              .drain = 2s,
              .retry_layers = {200ms, 200ms, 200ms},
              .job_lease = 3s,
              .job_timeout = 1s},
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
