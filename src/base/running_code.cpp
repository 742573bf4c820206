#include "src/base/running_code.hpp"

#include <array>

namespace pawl::base {

RunningCode::Run::Run(RunningCode* code, const Label& label) : code_{code}, label_{label} {
    if (code_ == nullptr) return;
    thread_ = pthread_self();
    began_ = code_->clock_.steady();
    const std::lock_guard lock{code_->mutex_};
    number_ = ++code_->runs_;
    before_ = code_->last_;
    (before_ == nullptr ? code_->first_ : before_->after_) = this;
    code_->last_ = this;
}

RunningCode::Run::~Run() {
    if (code_ == nullptr) return;
    const std::lock_guard lock{code_->mutex_};
    (before_ == nullptr ? code_->first_ : before_->after_) = after_;
    (after_ == nullptr ? code_->last_ : after_->before_) = before_;
}

std::vector<RunningCode::Seen> RunningCode::list() {
    std::vector<Seen> seen;
    const auto now = clock_.steady();
    const std::lock_guard lock{mutex_};
    for (const Run* run = first_; run != nullptr; run = run->after_) {
        std::array<char, 16> thread{};
        pthread_getname_np(run->thread_, thread.data(), thread.size());  // It lives: it runs this.
        const auto& label = run->label_;
        seen.push_back(
            {.number = run->number_,
             .where = label.where,
             .name = std::string{label.name},
             .step = std::string{label.step},
             .jid = std::string{label.jid},
             .key_id = label.key_id,
             .thread = thread.data(),
             .ran = std::chrono::duration_cast<std::chrono::milliseconds>(now - run->began_),
             .limit = label.limit}
        );
    }
    return seen;
}

}  // namespace pawl::base
