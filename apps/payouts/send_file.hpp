#pragma once

#include <pawl/database.hpp>
#include <pawl/job.hpp>
#include <pawl/sftp.hpp>

#include "apps/payouts/payouts.hpp"

#include <string>
#include <string_view>

namespace payouts {

// The file with this number. The first request that begins is the only one that sends it: a job
// that was cancelled is not unique any more, and its request may go on.
struct SendFile {
    static constexpr std::string_view kind = "send_file";
    static constexpr pawl::JobSettings settings{.queue = "bank"};
    std::int64_t number{};
};

// Stages the first file that is not sent or given up, unless its job waits already: files go out in
// the order of their numbers.
void stage_next_file(pawl::Tx& tx);

// Sends one frozen file. Its call is Repeat::safe, because Sftp::upload() queries first, sends the
// frozen bytes under the frozen name, and never overwrites.
class SendFileWorker {
public:
    static constexpr std::string_view name = "send_file";
    // Both outlive it.
    SendFileWorker(
        pawl::Database& database, const pawl::Sftp& sftp, std::string inbox, std::string archive
    );

    using Started = pawl::Started<SendFile>;
    struct FileFrozen {
        static constexpr std::string_view name = "file_frozen";
        std::int64_t number{};
        std::string file_name;
        std::string sha256;
    };
    struct Delivered {
        bool earlier{};  // An earlier try had put it there.
    };

    pawl::Next<FileFrozen> choose(pawl::Tx& tx, const Started& at);
    pawl::Outcome<Delivered> deliver(pawl::Call& call, const FileFrozen& at);
    pawl::Finish keep_sent(pawl::Tx& tx, const FileFrozen& at, const Delivered& delivered);
    // The file is not sent any more. Its payouts wait for a report or for `payouts files cancel`.
    pawl::Finish abandon(pawl::Tx& tx, const FileFrozen& at, const pawl::Abandoned& why);
    std::string call_target(const FileFrozen&) const { return sftp_.target(); }

    using Flow = pawl::Steps<
        pawl::Atomic<&SendFileWorker::choose>,  // started     -> file_frozen, finished
        pawl::Foreign<
            pawl::Repeat::safe,
            &SendFileWorker::deliver,      // file_frozen
            &SendFileWorker::keep_sent>>;  //             -> finished

private:
    pawl::Database& database_;
    const pawl::Sftp& sftp_;
    std::string inbox_;
    std::string archive_;
};
static_assert(pawl::Operation<SendFileWorker>);

}  // namespace payouts
