#define BOOST_TEST_MODULE sluice
#include <boost/test/included/unit_test.hpp>
