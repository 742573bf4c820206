#include "src/ops/worker.hpp"

#include <utility>

// What a worker knows, for `doctor` and `points`.
namespace pawl::ops {

Worker::Known Worker::knows(const std::string& kind, std::string_view args) const {
    const auto at = handlers_.find(kind);
    if (at == handlers_.end()) return Known::no_handler;
    bool decodes = false;
    if (const auto* form = std::get_if<detail::ErasedJob>(&at->second.form))
        decodes = std::holds_alternative<detail::ErasedValue>(form->decode(args));
    else
        decodes = std::holds_alternative<detail::ErasedValue>(
            std::get<const detail::ErasedOperation*>(at->second.form)->decode_request(args)
        );
    return decodes ? Known::yes : Known::not_decoded;
}

std::map<std::string, std::variant<std::string, const detail::ErasedOperation*>> Worker::kinds(
) const {
    std::map<std::string, std::variant<std::string, const detail::ErasedOperation*>> kinds;
    for (const auto& [kind, handler] : handlers_)
        if (const auto* form = std::get_if<detail::ErasedJob>(&handler.form))
            kinds[kind] = form->schema();
        else
            kinds[kind] = std::get<const detail::ErasedOperation*>(handler.form);
    return kinds;
}

}  // namespace pawl::ops
