#pragma once

#include <pthread.h>

namespace pawl::base {

// What `top -H` and a debugger call this thread; at most 15 characters.
inline void name_this_thread(const char* name) {
    pthread_setname_np(pthread_self(), name);
}

}  // namespace pawl::base
