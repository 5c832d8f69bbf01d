// Both resume modes as a data set of Boost.Test, and how one is printed.
#pragma once

#include <sluice/completion/resume_mode.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <ostream>

namespace sluice {

inline std::ostream& operator<<(std::ostream& out, resume_mode mode) {
    return out << (mode == resume_mode::inline_ ? "inline" : "queued");
}

namespace test {
inline const auto both_modes =
    boost::unit_test::data::make({resume_mode::inline_, resume_mode::queued});
}

} // namespace sluice
