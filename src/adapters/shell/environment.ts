/**
 * The environment of a command: fixed, and without any of our keys or settings. The home folder is
 * empty and read-only, and programs are told not to read user settings, so that no file that an
 * agent can write decides what a command does.
 */

export const PATH = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin'] : []),
].join(':');

/** `home` is empty and read-only; `scratch` is a place for caches. */
export function commandEnv({ home, scratch }: { home: string; scratch: string }): Record<string, string> {
  return {
    PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: scratch,
    XDG_CONFIG_HOME: home,
    XDG_DATA_HOME: home,
    XDG_CACHE_HOME: `${scratch}/.cache`,
    ...GIT_ENV,
    CURL_HOME: home,
    WGETRC: '/dev/null',
    DOCKER_CONFIG: home,
    CONTAINERS_CONF: '/dev/null',
    npm_config_userconfig: '/dev/null',
    // npm refuses to read one file as both configurations. This file does not exist, and nobody can
    // create it.
    npm_config_globalconfig: `${home}/npmrc`,
    npm_config_cache: `${scratch}/.npm`,
    npm_config_update_notifier: 'false',
    PIP_CONFIG_FILE: '/dev/null',
    PYTHONNOUSERSITE: '1',
  };
}

/** Git reads no settings but those of the repository and of the command line. */
export const GIT_ENV = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  // The repository may belong to another user if guild runs as root.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
} as const;

/** Settings that keep Git from running programs that a repository names. */
export const SAFE_GIT: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.untrackedCache=false',
  'commit.gpgsign=false',
  'log.showSignature=false',
  'diff.external=',
  'diff.ignoreSubmodules=all',
  'diff.submodule=short',
  'status.submoduleSummary=false',
  'submodule.recurse=false',
  'protocol.allow=never',
  'safe.bareRepository=explicit',
  'safe.directory=*',
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
  'advice.addEmbeddedRepo=false',
].flatMap((setting) => ['-c', setting]);
