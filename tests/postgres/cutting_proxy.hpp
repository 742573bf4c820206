#pragma once

#include <memory>
#include <string>

namespace pawl::testing {

// A TCP proxy before PostgreSQL that cuts a connection at its COMMIT. Thread-safe; ends its threads
// with itself, and must outlive whoever is connected through it.
class CuttingProxy {
public:
    enum class At {
        before_commit,  // The server never gets the COMMIT and rolls back.
        behind_commit   // The server has committed; its answer does not arrive.
    };
    // Before the server that `url` names.
    explicit CuttingProxy(const std::string& url);
    ~CuttingProxy();
    CuttingProxy(const CuttingProxy&) = delete;
    CuttingProxy& operator=(const CuttingProxy&) = delete;

    const std::string& url() const;  // The same database, through the proxy and without TLS.
    // The connections of the next `commits` COMMITs are cut; 0: none any more.
    void cut(int commits, At at);
    int cuts() const;  // Connections cut since it began.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::testing
