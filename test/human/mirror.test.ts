/** The same person at a mirror of a store in PostgreSQL: every habit works there, too. */
import { test as nodeTest } from 'node:test';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { sampleTests } from '../kit/sample.js';
import { cleanUp } from './clean-up.js';
import { edits } from './edits.js';
import { inAMirror } from './seats.js';
import { slowSaves } from './slow-saves.js';

const test = sampleTests('human/mirror', 4);

if (NO_POSTGRES) nodeTest('a person at a mirror', { skip: NO_POSTGRES });
else {
  cleanUp(test, inAMirror);
  slowSaves(test, inAMirror);
  for (const round of [0, 1, 2]) edits(test, inAMirror, round);
}
