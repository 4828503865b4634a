# SPDX-License-Identifier: Apache-2.0
"""The native library: where it lies, and what it says of itself."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from .errors import LibraryNotFoundError

_FILE_NAME = "libnvtx-perfetto.so"
_ERROR_SIZE = 4096


def library_path() -> Path:
    """
    Find the shared library that is the NVTXW backend and the NVTX injection.

    Returns
    -------
    pathlib.Path
        Absolute path of ``libnvtx-perfetto.so`` inside the installed package.

    Raises
    ------
    LibraryNotFoundError
        If the package was installed without it, as on other systems than Linux.

    Examples
    --------
    >>> import nvtx.writer, nvtx_perfetto
    >>> backend = nvtx.writer.load_backend(nvtx_perfetto.library_path())
    """
    path = Path(__file__).resolve().parent / _FILE_NAME
    if not path.is_file():
        raise LibraryNotFoundError(
            f"{path} was expected and is not there; nvtx-perfetto has wheels for Linux on "
            "x86-64 and aarch64: install one of those, or build it from the source package"
        )
    return path


def load_library() -> ctypes.CDLL:
    """Load the native library; what its functions take is for the caller to say."""
    path = library_path()
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryNotFoundError(
            f"{path} cannot be loaded ({error}); reinstall nvtx-perfetto for this machine"
        ) from error


@functools.cache
def _library() -> ctypes.CDLL:
    library = load_library()
    library.nvtx_perfetto_last_error.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.nvtx_perfetto_last_error.restype = ctypes.c_size_t
    library.nvtx_perfetto_version.restype = ctypes.c_char_p
    return library


def last_error() -> str:
    """
    Tell why the last NVTXW call of this thread did not succeed.

    Returns
    -------
    str
        One line that says what was found, what was expected and what to do; empty when no
        call of this thread has failed. A later success does not clear it.

    Notes
    -----
    The text belongs to the calling thread.
    """
    buffer = ctypes.create_string_buffer(_ERROR_SIZE)
    _library().nvtx_perfetto_last_error(buffer, _ERROR_SIZE)
    return buffer.value.decode("utf-8", "replace")


def library_version() -> str:
    """Return the version that the native library was built as."""
    version: bytes = _library().nvtx_perfetto_version()
    return version.decode()
