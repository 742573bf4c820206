#pragma once

#include <pawl/provider_event.hpp>

#include "src/engine/engine.hpp"

namespace pawl::ops {

// Service::settle_by() of an engine, in a transaction.
bool settle_by(const engine::Engine& engine, detail::Session& session, const ProviderEvent& event);

}  // namespace pawl::ops
