/** A process that mostly waits keeps its heap small rather than fast (ADR 0120). */
import { setFlagsFromString } from 'node:v8';

export function keepHeapSmall(): void {
  // The space for new objects does not grow, so garbage is collected more often.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
}
