// A row of pawl_idempotency_keys, read by an operation's forms: its recovery point and data, its
// request, the results that operators give when they settle a key, and the headers of its response.
// Any bytes decode or strand the key; decoded values keep all data of the row, and encode to the
// same text; members of a newer version are never dropped silently.
//
// The input's first line is a name: a point, a result, "params" or "headers". The rest is the data.

#include <pawl/detail/erased_operation.hpp>
#include <pawl/steps.hpp>

#include "src/engine/key_row.hpp"
#include "src/json/document.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <functional>
#include <optional>

namespace {

using namespace pawl;
using boost::json::value;

struct RideId {
    std::int64_t value{};
};
enum class Speed { slow, fast };
struct Stop {
    double lat{};
    double lon{};
    std::optional<std::string> name{};
};
struct RideRequest {
    std::string customer;
    std::vector<Stop> stops{};
    std::optional<Speed> speed{};
};
struct Charge {
    std::string id;
    std::uint64_t cents{};
};
struct Declined {
    std::string why;
    std::optional<int> code{};
};

// Has every kind of field that a point may have, and a point with a former name.
class BookRide {
public:
    static constexpr std::string_view name = "book_ride";
    using Started = pawl::Started<RideRequest>;
    struct RideCreated {
        static constexpr std::string_view name = "ride_created";
        RideId ride{};
        std::int64_t user{};
        std::uint8_t seats{};
        bool pooled{};
        Speed speed{};
        std::vector<Stop> stops{};
        std::vector<std::vector<std::int16_t>> rows{};
        std::optional<std::uint64_t> coupon{};
    };
    struct ChargeCreated {
        static constexpr std::string_view name = "charge_created";
        RideCreated ride{};
        Charge charge{};
        std::optional<Stop> last{};
    };

    Next<RideCreated> create_ride(Tx&, const Started&) { return RideCreated{}; }
    Outcome<Charge, Declined> charge_card(KeyedCall&, const RideCreated&) { return Retry{}; }
    Next<ChargeCreated> keep_charge(Tx&, const RideCreated& at, const Charge& charge) {
        return ChargeCreated{at, charge};
    }
    Finish refuse_ride(Tx&, const RideCreated&, const Declined&) {
        return answer(402, std::string{});
    }
    Finish finish_ride(Tx&, const ChargeCreated&) { return answer(201, std::string{}); }

    using Flow = Steps<
        Atomic<&BookRide::create_ride>,
        Foreign<
            Repeat::safe_with_key,
            &BookRide::charge_card,
            &BookRide::keep_charge,
            &BookRide::refuse_ride>,
        Atomic<&BookRide::finish_ride>>;
    using RenamedPoints = pawl::RenamedPoints<Renamed<"charged", ChargeCreated>, Removed<"priced">>;
};
static_assert(Operation<BookRide>);

const detail::ErasedOperation& form() {
    static const auto made = detail::erase_operation(std::make_shared<BookRide>());
    return made;
}

// Reads and writes one column.
struct Column {
    std::function<detail::Decoded(std::string_view)> decode;
    std::function<std::string(const void*)> encode;
};

std::optional<Column> column_of(std::string_view name) {
    if (name == "params") return Column{form().decode_request, form().encode_request};
    for (const auto& step : form().steps)
        for (const auto& result : step.results)
            if (result.name == name) return Column{result.decode, result.encode};
    const auto step = form().step_from(name);
    if (!step || form().steps[*step].decode == nullptr) return std::nullopt;
    return Column{form().steps[*step].decode, form().steps[*step].encode};
}

std::string canonical_of(std::string_view json) {
    return std::get<std::string>(json::canonical_text(json));
}

// Drops null members, as an empty field is written.
value without_nulls(const value& from) {
    if (const auto* list = from.if_array()) {
        boost::json::array all;
        for (const auto& item : *list) all.push_back(without_nulls(item));
        return all;
    }
    if (!from.is_object()) return from;
    boost::json::object all;
    for (const auto& member : from.get_object())
        if (!member.value().is_null()) all[member.key()] = without_nulls(member.value());
    return all;
}

std::string said_by(std::string_view json) {
    return json::canonical(without_nulls(std::get<value>(json::parse(json))));
}

// The outermost object with one more member; nullopt: not an object.
std::optional<std::string> of_a_newer_version(std::string_view json) {
    const auto end = json.rfind('}');
    if (end == json.npos) return std::nullopt;
    const auto before = json.find_last_not_of(" \t\r\n", end - 1);
    const bool empty = before != json.npos && json[before] == '{';
    return std::string{json.substr(0, end)} + (empty ? "" : ",") + R"("since_version_9":0)" +
           std::string{json.substr(end)};
}

void check_column(const Column& column, std::string_view data) {
    const auto decoded = column.decode(data);
    const auto* read = std::get_if<detail::ErasedValue>(&decoded);
    if (read == nullptr) {
        PAWL_ASSERT(!std::get<std::string>(decoded).empty());
        return;
    }
    const auto written = column.encode(read->get());
    PAWL_ASSERT(canonical_of(written) == said_by(data));
    const auto again = column.decode(written);
    PAWL_ASSERT(std::holds_alternative<detail::ErasedValue>(again));
    PAWL_ASSERT(column.encode(std::get<detail::ErasedValue>(again).get()) == written);

    const auto is_refused = [&](std::string_view text) {
        return std::holds_alternative<std::string>(column.decode(text));
    };
    if (const auto newer = of_a_newer_version(written)) PAWL_ASSERT(is_refused(*newer));
    PAWL_ASSERT(
        is_refused(std::string_view{written}.substr(0, fuzz::Dice{data}.below(written.size())))
    );
}

void check_headers(std::string_view data) {
    const auto headers = engine::decode_headers(data);
    const auto written = engine::encode_headers(headers);
    const auto again = engine::decode_headers(written);
    PAWL_ASSERT(headers.size() == again.size());
    for (std::size_t i = 0; i < headers.size(); ++i)
        PAWL_ASSERT(headers[i].name == again[i].name && headers[i].value == again[i].value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto [name, json] = fuzz::cut_at(fuzz::text_of(data, size), "\n");
    if (name == "headers")
        check_headers(json);
    else if (const auto column = column_of(name))
        check_column(*column, json);
    return 0;
}
