/**
 * The way to a server: a process started for it, or HTTP. The process gets PATH, HOME, USER, SHELL
 * and TERM, and the variables that the settings name. Its stderr output is kept for error messages.
 */
import { loginProvider } from './login.mjs';

const KEPT_CHARS = 4000;

/** `stderr()`: the last lines that the process wrote there. */
export async function makeTransport(settings, { env, workspace, isUnchanged = () => true }) {
  if (settings.url !== undefined) return http(settings, env);
  if (!isUnchanged()) throw new Error('files that its command names have changed; guild trust shows them and asks');
  return stdio(settings, env, workspace);
}

async function stdio({ command, env: names = [], values = {} }, env, workspace) {
  const { StdioClientTransport } = await import('#mcp/stdio');
  const [program, ...args] = command;
  const passed = Object.fromEntries(
    ['PATH', 'HOME', ...names].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const transport = new StdioClientTransport({
    command: program,
    args,
    env: { ...passed, ...values },
    cwd: workspace,
    stderr: 'pipe',
    maxBufferSize: 64 * 1024 * 1024,
  });
  let kept = '';
  transport.stderr?.on('data', (chunk) => {
    kept = (kept + String(chunk)).slice(-KEPT_CHARS);
  });
  return { transport, stderr: () => kept };
}

async function http({ url, type, key_env: keyEnv, headers = {} }, env) {
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import('#mcp/client');
  const key = keyEnv === undefined ? undefined : env[keyEnv];
  if (keyEnv !== undefined && !key) throw new Error(`${keyEnv} is not set`);
  const own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const options = {
    requestInit: { headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } },
    // Without a key the tokens of `guild mcp login` are used, if there are any.
    ...(key || own ? {} : { authProvider: loginProvider(url, env) }),
  };
  const Transport = type === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
  return { transport: new Transport(new URL(url), options), stderr: () => '' };
}
