/** `guild reject`. */
import { answerBy, command as approve } from './index.js';
import type { Command } from '../../args/command.js';

export const command: Command = { help: approve.help, run: (call) => answerBy('reject', call) };
