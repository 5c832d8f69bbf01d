#include "contenders.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {

std::unique_ptr<contender> make_named(const std::vector<file_contender>& known,
                                      const std::string& name, const file_work& work) {
    const auto found = std::ranges::find(known, name, &file_contender::name);
    if (found == known.end())
        throw std::runtime_error(name + " was not found when this program was configured");
    return found->make(work);
}

} // namespace bench
