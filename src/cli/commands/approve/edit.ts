/** `guild edit`. */
import { answerBy, command as approve } from './index.js';
import type { Command } from '../../args/command.js';

export const command: Command = {
  usage: approve.usage,
  about: approve.about,
  options: { seen: approve.options!['seen']! },
  run: (call) => answerBy('edit', call),
};
