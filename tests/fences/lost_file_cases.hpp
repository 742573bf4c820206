#pragma once

#include "payouts/statements.hpp"
#include "tests/fences/fence_case.hpp"
#include "tests/fences/rows.hpp"

#include <string>
#include <vector>

// The statements of Payouts about what a restored backup has lost.
namespace pawl::fences {

inline std::vector<Case> cases_of_lost_files() {
    namespace sql = payouts::sql;
    const std::string table{"payouts"};
    const std::string lost_table{"bank_lost_payouts"};
    const std::string files{"bank_files"};
    const auto epoch =
        "INSERT INTO pawl_epochs (epoch, opened_at, lost_since, keys_until, last_key_id, "
        "opened_by, detail) VALUES (2, '2027-01-01T00:00:00.500Z', '2027-01-01T00:00:00.500Z', "
        "'2027-01-01T00:00:00.500Z', 0, 'ann', 'x')"s;
    const auto opened_later = "UPDATE pawl_epochs SET opened_at = '2027-01-01T00:00:10.500Z'"s;
    const auto answered =
        "INSERT INTO bank_restores (epoch, answered_at) VALUES (1, '2027-01-01T00:00:00.500Z')"s;
    const auto lost =
        "INSERT INTO bank_lost_payouts (end_to_end_id, file_number, amount, creditor_account) "
        "VALUES ('end-5', 20, 500, 'DE1')"s;
    const auto collected = "UPDATE payouts SET state = 'collected' WHERE id = 10"s;
    const auto moved =
        "INSERT INTO bank_file_moves (payout_id, file_number, moved_at) VALUES (10, 20, "
        "'2027-01-01T00:00:00.500Z')"s;
    const auto unsent = "UPDATE bank_files SET sent_at = NULL"s;
    const auto no_file = "DELETE FROM bank_file_payouts"s;
    const auto is_lost = is("bank_lost_payouts.end_to_end_id", "end-5"s);
    const auto state = "state@id = 10"s;
    const auto not_collected = refuses(state, {"'in_file'", "'sent'", "'paid'"});
    const auto open_restore = refuses("bank_restores.epoch", {"2", "3"});
    const auto not_cancelled =
        refuses("bank_files.cancelled_at@number = 20", {literal("2027-01-01T00:00:00.500Z")});
    return {
        {&sql::add_lost_to_file,
         {},
         table,
         {not_collected,
          is_lost,
          is("bank_lost_payouts.amount", 500),
          refuses("amount@id = 10", {"499", "501"}),
          refuses("bank_lost_payouts.creditor_account", {"'DE0'", "'DE2'"}),
          not_cancelled},
         {no_file, collected, lost}},
        {&sql::answer_restores,
         {"2027-01-01T00:00:00.500Z"},
         "bank_restores",
         {open_restore},
         {epoch, answered}},
        {&sql::find_file_to_name,
         {20},
         files,
         {is("number", 20)},
         {no_file, "DELETE FROM bank_files WHERE number <> 20"}},
        {&sql::forget_moves, {20}, "bank_file_moves", {is("file_number", 20)}, {moved}},
        {&sql::find_open_restore, {}, "bank_restores", {open_restore}, {epoch, answered}},
        // A later file of the bank has the payout.
        {&sql::insert_lost_payout,
         {"end-5", 21, 500, "DE1"},
         lost_table,
         {refuses("file_number", {"21"}), passes("file_number", {"20"})},
         {lost, "UPDATE bank_lost_payouts SET file_number = 19"}},
        {&sql::list_overtaken_files,
         {},
         table,
         {is_lost,
          refuses("bank_lost_payouts.file_number", {"20"}),
          passes("bank_lost_payouts.file_number", {"19", "21"}),
          refuses("bank_file_payouts.payout_id", {"9", "11"}),
          refuses("bank_files.sent_at@number = 20", {literal("2027-01-01T00:00:00.500Z")}),
          refuses("bank_files.cancelled_at@number = 20", {literal("2027-01-01T00:00:00.500Z")})},
         {unsent, lost, "UPDATE bank_lost_payouts SET file_number = 21"}},
        {&sql::list_overtaken_files,
         {},
         files,
         {not_null("request_id@number = 20"),
          refuses("given_up_at@number = 20", {literal("2027-01-01T00:00:00.500Z")})},
         {unsent,
          lost,
          "UPDATE bank_lost_payouts SET file_number = 21",
          "UPDATE bank_files SET request_id = 7"},
         {},
         Case::Shown{1, 1}},
        {&sql::mark_lost_sent,
         {},
         table,
         {refuses(state, {"'in_file'", "'sent'", "'paid'"}),
          refuses("bank_file_payouts.payout_id", {"9", "11"}),
          is("bank_lost_payouts.file_number", 20)},
         {collected, lost}},
        {&sql::raise_next_file,
         {9},
         "next_bank_file",
         {below("number", 9)},
         {"UPDATE next_bank_file SET number = 8"}},
        {&sql::release_waiting,
         {"why"},
         table,
         {not_collected, refuses("set_aside@id = 10", {"'other'", "'z'", "NULL"})},
         {no_file, collected, "UPDATE payouts SET set_aside = 'why' WHERE id = 10"}},
        {&sql::list_unsent_of_backup,
         {},
         files,
         {refuses("sent_at", {literal("2027-01-01T00:00:00.500Z")}),
          refuses("given_up_at", {literal("2027-01-01T00:00:00.500Z")}),
          below("created_at", "2027-01-01T00:00:10.500Z"s)},
         {no_file, "DELETE FROM bank_files WHERE number <> 20", unsent, epoch, opened_later}},
        {&sql::list_unsent_of_backup,
         {},
         files,
         {not_null("request_id")},
         {no_file,
          "DELETE FROM bank_files WHERE number <> 20",
          unsent,
          epoch,
          opened_later,
          "UPDATE bank_files SET request_id = 7"},
         {},
         Case::Shown{1, 1}},
        {&sql::set_aside_moved,
         {"why", 20},
         table,
         {not_collected,
          refuses("set_aside@id = 10", {"'other'"}),
          is("bank_file_moves.file_number", 20),
          refuses("bank_file_moves.payout_id", {"9", "11"}),
          below("created_at@id = 10", "2027-01-01T00:00:10.500Z"s)},
         {no_file, collected, moved, epoch, opened_later}},
        {&sql::set_aside_waiting,
         {"why"},
         table,
         {not_collected,
          refuses("set_aside@id = 10", {"'other'"}),
          below("created_at@id = 10", "2027-01-01T00:00:10.500Z"s)},
         {no_file, collected, epoch, opened_later}},
        {&sql::set_aside_lost,
         {},
         table,
         {is_lost, refuses("bank_lost_payouts.amount", {"-1", "1"})},
         {no_file,
          collected,
          lost,
          "UPDATE bank_lost_payouts SET amount = 0",
          "UPDATE bank_files SET cancelled_at = '2027-01-01T00:00:00.500Z' WHERE number = 20"}},
        {&sql::set_aside_lost,
         {},
         table,
         {not_collected,
          refuses("set_aside@id = 10", {"'why'"}),
          is_lost,
          refuses("bank_lost_payouts.amount", {"500"}),
          passes("bank_lost_payouts.amount", {"501"}),
          not_cancelled},
         {no_file, collected, lost, "UPDATE bank_lost_payouts SET amount = 499"}},
        {&sql::set_aside_lost,
         {},
         table,
         {refuses("bank_lost_payouts.creditor_account", {"'DE1'"}),
          passes("bank_lost_payouts.creditor_account", {"'DE3'"})},
         {no_file, collected, lost, "UPDATE bank_lost_payouts SET creditor_account = 'DE0'"}},
    };
}

}  // namespace pawl::fences
