/**
 * How channels become file names: `state` is `bus/state.jsonl`, `team/plan` is `bus/team/plan.jsonl`, and when a file has grown
 * the channel goes on in `bus/state~2.jsonl`, `bus/state~3.jsonl`. No name of a channel holds `~`, so none can be taken for another's.
 */
import path from 'node:path';
import { isSafeId } from '../../domain/task/id.js';

export function channelProblem(name: string): string | undefined {
  const parts = name.split('/');
  if (parts.length <= 2 && parts.every(isSafeId)) return undefined;
  return `${JSON.stringify(name.slice(0, 120))} cannot be the name of a channel`;
}

export function partFile(folder: string, channel: string, number: number): string {
  return path.join(folder, `${channel}${number === 1 ? '' : `~${number}`}.jsonl`);
}

/** Channel and number; undefined for a file of another kind. */
export function parsePartFile(name: string): { channel: string; number: number } | undefined {
  const [, channel, number] = /^([^~]+)(?:~(\d{1,9}))?\.jsonl$/.exec(name) ?? [];
  if (channel === undefined || !isSafeId(channel)) return undefined;
  return { channel, number: number === undefined ? 1 : Number(number) };
}
