// A worker that claims one job and does one thing with it, to be killed in between:
//
//   kafka_victim BROKERS PREFIX DATABASE reschedule|finish|call|dead_letter

#include "src/base/clock.hpp"
#include "src/queue/kafka/kafka_queue.hpp"
#include "src/store/sqlite/sqlite_store.hpp"

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
    using namespace std::chrono_literals;
    using namespace pawl;
    if (count != 5) return 2;
    queue::KafkaOptions options;
    options.brokers = arguments[1];
    options.prefix = arguments[2];
    options.group = "rides";
    options.session_timeout = 6s;
    options.fetch_wait = 10ms;
    options.partitions = 1;
    options.replication = 1;
    options.claim_wait = 30s;
    const std::string action{arguments[4]};
    try {
        auto& clock = base::system_clock();
        sqlite::SqliteStore store{{.path = arguments[3]}, clock};
        queue::KafkaQueue queue{options, "default", store, clock};
        auto job = queue.claim(1, 30s).at(0);
        if (action == "reschedule") return queue.reschedule(job, 0s, "an error") ? 0 : 1;
        if (action == "dead_letter") return queue.dead_letter(job, "for good") ? 0 : 1;
        if (action == "call" && !queue.mark_called(job)) return 1;
        return queue.finish(job) ? 0 : 1;
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "kafka_victim: %s\n", failed.what());
        return 1;
    }
}
