/** A person saves the ballot of the workspace in which the agents work. */
import { test } from 'node:test';
import { inTheFolder } from './seats.js';
import { slowSaves } from './slow-saves.js';

slowSaves(test, inTheFolder);
