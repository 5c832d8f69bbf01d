#include "scratch_folder.hpp"
#include "file_work.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::filesystem::path make_folder(const std::filesystem::path& parent) {
    std::string name = (parent / "sluice_benchmarks.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        fail("cannot make a folder in " + parent.string());
    return name;
}

void write_filled_file(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        fail("cannot open " + path.string());
    const std::vector<char> text(scratch_length, 's');
    const bool written = write(file, text.data(), text.size())
                             == static_cast<ssize_t>(text.size())
                         && fsync(file) == 0;
    const int error = errno;
    close(file);
    if (!written) {
        errno = error;
        fail("cannot write " + path.string());
    }
}

} // namespace

scratch_folder::scratch_folder(const std::filesystem::path& parent) : folder_(make_folder(parent)) {
    write_filled_file(filled_file());
}

scratch_folder::~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

// statfs gives ext2, ext3 and ext4 one number; the mount table has the name.
std::string scratch_folder::file_system() const {
    struct stat status {};
    if (stat(folder_.c_str(), &status) != 0)
        fail("cannot look at " + folder_.string());
    const std::string device =
        std::to_string(major(status.st_dev)) + ':' + std::to_string(minor(status.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream fields(line);
        std::string mount, parent, number, word;
        fields >> mount >> parent >> number;
        if (number != device)
            continue;
        while (fields >> word && word != "-") {
        }
        if (fields >> word)
            return word;
    }
    return "unknown";
}

} // namespace bench
