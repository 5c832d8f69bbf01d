// The open file of the platform that is built for. The one place that will choose when there is a
// second.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>
