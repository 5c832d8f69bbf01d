// Everything of sluice.
#pragma once

#include <sluice/completion/completion_pool.hpp>
#include <sluice/completion/completion_source.hpp>
#include <sluice/completion/value_task.hpp>
#include <sluice/platform/error.hpp>
#include <sluice/runtime/file_stream.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>
#include <sluice/runtime/when_all.hpp>
