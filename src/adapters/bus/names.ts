/**
 * File names of channels: `state` is `bus/state.jsonl`, `team/plan` is `bus/team/plan.jsonl`. When
 * a file is full, the channel continues in `bus/state~2.jsonl`, `bus/state~3.jsonl`. Channel names
 * cannot contain `~`, so these names are unambiguous.
 */
import { isSafeId } from '../../domain/task/id.js';

export function channelProblem(name: string): string | undefined {
  const parts = name.split('/');
  if (parts.length <= 2 && parts.every(isSafeId)) return undefined;
  return `${JSON.stringify(name.slice(0, 120))} is not a valid channel name`;
}

export function segmentFile(folder: string, channel: string, number: number): string {
  return `${folder}/${channel}${number === 1 ? '' : `~${number}`}.jsonl`;
}

export function parseSegmentFile(name: string): { channel: string; number: number } | undefined {
  const [, channel, number] = /^([^~]+)(?:~(\d{1,9}))?\.jsonl$/.exec(name) ?? [];
  if (channel === undefined || !isSafeId(channel)) return undefined;
  return { channel, number: number === undefined ? 1 : Number(number) };
}
