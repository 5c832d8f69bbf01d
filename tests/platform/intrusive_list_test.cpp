// What is in a list, and in which order, after each way to join and to leave it.
#include <sluice/platform/intrusive_list.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using namespace sluice::platform;

struct element : list_links {
    int number = 0;
};
using list = intrusive_list<element>;

struct list_fixture {
    std::array<element, 6> elements;
    list some;
    list other;

    list_fixture() {
        for (int i = 0; i < static_cast<int>(elements.size()); ++i)
            elements[static_cast<std::size_t>(i)].number = i;
    }
    element& at(std::size_t index) { return elements[index]; }
    void fill(list& to, std::size_t from, std::size_t end) {
        for (; from < end; ++from)
            to.push_back(at(from));
    }
};

// Walks it, then takes it apart from the front. A list gone wrong may have no end.
void expect(list& of, const std::vector<int>& numbers) {
    BOOST_TEST(of.empty() == numbers.empty());
    std::vector<int> walked;
    for (const element* at = of.front(); at != nullptr && walked.size() <= numbers.size();
         at = of.after(*at))
        walked.push_back(at->number);
    BOOST_TEST(walked == numbers, boost::test_tools::per_element());
    std::vector<int> taken;
    while (!of.empty() && taken.size() <= numbers.size())
        taken.push_back(of.pop_front().number);
    BOOST_TEST(taken == numbers, boost::test_tools::per_element());
    BOOST_TEST(of.front() == nullptr);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(intrusive_list_test, list_fixture)

BOOST_AUTO_TEST_CASE(a_new_one_is_empty) {
    BOOST_TEST(some.empty());
    BOOST_TEST(some.front() == nullptr);
}

BOOST_AUTO_TEST_CASE(first_in_is_first_out) {
    fill(some, 0, 3);
    BOOST_TEST(some.front() == &at(0));
    BOOST_TEST(&some.pop_front() == &at(0));
    some.push_back(at(0));
    expect(some, {1, 2, 0});
}

BOOST_AUTO_TEST_CASE(after_the_last_is_nothing) {
    fill(some, 0, 2);
    BOOST_TEST(some.after(at(0)) == &at(1));
    BOOST_TEST(some.after(at(1)) == nullptr);
}

BOOST_AUTO_TEST_CASE(any_may_leave) {
    const std::array<std::vector<int>, 3> rest{{{1, 2}, {0, 2}, {0, 1}}};
    for (std::size_t leaving = 0; leaving < rest.size(); ++leaving) {
        fill(some, 0, 3);
        some.erase(at(leaving));
        expect(some, rest[leaving]);
    }
}

BOOST_AUTO_TEST_CASE(one_joins_behind_the_last_that_is_left) {
    fill(some, 0, 3);
    some.erase(at(2));
    some.push_back(at(3));
    expect(some, {0, 1, 3});
}

BOOST_AUTO_TEST_CASE(the_only_one_leaves_it_empty) {
    fill(some, 0, 1);
    some.erase(at(0));
    BOOST_TEST(some.empty());
    fill(some, 1, 3);
    expect(some, {1, 2});
}

BOOST_AUTO_TEST_CASE(what_is_appended_comes_behind_and_leaves_the_other_empty) {
    fill(some, 0, 2);
    fill(other, 2, 5);
    some.append(other);
    BOOST_TEST(other.empty());
    some.push_back(at(5));
    expect(some, {0, 1, 2, 3, 4, 5});
    fill(other, 0, 2);
    expect(other, {0, 1});
}

BOOST_AUTO_TEST_CASE(an_empty_one_takes_all) {
    fill(other, 0, 3);
    some.append(other);
    BOOST_TEST(other.empty());
    some.erase(at(0));
    some.push_back(at(3));
    expect(some, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(appending_an_empty_one_changes_nothing) {
    some.append(other);
    BOOST_TEST(some.empty());
    fill(some, 0, 2);
    some.append(other);
    BOOST_TEST(other.empty());
    some.push_back(at(2));
    expect(some, {0, 1, 2});
}

BOOST_AUTO_TEST_CASE(a_moved_from_list_is_empty_and_of_use) {
    fill(some, 0, 3);
    list moved(std::move(some));
    BOOST_TEST(some.empty());
    moved.erase(at(2));
    fill(some, 3, 5);
    expect(moved, {0, 1});
    expect(some, {3, 4});
}

BOOST_AUTO_TEST_CASE(an_empty_list_may_be_moved) {
    list moved(std::move(some));
    BOOST_TEST(some.empty());
    fill(moved, 0, 2);
    expect(moved, {0, 1});
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_may_join_again) {
    fill(some, 0, 3);
    some.clear();
    BOOST_TEST(some.empty());
    BOOST_TEST(some.front() == nullptr);
    some.push_back(at(1));
    other.push_back(at(0));
    expect(some, {1});
    expect(other, {0});
}

BOOST_AUTO_TEST_CASE(who_leaves_one_list_may_join_another) {
    fill(some, 0, 3);
    fill(other, 3, 5);
    some.erase(at(1));
    other.push_back(at(1));
    other.push_back(some.pop_front());
    expect(some, {2});
    expect(other, {3, 4, 1, 0});
}

BOOST_AUTO_TEST_SUITE_END()
