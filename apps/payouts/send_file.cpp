#include "apps/payouts/send_file.hpp"

#include <pawl/log.hpp>

#include "apps/payouts/after_restore.hpp"
#include "payouts/statements.hpp"

#include <optional>
#include <utility>

namespace payouts {

namespace {

struct FileRow {
    std::int64_t number{};
    std::string name;
    std::string sha256;
};

struct Result {
    std::int64_t number{};
    std::string what;
};

struct BytesRow {
    std::vector<std::byte> bytes;
    std::optional<std::string> sent_at;
    std::optional<std::string> given_up_at;
    std::optional<std::string> cancelled_at;
};

// A file in whose place another one goes.
struct WithdrawnRow {
    std::string name;
    std::vector<std::byte> bytes;
};

// An earlier upload may be complete although its connection was lost; another try finds it.
bool may_have_been_sent(pawl::SftpError::Kind kind) {
    return kind == pawl::SftpError::Kind::lost || kind == pawl::SftpError::Kind::stopped;
}

}  // namespace

void stage_next_file(pawl::Tx& tx) {
    if (restore_is_open(tx, "the next file")) return;
    const auto number = pawl::query_maybe<std::int64_t>(tx, sql::find_first_unsent);
    if (number) tx.stage(SendFile{*number}, {.unique = std::to_string(*number)});
}

SendFileWorker::SendFileWorker(
    pawl::Database& database, const pawl::Sftp& sftp, std::string inbox, std::string archive
)
    : database_{database}, sftp_{sftp}, inbox_{std::move(inbox)}, archive_{std::move(archive)} {}

pawl::Next<SendFileWorker::FileFrozen> SendFileWorker::choose(pawl::Tx& tx, const Started& at) {
    const auto number = at.request.number;
    if (restore_is_open(tx, "a file's request"))
        return pawl::answer(200, Result{number, "waits for the answer after a restore"});
    if (pawl::query_maybe<std::int64_t>(tx, sql::find_first_unsent) != number)
        return pawl::answer(200, Result{number, "not the next file to send"});
    auto file = pawl::query_maybe<FileRow>(tx, sql::claim_file, number, at.key_id);
    if (!file) return pawl::answer(200, Result{number, "another request sends it"});
    return FileFrozen{number, std::move(file->name), std::move(file->sha256)};
}

pawl::Outcome<SendFileWorker::Delivered> SendFileWorker::deliver(
    pawl::Call& call, const FileFrozen& at
) {
    BytesRow row;
    bool restored = false;
    pawl::SftpUpload file{.folder = inbox_, .name = at.file_name, .bytes = {}, .archive = archive_};
    // On the call's thread, without a transaction. The bytes are too large for a recovery point.
    database_.read([&](pawl::Snapshot& read) {
        restored = pawl::query_maybe<std::int64_t>(read, sql::find_open_restore).has_value();
        row = pawl::query_one<BytesRow>(read, sql::find_file_bytes, at.number);
        for (auto& one : pawl::query<WithdrawnRow>(read, sql::list_withdrawn, at.number))
            file.withdrawn.push_back({std::move(one.name), text_of(one.bytes)});
    });
    // Of a release before this one, two requests may send one file. A cancelled one has sent_at,
    // too.
    if (row.cancelled_at || row.given_up_at)
        return pawl::Stuck{
            at.file_name +
            " was given up or cancelled meanwhile, and is not sent: settle this as give-up"};
    if (restored) return pawl::Retry{"this database was restored: `payouts files after-restore`"};
    if (row.sent_at) return Delivered{.earlier = true};
    const auto bytes = text_of(row.bytes);
    file.bytes = bytes;
    if (pawl::bank::sha256(bytes) != at.sha256)
        return pawl::Stuck{"the stored bytes of " + at.file_name + " do not have their hash"};
    try {
        const auto ended = sftp_.upload(call, file);
        if (ended == pawl::Uploaded::withdrawn_is_there)
            return pawl::Stuck{
                "the bank has a file that was given up and cancelled, with payouts that " +
                at.file_name + " has, too: `payouts files` names it"};
        if (ended == pawl::Uploaded::name_taken)
            return pawl::Stuck{
                "the bank has another file named " + at.file_name +
                ": was this database restored from a backup?"};
        return Delivered{ended == pawl::Uploaded::earlier};
    } catch (const pawl::SftpError& error) {
        pawl::log::limited_warning(
            "file_not_sent", {}, {{"file", at.file_name}, {"why", error.what()}}, 20
        );
        if (may_have_been_sent(error.kind())) return pawl::InDoubt{error.what()};
        return pawl::Retry{error.what()};
    }
}

pawl::Finish SendFileWorker::keep_sent(
    pawl::Tx& tx, const FileFrozen& at, const Delivered& delivered
) {
    if (pawl::execute(tx, sql::keep_sent, at.number, tx.now()) == 1)
        pawl::send(tx, sql::mark_sent, at.number);
    stage_next_file(tx);
    return pawl::answer(
        200, Result{at.number, delivered.earlier ? "was sent by an earlier try" : "sent"}
    );
}

pawl::Finish SendFileWorker::abandon(pawl::Tx& tx, const FileFrozen& at, const pawl::Abandoned&) {
    pawl::send(tx, sql::give_up_file, at.number, tx.now());
    stage_next_file(tx);
    return pawl::answer(200, Result{at.number, "given up"});
}

}  // namespace payouts
