#pragma once

#include "src/base/random.hpp"
#include "src/engine/tx_factory.hpp"
#include "tests/conformance/each_store.hpp"

// Functions for a phase's own transaction, on each store.
namespace pawl::conformance {

class InTx : public OnEachStore {
protected:
    template <class F>
    auto in_tx(F f, Isolation isolation = Isolation::repeatable_read) {
        return write_now(
            *store,
            [&](Session& session) {
                return detail::TxFactory::with_tx(
                    {.session = session,
                     .random = base::system_random(),
                     .key_id = {},
                     .staged = nullptr,
                     .staging = staging,
                     .isolation = isolation},
                    f
                );
            },
            5s,
            isolation
        );
    }
    engine::Staging staging{engine::Staging::as_job};
};

}  // namespace pawl::conformance
