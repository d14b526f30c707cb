/**
 * All stories in one list. Suites play them without faults, with crashes and power cuts at every
 * change, and with several processes.
 */
import { BASICS } from './stories/basics.js';
import { COORDINATION } from './stories/coordination.js';
import { HUMAN } from './stories/human.js';
import { MAIL } from './stories/mail.js';
import { PATTERNS } from './stories/patterns.js';
import { SWARM } from './stories/swarm.js';
import type { Story } from './stories/story.js';

export { writeStory, type Story } from './stories/story.js';

export const STORIES: readonly Story[] = [...MAIL, ...BASICS, ...HUMAN, ...PATTERNS, ...SWARM, ...COORDINATION];
