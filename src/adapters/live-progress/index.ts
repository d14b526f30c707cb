/** Words, tools and cost of running turns, from process to process; never in a file. */
export { followProgress, type Following } from './follow.js';
export { offerProgress } from './offer.js';
