/** A person deletes folders of the workspace in which the agents work. */
import { test } from 'node:test';
import { cleanUp } from './clean-up.js';
import { inTheFolder } from './seats.js';

cleanUp(test, inTheFolder);
