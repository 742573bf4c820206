#pragma once

#include "src/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::engine {

// The name under which the ids of the requests (X-Request-Id) are stored.
inline constexpr std::string_view request_reference = "request";

// The references of one transaction of a key, by which people find the key. They are written at
// its end. Used by one thread at a time.
class KeyReferences {
public:
    static constexpr std::size_t name_max = 40;
    static constexpr std::size_t id_max = 200;
    static constexpr std::size_t references_max = 20;
    // A client may repeat a request for days, with a new id each time.
    static constexpr int request_ids_max = 50;

    // For an operation. Throws std::invalid_argument.
    void add(std::string_view name, std::string_view id);
    // For the id of the request that caused the attempt. An empty id is ignored.
    void add_request(std::string_view id, int attempt);

    void clear() { found_.clear(); }
    std::size_t size() const { return found_.size(); }
    // Drops those that a rollback to a savepoint has undone.
    void keep_first(std::size_t count) noexcept { found_.resize(count); }
    // In the transaction: all so far, once.
    void write(store::Session& session, std::int64_t key_id);

private:
    struct Reference {
        std::string name;
        std::string id;
    };
    std::vector<Reference> found_;
};

}  // namespace pawl::engine
