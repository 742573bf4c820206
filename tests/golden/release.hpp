#pragma once

#include "tests/conformance/store_world.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

// The statements of a release and the flow that runs them (see README.md here).
namespace pawl::golden {

using store::Session;
using store::Value;

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{"no file " + path.string()};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// A name and the store of its mark; empty: both stores.
using NameAndStore = std::pair<std::string, std::string>;

inline bool is_comment(const std::string& line) {
    const auto begin = line.find_first_not_of(' ');
    return begin != line.npos && line.compare(begin, 2, "--") == 0;
}

// Split as tools/embed_sql does.
inline std::map<NameAndStore, std::string> cut(const std::string& file) {
    static const std::regex begin{R"(-- name: (\w+)(?: \[(\w+)\])?.*)"};
    std::map<NameAndStore, std::string> statements;
    std::string* text = nullptr;
    std::istringstream lines{file};
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (std::regex_match(line, found, begin))
            text = &statements[{found[1], found[2]}];
        else if (text != nullptr && !is_comment(line))
            *text += line + "\n";
    }
    for (auto& [ignored, cut] : statements) cut.erase(cut.find_last_not_of("; \n") + 1);
    return statements;
}

class Release {
public:
    // From a folder with *.sql and flow.json.
    explicit Release(const std::filesystem::path& folder) {
        for (const auto& file : std::filesystem::directory_iterator{folder})
            if (file.path().extension() == ".sql") add(file.path());
        flow_ = boost::json::parse(read_file(folder / "flow.json")).as_array();
    }
    // From compiled-in statements and a flow.
    Release(
        std::span<const Sql* const> own,
        std::span<const Sql* const> rides,
        const std::filesystem::path& flow
    ) {
        for (const auto* sql : own) statements_.emplace(sql->name, *sql);
        for (const auto* sql : rides) statements_.emplace("rides." + std::string{sql->name}, *sql);
        flow_ = boost::json::parse(read_file(flow)).as_array();
    }
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;

    const std::map<std::string, Sql>& statements() const { return statements_; }
    const boost::json::array& flow() const { return flow_; }

private:
    void add(const std::filesystem::path& file) {
        const bool rides = file.stem() == "rides";
        for (const auto& [marked, text] : cut(read_file(file))) {
            const auto& [name, store] = marked;
            const std::string_view kept = texts_.emplace_back(text);
            const auto& full = names_.emplace_back((rides ? "rides." : "") + name);
            auto& sql = statements_[full];
            if (sql.name.empty()) sql.name = full;
            if (store != "postgres") sql.sqlite = kept;
            if (store != "sqlite") sql.postgres = kept;
        }
    }

    std::list<std::string> texts_;  // `statements_` has views of them.
    std::list<std::string> names_;
    std::map<std::string, Sql> statements_;
    boost::json::array flow_;
};

// Which statements of a release fail on a database: the statement's name, and why.
class Trial {
public:
    Trial(store::Store& store, const Release& release) : store_{store}, release_{release} {}

    // Checks that the database accepts every statement.
    std::vector<std::string> prepare_all() {
        for (const auto& [name, sql] : release_.statements()) {
            const auto text = store_.text_of(sql);
            if (text.empty()) continue;  // A statement of the other store.
            // Statements that create tables are run: they do so only if there is none.
            const bool makes = text.starts_with("CREATE TABLE IF NOT EXISTS");
            // Kept alive: a store identifies texts by their address.
            const auto& explained =
                texts_.emplace_back((makes ? "" : "EXPLAIN ") + std::string{text});
            const Sql both{sql.name, explained, explained};
            const std::vector<Value> nothing(static_cast<std::size_t>(detail::parameters_in(text)));
            note_failure(name, [&] {
                store::write_now(store_, [&](Session& session) {
                    return session.run(both, nothing, [](const store::Row&) {});
                });
            });
        }
        return found_;
    }

