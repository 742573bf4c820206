#pragma once

#include <pawl/statement.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace pawl {

// The database's clock, UTC.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

namespace detail {

// A value of a BLOB or bytea.
struct Bytes {
    std::string_view bytes;
};
// A parameter of a statement. Texts and bytes are borrowed until the call returns.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view, Bytes>;

// A callable that is borrowed for one call.
template <class Signature>
class FunctionRef;
template <class R, class... A>
class FunctionRef<R(A...)> {
public:
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, A...>)
        FunctionRef(F&& f)  // NOLINT(bugprone-forwarding-reference-overload): never copies itself.
        : object_{const_cast<void*>(static_cast<const void*>(std::addressof(f)))},
          call_{[](void* object, A... a) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<A>(a)...);
          }} {}
    R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

private:
    void* object_;
    R (*call_)(void*, A...);
};

// One row of a result, valid while the callback runs. A wrong type or a missing column throws
// StoreError (statement).
class Row {
public:
    virtual int columns() const = 0;
    virtual bool is_null(int column) const = 0;
    virtual std::int64_t integer(int column) const = 0;
    virtual double real(int column) const = 0;
    virtual std::string_view text(int column) const = 0;   // Valid until the next row.
    virtual std::string_view bytes(int column) const = 0;  // Valid until the next call of it.

protected:
    ~Row() = default;
};

// An open transaction or a read snapshot. Not thread-safe. Every member throws StoreError.
class Session {
public:
    // Runs a named statement, passes each row to `each`, and returns the number of changed rows.
    virtual std::int64_t run(
        const Sql& statement, std::span<const Value> parameters, FunctionRef<void(const Row&)> each
    ) = 0;
    // A write whose rows and count are not needed: the store may send it with a later statement.
    // Its error then comes with that statement or with the commit.
    virtual void send(const Sql& statement, std::span<const Value> parameters);
    // A write that must touch a row. If it does not, the transaction is rolled back with StoreError
    // (fenced), now or at the commit.
    virtual void fence(const Sql& statement, std::span<const Value> parameters);
    // How long later statements of this transaction wait for a row that another transaction has
    // locked, before StoreError (locked); 0: until the deadline. No effect if writers are serial.
    virtual void set_lock_timeout(std::chrono::milliseconds) {}
    // Takes the lock of this number until the end of the transaction; errors call it by its name.
    // Waits for at most `patience`, then throws StoreError (busy), or (deadline) if that comes
    // first. No effect where writers are serial anyway.
    virtual void lock_name(std::string_view, std::int64_t, std::chrono::milliseconds) {}
    // The same without waiting: false if another transaction has it.
    virtual bool try_lock_name(std::int64_t) { return true; }
    // Several statements in one text, without parameters: a migration.
    virtual void run_script(const Sql& script) = 0;
    virtual void savepoint() = 0;     // Savepoints nest.
    virtual void roll_back_to() = 0;  // Rolls back and closes the innermost.
    virtual void release() = 0;       // Keeps and closes the innermost.
    // The database's current time, or the test's.
    virtual TimePoint now() = 0;

protected:
    ~Session() = default;
};

}  // namespace detail
}  // namespace pawl
