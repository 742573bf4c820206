#include "apps/standins/provider_ledger.hpp"

#include <pawl/log.hpp>

#include "src/base/private_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rides {

Ledger::Ledger(const std::string& path, Sync sync) : sync_{sync} {
    std::ifstream in{path, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{in}, {}};
    std::size_t from = 0;
    for (auto to = whole.find('\n'); to != whole.npos; to = whole.find('\n', from)) {
        lines_.push_back(whole.substr(from, to - from));
        from = to + 1;
    }
    file_ =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, pawl::base::private_mode);
    pawl::log::warn_if_others_can_read("ledger or mails of the stand-in", path);
    if (file_ < 0)
        throw std::runtime_error{"the file " + path + " can't be written: " + std::strerror(errno)};
    if (from < whole.size() && ::ftruncate(file_, static_cast<off_t>(from)) != 0)
        throw std::runtime_error{"the torn last line of " + path + " can't be removed"};
    thread_ = std::thread{[this] { loop(); }};
}

Ledger::~Ledger() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
    ::close(file_);
}

void Ledger::append(std::string line, std::function<void()> written) {
    if (sync_ == Sync::no) {  // Fast without a sync: no other thread is needed.
        put(line.append("\n"));
        return written();
    }
    const std::lock_guard lock{mutex_};
    waiting_.push_back({std::move(line), std::move(written)});
    if (waiting_.size() == 1) changed_.notify_one();
}

// If the ledger can't be written, the stand-in stops: it answers only what the ledger has.
void Ledger::put(const std::string& text) {
    const auto size = static_cast<ssize_t>(text.size());
    const bool written = ::write(file_, text.data(), text.size()) == size;
    if (!written || (sync_ == Sync::yes && ::fdatasync(file_) != 0)) ::_exit(4);
}

void Ledger::loop() {
    std::vector<Entry> batch;
    while (true) {
        {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
            batch.swap(waiting_);
        }
        if (batch.empty()) return;
        std::string text;
        for (const auto& entry : batch) text.append(entry.line).append("\n");
        put(text);
        for (auto& entry : batch) entry.written();
        batch.clear();
    }
}

}  // namespace rides
