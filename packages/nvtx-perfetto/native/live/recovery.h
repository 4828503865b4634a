// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nvtx_perfetto::live {

constexpr char kPartSuffix[] = ".part";
constexpr char kLiveSuffix[] = ".live";
constexpr char kSpoolSuffix[] = ".deferred";

enum class Recovered {
  kDrained,  // the part is whole now, and the live file gone
  kAlive,    // its process lives
  kForeign,  // it belongs to another host
  kFailed,   // it cannot be read, or the part cannot be written
};

// Drains what a dead process left in the live file into the part beside it.
Recovered recover(const std::string& live_path, std::string& problem);

// Recovers all that dead processes left that were told the same output.
void recover_beside(const std::string& output);

}  // namespace nvtx_perfetto::live
