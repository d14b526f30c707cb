/** `guild trust`: shows the parts of the workspace that want to act, and asks whether they may. */
import path from 'node:path';
import { acceptTrust, lookAtTrust, withdrawTrust, type Trust } from '../../../app/trust/trust.js';
import { wanted } from '../../../views/trust-question.js';
import { defined } from '../../../domain/defined.js';
import { problemError } from '../../../domain/problem.js';
import { EXIT, text, type Call, type Command } from '../../args/command.js';
import { hasPerson, isYes } from '../../process/ask.js';
import { wrappedLines } from '../../render/layout.js';

export const command: Command = {
  usage: 'trust',
  about: `
Shows which parts of this workspace can act beyond the built-in gates, such as plugins and their settings, providers with their addresses
and keys, the allowlist and the policy. Then it asks whether you trust them. Until you say yes, a workspace that you did not make
yourself runs restricted: no plugin, no provider of its own, and every action asks. When any of it changes later, what you
trusted last stays in force until you accept the change.

Without a terminal it asks nothing and trusts nothing, and the exit code is 4. To trust what you have looked at, name its digest:

  guild trust --digest <sha256>

What you trust is recorded in your own state folder (GUILD_STATE, or guild in XDG_STATE_HOME), never in the workspace. A
copy of a workspace must be trusted separately.`,
  options: {
    digest: { type: 'string', value: 'SHA256', about: 'trust exactly the parts with this digest, without asking' },
    'moved-from': {
      type: 'string',
      value: 'DIR',
      about: 'the workspace moved here from DIR; your earlier answers still count',
    },
    owner: { type: 'boolean', about: 'accept that another user owns this folder, as in a CI checkout' },
    revoke: { type: 'boolean', about: 'stop trusting this workspace' },
  },
  maxWords: 0,
  async run(call) {
    const { root, terminal, json, io, values } = call;
    if (values['revoke'] === true) {
      const isRevoked = withdrawTrust(root, io.env);
      terminal.say(isRevoked ? 'nothing of this workspace is trusted any more' : 'nothing was trusted here');
      if (json) terminal.json({ revoked: isRevoked });
      return EXIT.done;
    }
    const from = text(values, 'moved-from');
    const given = defined({
      owner: values['owner'] === true,
      movedFrom: from === undefined ? undefined : path.resolve(io.cwd, from),
    });
    const trust = lookAtTrust(root, io.env, given);
    const digest = text(values, 'digest');
    if (trust.state === 'trusted') return report(call, trust, 'already trusted');
    if (digest !== undefined) return report(call, acceptTrust(root, io.env, { digest }), 'trusted');
    if (json) {
      show(call, trust);
      return EXIT.waiting;
    }
    draw(call, trust);
    if (!hasPerson(io))
      throw problemError('needs_human', 'there is no terminal to ask at, so nothing was trusted', {
        hint: `if this is what you want: guild trust --digest ${trust.digest}`,
      });
    if (!(await isYes(io, 'Let it act? y/N '))) {
      terminal.say('nothing was trusted; the workspace runs as before');
      return EXIT.waiting;
    }
    return report(call, acceptTrust(root, io.env, { digest: trust.digest }), 'trusted');
  },
};

function draw({ terminal }: Call, trust: Trust): void {
  const isNew = trust.record.trusted === undefined;
  terminal.out(isNew ? `${trust.record.path} wants to act:` : `${trust.record.path} has changed since you trusted it:`);
  for (const { name, lines } of wanted(trust)) {
    terminal.out('');
    terminal.out(`  ${terminal.bold(name)}`);
    for (const line of lines) for (const part of wrappedLines(`    ${line}`, terminal.width)) terminal.out(part);
  }
  terminal.out('');
  terminal.out(`digest ${trust.digest}`);
}

function report(call: Call, trust: Trust, how: string): number {
  if (call.json) show(call, trust);
  const count = wanted({ record: { ...trust.record, trusted: undefined }, acting: trust.acting }).length;
  call.terminal.say(`${how}: ${trust.record.path}${count === 0 ? '; nothing in it acts' : ''}`);
  return EXIT.done;
}

function show({ terminal }: Call, trust: Trust): void {
  const { state, digest, record } = trust;
  terminal.json({ workspace: record.path, state, digest, parts: wanted(trust) });
}
