/** `guild answer`. */
import { answerBy, command as approve } from './index.js';
import type { Command } from '../../args/command.js';

export const command: Command = {
  usage: approve.usage,
  about: approve.about,
  run: (call) => answerBy('answer', call),
};
