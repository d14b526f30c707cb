/** `guild edit`. */
import { answerBy, command as approve } from './approve.js';
import type { Command } from './command.js';

export const command: Command = { help: approve.help, run: (call) => answerBy('edit', call) };
