/**
 * A quirk: something that real servers do although their documentation says otherwise. It replaces
 * the normal reply; the answer still comes from the script.
 */
import type { ModelAnswer } from '../../../../ports/model.js';
import type { Accepted } from '../wire/stand-in.js';

export interface Quirk {
  /** The behaviour, and the server that has it. */
  says: string;
  reply(answer: ModelAnswer, accepted: Accepted): QuirkReply;
}

export interface QuirkReply {
  body: string;
  /** Default: an event stream. */
  contentType?: string;
  status?: number;
}
