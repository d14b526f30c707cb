#!/usr/bin/env node
/** plugins/slack/actions/reply.mjs <recipient> <message>: answers where this person, or channel, last wrote. */
import { act } from '../act.mjs';
import { reply } from '../post.mjs';

await act(reply, 'reply.mjs <recipient> <message>');
