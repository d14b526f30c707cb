/** Every kind of file that has a schema, with the text at the top of its reference page. */
import { guildYaml } from '../../dist/src/schemas/guild-yaml.js';

const GUILD = {
  schema: guildYaml,
  json: 'guild.json',
  page: 'configuration.md',
  title: 'Configuration: `guild.yaml`',
  about: 'Everything that holds for a whole workspace. Every key is optional, and an empty file is a good one.',
  more: `A wrong value or a mistyped key stops \`run\`, \`pump\` and \`watch\` before they start, because the
limits and models of the workspace are not certain then. \`guild check\` shows every problem with its
place. A key that resembles none of these is reported and ignored. A running process keeps the
configuration it started with; \`guild watch\` reports an edit once.`,
};

export const KINDS = [GUILD];

/** Where the published schemas can be read from. */
export const PUBLISHED = 'https://unpkg.com/guildhall/schemas/';
