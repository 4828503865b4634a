// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace nvtx_perfetto {

// A growable run of bytes that, unlike std::vector, does not clear what it grows by.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ByteBuffer(ByteBuffer&& other) noexcept
      : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    if (this != &other) {
      std::free(data_);
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.data_ = nullptr;
      other.size_ = other.capacity_ = 0;
    }
    return *this;
  }
  ~ByteBuffer() { std::free(data_); }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_), size_}; }

  void clear() { size_ = 0; }
  void truncate(size_t size) { size_ = size; }
  void release() {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  // Makes room for `more` bytes behind the end and returns the end.
  uint8_t* reserve(size_t more) {
    if (capacity_ - size_ < more) grow(more);
    return data_ + size_;
  }
  // Takes the first `used` bytes of what reserve() returned.
  void commit(size_t used) { size_ += used; }
  void commit_to(const uint8_t* end) { size_ = static_cast<size_t>(end - data_); }

  void append(const void* bytes, size_t count) {
    if (count == 0) return;
    std::memcpy(reserve(count), bytes, count);
    size_ += count;
  }
  void append_zeros(size_t count) {
    std::memset(reserve(count), 0, count);
    size_ += count;
  }
  template <typename T>
  void append_value(T value) {
    append(&value, sizeof(value));
  }

 private:
  static constexpr size_t kHuge = 8 << 20;

  void grow(size_t more) {
    size_t wanted = capacity_ < 256 ? 256 : capacity_ + capacity_ / 2;
    if (wanted < size_ + more) wanted = size_ + more;
    void* grown = std::realloc(data_, wanted);
    if (!grown) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(grown);
    capacity_ = wanted;
    if (wanted >= kHuge) prefer_huge_pages();
  }
  // Large buffers are filled once, front to back: fewer page faults are a third of their cost.
  void prefer_huge_pages() {
    constexpr uintptr_t kPage = 4096;
    uintptr_t begin = (reinterpret_cast<uintptr_t>(data_) + kPage - 1) & ~(kPage - 1);
    uintptr_t end = (reinterpret_cast<uintptr_t>(data_) + capacity_) & ~(kPage - 1);
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace nvtx_perfetto
