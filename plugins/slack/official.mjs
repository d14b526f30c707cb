/**
 * Loads Slack's official packages on demand, from where Guildhall is installed. Packages in a
 * workspace are not loaded: whoever wrote the folder could put any code there.
 */
export async function official(name) {
  try {
    return await import(name);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const install = 'npm install --global guildhall @slack/web-api@8 @slack/socket-mode@3';
    throw new Error(`Slack's packages are missing; install them next to guildhall: ${install}`, { cause: error });
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
