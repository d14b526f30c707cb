/**
 * OAuth for MCP servers. Tokens are kept outside the workspace, in the user's state directory, in a
 * file that only the user can read. `guild mcp login` gets them in the browser; after that they are
 * renewed without a person.
 */
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as path from 'node:path';
import { stateFolder, statesOf } from './state-folder.mjs';

const WAIT_MS = 5 * 60_000;

/** For connections: uses and renews tokens, and never opens a browser. */
export function loginProvider(url, env) {
  return provider(tokenFile(url, env), undefined, () => {
    throw new LoginNeeded(url);
  });
}

export class LoginNeeded extends Error {
  constructor(url) {
    super(`${new URL(url).host} wants you to log in`);
  }
}

/**
 * Logs a person in. `show` gets the address to open in a browser; the answer comes to a port of
 * this machine. Resolves when the tokens are stored.
 */
export async function login(url, env, show) {
  const { auth } = await import('#mcp/client');
  const state = randomBytes(16).toString('hex');
  const callback = await listen(state);
  try {
    const who = provider(tokenFile(url, env), { redirect: callback.address, state }, show);
    if ((await auth(who, { serverUrl: url })) === 'AUTHORIZED') return;
    const { code, iss } = await callback.answer;
    await auth(who, { serverUrl: url, authorizationCode: code, ...(iss ? { iss } : {}) });
  } finally {
    callback.close();
  }
}

function provider(file, flow, show) {
  const keep = (change) => write(file, { ...read(file), ...change });
  return {
    redirectUrl: flow?.redirect ?? 'http://127.0.0.1/callback',
    clientMetadata: {
      client_name: 'Guildhall',
      redirect_uris: [flow?.redirect ?? 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    ...(flow ? { state: () => flow.state } : {}),
    // The port of the callback differs each time, so each login registers again.
    clientInformation: () => (flow && read(file).redirect !== flow.redirect ? undefined : read(file).client),
    saveClientInformation: (client) => keep({ client, redirect: flow?.redirect }),
    tokens: () => read(file).tokens,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (address) => show(address.href),
    saveCodeVerifier: (verifier) => keep({ verifier }),
    codeVerifier: () => read(file).verifier,
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => read(file).discovery,
    invalidateCredentials(scope) {
      const kept = scope === 'all' ? {} : read(file);
      delete kept[scope];
      write(file, kept);
    },
  };
}

function tokenFile(url, env) {
  const name = `${createHash('sha256').update(url).digest('hex').slice(0, 24)}.json`;
  const file = path.join(stateFolder(env), 'mcp', name);
  takeOver(path.join(statesOf(env), 'guildhall', 'mcp', name), file);
  return file;
}

/** Moves a login that an earlier version kept elsewhere. One that cannot be moved is made again. */
function takeOver(old, file) {
  if (!fs.existsSync(old)) return;
  try {
    if (!fs.existsSync(file)) write(file, JSON.parse(fs.readFileSync(old, 'utf8')));
    fs.rmSync(old);
    fs.rmdirSync(path.dirname(old));
    fs.rmdirSync(path.dirname(path.dirname(old)));
  } catch {
    // Other logins are still there, or the old file is not readable.
  }
}

function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

function write(file, value) {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}`;
  fs.writeFileSync(part, JSON.stringify(value), { mode: 0o600 });
  fs.renameSync(part, file);
}

async function listen(state) {
  const server = http.createServer();
  await new Promise((ready, fail) => server.once('error', fail).listen(0, '127.0.0.1', ready));
  const answer = new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('nobody logged in within 5 minutes')), WAIT_MS);
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
      const code = searchParams.get('code');
      const isOurs = pathname === '/callback' && searchParams.get('state') === state;
      response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(isOurs ? 'You can close this window and return to the terminal.\n' : 'Not found.\n');
      if (!isOurs) return;
      clearTimeout(timer);
      if (code === null) fail(new Error(`the login was refused: ${searchParams.get('error') ?? 'no code was sent'}`));
      else done({ code, iss: searchParams.get('iss') ?? undefined });
    });
  });
  answer.catch(() => undefined);
  const address = `http://127.0.0.1:${server.address().port}/callback`;
  return { address, answer, close: () => server.close() };
}
