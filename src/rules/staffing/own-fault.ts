/** Why a task failed, in words, where its taker has to do with it: what a person ended, or what failed before it could begin, is nobody's fault. */
import type { Problem } from '../../domain/problem.js';

const OTHERS = new Set<Problem['code']>(['cancelled', 'by_hand', 'dependency_failed']);

export function ownFault(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined;
  const { code, message } = error as Partial<Problem>;
  if (code !== undefined && OTHERS.has(code)) return undefined;
  return message ?? 'its task failed';
}
