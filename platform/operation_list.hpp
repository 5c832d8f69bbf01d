// Operations in a row: waiting, in the kernel, finished.
#pragma once

#include <sluice/platform/intrusive_list.hpp>
#include <sluice/platform/operation.hpp>

namespace sluice::platform {

using operation_list = intrusive_list<operation>;

} // namespace sluice::platform
