// A doubly linked first-in first-out list of objects that bring their own links. A ring through the
// list itself, so that joining and leaving it decide nothing: each is a few plain stores. Not
// thread-safe.
#pragma once

#include <cassert>

namespace sluice::platform {

/// Base of what can be in one list at a time. Without meaning while it is in none.
struct list_links {
    list_links* next = nullptr;
    list_links* previous = nullptr;
};

template <class T>
class intrusive_list {
public:
    intrusive_list() noexcept { clear(); }
    /// Takes all that is in the other one and leaves that empty.
    intrusive_list(intrusive_list&& other) noexcept : intrusive_list() { append(other); }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;

    bool empty() const noexcept { return ends_.next == &ends_; }
    /// Null when empty.
    T* front() const noexcept { return empty() ? nullptr : static_cast<T*>(ends_.next); }
    /// The one behind `item`; null: it is the last. Precondition: it is in this list.
    T* after(const T& item) const noexcept {
        list_links* const next = static_cast<const list_links&>(item).next;
        return next == &ends_ ? nullptr : static_cast<T*>(next);
    }

    /// Precondition: it is in no list.
    void push_back(T& item) noexcept {
        list_links& joining = item;
        list_links* const last = ends_.previous;
        joining.next = &ends_;
        joining.previous = last;
        last->next = &joining;
        ends_.previous = &joining;
    }
    /// Precondition: not empty.
    T& pop_front() noexcept {
        assert(!empty());
        T& item = static_cast<T&>(*ends_.next);
        erase(item);
        return item;
    }
    /// Precondition: it is in this list.
    void erase(T& item) noexcept {
        list_links& leaving = item;
        assert(leaving.previous->next == &leaving && leaving.next->previous == &leaving);
        leaving.previous->next = leaving.next;
        leaving.next->previous = leaving.previous;
    }
    /// Takes all that is in the other one and leaves that empty. Precondition: it is another one.
    void append(intrusive_list& other) noexcept {
        assert(&other != this);
        if (other.empty())
            return;
        ends_.previous->next = other.ends_.next;
        other.ends_.next->previous = ends_.previous;
        ends_.previous = other.ends_.previous;
        ends_.previous->next = &ends_;
        other.clear();
    }
    /// Forgets what is in it.
    void clear() noexcept { ends_.next = ends_.previous = &ends_; }

private:
    list_links ends_; // the first and the last, and what lies between them when there is nothing
};

} // namespace sluice::platform
