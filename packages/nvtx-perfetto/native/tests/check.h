// SPDX-License-Identifier: Apache-2.0
// Named checks, without a framework: a test registers itself, checks values, and `native-tests`
// runs all of them, or those whose name contains its first argument.
#pragma once

#include <cstddef>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>

namespace check {

struct Test {
  Test(const char* name, std::function<void()> body);
};

// Records a failure of the test that runs. Safe to call from any thread.
void failed(const char* file, int line, const std::string& what);

template <typename T>
std::string show(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else {
    std::ostringstream out;
    out.precision(17);
    out << value;
    return out.str();
  }
}

template <typename A, typename B>
void equal(const char* file, int line, const char* text, const A& found, const B& expected) {
  if (found == expected) return;
  failed(file, line, std::string(text) + " was " + show(found) + ", expected " + show(expected));
}

// A folder of its own for the test that runs, removed when it ends.
std::string folder();

// All bytes of a file; none where there is no such file.
std::string content(const std::string& path);

}  // namespace check

#define CHECK_TEST_(name, line)                                    \
  static void test_##line();                                       \
  static const ::check::Test registered_##line{name, test_##line}; \
  static void test_##line()
#define CHECK_TEST_AT_(name, line) CHECK_TEST_(name, line)
#define TEST(name) CHECK_TEST_AT_(name, __LINE__)
#define CHECK(condition) \
  (static_cast<bool>(condition) ? void() : ::check::failed(__FILE__, __LINE__, #condition))
#define CHECK_EQ(found, expected) ::check::equal(__FILE__, __LINE__, #found, (found), (expected))
