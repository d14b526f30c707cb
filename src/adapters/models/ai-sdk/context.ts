/** The parts of a request besides the texts of the conversation. */
import type { Media } from './prompt/media.js';
import type { Thoughts } from './prompt/thoughts.js';

export interface Context {
  thoughts: Thoughts;
  media: Media | undefined;
}
