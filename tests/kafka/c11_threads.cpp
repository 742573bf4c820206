// For ThreadSanitizer only: librdkafka uses threads and locks by C11's names, which the sanitizer
// does not know, so that the first thread ends the program. These definitions map them to pthreads,
// as glibc does; a program's own definitions come before the library's.

#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
    thrd_start_t run;
    void* argument;
};

void* begin(void* raw) {
    const std::unique_ptr<Start> start{static_cast<Start*>(raw)};
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->run(start->argument)));
}

int result_of(int error) {
    if (error == 0) return thrd_success;
    return error == EBUSY ? thrd_busy : error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

pthread_mutex_t* of(mtx_t* mutex) {
    return reinterpret_cast<pthread_mutex_t*>(mutex);
}

pthread_cond_t* of(cnd_t* condition) {
    return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

// librdkafka counts references by atomics that the sanitizer does not see.
const char* __tsan_default_suppressions() {
    return "called_from_lib:librdkafka\nrace:librdkafka\n";
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
    auto start = std::make_unique<Start>(Start{run, argument});
    const int error = pthread_create(thread, nullptr, begin, start.get());
    if (error == 0) (void)start.release();
    return result_of(error);
}

int thrd_join(thrd_t thread, int* result) {
    void* raw = nullptr;
    const int error = pthread_join(thread, &raw);
    if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(raw));
    return result_of(error);
}

int thrd_detach(thrd_t thread) {
    return result_of(pthread_detach(thread));
}

int mtx_init(mtx_t* mutex, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if ((type & mtx_recursive) != 0)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    const int error = pthread_mutex_init(of(mutex), &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result_of(error);
}

int mtx_lock(mtx_t* mutex) {
    return result_of(pthread_mutex_lock(of(mutex)));
}

int mtx_trylock(mtx_t* mutex) {
    return result_of(pthread_mutex_trylock(of(mutex)));
}

int mtx_unlock(mtx_t* mutex) {
    return result_of(pthread_mutex_unlock(of(mutex)));
}

void mtx_destroy(mtx_t* mutex) {
    pthread_mutex_destroy(of(mutex));
}

int cnd_init(cnd_t* condition) {
    return result_of(pthread_cond_init(of(condition), nullptr));
}

int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return result_of(pthread_cond_wait(of(condition), of(mutex)));
}

int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
    return result_of(pthread_cond_timedwait(of(condition), of(mutex), until));
}

int cnd_signal(cnd_t* condition) {
    return result_of(pthread_cond_signal(of(condition)));
}

int cnd_broadcast(cnd_t* condition) {
    return result_of(pthread_cond_broadcast(of(condition)));
}

void cnd_destroy(cnd_t* condition) {
    pthread_cond_destroy(of(condition));
}

}  // extern "C"
