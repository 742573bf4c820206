#include "src/engine/attention_log.hpp"

#include "src/base/log.hpp"

namespace pawl::engine {

void log_attention_added(const OnAttentionList& added) {
    log::limited_error(
        "attention_added",
        {{"key_id", added.key_id},
         {"key_hash", logged_hash(added.hash)},
         {"operation", added.operation},
         {"point", added.point},
         {"reason", added.reason},
         {"tenant", added.principal.tenant},
         {"account", added.principal.account},
         {"detail", added.detail}}
    );
}

}  // namespace pawl::engine
