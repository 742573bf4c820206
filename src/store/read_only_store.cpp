#include "src/store/read_only_store.hpp"

namespace pawl::store {

void ReadOnlyStore::write(std::unique_ptr<Work> work, Urgency) {
    work->done(std::make_exception_ptr(StoreError{
        StoreError::Kind::read_only,
        StoreError::Effect::none,
        "",
        "this command only reads the database, and the program tried to write to it"}));
}

}  // namespace pawl::store
