/**
 * Reads a command's output and keeps its head and tail, so that endless output needs no memory. The
 * total decides when runaway output ends the command.
 */
import net from 'node:net';

export interface Output {
  ended: Promise<void>;
  close(): void;
  text(): { output: string; cut: boolean };
}

export function output(fd: number, keepBytes: number, runawayBytes: number, onRunaway: () => void): Output {
  const headBytes = Math.ceil(keepBytes / 2);
  const tailBytes = keepBytes - headBytes;
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let inHead = 0;
  let inTail = 0;
  let total = 0;
  const socket = new net.Socket({ fd, readable: true, writable: false });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const before = total;
    total += chunk.length;
    const forHead = chunk.subarray(0, Math.max(0, headBytes - inHead));
    if (forHead.length > 0) head.push(Buffer.from(forHead));
    inHead += forHead.length;
    keepTail(chunk.subarray(forHead.length));
    if (before <= runawayBytes && total > runawayBytes) onRunaway();
  });

  return {
    ended,
    close: () => socket.destroy(),
    text() {
      const last = Buffer.concat(tail).subarray(-tailBytes || inTail);
      const omitted = total - inHead - last.length;
      if (omitted <= 0) return { output: Buffer.concat([...head, last]).toString('utf8'), cut: false };
      const begin = withoutTornEnd(Buffer.concat(head)).toString('utf8');
      const end = withoutTornStart(last).toString('utf8');
      return { output: `${begin}\n[… ${omitted} of ${total} bytes left out …]\n${end}`, cut: true };
    },
  };

  function keepTail(chunk: Buffer): void {
    if (chunk.length === 0 || tailBytes === 0) return;
    tail.push(chunk);
    inTail += chunk.length;
    // Joined rarely, so that each byte is copied only a few times even if the chunks are small.
    if (inTail < 2 * tailBytes + 65_536 && tail.length < 1000) return;
    tail = [Buffer.from(Buffer.concat(tail).subarray(-tailBytes))];
    inTail = tail[0]!.length;
  }
}

/** A character split by the cut would show as a replacement character. */
function withoutTornEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function withoutTornStart(bytes: Buffer): Buffer {
  let at = 0;
  while (at < Math.min(3, bytes.length) && bytes[at]! >= 0x80 && bytes[at]! < 0xc0) at++;
  return bytes.subarray(at);
}
