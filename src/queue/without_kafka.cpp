#include "src/queue/kafka/open_kafka.hpp"

#include <stdexcept>

// For builds without Kafka: its URLs are refused.
namespace pawl::queue {

std::optional<std::string> problem_of_kafka(const QueueSetting&) {
    return "this build has no Kafka queue: build it with the CMake option PAWL_KAFKA=ON, or use "
           "another queue";
}

OpenQueue
open_kafka(const QueueSetting& setting, store::Store&, base::Clock&, const base::OnWarning&) {
    throw std::invalid_argument{*problem_of_kafka(setting)};
}

}  // namespace pawl::queue
