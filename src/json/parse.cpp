#include "src/base/text.hpp"
#include "src/json/document.hpp"
#include "src/json/number.hpp"
#include "src/json/surrogates.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace pawl::json {

namespace {

using boost::json::error_code;
using boost::json::string_view;

// The parser's position: the names and lists that lead to it, and all names of the open objects.
class Place {
public:
    void open_object() {
        open_.push_back({.first_name = names_.size(), .items = 0, .list = false});
    }
    void open_list() { open_.push_back({.first_name = names_.size(), .items = 0, .list = true}); }

    void name_part(std::string_view part) { letters_.append(part); }
    void name_end() {
        names_.push_back({.begin = letters_end_, .size = letters_.size() - letters_end_});
        letters_end_ = letters_.size();
    }

    void value_ends() {
        if (!open_.empty()) ++open_.back().items;
    }

    // The names that the innermost object has more than once.
    std::vector<std::string> duplicates() const {
        std::size_t first = open_.back().first_name;
        std::size_t count = names_.size() - first;
        return count <= 16 ? duplicates_of_few(first) : duplicates_of_many(first);
    }

    void close() {
        names_.resize(open_.back().first_name);
        open_.pop_back();
        letters_.resize(names_.empty() ? 0 : names_.back().begin + names_.back().size);
        letters_end_ = letters_.size();
        value_ends();
    }

    // The path of the innermost object or list; with `inside`, of the value in it.
    std::string path(bool inside) const {
        std::string path;
        for (std::size_t i = 0; i + (inside ? 0 : 1) < open_.size(); ++i) {
            std::size_t names_end = i + 1 < open_.size() ? open_[i + 1].first_name : names_.size();
            if (open_[i].list) {
                path.append("[").append(std::to_string(open_[i].items)).append("]");
            } else if (names_end > open_[i].first_name) {
                path.append(path.empty() ? "" : ".").append(name(names_end - 1));
            }
        }
        return path;
    }

private:
    struct Open {
        std::size_t first_name;  // In names_; earlier ones belong to outer objects.
        std::size_t items;       // Finished values.
        bool list;
    };
    struct Name {
        std::size_t begin;
        std::size_t size;
    };

    std::string_view name(std::size_t i) const {
        return std::string_view{letters_}.substr(names_[i].begin, names_[i].size);
    }

    std::vector<std::string> duplicates_of_few(std::size_t first) const {
        std::vector<std::string> twice;
        for (std::size_t i = first; i < names_.size(); ++i)
            for (std::size_t j = first; j < i; ++j)
                if (name(i) == name(j)) twice.emplace_back(name(i));
        return twice;
    }

    // A hostile object may have a hundred thousand names.
    std::vector<std::string> duplicates_of_many(std::size_t first) const {
        std::vector<std::string_view> sorted;
        sorted.reserve(names_.size() - first);
        for (std::size_t i = first; i < names_.size(); ++i) sorted.push_back(name(i));
        std::sort(sorted.begin(), sorted.end());
        std::vector<std::string> twice;
        for (std::size_t i = 1; i < sorted.size(); ++i)
            if (sorted[i] == sorted[i - 1]) twice.emplace_back(sorted[i]);
        return twice;
    }

    std::vector<Open> open_;
    std::vector<Name> names_;
    std::string letters_;  // All names_ joined.
    std::size_t letters_end_{};
};

// Callbacks of Boost's parser. A problem of ours stops it; the error code does not matter.
struct Builder {
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): room is written before it is read.
    Builder(Nul nul_, Unknown unknown, boost::json::storage_ptr storage)
        : stack{boost::json::storage_ptr{}, room.data(), room.size()},
          nul{nul_},
          lenient{unknown == Unknown::ignored} {
        stack.reset(std::move(storage));
    }

    bool refuse(std::string why, error_code& ec, bool inside = true) {
        problem = DecodeProblem{.field = base::excerpt(place.path(inside)), .why = std::move(why)};
        ec = boost::json::make_error_code(boost::json::error::syntax);
        return false;
    }

    bool check_nul(std::string_view part, error_code& ec, bool inside) {
        if (nul == Nul::allowed || part.find('\0') == part.npos) return true;
        return refuse("Holds the character U+0000.", ec, inside);
    }

    bool number(std::string_view literal, error_code& ec) {
        auto value = number_of(literal);
        if (lenient && std::holds_alternative<std::string>(value)) return unreadable();
        if (auto* why = std::get_if<std::string>(&value)) return refuse(std::move(*why), ec);
        std::visit([this](auto exact) { push(exact); }, std::get<Number>(value));
        return ended();
    }

