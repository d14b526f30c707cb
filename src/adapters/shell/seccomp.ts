/**
 * The seccomp filter of the sandbox, as the BPF program that bubblewrap loads. It refuses system
 * calls that ordinary programs do not need and that have often led out of sandboxes: tracing, keys,
 * BPF, io_uring, userfaultfd, mounts, namespaces, clocks and modules.
 */

interface Machine {
  /** AUDIT_ARCH of the native calls; calls of any other architecture are refused. */
  audit: number;
  refused: number[];
  clone: number;
  clone3: number;
  ioctl: number;
  socket: number;
}

/** Newer calls, which have the same numbers on both architectures. */
const COMMON = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442];

// In order: keys, bpf, userfaultfd, tracing, other processes' memory, perf, kexec, modules, mounts,
// swap, reboot, namespaces, file handles, quota, accounting, kernel log, clocks, chroot, kcmp.
const MACHINES: Partial<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    refused: [
      ...[248, 249, 250, 321, 323, 101, 310, 311, 298, 246, 320, 175, 313, 176, 165, 166, 155, 167, 168, 169, 308, 272],
      ...[304, 303, 179, 163, 103, 212, 164, 227, 159, 305, 161, 312, 172, 173, 153, 180, ...COMMON],
    ],
    clone: 56,
    clone3: 435,
    ioctl: 16,
    socket: 41,
  },
  arm64: {
    audit: 0xc00000b7,
    refused: [
      ...[217, 218, 219, 280, 282, 117, 270, 271, 241, 104, 294, 105, 273, 106, 40, 39, 41, 224, 225, 142, 268, 97],
      ...[265, 264, 60, 89, 116, 18, 170, 112, 171, 266, 51, 272, 58, 42, ...COMMON],
    ],
    clone: 220,
    clone3: 435,
    ioctl: 29,
    socket: 198,
  },
};

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
/** Where the filter finds the number, the architecture and the low halves of two arguments. */
const [NUMBER, ARCH, FIRST, SECOND] = [0, 4, 16, 24];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** TIOCSTI and TIOCLINUX put input into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

/** Undefined on an architecture for which there is no list. */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const { audit, refused, clone, clone3, ioctl, socket } = machine;
  return Buffer.concat([
    load(ARCH),
    ...unless(equal(audit), [fail(ENOSYS)]),
    load(NUMBER),
    // The x32 calls of x86-64 have their own numbers.
    ...(arch === 'x64' ? when(atLeast(0x40000000), [fail(ENOSYS)]) : []),
    ...refused.flatMap((number) => when(equal(number), [fail(EPERM)])),
    // The flags of clone3 are in memory, where a filter cannot look. Libraries then use clone.
    ...when(equal(clone3), [fail(ENOSYS)]),
    ...when(equal(clone), [load(FIRST), ...when(anyBit(NEW_NAMESPACES), [fail(EPERM)]), give(ALLOW)]),
    ...when(equal(ioctl), [
      load(SECOND),
      ...TERMINAL_INPUT.flatMap((request) => when(equal(request), [fail(EPERM)])),
      give(ALLOW),
    ]),
    ...when(equal(socket), [
      load(FIRST),
      ...FAMILIES.flatMap((family) => when(equal(family), [give(ALLOW)])),
      fail(EAFNOSUPPORT),
    ]),
    give(ALLOW),
  ]);
}

type Test = { code: number; value: number };

function equal(value: number): Test {
  return { code: 0x15, value };
}
function atLeast(value: number): Test {
  return { code: 0x35, value };
}
function anyBit(value: number): Test {
  return { code: 0x45, value };
}

/** `then` must end with a return. */
function when({ code, value }: Test, then: Buffer[]): Buffer[] {
  return [instruction(code, 0, then.length, value), ...then];
}

function unless({ code, value }: Test, then: Buffer[]): Buffer[] {
  return [instruction(code, then.length, 0, value), ...then];
}

function load(offset: number): Buffer {
  return instruction(0x20, 0, 0, offset);
}

function fail(errno: number): Buffer {
  return give(ERRNO | errno);
}

function give(value: number): Buffer {
  return instruction(0x06, 0, 0, value);
}

function instruction(code: number, ifTrue: number, ifFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
