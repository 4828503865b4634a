# SPDX-License-Identifier: Apache-2.0
"""Schemas declared as classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from nvtx import EventKind

from ._kinds import KindName
from ._schema import Schema
from .errors import Problem, SchemaError


def schema(kind: KindName | EventKind, *, align: bool = False) -> Callable[[type], Schema]:
    """Turn a class into the Schema that it describes.

    Fields that are assigned (``start = range_begin()``) come first, in order; then those that
    are only annotated with a dtype (``items: np.int64``), in order.

    Parameters
    ----------
    kind, align
        As for :class:`Schema`.

    Returns
    -------
    callable
        A decorator; the decorated name is the Schema, not a class.

    Raises
    ------
    SchemaError
        If anything is wrong, with every fault in ``problems``.

    Examples
    --------
    >>> import numpy as np, nvtx_schema as nvs
    >>> @nvs.schema("mark")
    ... class Step:
    ...     time = nvs.mark_time()
    ...     message = nvs.message(16)
    ...     loss: np.float32
    >>> Step.names
    ('time', 'message', 'loss')
    """
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    # Annotations are text under `from __future__ import annotations`; what they name may be
    # local to the function that holds the class.
    scope = (dict(caller.f_globals), dict(caller.f_locals)) if caller else ({}, {})

    def declare(body: type) -> Schema:
        fields = {
            name: spec
            for name, spec in vars(body).items()
            if not (name.startswith("__") and name.endswith("__"))
        }
        for name, annotation in _annotations(body, scope).items():
            fields.setdefault(name, annotation)
        return Schema(kind, fields, align=align)

    return declare


def _annotations(body: type, scope: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    try:
        return inspect.get_annotations(body, globals=scope[0], locals=scope[1], eval_str=True)
    except NameError as error:
        found = f"an annotation of {body.__name__} cannot be read ({error})"
        raise SchemaError([Problem(None, found, "import what it names")]) from None
