/**
 * Loads Slack's official packages on demand: installed with Guildhall, or else in the workspace.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export async function official(name, workspace) {
  try {
    return await import(name);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  }
  try {
    return await import(pathToFileURL(createRequire(path.join(workspace, 'package.json')).resolve(name)).href);
  } catch (error) {
    if (error?.code !== 'MODULE_NOT_FOUND' && error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`Slack's packages are missing; run: npm install @slack/web-api@7 @slack/socket-mode@2`, {
      cause: error,
    });
  }
}

/** Silences the packages' own logging; failures are returned as errors. */
export const QUIET = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  setName() {},
  getLevel: () => 'error',
};

/** SLACK_API_URL selects another server that speaks Slack's protocol, for tests and proxies. */
export function address(env) {
  return env.SLACK_API_URL ? { slackApiUrl: env.SLACK_API_URL.replace(/\/?$/, '/') } : {};
}
