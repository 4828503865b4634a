// SPDX-License-Identifier: Apache-2.0
// Calls that no program should make; what becomes of each is in the test beside it.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stdlib.h>
#include <string.h>

static void nameless(void) {
  nvtxRangePushA(NULL);
  nvtxRangePushEx(NULL);
  nvtxRangePop();
  nvtxRangePop();
  nvtxMarkW(NULL);
  nvtxEventAttributes_t event;
  memset(&event, 0xFF, sizeof(event));
  event.size = 0;  // nothing of it may be read
  nvtxMarkEx(&event);
  memset(&event, 0, sizeof(event));
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = 77;  // a kind of message that there is not
  nvtxMarkEx(&event);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = (nvtxStringHandle_t)0x1234567890;
  nvtxMarkEx(&event);
  event.messageType = NVTX_MESSAGE_UNKNOWN;
  event.payloadType = 99;  // a kind of payload that there is not
  nvtxMarkEx(&event);
}

static void unmatched(void) {
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  nvtxRangeEnd(0x123456789);
  nvtxRangeId_t id = nvtxRangeStartA("once");
  nvtxRangeEnd(id);
  nvtxRangeEnd(id);
}

static void bad_handles(void) {
  nvtxDomainHandle_t domain = (nvtxDomainHandle_t)0xDEADBEEF;
  nvtxDomainRangePushEx(domain, NULL);
  nvtxPayloadData_t data = {(uint64_t)1 << 40, 8, &data};  // no such schema
  nvtxEventAttributes_t event = {0};
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "no schema";
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = (uint64_t)(uintptr_t)&data;
  nvtxMarkEx(&event);
  nvtxCounterSampleInt64(NULL, 5, 5);  // no such counter
}

int main(void) {
  nvtxMarkA("before");
  nameless();
  unmatched();
  bad_handles();
  char* text = malloc((1 << 20) + 1);
  memset(text, 'x', 1 << 20);
  text[1 << 20] = 0;
  nvtxMarkA(text);
  free(text);
  nvtxMarkA("bad \xFF\xFE bytes");
  nvtxMarkA("after");
  return 0;
}
