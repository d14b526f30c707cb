/** `guild serve`: the endpoints for programs alone, without the page. */
import { Hono } from 'hono';
import { openWebhooks, type Webhooks } from '../app/doors/webhooks.js';
import { refuse } from './guard.js';
import { hookRoutes } from './hooks.js';
import { listen, type Listening } from './listen.js';

interface DoorOptions {
  root: string;
  env: Record<string, string | undefined>;
  port: number;
  listening: Listening;
  /** Host names under which a proxy passes calls on. */
  proxied: readonly string[];
  onRefused: (source: string, why: string) => void;
}

interface DoorServer {
  port: number;
  /** Where other programs reach it. */
  address: string;
  webhooks: Webhooks;
  close(): Promise<void>;
}

export async function serveDoors(options: DoorOptions): Promise<DoorServer> {
  const { root, env, port, listening, proxied, onRefused } = options;
  const webhooks = openWebhooks(root, env, onRefused);
  const hosts = new Set(proxied.map((name) => name.toLowerCase()));
  const app = new Hono();
  app.route('/', hookRoutes({ webhooks, hosts }));
  app.notFound((context) => refuse(context, 404, 'there is no such address'));
  const server = await listen(app, listening, port, '127.0.0.1').catch(async (thrown: unknown) => {
    await webhooks.close();
    throw thrown;
  });
  for (const host of [...server.hosts, ...loopbackNames(server.port)]) hosts.add(host);
  return {
    port: server.port,
    address: `${server.scheme}://${server.hosts[0]}`,
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
