#pragma once

// JSON for recovery points, requests and jobs: plain structs, no macro. json_types.hpp says which
// types.
//
//   struct RideId { std::int64_t value; };                                  // A strong type: 7
//   struct RideCreated { RideId ride; std::int64_t cents; std::optional<std::string> note; };
//
//   std::string text = encode(RideCreated{{7}, 2000});  // {"ride":7,"cents":2000}
//   std::variant<RideCreated, DecodeProblem> back = decode<RideCreated>(text);
//
// A request comes from several places at once; text from the path, the query or a form is read as
// its field's type asks:
//
//   RequestFields fields;
//   if (auto problem = fields.add_path("ride", "7")) return refuse(*problem);
//   if (auto problem = fields.add_query(head.query)) return refuse(*problem);
//   if (auto problem = fields.add_json(body)) return refuse(*problem);      // or add_form
//   std::variant<RideRequest, DecodeProblem> request = decode_request<RideRequest>(fields);
//
// Decoding is strict. Refused are: missing and unknown fields, a wrong kind, a value that its type
// cannot hold, duplicate names, more than 32 levels, bytes after the end, invalid UTF-8; in a
// request also U+0000 and a field from two places. Which numbers are one, and which are refused, is
// said in src/json/document.hpp. Trouble of the text is a value; only encode throws (EncodeError),
// for what a program must not put into a point.

#include <pawl/detail/json_problem.hpp>
#include <pawl/detail/json_read.hpp>
#include <pawl/detail/json_request.hpp>
#include <pawl/detail/json_types.hpp>
#include <pawl/detail/json_write.hpp>
