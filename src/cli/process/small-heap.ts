/** A process that mostly waits keeps its heap small instead of quick (ADR 0120). */
import { setFlagsFromString } from 'node:v8';

export function keepHeapSmall(): void {
  // New objects get no more room than at the start; what survives is collected sooner.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
}
