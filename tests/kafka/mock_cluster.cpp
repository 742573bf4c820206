// Three brokers of librdkafka's mock cluster, in a process of their own, separate from the client
// under test. Prints its bootstrap servers, then answers each command on its standard input by a
// line; ends with the input.
//
//   topic NAME PARTITIONS     makes a topic; others come with 4 partitions when they are asked for
//   down BROKER | up BROKER   1 to 3: it cuts its connections and takes none
//   error API CODE COUNT      the next COUNT requests of this kind (0: produce) fail with CODE
//   clear API                 no more of these
//   rtt BROKER MS             each of its answers takes this long

#include <librdkafka/rdkafka.h>
// This header needs the include above.
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int brokers = 3;

rd_kafka_resp_err_t carry_out(rd_kafka_mock_cluster_t* cluster, const std::string& line) {
    std::istringstream words{line};
    std::string verb;
    std::string name;
    int number = 0;
    int second = 0;
    words >> verb;
    if (verb == "topic" && words >> name >> number)
        return rd_kafka_mock_topic_create(cluster, name.c_str(), number, 1);
    if (verb == "down" && words >> number) return rd_kafka_mock_broker_set_down(cluster, number);
    if (verb == "up" && words >> number) return rd_kafka_mock_broker_set_up(cluster, number);
    if (verb == "rtt" && words >> number >> second)
        return rd_kafka_mock_broker_set_rtt(cluster, number, second);
    if (verb == "clear" && words >> number) {
        rd_kafka_mock_clear_request_errors(cluster, static_cast<std::int16_t>(number));
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    int count = 0;
    if (verb == "error" && words >> number >> second >> count) {
        const std::vector<rd_kafka_resp_err_t> errors(
            static_cast<std::size_t>(count), static_cast<rd_kafka_resp_err_t>(second)
        );
        rd_kafka_mock_push_request_errors_array(
            cluster, static_cast<std::int16_t>(number), errors.size(), errors.data()
        );
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    return RD_KAFKA_RESP_ERR__INVALID_ARG;
}

}  // namespace

int main() {
    std::array<char, 512> why{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, nullptr);
    rd_kafka_t* handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
    rd_kafka_mock_cluster_t* cluster =
        handle == nullptr ? nullptr : rd_kafka_mock_cluster_new(handle, brokers);
    if (cluster == nullptr) {
        std::fprintf(stderr, "mock_cluster: %s\n", why.data());
        return 1;
    }
    std::printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        std::printf("%s\n", rd_kafka_err2name(carry_out(cluster, line)));
        std::fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(handle);
    return 0;
}