    // Checks that its servers' work has the same results. Ends at the first step that differs.
    std::vector<std::string> run_flow() {
        for (const auto& work : release_.flow()) {
            const auto title = std::string{work.at("work").as_string()};
            note_failure(title, [&] {
                store::write_now(store_, [&](Session& session) {
                    for (const auto& step : work.at("steps").as_array())
                        run_step(session, step.as_array());
                    return 0;
                });
            });
            if (!found_.empty()) break;
        }
        return found_;
    }
    // The statements that the flow has run.
    const std::set<std::string>& ran() const { return ran_; }

private:
    template <class F>
    void note_failure(const std::string& name, F f) {
        try {
            f();
        } catch (const std::exception& failed) {
            found_.push_back(name + ": " + failed.what());
        }
    }

    void run_step(Session& session, const boost::json::array& step) {
        const auto name = std::string{step.at(0).as_string()};
        const auto& expected = step.at(2).as_object();
        std::list<std::string> texts;
        std::vector<Value> values;
        for (const auto& given : step.at(1).as_array()) values.push_back(value_of(given, texts));
        std::vector<std::vector<std::string>> rows;
        const auto changes =
            session.run(release_.statements().at(name), values, [&](const store::Row& row) {
                rows.push_back(columns_of(row));
            });
        ran_.insert(name);
        check(name, expected, changes, rows);
    }

    void check(
        const std::string& name,
        const boost::json::object& expected,
        std::int64_t changes,
        const std::vector<std::vector<std::string>>& rows
    ) {
        auto expect = [&](bool so, const std::string& what) {
            if (!so) throw std::runtime_error{name + ": " + what};
        };
        for (const auto& [key, value] : expected) {
            if (key == "changes")
                expect(changes == value.as_int64(), "changed " + std::to_string(changes));
            if (key == "rows")
                expect(std::int64_t(rows.size()) == value.as_int64(), "found other rows");
            if (key == "keep") {
                expect(rows.size() == 1, "found no row, or several");
                kept_["$" + std::string{value.as_string()}] = std::stoll(rows[0].at(0));
            }
            if (key == "holds") {
                std::list<std::string> texts;
                const auto wanted = shown(value_of(value, texts));
                expect(
                    !rows.empty() && std::count(rows[0].begin(), rows[0].end(), wanted) > 0,
                    "its row has no " + wanted
                );
            }
        }
    }

    Value value_of(const boost::json::value& given, std::list<std::string>& texts) const {
        if (given.is_null()) return std::monostate{};
        if (given.is_int64()) return given.as_int64();
        if (given.is_double()) return given.as_double();
        auto& text = texts.emplace_back(given.as_string());
        if (const auto whole = kept_.find(text); whole != kept_.end()) return whole->second;
        for (const auto& [name, value] : kept_)  // Or as a part of a JSON text.
            if (const auto at = text.find(name); at != text.npos)
                text.replace(at, name.size(), std::to_string(value));
        return std::string_view{text};
    }
    static std::string shown(const Value& value) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
        return std::string{std::get<std::string_view>(value)};
    }
    static std::vector<std::string> columns_of(const store::Row& row) {
        std::vector<std::string> columns;
        for (int i = 0; i < row.columns(); ++i) {
            if (row.is_null(i)) {
                columns.emplace_back();
                continue;
            }
            try {
                columns.push_back(std::to_string(row.integer(i)));
            } catch (const StoreError&) {  // It is not a timestamp.
                try {
                    columns.emplace_back(row.text(i));
                } catch (const StoreError&) {
                    columns.push_back(std::to_string(row.real(i)));
                }
            }
        }
        return columns;
    }

    store::Store& store_;
    const Release& release_;
    std::list<std::string> texts_;
    std::map<std::string, std::int64_t> kept_;
    std::set<std::string> ran_;
    std::vector<std::string> found_;
};

}  // namespace pawl::golden
