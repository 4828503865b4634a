# SPDX-License-Identifier: Apache-2.0
"""The interface's members, structs and hostile values, with the result code each deserves."""

from __future__ import annotations

SUCCESS, FAILED, INVALID, NOT_SUPPORTED, NO_VERSION = 0, 1, 2, 7, 6

Cells = list[tuple[str, int]]

# What is wrong with a handle, whatever its kind; `%s` is the kind it should be.
HANDLES: dict[str, list[str]] = {
    "session": ["NULL", "garbage", "all_ones", "DOMAIN", "STREAM", "ended_session"],
    "domain": ["NULL", "garbage", "all_ones", "SESSION", "STREAM", "ended_domain"],
    "stream": ["NULL", "garbage", "all_ones", "SESSION", "DOMAIN", "ended_stream", "closed_stream"],
}

# Members with the C expression of each argument: `session`, `domain` and `stream` are handles,
# `&x` an out pointer, and a name of STRUCTS a pointer to that struct, good but for one field.
MEMBERS: dict[str, list[str]] = {
    "SessionBegin": ["session_attributes", "&new_session"],
    "SessionEnd": ["session"],
    "DomainRegister": ["session", "domain_attributes", "&new_domain"],
    "CategoryRegister": ["domain", "5", '"name"'],
    "StringRegister": ["domain", '"text"', "&new_string"],
    "ResourceRegister": ["domain", "resource_attributes"],
    "ScopeRegister": ["domain", "scope_attributes", "&new_id"],
    "SchemaRegister": ["domain", "schema_attributes", "&new_id"],
    "EnumRegister": ["domain", "enum_attributes", "&new_id"],
    "CounterRegister": ["domain", "counter_attributes", "&new_id"],
    "TimeDomainRegister": ["domain", "time_domain_attributes", "&new_id"],
    "StreamOpen": ["session", "stream_attributes", "&new_stream"],
    "StreamClose": ["stream"],
    "EventWrite": ["stream", "payload", "1"],
    "EventBatchWrite": ["stream", "event_batch"],
    "CounterWrite": ["stream", "7", "counter_id", "&sample", "sizeof(sample)"],
    "CounterNoValueWrite": ["stream", "8", "counter_id", "1"],
    "CounterBatchWrite": ["stream", "counter_batch"],
    "TimeSyncPointWrite": ["stream", "time_domain", "REALTIME", "1", "2"],
    "TimeSyncPointTableWrite": ["stream", "time_domain", "REALTIME", "points", "2"],
    "TimestampConversionFactorWrite": ["stream", "time_domain", "REALTIME", "1.0", "1", "2"],
}

# Plain arguments by member and position: hostile values and the codes they deserve.
ARGUMENTS: dict[tuple[str, int], Cells] = {
    ("SessionBegin", 1): [("NULL", INVALID)],
    ("DomainRegister", 2): [("NULL", INVALID)],
    ("CategoryRegister", 1): [("0", INVALID), ("UINT32_MAX", SUCCESS)],
    ("CategoryRegister", 2): [("NULL", SUCCESS), ("ill_formed", SUCCESS), ("large", SUCCESS)],
    ("StringRegister", 1): [
        ("NULL", INVALID),
        ('""', SUCCESS),
        ("ill_formed", SUCCESS),
        ("large", SUCCESS),
    ],
    ("StringRegister", 2): [("NULL", INVALID)],
    ("ScopeRegister", 2): [("NULL", INVALID)],
    ("SchemaRegister", 2): [("NULL", INVALID)],
    ("EnumRegister", 2): [("NULL", INVALID)],
    ("CounterRegister", 2): [("NULL", INVALID)],
    ("TimeDomainRegister", 2): [("NULL", INVALID)],
    ("StreamOpen", 2): [("NULL", INVALID)],
    ("EventWrite", 1): [("NULL", INVALID)],
    ("EventWrite", 2): [("0", INVALID)],
    ("CounterWrite", 1): [("INT64_MIN", SUCCESS), ("-1", SUCCESS), ("INT64_MAX", SUCCESS)],
    ("CounterWrite", 2): [("0", INVALID), ("UINT64_MAX", INVALID), ("other_counter", INVALID)],
    ("CounterWrite", 3): [("NULL", INVALID)],
    ("CounterWrite", 4): [("0", INVALID), ("7", INVALID), ("9", INVALID), ("SIZE_MAX", INVALID)],
    ("CounterNoValueWrite", 1): [("INT64_MIN", SUCCESS)],
    ("CounterNoValueWrite", 2): [("0", INVALID), ("other_counter", INVALID)],
    ("CounterNoValueWrite", 3): [
        ("0", SUCCESS),
        ("2", SUCCESS),
        ("3", INVALID),
        ("255", INVALID),
    ],
    ("TimeSyncPointWrite", 1): [
        ("UINT64_MAX", INVALID),
        ("999", INVALID),
        ("other_clock", INVALID),
    ],
    ("TimeSyncPointWrite", 2): [("UINT64_MAX", INVALID), ("time_domain", SUCCESS)],
    ("TimeSyncPointWrite", 3): [("INT64_MIN", SUCCESS)],
    ("TimeSyncPointTableWrite", 1): [("999", INVALID), ("other_clock", INVALID)],
    ("TimeSyncPointTableWrite", 2): [("UINT64_MAX", INVALID)],
    ("TimeSyncPointTableWrite", 3): [("NULL", INVALID)],
    ("TimeSyncPointTableWrite", 4): [("0", SUCCESS)],
    ("TimestampConversionFactorWrite", 1): [("999", INVALID), ("other_clock", INVALID)],
    ("TimestampConversionFactorWrite", 2): [("UINT64_MAX", INVALID)],
    ("TimestampConversionFactorWrite", 3): [
        ("0.0", INVALID),
        ("-0.0", INVALID),
        ("-1.0", INVALID),
        ("0.0 / zero", INVALID),
        ("1.0 / zero", INVALID),
        ("1e-300", SUCCESS),
        ("1e300", SUCCESS),
    ],
}

