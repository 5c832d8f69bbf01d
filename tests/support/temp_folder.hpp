// A folder that exists as long as the object does, and short ways to make and look at files in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <stdlib.h>

namespace sluice::test {

class temp_folder {
public:
    /// Under /tmp, or under `parent`: /dev/shm for a file system in memory.
    explicit temp_folder(const std::string& parent = std::filesystem::temp_directory_path()) {
        std::string name = parent + "/sluice-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("no temporary folder under " + parent);
        path_ = name;
    }
    temp_folder(const temp_folder&) = delete;
    temp_folder& operator=(const temp_folder&) = delete;
    ~temp_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const noexcept { return path_; }
    std::string operator/(std::string_view name) const { return (path_ / name).string(); }

    /// Makes a file with this content; its path.
    std::string make(std::string_view name, std::string_view content = "") const {
        const std::string file = *this / name;
        std::ofstream(file, std::ios::binary) << content;
        return file;
    }

    static std::string content_of(const std::string& file) {
        std::ostringstream content;
        content << std::ifstream(file, std::ios::binary).rdbuf();
        return std::move(content).str();
    }

private:
    std::filesystem::path path_;
};

/// A folder, and the file in it that a test is about.
struct temp_file {
    const temp_folder folder;
    const std::string path = folder / "file";
    std::string content() const { return temp_folder::content_of(path); }
};

} // namespace sluice::test
