#include "src/page/acts.hpp"

#include "src/page/key_acts.hpp"
#include "src/page/reveal.hpp"
#include "src/page/work_acts.hpp"

#include <array>

namespace pawl::page {

std::span<const Act> acts() {
    static constexpr std::array all{
        Act{"/keys/{id}/retry", Role::operating, &retry_key},
        Act{"/keys/{id}/hold", Role::operating, &hold_key},
        Act{"/keys/{id}/release", Role::operating, &release_key},
        Act{"/keys/{id}/reveal", Role::operating, &reveal_key},
        Act{"/attention/{id}/reveal", Role::operating, &reveal_entry},
        Act{"/attention/{id}/settle", Role::operating, &settle},
        Act{"/attention/{id}/undo", Role::operating, &undo},
        Act{"/queues/{id}/pause", Role::operating, &pause_queue},
        Act{"/queues/{id}/resume", Role::operating, &resume_queue},
        Act{"/jobs/{id}/retry", Role::operating, &retry_job},
        Act{"/jobs/{id}/cancel", Role::operating, &cancel_job},
        Act{"/jobs/{id}/reveal", Role::operating, &reveal_job},
        Act{"/dead/{id}/reveal", Role::operating, &reveal_dead_letter},
        Act{"/dead/merge", Role::operating, &merge_dead},
        Act{"/dead/purge", Role::admin, &purge_dead}};
    return all;
}

}  // namespace pawl::page