    // Stands for a value that nobody may read: no JSON number is NaN.
    bool unreadable() {
        push(std::numeric_limits<double>::quiet_NaN());
        return ended();
    }

    void push(std::int64_t value) { stack.push_int64(value); }
    void push(std::uint64_t value) { stack.push_uint64(value); }
    void push(double value) { stack.push_double(value); }

    bool ended() {
        place.value_ends();
        return true;
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_array_begin(error_code&) { return place.open_list(), true; }
    bool on_object_begin(error_code&) { return place.open_object(), true; }

    bool on_array_end(std::size_t n, error_code&) {
        stack.push_array(n);
        place.close();
        return true;
    }

    bool on_object_end(std::size_t n, error_code& ec) {
        const auto twice = place.duplicates();
        if (!twice.empty() && !lenient) {
            refuse("This name appears twice in one object.", ec, false);
            auto& field = problem->field;
            field = base::excerpt(field.empty() ? twice.front() : field + "." + twice.front());
            return false;
        }
        for (const auto& name : twice) {  // The last value of a name counts.
            stack.push_key({name.data(), name.size()});
            push(std::numeric_limits<double>::quiet_NaN());
        }
        stack.push_object(n + twice.size());
        place.close();
        return true;
    }

    bool on_key_part(string_view part, std::size_t, error_code& ec) {
        stack.push_chars(part);
        place.name_part({part.data(), part.size()});
        return check_nul({part.data(), part.size()}, ec, false);
    }

    bool on_key(string_view part, std::size_t, error_code& ec) {
        stack.push_key(part);
        place.name_part({part.data(), part.size()});
        place.name_end();
        return check_nul({part.data(), part.size()}, ec, false);
    }

    bool on_string_part(string_view part, std::size_t, error_code& ec) {
        stack.push_chars(part);
        return check_nul({part.data(), part.size()}, ec, true);
    }

    bool on_string(string_view part, std::size_t, error_code& ec) {
        stack.push_string(part);
        return check_nul({part.data(), part.size()}, ec, true) && ended();
    }

    // Called only for texts in several pieces; ours is one piece, so literals are whole.
    bool on_number_part(string_view, error_code& ec) {
        return refuse("Is a number in pieces.", ec);
    }
    bool on_int64(std::int64_t value, string_view, error_code&) {
        push(value);
        return ended();
    }
    bool on_uint64(std::uint64_t value, string_view, error_code&) {
        push(value);
        return ended();
    }
    bool on_double(double, string_view literal, error_code& ec) {
        return number({literal.data(), literal.size()}, ec);
    }

    bool on_bool(bool value, error_code&) { return stack.push_bool(value), ended(); }
    bool on_null(error_code&) { return stack.push_null(), ended(); }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

    std::array<unsigned char, 1024> room;  // For the stack, before it uses the heap.
    boost::json::value_stack stack;
    Nul nul;
    bool lenient;
    Place place;
    std::optional<DecodeProblem> problem;
};

std::string sentence(const error_code& ec, std::size_t at) {
    using boost::json::error;
    std::string where = " at byte " + std::to_string(at);
    if (ec == error::too_deep) return "Is nested deeper than 32 levels.";
    if (ec == error::incomplete) return "Is not JSON: it ends too early.";
    if (ec == error::extra_data) return "Is not JSON: more follows after the end" + where + ".";
    return "Is not JSON: error" + where + ".";
}

}  // namespace

std::variant<boost::json::value, DecodeProblem> parse(
    std::string_view given, Nul nul, boost::json::storage_ptr storage, Unknown unknown
) {
    const bool lenient = unknown == Unknown::ignored;
    std::string replaced;
    const auto text = lenient ? replace_lone_surrogates(given, replaced) : given;
    boost::json::parse_options options;
    options.max_depth = lenient ? lenient_depth_max : depth_max;
    boost::json::basic_parser<Builder> parser{options, nul, unknown, std::move(storage)};
    error_code ec;

    std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && read < text.size())
        ec = boost::json::make_error_code(boost::json::error::extra_data);

    Builder& builder = parser.handler();
    if (builder.problem) return std::move(*builder.problem);
    if (!ec) return builder.stack.release();
    if (ec == boost::json::error::exponent_overflow)
        return DecodeProblem{
            .field = base::excerpt(builder.place.path(true)), .why = std::string{out_of_double}};
    if (!base::is_utf8(text)) return DecodeProblem{.field = {}, .why = "Is not UTF-8."};
    return DecodeProblem{.field = {}, .why = sentence(ec, read)};
}

}  // namespace pawl::json
