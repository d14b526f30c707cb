/** The interface of a stand-in for the HTTP server: it judges a request and encodes an answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ModelAnswer, ModelFailure, ModelRequest } from '../../../../ports/model.js';
import type { Json } from './json.js';
import type { Refusal } from './rule.js';

export interface StandIn {
  /** The path that a base URL ends with. */
  base: string;
  /** The answer to a GET; undefined: the path takes only POST. */
  get?(path: string): HttpReply | undefined;
  receive(call: WireCall): Verdict;
  /** The error of the provider for a failure that the script wants. */
  failure(failure: ModelFailure): HttpReply;
  errorBody(refusal: Omit<Refusal, 'rule'>): unknown;
}

export interface WireCall {
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Undefined: it is not a JSON object. */
  body: Json | undefined;
  bytes: number;
}

type Verdict = { refusals: Refusal[] } | Accepted;

export interface Accepted {
  request: ModelRequest;
  isStream: boolean;
  encoder: Encoder;
}

/** Writes one answer. A stream is `open`, any number of `text`, and `close`. */
export interface Encoder {
  open(): string;
  text(delta: string): string;
  close(answer: ModelAnswer): string;
  /** The answer without a stream. */
  whole(answer: ModelAnswer): unknown;
}

export interface HttpReply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface StandInOptions {
  /** The clock that decides when a cached prompt expires. */
  now(): number;
}

export function retryAfter(waitMs: number | undefined): Record<string, string> {
  return waitMs === undefined ? {} : { 'retry-after': String(waitMs / 1000) };
}
