/** The stories that are played whole, with crashes at every change, with power cuts, and by several processes at once: by theme, in one list. */
import { BASICS } from './stories/basics.js';
import { COORDINATION } from './stories/coordination.js';
import { HUMAN } from './stories/human.js';
import { MAIL } from './stories/mail.js';
import { PATTERNS } from './stories/patterns.js';
import { SWARM } from './stories/swarm.js';
import type { Story } from './stories/story.js';

export { lay, type Story } from './stories/story.js';

export const STORIES: readonly Story[] = [...MAIL, ...BASICS, ...HUMAN, ...PATTERNS, ...SWARM, ...COORDINATION];
