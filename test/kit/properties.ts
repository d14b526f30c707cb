/** Property tests whose random inputs follow from the seed. */
import fc from 'fast-check';
import { EVERYTHING, SEED } from './seed.js';

fc.configureGlobal({ seed: SEED });

/** The runs of an expensive property: an eighth of them, from another seed each time. */
export function runs(all: number): number {
  return EVERYTHING ? all : Math.ceil(all / 8);
}

export { fc };
