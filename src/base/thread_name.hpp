#pragma once

#include <pthread.h>

namespace pawl::base {

// The thread's name in `top -H` and debuggers; at most 15 characters.
inline void name_this_thread(const char* name) {
    pthread_setname_np(pthread_self(), name);
}

}  // namespace pawl::base
