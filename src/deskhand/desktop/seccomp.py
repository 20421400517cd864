"""What boxed programs may not ask of the kernel: System V shared memory, which means something else outside."""

from __future__ import annotations

import errno
import struct

# An app hands the number of a segment to the X server (MIT-SHM), which is outside of the box and looks that number up
# among its own: it would find nothing, or a segment of somebody else. Toolkits that cannot get one draw without.

_LOAD, _JUMP_IF_EQUAL, _RETURN = (
    0x20,
    0x15,
    0x06,
)  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K of linux/bpf_common.h
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000 | errno.ENOSYS  # SECCOMP_RET_* of linux/seccomp.h
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7  # AUDIT_ARCH_* of linux/audit.h
_SHMGET = {_X86_64: 29, _AARCH64: 194}


def program() -> bytes:
    """The filter, as bubblewrap's ``--seccomp`` reads it: ``shmget`` fails with ENOSYS, all else is allowed."""
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 0, 2, _X86_64),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_IF_EQUAL, 4, 3, _SHMGET[_X86_64]),
        (_JUMP_IF_EQUAL, 0, 2, _AARCH64),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_IF_EQUAL, 1, 0, _SHMGET[_AARCH64]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)
