/**
 * Who may tell what on which channel. The program's own channels are written by the engine alone; a team's by its members; those
 * that guild.yaml names by whom it names there. People may write wherever agents may. What is refused comes with the channels
 * there are.
 */
import { DEFAULT_NOTE_BYTES, type ChannelRules } from '../../domain/config/config.js';
import { nearestHint } from '../../domain/nearest.js';
import { ENGINE, OWN_CHANNELS, TEAM_CHANNELS, type NoteBody } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN } from '../../domain/task/task.js';

interface Saying {
  channel: string;
  /** Stamped by the engine. */
  from: string;
  body: NoteBody;
}

export interface ChannelsKnown {
  named: Readonly<Record<string, ChannelRules>>;
  isAgent(name: string): boolean;
  /** Who sits in the team of this channel, its coordinator included; undefined: there is no such team. */
  team(channel: string): readonly string[] | undefined;
}

/** Undefined: it may be told. */
export function refusedNote({ channel, from, body }: Saying, known: ChannelsKnown): Problem | undefined {
  if (from !== ENGINE && from !== HUMAN && !known.isAgent(from))
    return problem('forged', `nobody here is called ${JSON.stringify(from)}, so nothing is told in that name`);
  if (from !== ENGINE && body.type !== 'said')
    return problem('forged', `a note of type ${body.type} is told by the program, not by ${from}`);
  const bytes = utf8Bytes(JSON.stringify(body));
  const most = rulesOf(channel, known)?.maxBytes ?? DEFAULT_NOTE_BYTES;
  if (bytes > most)
    return problem('over_limit', `the note has ${bytes} bytes; one on ${channel} may have ${most}`, {
      hint: 'keep the bulk in a file and name it in the note',
    });
  return refusedWriter(channel, from, known);
}

function refusedWriter(channel: string, from: string, known: ChannelsKnown): Problem | undefined {
  const may = namesFor(from, known);
  if (OWN_CHANNELS.some((own) => own === channel)) {
    if (from === ENGINE) return undefined;
    return problem('not_allowed', `only the program itself writes the channel ${channel}`, { hint: listed(may) });
  }
  if (channel.startsWith(TEAM_CHANNELS)) {
    const members = known.team(channel);
    if (members === undefined) return problem('not_found', `there is no team for the channel ${channel}`);
    if (from === ENGINE || from === HUMAN || members.includes(from)) return undefined;
    return problem('not_allowed', `${from} does not sit in the team of ${channel}`, { hint: listed(may) });
  }
  const rules = rulesOf(channel, known);
  if (rules === undefined) {
    const hint = nearestHint(channel, Object.keys(known.named), undefined);
    return problem('not_found', `there is no channel ${JSON.stringify(channel)}`, {
      hint: [hint, listed(may)].filter(Boolean).join(' '),
    });
  }
  if (from === ENGINE || from === HUMAN || mayWrite(rules, from)) return undefined;
  return problem('not_allowed', `${from} may not write the channel ${channel}`, { hint: listed(may) });
}

function listed(names: readonly string[]): string {
  return names.length === 0
    ? 'guild.yaml names no channel that you may write; a line "news:" under "channels:" makes one'
    : `channels you may write: ${names.join(', ')}`;
}

/** Channels of guild.yaml that somebody may write. */
function namesFor(from: string, { named }: ChannelsKnown): string[] {
  const all = Object.keys(named).sort();
  return from === ENGINE || from === HUMAN ? all : all.filter((name) => mayWrite(named[name]!, from));
}

function rulesOf(channel: string, { named }: ChannelsKnown): ChannelRules | undefined {
  return Object.hasOwn(named, channel) ? named[channel] : undefined;
}

function mayWrite({ writers }: ChannelRules, from: string): boolean {
  return writers === undefined || writers.includes(from);
}

/** A channel whose writers name this agent gives it the tool to write with. */
export function isNamedWriter(agent: string, named: Readonly<Record<string, ChannelRules>>): boolean {
  return Object.values(named).some(({ writers }) => writers?.includes(agent));
}

/** Channels whose notes are added to this agent's conversations. */
export function channelsRead(agent: string, named: Readonly<Record<string, ChannelRules>>): string[] {
  return Object.entries(named).flatMap(([name, { readers }]) => (readers?.includes(agent) ? [name] : []));
}

/** Rules are pure and have no Buffer: the length of a text in UTF-8. */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > 0x7f) bytes += c > 0x7ff && !(c >= 0xd800 && c <= 0xdfff) ? 2 : 1;
  }
  return bytes;
}
