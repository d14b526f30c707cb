/** A person edits a conversation in the workspace in which its agent works. */
import { test } from 'node:test';
import { sampleRounds } from '../kit/sample.js';
import { edits } from './edits.js';
import { inTheFolder } from './seats.js';

for (const round of sampleRounds('edits', 3, 3)) edits(test, inTheFolder, round);
