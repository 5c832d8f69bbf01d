// A new seed for each run, printed; SLUICE_TEST_SEED repeats one.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace sluice::test {

inline std::uint32_t new_seed() {
    const char* const given = std::getenv("SLUICE_TEST_SEED");
    const auto seed = given != nullptr ? static_cast<std::uint32_t>(std::stoul(given))
                                       : static_cast<std::uint32_t>(std::random_device{}());
    BOOST_TEST_MESSAGE("SLUICE_TEST_SEED=" << seed);
    return seed;
}

} // namespace sluice::test
