#!/usr/bin/env node
/**
 * plugins/slack/actions/send.mjs <recipient> <message> [--thread <id>]: sends a message to a person
 * or channel.
 */
import { act } from '../act.mjs';
import { post } from '../post.mjs';

await act(post, 'send.mjs <recipient> <message> [--thread <id>]');
