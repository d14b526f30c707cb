/**
 * Runs inside the sandbox, as a separate script: forwards a port of the sandbox's empty network to
 * the socket of the proxy, starts the command, and ends with its exit code.
 */
import { spawn } from 'node:child_process';
import net from 'node:net';
import os from 'node:os';

const [socket, port, separator, program, ...args] = process.argv.slice(2);

if (separator === '--' && program !== undefined) {
  const server = net.createServer((incoming) => {
    const outgoing = net.connect(socket!);
    incoming.pipe(outgoing).pipe(incoming);
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
  });
  server.listen(Number(port), '127.0.0.1', () => {
    const child = spawn(program, args, { stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    child.on('error', () => process.exit(126));
    child.on('exit', (code, signal) => process.exit(signal ? 128 + (os.constants.signals[signal] ?? 0) : (code ?? 1)));
  });
}
