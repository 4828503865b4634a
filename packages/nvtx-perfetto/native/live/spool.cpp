// SPDX-License-Identifier: Apache-2.0
#include "live/spool.h"

#include <unistd.h>

namespace nvtx_perfetto::live {

void Spool::add(const Origin& origin, const RecordView* record) {
  Head head{origin.serial, origin.tid, record ? static_cast<uint32_t>(record->size) : 0};
  pending_.append_value(head);
  if (record) pending_.append(record->head, record->size);
}

bool Spool::open() {
  if (open_) return true;
  problem_ = file_.open(path_);
  open_ = problem_.empty() && file_.cut(size_);
  return open_;
}

bool Spool::flush() {
  if (pending_.empty()) return true;
  if (!open()) return false;
  if (!file_.append(pending_.data(), pending_.size())) {
    problem_ = file_.problem();
    return false;
  }
  problem_.clear();
  size_ += pending_.size();
  pending_.clear();
  return true;
}

bool Spool::cut(uint64_t size) {
  pending_.clear();
  if (size == size_ && !file_.failed()) return true;
  size_ = size;
  return !open_ || file_.cut(size);
}

bool Spool::map() {
  if (is_mapped_ || size_ == 0) return true;
  problem_ = mapped_.open(path_);
  is_mapped_ = problem_.empty() && mapped_.bytes().size() >= size_;
  if (problem_.empty() && !is_mapped_) problem_ = path_ + " is shorter than its live file says";
  return is_mapped_;
}

void Spool::remove() {
  if (open_ || size_ != 0) ::unlink(path_.c_str());
}

}  // namespace nvtx_perfetto::live
