/** Starts the model server that everything measured here talks to. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ModelServer {
  url: string;
  served(): Promise<{ calls: number; bytes: number }>;
  close(): void;
}

export async function startModelServer(): Promise<ModelServer> {
  const child = fork(fileURLToPath(new URL('model-server-child.js', import.meta.url)), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.once('data', (data) => resolve(String(data).trim()));
  });
  const base = `http://127.0.0.1:${port}`;
  return {
    url: `${base}/v1`,
    served: async () => (await (await fetch(`${base}/served`)).json()) as { calls: number; bytes: number },
    close: () => void child.kill(),
  };
}
