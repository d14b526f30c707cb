/** `guild serve`: the doors for programs alone, without the page. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { openWebhooks, type Webhooks } from '../app/doors/webhooks.js';
import { problem, ProblemError } from '../domain/problem.js';
import { problemReply, refuse } from './guard.js';
import { hookRoutes } from './hooks.js';

interface DoorOptions {
  root: string;
  env: Record<string, string | undefined>;
  port: number;
  /** Host names under which a proxy passes calls on. */
  proxied: readonly string[];
  onRefused: (source: string, why: string) => void;
}

interface DoorServer {
  port: number;
  webhooks: Webhooks;
  close(): Promise<void>;
}

export async function serveDoors({ root, env, port, proxied, onRefused }: DoorOptions): Promise<DoorServer> {
  const webhooks = openWebhooks(root, env, onRefused);
  const hosts = new Set(proxied);
  const app = new Hono();
  app.route('/', hookRoutes({ webhooks, hosts }));
  app.notFound((context) => refuse(context, 404, 'there is no such address'));
  app.onError((thrown, context) => problemReply(context, 500, problem('bug', thrown.message)));
  const server = await listen(app, port);
  for (const host of loopbackNames(server.port)) hosts.add(host);
  return {
    port: server.port,
    webhooks,
    async close() {
      await server.close();
      await webhooks.close();
    },
  };
}

export function loopbackNames(port: number): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

function listen(app: Hono, port: number): Promise<{ port: number; close(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (info) =>
      resolve({
        port: info.port,
        close: () =>
          new Promise<void>((closed) => {
            server.close(() => closed());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      }),
    );
    server.once('error', (thrown: NodeJS.ErrnoException) =>
      reject(
        thrown.code === 'EADDRINUSE'
          ? new ProblemError(problem('bad_usage', `port ${port} is in use`, { hint: 'choose another with --port' }))
          : thrown,
      ),
    );
  });
}
