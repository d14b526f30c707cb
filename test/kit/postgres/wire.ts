/** A wire to a server on this machine that a test can cut, in one direction or both, and heal. */
import { once } from 'node:events';
import net from 'node:net';

export interface Wire {
  readonly port: number;
  /** The bytes that the server has sent so far. */
  received(): number;
  /** Holds back what is sent; nothing is closed. Default: both directions. */
  cut(direction?: 'out' | 'in'): void;
  /** Delivers what was held back. */
  heal(): void;
  /** Closes every connection at once, as a broken router does. */
  drop(): void;
  /** New connections lead to another server; existing connections are closed. */
  lead(target: number): void;
  close(): Promise<void>;
}

interface Held {
  to: net.Socket;
  bytes: Buffer;
}

export async function wire(target: number): Promise<Wire> {
  const sockets = new Set<net.Socket>();
  const cuts = { out: false, in: false };
  let current = target;
  let held: Held[] = [];
  let received = 0;
  const pass = (from: net.Socket, to: net.Socket, direction: 'out' | 'in'): void => {
    from.on('data', (bytes) => {
      if (direction === 'in') received += bytes.length;
      if (cuts[direction]) held.push({ to, bytes });
      else to.write(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!cuts[direction]) to.destroy();
    });
    sockets.add(from);
  };
  const server = net.createServer((near) => {
    const far = net.connect(current, '127.0.0.1');
    pass(near, far, 'out');
    pass(far, near, 'in');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    received: () => received,
    cut(direction) {
      if (direction !== 'in') cuts.out = true;
      if (direction !== 'out') cuts.in = true;
    },
    heal() {
      cuts.out = cuts.in = false;
      for (const { to, bytes } of held) if (!to.destroyed) to.write(bytes);
      held = [];
    },
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    lead(target) {
      current = target;
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
