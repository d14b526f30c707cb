/**
 * `guild store`: creates the store of a workspace on several machines, and moves work into and out
 * of it.
 */
import path from 'node:path';
import { initStore, upgradeStore, type Made } from '../../../app/machines/index.js';
import { pullFrom } from '../../../app/machines/pull.js';
import { pushStore, type Pushed } from '../../../app/machines/push.js';
import { storeAddress, withLedger, type Address } from '../../../app/machines/store-address.js';
import { visible } from '../../../domain/consent/visible.js';
import { problemError } from '../../../domain/problem.js';
import { counted, EXIT, text, unknownWord, type Call, type Command } from '../../args/command.js';

export const command: Command = {
  usage: [
    ['store init', 'create the schema and its roles in a database'],
    ['store upgrade', 'bring the schema up to date'],
    ['store push', 'move the work of this folder into an empty store'],
    ['store pull <dir>', 'write the whole store as a plain workspace'],
  ],
  about: `
A workspace on several machines is kept in PostgreSQL (15 or newer). Its address is in guild.yaml, without a password:

  store: postgres://guild@db.internal/guild?schema=team

The password comes from PGPASSWORD, ~/.pgpass or GUILD_STORE, which holds a whole address and takes precedence.

init creates the schema, its tables and three roles. Grant them to the users of your machines: <schema>_worker for machines that
only work, <schema>_desk where people answer and publish, <schema>_reader for those who only look. It needs a user who may create
schemas and roles. Running it again changes nothing.

Run upgrade once when a new version of Guildhall asks for it. Machines with the older version keep working meanwhile.

push copies tasks, conversations, events, records of effects, memory, boards and mail into an empty store. It refuses while a process
works on the folder. The folder stays as it is; put the address into guild.yaml afterwards. Definitions and agents' own
repositories are not copied: they travel by Git.

pull writes everything into a new folder as a plain workspace, with the definitions of this folder. It refuses while a process
works on the store.`,
  options: {
    store: { type: 'string', value: 'URL', about: 'the address of the store, instead of the one in guild.yaml' },
  },
  maxWords: 2,
  async run(call) {
    const [verb, target] = call.words;
    const action = ACTIONS[verb ?? ''];
    if (action === undefined) throw unknownWord('store', verb, Object.keys(ACTIONS));
    if ((target !== undefined) !== (verb === 'pull')) {
      const message = verb === 'pull' ? 'guild store pull needs a folder' : `guild store ${verb} takes no folder`;
      throw problemError('bad_usage', message);
    }
    await action(call, storeAddress(call.root, call.io.env, text(call.values, 'store')), target ?? '');
    return EXIT.done;
  },
};

const ACTIONS: Record<string, (call: Call, address: Address, target: string) => Promise<void>> = {
  async init(call, address) {
    const made = await initStore(address, path.basename(call.root));
    const { from, roles } = made;
    const before = made.isAdapted ? 'it came from a backup and was adapted to this server' : 'nothing was changed';
    const what = from === 0 ? 'is created' : `already exists, version ${from}; ${before}`;
    report(call, made, [
      `the store ${what}: ${address.shown}`,
      `grant one of these to each machine's user: ${roles.join(', ')}`,
    ]);
  },
  async upgrade(call, address) {
    const made = await upgradeStore(address);
    const { from, to } = made;
    report(call, made, [
      from === to ? `the schema already has version ${to}` : `the schema had version ${from} and now has version ${to}`,
    ]);
  },
  async push(call, address) {
    const pushed = await withLedger(address, (ledger) => pushStore(call.root, ledger));
    report(call, pushed, [
      `pushed ${contents(pushed)} to ${address.shown}`,
      'next: put the address into guild.yaml as store:, then guild publish',
    ]);
  },
  async pull(call, address, target) {
    const folder = path.resolve(call.io.cwd, target);
    const pulled = await withLedger(address, (ledger) => pullFrom(call.root, folder, call.io.env, address, ledger));
    report(call, pulled, [
      `pulled ${contents(pulled)} into ${folder}`,
      ...refusals(pulled.refused),
      `next: guild trust --workspace ${target}, then guild watch there`,
    ]);
  },
};

function refusals(files: readonly string[] = []): string[] {
  if (files.length === 0) return [];
  const entries = counted(files.length, 'entry is', 'entries are');
  return [`${entries} left out, because a name like this cannot be a file of work: ${visible(files[0]!)}`];
}

function report({ terminal, json }: Call, facts: Made | Pushed, lines: string[]): void {
  if (json) return terminal.json(facts);
  for (const line of lines) terminal.say(line);
}

function contents({ tasks, conversations, events, effects }: Pushed): string {
  const parts = [
    counted(tasks, 'task'),
    counted(conversations, 'conversation'),
    counted(events, 'event'),
    counted(effects, 'record of an effect', 'records of effects'),
  ];
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
