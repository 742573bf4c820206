#pragma once

#include <string>

namespace pawl::sqlite {

// One server owns a SQLite file: a lock on "<path>.lock" beside it, freed by the system when its
// process dies.
class OwnerLock {
public:
    explicit OwnerLock(const std::string& database
    );  // Throws StoreError, PAWL0002, if another holds it.
    ~OwnerLock();
    OwnerLock(const OwnerLock&) = delete;
    OwnerLock& operator=(const OwnerLock&) = delete;

private:
    int file_{-1};
};

}  // namespace pawl::sqlite
