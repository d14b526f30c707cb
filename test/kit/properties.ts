/** Properties of random inputs; which ones follows from the one seed. */
import fc from 'fast-check';
import { SEED } from './seed.js';

fc.configureGlobal({ seed: SEED });

export { fc };
