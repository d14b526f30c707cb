/**
 * Decides who may publish on a channel. Only the engine writes the built-in channels, only members
 * write a team's channel, and guild.yaml names the writers of its own channels. People may write
 * wherever agents may. A refusal lists those that the sender may write to.
 */
import { DEFAULT_NOTE_BYTES, type ChannelRules } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { ENGINE, OWN_CHANNELS, TEAM_CHANNELS, type NoteBody } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';

interface Submission {
  channel: string;
  /** Stamped by the engine. */
  from: string;
  body: NoteBody;
}

export interface ChannelFacts {
  named: Readonly<Record<string, ChannelRules>>;
  isAgent(name: string): boolean;
  /**
   * The members of this channel's team, with its coordinator; undefined if there is no such team.
   */
  team(channel: string): readonly string[] | undefined;
}

/** Undefined if the note may be published. */
export function refusedNote({ channel, from, body }: Submission, facts: ChannelFacts): Problem | undefined {
  if (from !== ENGINE && from !== HUMAN && !facts.isAgent(from))
    return problem('forged', `unknown sender ${JSON.stringify(from)}; the note was not published`, {
      hint: 'put the file of this agent back, if it was removed or renamed',
    });
  if (from !== ENGINE && body.type !== 'said')
    return problem('forged', `only the program publishes notes of type ${body.type}, not ${from}`);
  const bytes = utf8Bytes(JSON.stringify(body));
  const maxBytes = rulesOf(channel, facts)?.maxBytes ?? DEFAULT_NOTE_BYTES;
  if (bytes > maxBytes)
    return problem('over_limit', `the note has ${bytes} bytes; the limit on ${channel} is ${maxBytes}`, {
      hint: 'keep the bulk in a file and name it in the note',
    });
  return refusedWriter(channel, from, facts);
}

function refusedWriter(channel: string, from: string, facts: ChannelFacts): Problem | undefined {
  const writable = namesFor(from, facts);
  if (OWN_CHANNELS.some((own) => own === channel)) {
    if (from === ENGINE) return undefined;
    return problem('not_allowed', `only the program itself writes to the channel ${channel}`, {
      hint: listed(writable),
    });
  }
  if (channel.startsWith(TEAM_CHANNELS)) {
    const members = facts.team(channel);
    if (members === undefined) return problem('not_found', `there is no team for the channel ${channel}`);
    if (from === ENGINE || from === HUMAN || members.includes(from)) return undefined;
    return problem('not_allowed', `${from} is not a member of the team of ${channel}`, { hint: listed(writable) });
  }
  const rules = rulesOf(channel, facts);
  if (rules === undefined) {
    const hint = nearestHint(channel, Object.keys(facts.named), undefined);
    return problem('not_found', `there is no channel ${JSON.stringify(channel)}`, {
      hint: [hint, listed(writable)].filter(Boolean).join(' '),
    });
  }
  if (from === ENGINE || from === HUMAN || mayWrite(rules, from)) return undefined;
  return problem('not_allowed', `${from} may not write to the channel ${channel}`, { hint: listed(writable) });
}

function listed(names: readonly string[]): string {
  return names.length === 0
    ? 'guild.yaml names no channel that you may write to; add one under "channels:", for example "news:"'
    : `channels you may write to: ${names.join(', ')}`;
}

/** The channels of guild.yaml that `from` may write to. */
function namesFor(from: string, { named }: ChannelFacts): string[] {
  const all = Object.keys(named).sort();
  return from === ENGINE || from === HUMAN ? all : all.filter((name) => mayWrite(named[name]!, from));
}

function rulesOf(channel: string, { named }: ChannelFacts): ChannelRules | undefined {
  return Object.hasOwn(named, channel) ? named[channel] : undefined;
}

function mayWrite({ writers }: ChannelRules, from: string): boolean {
  return writers === undefined || writers.includes(from);
}

/** An agent that a channel names as a writer gets the tool for it. */
export function isNamedWriter(agent: string, named: Readonly<Record<string, ChannelRules>>): boolean {
  return Object.values(named).some(({ writers }) => writers?.includes(agent));
}

export function channelsWritten(agent: string, named: Readonly<Record<string, ChannelRules>>): string[] {
  return Object.entries(named).flatMap(([name, { writers }]) =>
    writers === undefined || writers.includes(agent) ? [name] : [],
  );
}

/** Channels whose notes are added to this agent's conversations. */
export function channelsRead(agent: string, named: Readonly<Record<string, ChannelRules>>): string[] {
  return Object.entries(named).flatMap(([name, { readers }]) => (readers?.includes(agent) ? [name] : []));
}

/** The length in UTF-8. Rules do not import Node, so there is no Buffer. */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) bytes += code > 0x7ff && !(code >= 0xd800 && code <= 0xdfff) ? 2 : 1;
  }
  return bytes;
}
