#include "src/store/postgres/parameters.hpp"

#include <pawl/error.hpp>

#include "src/base/time_text.hpp"
#include "src/store/store.hpp"

#include <boost/algorithm/hex.hpp>
#include <boost/endian/conversion.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

namespace pawl::postgres {

using detail::Value;

std::optional<std::string> text_of(const Value& value, std::string_view statement) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number);
        return std::string{digits.data(), end.ptr};
    }
    if (const auto* blob = std::get_if<detail::Bytes>(&value))
        return "\\x" + boost::algorithm::hex_lower(std::string{blob->bytes});
    const auto* text = std::get_if<std::string_view>(&value);
    if (text == nullptr) return std::nullopt;
    if (text->find('\0') != text->npos)
        throw store::statement_error(
            StoreError::Kind::statement,
            statement,
            ": PostgreSQL keeps no text with a NUL character"
        );
    return std::string{*text};
}

std::optional<std::string> binary_time(std::string_view text) {
    using namespace std::chrono;
    constexpr TimePoint begin{sys_days{year{2000} / January / 1}};  // Of PostgreSQL's time.
    const auto time = base::time_from_text(text);
    if (!time) return std::nullopt;
    const auto since = std::int64_t{duration_cast<microseconds>(*time - begin).count()};
    std::string bytes(sizeof since, '\0');
    boost::endian::endian_store<std::int64_t, sizeof since, boost::endian::order::big>(
        reinterpret_cast<unsigned char*>(bytes.data()), since
    );
    return bytes;
}

Parameters::Parameters(
    const std::vector<std::optional<std::string>>& values, const std::vector<bool>& times
) {
    times_.reserve(values.size());
    values_.reserve(values.size());
    lengths_.reserve(values.size());
    formats_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto value = values[i] ? values[i]->c_str() : nullptr;
        int length = 0;
        if (value != nullptr && i < times.size() && times[i])
            if (auto binary = binary_time(*values[i])) {
                length = static_cast<int>(binary->size());
                value = times_.emplace_back(std::move(*binary)).data();
            }
        values_.push_back(value);
        lengths_.push_back(length);
        formats_.push_back(length > 0 ? 1 : 0);
    }
}

}  // namespace pawl::postgres
