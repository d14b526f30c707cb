/** Words, tools and cost of running turns, from process to process; never in a file. */
export { followProgress, type Following, type FollowOptions } from './follow.js';
export { offerProgress, type Offer } from './offer.js';
