#pragma once

#include <prometheus/family.h>

#include <cstddef>
#include <initializer_list>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pawl::operate {

// The label of a provider. A target has our account there, too, which is no label.
inline std::string_view provider_label(std::string_view target) {
    return target.substr(0, target.find(' '));
}

// The series of one metric by the values of its labels. A hit costs one lookup under a shared lock;
// prometheus::Family hashes a map of the labels for each. Thread-safe.
template <class Metric>
class Labelled {
public:
    // Of one metric. The rest are counted under one series whose labels are all "other".
    static constexpr std::size_t series_max = 1'000;

    using Make = Metric& (*)(prometheus::Family<Metric>&, const prometheus::Labels&);

    Labelled(prometheus::Family<Metric>& family, std::vector<std::string> names, Make make)
        : family_{family}, names_{std::move(names)}, make_{make} {}

    Metric& at(std::initializer_list<std::string_view> values) {
        std::string key;
        for (const auto value : values) key.append(value).push_back('\0');
        {
            const std::shared_lock lock{mutex_};
            if (const auto found = series_.find(key); found != series_.end()) return *found->second;
        }
        const std::unique_lock lock{mutex_};
        const bool room = series_.size() < series_max;
        prometheus::Labels labels;
        auto value = values.begin();
        for (const auto& name : names_) labels.emplace(name, room ? *value++ : "other");
        auto& made = make_(family_, labels);
        if (room) series_.emplace(std::move(key), &made);
        return made;
    }

private:
    prometheus::Family<Metric>& family_;  // Of a registry that outlives this.
    const std::vector<std::string> names_;
    const Make make_;
    std::shared_mutex mutex_;
    std::unordered_map<std::string, Metric*> series_;
};

}  // namespace pawl::operate
