#pragma once

#include <pawl/json.hpp>
#include <pawl/service.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace shop {

// What is new: an operation on the tables that were there.
struct OrderRequest {
    std::string item;
    std::int64_t pieces{};
};
struct OrderPlaced {
    std::int64_t order{};
};
struct NotPlaced {
    std::string why;
};

class PlaceOrder {
public:
    static constexpr std::string_view name = "place_order";
    using Started = pawl::Started<OrderRequest>;

    pawl::Next<pawl::Refusal> place(pawl::Tx& tx, const Started& at) {
        const auto& [item, pieces] = at.request;
        const auto id =
            pawl::query_one<std::int64_t>(tx, insert_order, at.principal.account, item, pieces);
        if (execute(tx, take, item, pieces) == 0)
            return pawl::refuse(409, NotPlaced{"not in stock"});
        return pawl::answer(201, OrderPlaced{id});
    }
    using Flow = pawl::Steps<pawl::Atomic<&PlaceOrder::place>>;

private:
    static constexpr pawl::Statement<3> insert_order{
        "insert_order",
        "INSERT INTO orders (customer, item, pieces) VALUES ($1, $2, $3) RETURNING id",
        {}};
    static constexpr pawl::Statement<2> take{
        "take", "UPDATE stock SET pieces = pieces - $2 WHERE item = $1 AND pieces >= $2", {}};
};
static_assert(pawl::checked<PlaceOrder>());

}  // namespace shop
