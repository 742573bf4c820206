#include "src/queue/kafka/redrive_marks.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/queue/audit.hpp"
#include "store/statements.hpp"

namespace pawl::queue::kafka {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

struct AuditDetail {
    std::string reason;
    std::vector<std::string> jobs;
};

}  // namespace

bool mark(store::Session& session, const DeadLetterAt& letter, Mark mark, const AuditEntry& act) {
    return execute_statement(
               session,
               sql::mark_kafka_record,
               letter.partition.topic,
               letter.partition.number,
               letter.offset,
               mark,
               act.by,
               session.now(),
               act.reason,
               letter.life
           ) == 1;
}

Settled settled(store::Store& store, const Partition& partition, std::int64_t low) {
    return store::read_now(store, [&](store::Session& session) {
        Settled found;
        run_statement(
            session,
            sql::list_kafka_marks,
            [&](const Row& row) {
                found.offsets.insert(row.integer(0));
                found.lives.emplace(row.text(1));
            },
            partition.topic,
            partition.number,
            low
        );
        return found;
    });
}

void forget_marks(store::Session& session, const Partition& partition, std::int64_t low) {
    execute_statement(session, sql::forget_kafka_marks, partition.topic, partition.number, low);
}

void audit(
    store::Session& session,
    const AuditEntry& act,
    std::string_view action,
    const std::vector<std::string>& letters
) {
    queue::audit(session, act.by, action, detail::encode(AuditDetail{act.reason, letters}));
}

}  // namespace pawl::queue::kafka
