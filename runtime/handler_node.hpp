// A function posted to a loop: one node, from memory that the next one of any thread uses again.
#pragma once

#include <sluice/completion/resume_queue.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace sluice {

/// Blocks of a few sizes, kept for the next handler of any thread; bounded. Larger ones come from
/// the heap.
void* take_handler_memory(std::size_t size);
void give_back_handler_memory(void* memory, std::size_t size) noexcept;

template <class Function>
struct handler_node : completion::ready_node {
    template <class F>
    static handler_node* make(F&& function) {
        void* memory = take_handler_memory(sizeof(handler_node));
        try {
            return new (memory) handler_node(std::forward<F>(function));
        } catch (...) {
            give_back_handler_memory(memory, sizeof(handler_node));
            throw;
        }
    }

private:
    template <class F>
    explicit handler_node(F&& f) : function(std::forward<F>(f)) {
        run = &run_or_drop;
    }

    // The memory is free before the function runs: what it posts next takes it again.
    static void run_or_drop(completion::ready_node& self, bool invoke) {
        auto* node = static_cast<handler_node*>(&self);
        Function function(std::move(node->function));
        node->~handler_node();
        give_back_handler_memory(node, sizeof(handler_node));
        if (invoke)
            std::move(function)();
    }

    Function function;
};

} // namespace sluice
