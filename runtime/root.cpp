#include <sluice/runtime/root.hpp>

#include <sluice/runtime/handler_node.hpp>

namespace sluice::runtime_detail {

void post_exception(completion::resume_queue& queue, std::exception_ptr exception) {
    auto rethrow = [exception = std::move(exception)] { std::rethrow_exception(exception); };
    queue.post(*handler_node<decltype(rethrow)>::make(std::move(rethrow)));
}

} // namespace sluice::runtime_detail
