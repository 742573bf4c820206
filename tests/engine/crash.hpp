#pragma once

#include "src/core/fault.hpp"
#include "tests/engine/shop.hpp"
#include "tests/engine/world.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a kill -9 leaves: for each fault point that a run reaches, the database file as the
// operating system has it and the provider's bookings. A world opened on such an image is the next
// start.
namespace pawl::testing {

struct Image {
    std::string point;  // Where the process died, with the number of hits: "engine.keep.before 1".
    std::filesystem::path file;
    std::map<std::string, std::string> charges;
    std::vector<std::string> keys;
    TimePoint now;
};

// Takes an image at each fault point while it exists. For one request at a time: then only the
// store's writer thread changes the database, and it is the one at the fault point.
class Camera {
public:
    Camera(World& world, const Provider& provider, std::filesystem::path folder)
        : world_{world}, provider_{provider}, folder_{std::move(folder)} {
        core::on_fault_point([this](std::string_view point) { take(point); });
    }
    ~Camera() { core::on_fault_point(nullptr); }
    Camera(const Camera&) = delete;
    Camera& operator=(const Camera&) = delete;

    // Takes no more images; returns those taken.
    std::vector<Image> images() {
        core::on_fault_point(nullptr);
        const std::lock_guard lock{mutex_};
        return images_;
    }

private:
    void take(std::string_view point) {
        const std::lock_guard lock{mutex_};
        const auto hit = ++hits_[std::string{point}];
        Image image;
        image.point = std::string{point} + " " + std::to_string(hit);
        image.file = folder_ / std::to_string(images_.size()) / "pawl.db";
        std::filesystem::create_directories(image.file.parent_path());
        // Without -shm, which SQLite rebuilds from these two.
        for (const std::string suffix : {"", "-wal"}) {
            const auto from = world_.file.string() + suffix;
            if (std::filesystem::exists(from))
                std::filesystem::copy_file(from, image.file.string() + suffix);
        }
        image.charges = provider_.charges;
        image.keys = provider_.keys;
        image.now = world_.clock.now();
        images_.push_back(std::move(image));
    }

    World& world_;
    const Provider& provider_;
    std::filesystem::path folder_;
    std::mutex mutex_;
    std::map<std::string, int> hits_;
    std::vector<Image> images_;
};

}  // namespace pawl::testing
