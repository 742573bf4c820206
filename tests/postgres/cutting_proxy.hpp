#pragma once

#include <memory>
#include <string>

namespace pawl::testing {

// A TCP proxy for PostgreSQL that cuts connections at their COMMIT. Thread-safe; joins its threads,
// and must outlive all connections through it.
class CuttingProxy {
public:
    enum class At {
        before_commit,  // The server never gets the COMMIT and rolls back.
        behind_commit   // The server has committed; its answer is lost.
    };
    // In front of the server that `url` names.
    explicit CuttingProxy(const std::string& url);
    ~CuttingProxy();
    CuttingProxy(const CuttingProxy&) = delete;
    CuttingProxy& operator=(const CuttingProxy&) = delete;

    const std::string& url() const;  // The same database, through the proxy and without TLS.
    // Cuts the connections of the next `commits` COMMITs; 0: none.
    void cut(int commits, At at);
    int cuts() const;  // Connections cut so far.

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pawl::testing
