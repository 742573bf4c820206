#pragma once

#include <pawl/database.hpp>

#include "src/store/store.hpp"

#include <memory>
#include <string>

namespace pawl::store {

// Opens the store that the URL names: sqlite:FILE, postgres://..., memory:. Throws
// std::invalid_argument for another URL, and for a file that a tool does not find; StoreError.
std::unique_ptr<Store> open_store(const std::string& url, Database::As as);

// FILE.mark beside a SQLite file, by the file's real path, as its lock; empty for other stores.
std::string mark_file_of(const std::string& url);

}  // namespace pawl::store
