// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

namespace check {
namespace {

struct Registered {
  const char* name;
  std::function<void()> body;
};

std::vector<Registered>& tests() {
  static std::vector<Registered> all;
  return all;
}

std::mutex mutex;
bool good = true;
std::string made_folder;

void remove_folder() {
  std::error_code ignored;
  if (!made_folder.empty()) std::filesystem::remove_all(made_folder, ignored);
  made_folder.clear();
}

bool run(const Registered& test) {
  good = true;
  try {
    test.body();
  } catch (const std::exception& error) {
    failed(test.name, 0, std::string("it threw ") + error.what());
  } catch (...) {
    failed(test.name, 0, "it threw something");
  }
  remove_folder();
  if (!good) std::printf("FAILED %s\n", test.name);
  return good;
}

}  // namespace

Test::Test(const char* name, std::function<void()> body) {
  tests().push_back({name, std::move(body)});
}

void failed(const char* file, int line, const std::string& what) {
  std::lock_guard<std::mutex> lock(mutex);
  good = false;
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

std::string folder() {
  if (made_folder.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "native-tests-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    made_folder = name;
  }
  return made_folder;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace check

int main(int count, char** arguments) {
  std::string wanted = count > 1 ? arguments[1] : "";
  int passed = 0;
  int broken = 0;
  for (const auto& test : check::tests()) {
    if (std::string(test.name).find(wanted) == std::string::npos) continue;
    ++(check::run(test) ? passed : broken);
  }
  std::printf("%d passed, %d failed\n", passed, broken);
  return broken == 0 && passed > 0 ? 0 : 1;
}
