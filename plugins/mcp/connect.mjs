/**
 * One connection to an MCP server, made at the first call and kept while it is used: over stdio to a process that is started for it,
 * or over HTTP. The process gets a clean environment: PATH, HOME and the variables that the settings name.
 */
const IDLE_MS = 60_000;
const CONNECT_MS = 30_000;

/** `settings`: {command: [...], env: [NAMES]} or {url, key_env, headers}. */
export function connection(settings, { env, workspace }) {
  let client;
  let idle;
  const drop = async () => {
    clearTimeout(idle);
    const open = client;
    client = undefined;
    await (await open?.catch(() => undefined))?.close().catch(() => undefined);
  };
  const use = async (work) => {
    clearTimeout(idle);
    client ??= within(open(settings, env, workspace), CONNECT_MS, 'it did not answer within 30 s');
    try {
      return await work(await client);
    } catch (thrown) {
      await drop(); // whatever is wrong with it, the next call gets a new one
      throw thrown;
    } finally {
      clearTimeout(idle);
      idle = setTimeout(() => void drop(), IDLE_MS);
      idle.unref();
    }
  };
  return {
    tools: () => use(listAll),
    call: (name, args, signal) => use((it) => it.callTool({ name, arguments: args, options: { signal } })),
    close: drop,
  };
}

async function open(settings, env, workspace) {
  const { createMCPClient } = await import('@ai-sdk/mcp');
  return createMCPClient({ transport: await transport(settings, env, workspace), onUncaughtError: () => {} });
}

async function transport({ command, env: names = [], url, key_env: keyEnv, headers = {} }, env, workspace) {
  if (url !== undefined) {
    const key = keyEnv === undefined ? undefined : env[keyEnv];
    if (keyEnv !== undefined && !key) throw new Error(`the environment has no ${keyEnv}`);
    return { type: 'http', url, headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } };
  }
  const { Experimental_StdioMCPTransport: Stdio } = await import('@ai-sdk/mcp/mcp-stdio');
  const [program, ...args] = command;
  const given = Object.fromEntries(
    ['PATH', 'HOME', ...names].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  return new Stdio({ command: program, args, env: given, cwd: workspace, stderr: 'ignore' });
}

async function listAll(client) {
  const all = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { params: { cursor } });
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined && all.length < 1000);
  return all;
}

async function within(promise, ms, why) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(why)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a tool said, as text; pictures and the like are named, not shown. */
export function said({ content = [], structuredContent, toolResult, isError = false }) {
  const texts = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}, not shown]`));
  if (texts.length === 0) texts.push(JSON.stringify(structuredContent ?? toolResult ?? 'done'));
  return { success: !isError, content: texts.join('\n') };
}
