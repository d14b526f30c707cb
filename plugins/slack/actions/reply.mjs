#!/usr/bin/env node
/**
 * plugins/slack/actions/reply.mjs <recipient> <message>: replies where this person or channel last
 * wrote.
 */
import { act } from '../act.mjs';
import { reply } from '../post.mjs';

await act(reply, 'reply.mjs <recipient> <message>');
