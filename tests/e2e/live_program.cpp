// SPDX-License-Identifier: Apache-2.0
// A C++ program that uses the C++ header alone.
#include <nvtx3/nvtx3.hpp>

#include <thread>

struct library_domain {
  static constexpr char const* name{"library"};
};
struct hot_category {
  static constexpr char const* name{"hot"};
  static constexpr uint32_t id{42};
};

void step(int number) {
  nvtx3::scoped_range_in<library_domain> range{
      "step", nvtx3::named_category_in<library_domain>::get<hot_category>(), nvtx3::rgb{1, 2, 3},
      nvtx3::payload{number}};
  nvtx3::mark_in<library_domain>("inside");
}

int main() {
  NVTX3_FUNC_RANGE();
  std::thread first(step, 1);
  first.join();
  step(2);
  nvtx3::unique_range everywhere{"unique"};
  std::thread([range = std::move(everywhere)] {}).join();
}
