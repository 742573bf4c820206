#pragma once

#include <functional>
#include <string_view>

namespace pawl::bank {

// False: no further record is needed.
using OnNachaRecord = std::function<bool(std::string_view record)>;

// The records of a NACHA file as programs write them: lines end with \n, \r or both, or records
// follow each other without line ends; blanks at the end of a line are missing, or there are more;
// a byte order mark, ^Z at the end, blank lines and lines of a transmission ($$ADD) are no records.
// A line of UTF-8 that is too long gets a ? for each character that is not ASCII. A line that can't
// be brought to 94 characters is passed on as it is.
void read_nacha_records(std::string_view bytes, const OnNachaRecord& on_record);

}  // namespace pawl::bank
