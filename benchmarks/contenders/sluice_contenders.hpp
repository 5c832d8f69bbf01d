// What this program exists to measure.
#pragma once

#include "../harness/contender.hpp"
#include "../harness/file_work.hpp"

#include <cstdint>
#include <memory>

namespace bench {

/// co_await read_async or write_async on io_runtime, one operation at a time.
std::unique_ptr<contender> sluice_stream(const file_work& work);

/// `at_once` reads started together, none of which may finish before it went through the ring.
std::unique_ptr<contender> sluice_batch(const file_work& work);

enum class resumption : std::uint8_t { inline_, queued };

/// Rent a source, register a coroutine, complete, resume it, give the source back.
std::unique_ptr<contender> sluice_completion(resumption mode);

} // namespace bench