SIZES: Cells = [("0", INVALID), ("1", INVALID), ("7", INVALID), ("SIZE_MAX", SUCCESS)]
STATIC_IDS: Cells = [
    ("1", INVALID),
    ("(1u << 24) - 1", INVALID),
    ("static_id()", SUCCESS),
    ("1u << 24", INVALID),  # taken by the program's first step
    ("UINT64_C(1) << 32", INVALID),
    ("UINT64_MAX", INVALID),
]

# Structs: their C type, and by field the hostile values with their codes.
STRUCTS: dict[str, tuple[str, dict[str, Cells]]] = {
    "session_attributes": (
        "nvtxwSessionAttributes_t",
        {
            "structSize": [*SIZES, ("8", SUCCESS), ("16", SUCCESS)],
            "name": [("NULL", SUCCESS), ("ill_formed", SUCCESS), ("large", SUCCESS)],
            "configString": [
                ("NULL", SUCCESS),
                ('""', SUCCESS),
                ('"output="', INVALID),
                ('"memory=1"', INVALID),
                ('"time_offset=x"', INVALID),
                ('"overwrite=perhaps"', INVALID),
                ('"output=/nowhere/at/all"', FAILED),
                ('"output=/"', FAILED),
                ('"||\\r\\n=\\n==|x"', SUCCESS),
                ("large", SUCCESS),
            ],
        },
    ),
    "domain_attributes": (
        "nvtxwDomainAttributes_t",
        {
            "structSize": [*SIZES, ("8", SUCCESS)],
            "name": [("NULL", SUCCESS), ('""', SUCCESS), ("ill_formed", SUCCESS)],
        },
    ),
    "resource_attributes": (
        "nvtxResourceAttributes_t",
        {
            "size": [
                ("0", INVALID),
                ("1", INVALID),
                ("sizeof(a) - 1", INVALID),
                ("65535", SUCCESS),
            ],
            "identifierType": [("-1", SUCCESS), ("0", SUCCESS)],
            "messageType": [("0", SUCCESS), ("-7", SUCCESS)],
            "message.registered": [("NULL", INVALID), ("garbage", INVALID)],
        },
    ),
    "scope_attributes": (
        "nvtxScopeAttr_t",
        {
            "structSize": [*SIZES, ("8", SUCCESS), ("16", SUCCESS)],
            "path": [
                ("NULL", SUCCESS),
                ('""', SUCCESS),
                ('"///"', SUCCESS),
                ('"a[b"', SUCCESS),
                ('"\\\\"', SUCCESS),
                ("ill_formed", SUCCESS),
                ("large", SUCCESS),
            ],
            "parentScope": [
                ("UINT64_MAX", INVALID),
                ("other_scope", INVALID),
                ("NVTX_SCOPE_CURRENT_HW_MACHINE", SUCCESS),
                ("NVTX_SCOPE_CURRENT_SW_PROCESS", INVALID),
                ("NVTX_SCOPE_CURRENT_SW_THREAD", INVALID),
            ],
            "scopeId": STATIC_IDS,
        },
    ),
    "schema_attributes": (
        "nvtxPayloadSchemaAttr_t",
        {
            "fieldMask": [
                ("0", INVALID),
                ("a.fieldMask & ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE", INVALID),
                ("a.fieldMask & ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES", INVALID),
                ("a.fieldMask & ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES", INVALID),
                ("a.fieldMask & ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS", SUCCESS),
                ("a.fieldMask & ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME", SUCCESS),
            ],
            "name": [("NULL", SUCCESS), ("ill_formed", SUCCESS)],
            "type": [
                ("0", INVALID),
                ("99", INVALID),
                ("UINT64_MAX", INVALID),
                ("4", NOT_SUPPORTED),
            ],
            "flags": [("UINT64_MAX", SUCCESS)],
            "entries": [("NULL", INVALID)],
            "numEntries": [("0", INVALID), ("SIZE_MAX", INVALID)],
            "payloadStaticSize": [("1", INVALID), ("SIZE_MAX", INVALID), ("64", SUCCESS)],
            "packAlign": [("1", SUCCESS), ("0", SUCCESS), ("SIZE_MAX", SUCCESS)],
            "schemaId": STATIC_IDS,
        },
    ),
    "schema_entry": (
        "nvtxPayloadSchemaEntry_t",
        {
            "flags": [
                ("NVTX_PAYLOAD_ENTRY_FLAG_POINTER", NOT_SUPPORTED),
                ("NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY", NOT_SUPPORTED),
                ("NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE", NOT_SUPPORTED),
                ("NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE", NOT_SUPPORTED),
                ("NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED", INVALID),
                ("NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX", INVALID),
                ("NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX", NOT_SUPPORTED),
            ],
            "type": [
                ("0", INVALID),
                ("9999", INVALID),
                ("UINT64_MAX", INVALID),
                ("other_schema", INVALID),
                ("NVTX_PAYLOAD_ENTRY_TYPE_CSTRING", NOT_SUPPORTED),
                ("other_enum", INVALID),
                ("plain_schema", SUCCESS),
                ("union_schema", SUCCESS),  # entry 0 selects
            ],
            "name": [("NULL", SUCCESS), ('""', SUCCESS), ("ill_formed", SUCCESS)],
            "description": [("NULL", SUCCESS), ("large", SUCCESS)],
            "arrayOrUnionDetail": [("UINT64_MAX", SUCCESS)],
            "offset": [("UINT64_MAX", INVALID), ("UINT64_C(1) << 31", INVALID)],
            "semantics": [("&looping_semantics", SUCCESS), ("&short_semantics", SUCCESS)],
        },
    ),
    "enum_attributes": (
        "nvtxPayloadEnumAttr_t",
        {
            "fieldMask": [("0", INVALID), ("NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES", INVALID)],
            "entries": [("NULL", INVALID)],
            "numEntries": [("0", SUCCESS), ("SIZE_MAX", INVALID)],
            "sizeOfEnum": [("0", INVALID), ("3", INVALID), ("SIZE_MAX", INVALID), ("1", SUCCESS)],
            "schemaId": STATIC_IDS,
        },
    ),
    "counter_attributes": (
        "nvtxCounterAttr_t",
        {
            "structSize": [*SIZES, ("8", INVALID), ("16", SUCCESS)],
            "schemaId": [
                ("0", INVALID),
                ("9999", INVALID),
                ("UINT64_MAX", INVALID),
                ("other_schema", INVALID),
                ("NVTX_PAYLOAD_ENTRY_TYPE_CSTRING", INVALID),
                ("plain_schema", SUCCESS),
                ("dynamic_schema", INVALID),
            ],
            "name": [("NULL", SUCCESS), ('""', SUCCESS), ("ill_formed", SUCCESS)],
            "description": [("NULL", SUCCESS)],
            "scopeId": [
                ("other_scope", SUCCESS),
                ("UINT64_MAX", SUCCESS),
                ("NVTX_SCOPE_CURRENT_SW_PROCESS", INVALID),
            ],
            "semantics": [("&looping_semantics", SUCCESS), ("&short_semantics", SUCCESS)],
            "counterId": STATIC_IDS,
        },
    ),
    "time_domain_attributes": (
        "nvtxTimeDomainAttr_t",
        {
            "scopeId": [("UINT64_MAX", SUCCESS)],
            "timestampTypeId": [("999", INVALID), ("UINT64_MAX", INVALID)],
            "timeDomainId": STATIC_IDS,
            "timerFlags": [("UINT64_MAX", SUCCESS)],
            "timerResolution": [("-1", INVALID), ("INT64_MIN", INVALID), ("INT64_MAX", SUCCESS)],
            "timerStart": [("99", INVALID), ("UINT64_MAX", INVALID)],
        },
    ),
    "stream_attributes": (
        "nvtxwStreamAttributes_t",
        {
            "structSize": [
                *SIZES,
                # Without a clock the stream is on one that nothing ties to the others.
                ("8", INVALID),
                ("16", INVALID),
                ("40", SUCCESS),
            ],
            "name": [
                ("NULL", SUCCESS),
                ('""', SUCCESS),
                ('"main"', INVALID),
                ("ill_formed", SUCCESS),
                ("large", SUCCESS),
            ],
            "domain": [
                ("NULL", SUCCESS),
                ("garbage", INVALID),
                ("all_ones", INVALID),
                ("(void*)STREAM", INVALID),
                ("(void*)SESSION", INVALID),
                ("ended_domain", INVALID),
                ("other_session_domain", INVALID),
            ],
            "scopeId": [
                ("UINT64_MAX", INVALID),
                ("other_scope", INVALID),
                ("NVTX_SCOPE_CURRENT_SW_THREAD", INVALID),
                ("NVTX_SCOPE_CURRENT_HW_MACHINE", INVALID),
            ],
            "timeDomainId": [
                ("999", INVALID),
                ("UINT64_MAX", INVALID),
                ("other_clock", INVALID),
                ("MONOTONIC", INVALID),
                ("time_domain", SUCCESS),
            ],
            "orderInterleaving": [("2", INVALID), ("-1", INVALID), ("1", SUCCESS)],
            "orderingType": [("4", INVALID), ("-1", INVALID), ("3", SUCCESS)],
            "orderingSkid": [("3", INVALID), ("-1", INVALID), ("2", SUCCESS)],
            "orderingSkidAmount": [("INT64_MIN", SUCCESS), ("INT64_MAX", SUCCESS)],
        },
    ),
    "payload": (
        "nvtxPayloadData_t",
        {
            "schemaId": [
                ("0", INVALID),
                ("UINT64_MAX", INVALID),
                ("other_schema", INVALID),
                ("plain_schema", INVALID),
            ],
            "size": [
                ("0", INVALID),
                ("1", INVALID),
                ("sizeof(row) - 1", INVALID),
                ("SIZE_MAX", INVALID),
                ("SIZE_MAX - 1", INVALID),
                ("sizeof(row) + 8", SUCCESS),
            ],
            "payload": [
                ("NULL", INVALID),
                ("&backward_row", INVALID),
                ("&early_row", SUCCESS),
            ],
        },
    ),
    "event_batch": (
        "nvtxEventBatch_t",
        {
            "eventSchemaId": [
                ("0", INVALID),
                ("UINT64_MAX", INVALID),
                ("other_schema", INVALID),
                ("plain_schema", INVALID),
                ("dynamic_schema", NOT_SUPPORTED),
            ],
            "size": [("1", INVALID), ("sizeof(row) + 1", INVALID), ("0", SUCCESS)],
            "events": [("NULL", INVALID)],
            "scope": [("UINT64_MAX", INVALID), ("other_scope", INVALID)],
            "flags": [("UINT64_MAX", SUCCESS)],
        },
    ),
    "counter_batch": (
        "nvtxCounterBatch_t",
        {
            "counterId": [("0", INVALID), ("UINT64_MAX", INVALID), ("other_counter", INVALID)],
            "counters": [("NULL", INVALID)],
            "countersSize": [("1", INVALID), ("8", INVALID), ("SIZE_MAX", INVALID)],
            "flags": [
                ("NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR", NOT_SUPPORTED),
                ("NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR", NOT_SUPPORTED),
                ("6", SUCCESS),
            ],
            "timestamps": [("NULL", INVALID)],
            "timestampsSize": [("0", INVALID), ("8", INVALID), ("15", INVALID), ("17", INVALID)],
        },
    ),
}

# What must be set beside a field so that it is read at all.
STRUCT_SETUP = {
    ("resource_attributes", "message.registered"): "a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;",
    ("schema_attributes", "payloadStaticSize"): (
        "a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;"
    ),
    ("schema_attributes", "packAlign"): "a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;",
    ("schema_attributes", "schemaId"): "a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;",
    ("enum_attributes", "schemaId"): "a.fieldMask |= NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;",
}
