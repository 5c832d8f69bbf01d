// Where the copy goes: a new file beside the destination, which takes its name in the end, or the
// destination itself when that is no regular file.
#pragma once

#include <sluice/platform/error.hpp>
#include <sluice/strategies/open_options.hpp>

#include <filesystem>

namespace copy_file {

class target {
public:
    /// Looks at the destination and refuses what can be refused before anything is written: the
    /// source itself, a directory, a file that must not be written. Throws file_error.
    target(const std::filesystem::path& destination, int source_descriptor);
    target(const target&) = delete;
    target& operator=(const target&) = delete;
    /// Removes the new file unless commit() has given it the name.
    ~target();

    /// What to open to write to.
    const std::filesystem::path& path() const noexcept { return path_; }
    sluice::open_options options() const noexcept { return options_; }
    /// The new file was made, and is ours to remove.
    void opened() noexcept;
    bool is_regular() const noexcept { return is_regular_; }
    /// Gives the new file the destination's name. Throws file_error.
    void commit();
    /// Removes the new file of a process that ends here and now. Any thread.
    static void remove_leftover() noexcept;

private:
    std::filesystem::path destination_; // symbolic links followed
    std::filesystem::path path_;
    sluice::open_options options_;
    bool is_regular_ = true;
};

} // namespace copy_file
