#pragma once

namespace pawl {

// What a phase sees of other transactions' commits (docs/design.md part 4). On SQLite all phases
// are serial.
enum class Isolation {
    read_committed,   // Each statement sees what was committed before it.
    repeatable_read,  // One snapshot for the whole phase, and no lost update: the default.
    serializable  // For phases that decide on rows which other requests write, such as balances.
};

}  // namespace pawl
