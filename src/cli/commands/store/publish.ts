/** `guild publish`: makes every machine work with the definitions of this folder. */
import { publishDefinitions } from '../../../app/machines/publish.js';
import { EXIT, text, type Command } from '../../args/command.js';

export const command: Command = {
  usage: 'publish',
  about: `
A workspace on several machines has its definitions (guild.yaml, agents, plugins, policy, allowlist) in a checkout on every
machine. publish writes their hash into the store. A process whose own files have another hash takes no work and says so in guild
state; bring its checkout up to date, and it continues by itself.

It also publishes the public key of this user, so that answers given here count on every machine. Run it once at each desk. It needs a
database user with the role <schema>_desk.

A machine without a person trusts what you have looked at if its environment names the digest that publish prints:

  GUILD_TRUST=<sha256> guild watch`,
  options: {
    store: { type: 'string', value: 'URL', about: 'the address of the store, instead of the one in guild.yaml' },
  },
  maxWords: 0,
  async run({ root, io, values, terminal, json }) {
    const { published, before } = await publishDefinitions(root, io.env, text(values, 'store'));
    if (json) terminal.json({ ...published, before: before?.hash ?? null });
    else {
      const { hash, commit, trust } = published;
      const same = before?.hash === hash ? ' (as before)' : '';
      terminal.say(`published ${hash.slice(0, 12)}${commit === undefined ? '' : `, commit ${commit}`}${same}`);
      terminal.out(`machines without a person: GUILD_TRUST=${trust}`);
    }
    return EXIT.done;
  },
};
