// A folder of our own for the measured files, removed at the end.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

class scratch_folder {
public:
    /// Makes a folder inside `parent`, and in it a file of scratch_length bytes that is on the disk
    /// (overwriting it must not allocate blocks) and in the page cache.
    explicit scratch_folder(const std::filesystem::path& parent);
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder();

    std::filesystem::path filled_file() const { return folder_ / "filled"; }
    std::filesystem::path growing_file() const { return folder_ / "growing"; }

    /// "ext4", "tmpfs", …: the numbers mean little without it.
    std::string file_system() const;

private:
    std::filesystem::path folder_;
};

} // namespace bench
