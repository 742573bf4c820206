#include "src/redis/reply.hpp"

#include <algorithm>

namespace pawl::redis {

namespace {

bool is_list_of(const Reply& reply, Reply::Kind kind) noexcept {
    return reply.kind == Reply::Kind::list &&
           std::all_of(reply.items.begin(), reply.items.end(), [kind](const Reply& item) {
               return item.kind == kind;
           });
}

}  // namespace

bool has_shape(const Reply& reply, Shape shape) noexcept {
    const auto size = reply.items.size();
    switch (shape) {
        case Shape::any:
            return true;
        case Shape::integer:
            return reply.kind == Reply::Kind::integer;
        case Shape::two_integers:
            return size == 2 && is_list_of(reply, Reply::Kind::integer);
        case Shape::integers:
            return is_list_of(reply, Reply::Kind::integer);
        case Shape::texts:
            return is_list_of(reply, Reply::Kind::text);
        case Shape::two_texts:
            return size == 2 && is_list_of(reply, Reply::Kind::text);
        case Shape::pairs:
            return size % 2 == 0 && is_list_of(reply, Reply::Kind::text);
        case Shape::text_pairs:
            return size == 2 && reply.kind == Reply::Kind::list &&
                   reply.items[0].kind == Reply::Kind::text &&
                   has_shape(reply.items[1], Shape::pairs);
        case Shape::time_pairs_time:
            return size == 3 && reply.kind == Reply::Kind::list &&
                   reply.items[0].kind == Reply::Kind::text &&
                   has_shape(reply.items[1], Shape::pairs) &&
                   reply.items[2].kind == Reply::Kind::text;
    }
    return false;
}

}  // namespace pawl::redis
