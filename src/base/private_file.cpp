#include "src/base/private_file.hpp"

#include <sys/stat.h>

namespace pawl::base {

bool others_can_read(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
           (found.st_mode & S_IROTH) != 0;
}

}  // namespace pawl::base
