/** Property tests whose random inputs follow from the seed. */
import fc from 'fast-check';
import { SEED } from './seed.js';

fc.configureGlobal({ seed: SEED });

export { fc };
