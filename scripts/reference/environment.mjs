/** The environment variables that the program reads. A test compares the list with the sources. */
export const VARIABLES = {
  GUILD_WORKSPACE: 'The workspace, if `--workspace` is not given. Scripts of plugins get it too.',
  GUILD_SANDBOX: '`off` runs the commands of agents without a sandbox. Approvals then say so.',
  GUILD_DEBUG: 'If set, a bug is printed with its stack trace.',
  NO_COLOR: 'If set, nothing is printed in colour.',
  TERM: '`dumb` turns off colours and drawing.',
  PATH: 'Where `git`, `bwrap` and the commands of agents are found.',
  SYSTEMROOT: 'On Windows: passed on to `git`.',
  OPENAI_BASE_URL: 'The address of a server that speaks the API of OpenAI. It needs no key if it is on this machine.',
  ANTHROPIC_BASE_URL: 'Another address for the API of Anthropic, with or without `/v1`.',
  ANTHROPIC_AUTH_TOKEN: 'A bearer token for Anthropic or a gateway, if there is no `ANTHROPIC_API_KEY`.',
  GOOGLE_GENERATIVE_AI_BASE_URL: 'Another address for the API of Google.',
  GOOGLE_GEMINI_BASE_URL: 'The same without the version, as the tools of Google want it.',
  GEMINI_API_KEY: 'Another name for `GOOGLE_GENERATIVE_AI_API_KEY`.',
};
