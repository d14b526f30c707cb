/**
 * `guild mail`: adds a message from outside, as a bridge to a service would, and lists the
 * messages.
 */
import { addMail, listMail } from '../../app/readers/inbox.js';
import { EXIT, text, unknownWord, type Call, type Command } from '../args/command.js';
import { localDateTime } from '../../views/local-time.js';
import { table, tableRows } from '../render/layout.js';

export const command: Command = {
  usage: [
    ['mail add <text>', 'add a message to inbox/<service>-messages.jsonl'],
    ['mail list', 'list the messages, and whether they were taken'],
    ['mail sources', 'list the webhooks of guild.yaml, and the calls that were refused'],
  ],
  about: 'The next pass turns a message into a task for its agent, marked as untrusted data.',
  options: {
    from: { type: 'string', value: 'NAME', about: 'add: the sender' },
    channel: { type: 'string', value: 'NAME', about: 'add: where it comes from, for example "slack #ops"' },
    to: { type: 'string', value: 'AGENT', about: 'add: the agent that gets the task' },
  },
  async run(call) {
    const [verb, ...rest] = call.words;
    if (verb === 'add') return add(call, rest.join(' '));
    if (verb === 'list' || verb === undefined) return list(call);
    if (verb === 'sources') return sources(call);
    throw unknownWord('mail', verb, ['add', 'list', 'sources']);
  },
};

async function add({ root, values, terminal, json }: Call, message: string): Promise<number> {
  const file = await addMail(root, {
    text: message,
    from: text(values, 'from'),
    channel: text(values, 'channel'),
    to: text(values, 'to'),
  });
  if (json) terminal.json({ file });
  else terminal.out(file);
  terminal.say(terminal.dim('the next guild pump or guild watch in this folder turns it into a task'));
  return EXIT.done;
}

async function sources({ root, terminal, json, io }: Call): Promise<number> {
  const { listWebhooks } = await import('../../app/doors/webhooks.js');
  const all = await listWebhooks(root, io.env);
  if (json) {
    terminal.json(
      all.map(({ source, kind, secretEnv, isSecretSet, isTrusted, refused, lastRefused }) => ({
        source,
        kind,
        secret_env: secretEnv,
        secret_set: isSecretSet,
        trusted: isTrusted,
        refused,
        last_refused: lastRefused,
      })),
    );
    return EXIT.done;
  }
  const rows = all.map(({ source, kind, secretEnv, isSecretSet, isTrusted, refused, lastRefused }) => [
    terminal.bold(source),
    kind ?? 'not in guild.yaml',
    secretEnv === undefined
      ? ''
      : `${secretEnv} ${isSecretSet ? 'is set' : 'is not set here'}${isTrusted ? '' : ', not trusted yet (guild trust)'}`,
    lastRefused === undefined
      ? 'none refused'
      : `${refused} refused, last ${localDateTime(lastRefused.at)}: ${lastRefused.why}`,
  ]);
  for (const line of tableRows(rows, terminal.width, [0, 1]).flat()) terminal.out(line);
  if (all.length === 0) terminal.say('guild.yaml names no webhooks');
  return EXIT.done;
}

async function list({ root, terminal, json }: Call): Promise<number> {
  const mail = await listMail(root);
  if (json) for (const message of mail) terminal.json(message);
  else {
    const rows = mail.map((message) => [
      message.taken ? terminal.dim('taken') : terminal.colour('yellow', 'new'),
      [message.source, message.channel].filter(Boolean).join(' '),
      message.from ?? '?',
      message.text,
    ]);
    for (const row of table(rows, terminal.width)) terminal.out(row);
    if (mail.length === 0) terminal.say('there is no mail');
  }
  return EXIT.done;
}
