// Runs a fuzzer's claims once for each stored input, without libFuzzer:
//
//   build/dev/bin/fuzz_request tests/fuzz/corpus/request     all files of a folder
//   build/dev/bin/fuzz_request build/fuzz-crashers/request-crash-0123

#include "tests/fuzz/fuzz.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(int argc, char** argv) {
    std::vector<fs::path> files;
    for (int i = 1; i < argc; ++i) {
        if (!fs::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto& entry : fs::directory_iterator{argv[i]}) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    const auto files = files_of(argc, argv);
    if (files.empty()) {
        std::fprintf(stderr, "%s: no inputs: give files, or folders of files\n", argv[0]);
        return 2;
    }
    for (const auto& path : files) {
        // After a failed assertion the last one printed is the culprit.
        std::printf("%s\n", path.c_str());
        std::fflush(stdout);
        std::ifstream file{path, std::ios::binary};
        if (!file) {
            std::fprintf(stderr, "%s: can't read %s\n", argv[0], path.c_str());
            return 2;
        }
        const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        const std::vector<std::uint8_t> input{bytes.begin(), bytes.end()};
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu inputs, all claims hold\n", files.size());
    return 0;
}
