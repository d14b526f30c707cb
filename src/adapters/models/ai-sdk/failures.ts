/**
 * Classifies provider errors. The class determines what happens next; the message tells a person
 * what to change and where. Errors are recognised by their fields, so that no provider package is
 * loaded.
 */
import { literalPattern } from '../../../domain/literal-pattern.js';
import type { ModelFailure, ModelFailureClass } from '../../../ports/model.js';

/** Details for messages. */
export interface CallInfo {
  provider: string;
  model: string;
  agent: string;
  /** The address of the server, without credentials. */
  address: string;
  keyEnv?: string;
  /** The key; removed from every message. */
  secret?: string;
  now: Date;
}

interface Thrown {
  name?: string;
  message?: string;
  code?: unknown;
  type?: unknown;
  status?: unknown;
  statusCode?: number;
  responseBody?: string;
  responseHeaders?: Record<string, string>;
  cause?: unknown;
}

export function failureOf(error: unknown, info: CallInfo): ModelFailure {
  const thrown: Thrown = typeof error === 'object' && error !== null ? error : { message: String(error) };
  if (thrown.name === 'MissingPackageError')
    return failure('unknown_model', info, 'needs a package that is not installed', `run: ${thrown.message}`);
  if (/LoadAPIKeyError|LoadSettingError/.test(thrown.name ?? '') || NO_CREDENTIALS.test(thrown.message ?? ''))
    return failure('auth', info, `lacks a setting: ${reasonText(thrown, info)}`, otherModel(info));
  const stalled = find(thrown, (cause) => cause.name === 'StalledError');
  if (stalled) return failure('cut_off', info, `stopped sending in the middle of an answer (${stalled.message})`);
  const network = find(
    thrown,
    (cause) => typeof cause.code === 'string' && /^(E[A-Z]{3,}|CERT_|DEPTH_|SELF_|UNABLE_|ERR_)/.test(cause.code),
  );
  const status = thrown.statusCode ?? 0;
  if (network && status >= 200 && status < 300)
    return failure('cut_off', info, `was cut off in the middle of an answer (${String(network.code)})`);
  if (status >= 300) return fromStatus(status, thrown, info);
  if (network)
    return failure(
      'unreachable',
      info,
      `cannot be reached at ${info.address} (${networkText(network)})`,
      'check the address and that it is running',
    );
  if (
    /JSONParse|TypeValidation|EmptyResponseBody|InvalidResponseData|NoContentGenerated/.test(thrown.name ?? '') ||
    status >= 200
  ) {
    if (/without a finish reason/.test(thrown.message ?? ''))
      return failure('cut_off', info, 'ended its answer without a finish reason');
    return failure('garbage', info, `sent an unusable answer: ${reasonText(thrown, info)}`);
  }
  return fromText(thrown, info, 'unreachable');
}

/** Errors that the packages for cloud credentials raise before they send anything. */
const NO_CREDENTIALS = /could not load the default credentials|unable to detect a project id/i;

/** How long the server asks us to wait. */
function retryAfterMs(headers: Record<string, string> | undefined, body: string, now: Date): number | undefined {
  const ms = Number(headers?.['retry-after-ms']);
  if (headers?.['retry-after-ms'] !== undefined && ms >= 0) return Math.ceil(ms);
  const header = headers?.['retry-after']?.trim();
  if (header !== undefined && header !== '') {
    if (/^\d+(\.\d+)?$/.test(header)) return Math.ceil(Number(header) * 1000);
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - now.getTime());
  }
  const google = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body);
  return google ? Math.ceil(Number(google[1]) * 1000) : undefined;
}

function fromStatus(status: number, thrown: Thrown, info: CallInfo): ModelFailure {
  const body = thrown.responseBody ?? '';
  const reason = reasonText(thrown, info);
  const wait = retryAfterMs(thrown.responseHeaders, body, info.now);
  const textClass = classByText(`${body} ${errorText(thrown)}`);
  if (status === 402 || textClass === 'quota')
    return failure(
      'quota',
      info,
      `reports an exhausted quota: ${reason}`,
      `top up the account behind ${info.keyEnv ?? 'the key'}, or ${otherModel(info)}`,
    );
  if (status === 429) return failure('rate', info, `limits the request rate: ${reason}`, undefined, wait);
  // Google rejects a key with 400.
  if (status === 401 || (status === 403 && textClass !== 'refused') || (status === 400 && textClass === 'auth')) {
    return failure(
      'auth',
      info,
      `rejected the key: ${reason}`,
      `check ${info.keyEnv ?? 'the key'} in the environment, or ${otherModel(info)}`,
    );
  }
  if (status === 413 || textClass === 'context')
    return failure('context', info, `reports that the conversation is too long for ${info.model}: ${reason}`);
  if (status === 404 || textClass === 'unknown_model') {
    return failure(
      'unknown_model',
      info,
      `has no model ${info.model} at ${info.address}: ${reason}`,
      `check the name, or ${otherModel(info)}`,
    );
  }
  if (textClass === 'stale_thoughts')
    return failure('stale_thoughts', info, `no longer accepts thoughts of earlier answers: ${reason}`);
  if (status >= 500 || status === 408)
    return failure('unreachable', info, `failed with status ${status}: ${reason}`, undefined, wait);
  if (status < 400)
    return failure(
      'unreachable',
      info,
      `redirects elsewhere (status ${status})`,
      `correct the base URL ${info.address}`,
    );
  // Groq refuses its own model's answer, not our request, so a retry helps.
  if (body.includes('tool_use_failed'))
    return failure('garbage', info, `could not read the call of its model: ${reason}`);
  return failure('refused', info, `refused the request with status ${status}: ${reason}`, whatToChange(reason, info));
}

/** A hint for the person, if the provider's message names a setting that can be changed. */
function whatToChange(reason: string, info: CallInfo): string | undefined {
  if (/does not support (tools|thinking)/.test(reason)) return otherModel(info);
  const setting = /\b(temperature|top_p|top_k|max_tokens|max_output_tokens|reasoning_effort|effort)\b/.exec(
    reason,
  )?.[1];
  if (setting !== undefined)
    return `remove or change ${SETTINGS[setting] ?? setting} in the file of agent ${info.agent}`;
  return /\b(image|document|file)\b/i.test(reason) ? `leave the file out, or ${otherModel(info)}` : undefined;
}

/** Our names for settings that providers call differently. */
const SETTINGS: Readonly<Record<string, string>> = {
  max_output_tokens: 'max_tokens',
  reasoning_effort: 'reasoning',
  effort: 'reasoning',
};

/** Classifies an error without a status, such as an error event in a stream. */
function fromText(thrown: Thrown, info: CallInfo, otherwise: ModelFailureClass): ModelFailure {
  const kind = classByText(errorText(thrown));
  return failure(kind ?? otherwise, info, `reported an error: ${reasonText(thrown, info)}`);
}

function errorText({ type, code, status, message }: Thrown): string {
  return [type, code, status, message]
    .filter((part) => part !== undefined && part !== null)
    .map(String)
    .join(' ');
}

/** Errors that providers report when their own thoughts no longer fit the request. */
const STALE_THOUGHTS =
  /invalid.{0,3}signature|thought.?signature|bound to a different conversation|blocks in the latest assistant message cannot be modified|encrypted content .*could not be verified|invalid_encrypted_content|of type 'reasoning' was provided without|without its required 'reasoning' item|reasoning_content in the thinking mode/i;

function classByText(text: string): ModelFailureClass | undefined {
  if (STALE_THOUGHTS.test(text)) return 'stale_thoughts';
  if (
    /insufficient_quota|credit balance is too low|billing_(hard_limit|not_active)|insufficient (credits|balance)|payment required/i.test(
      text,
    )
  )
    return 'quota';
  if (
    /context_length|maximum context|context window|prompt is too long|input token count.*exceeds|too many (input )?tokens|request_too_large|context size|context length|maximum prompt length|too large for model|input is too long/i.test(
      text,
    )
  )
    return 'context';
  if (
    /content_filter|content_policy|content management policy|responsible ?ai|safety (system|filter)|flagged/i.test(text)
  )
    return 'refused';
  if (
    /model_not_found|not_found_error|model[^.]{0,80}(does not exist|not found|is not supported|unknown)|model not exist|(unknown|no such|invalid) model|invalid_model/i.test(
      text,
    )
  )
    return 'unknown_model';
  if (/invalid_api_key|authentication_error|permission_error|unauthorized|api key not valid/i.test(text)) return 'auth';
  if (/rate_limit|rate limit|too many requests|RESOURCE_EXHAUSTED/i.test(text)) return 'rate';
  if (/overloaded|server_error|api_error|unavailable|internal/i.test(text)) return 'unreachable';
  return undefined;
}

export function failure(
  kind: ModelFailureClass,
  info: CallInfo,
  what: string,
  next?: string,
  wait?: number,
): ModelFailure {
  const message = `${info.provider} ${what}${next ? `; ${next}` : ''}`;
  return { class: kind, message, retryAfterMs: wait };
}

export function otherModel(info: Pick<CallInfo, 'agent'>): string {
  return `choose another model in the file of agent ${info.agent} or in guild.yaml`;
}

/** The provider's own message: short, on one line, and without the key in case it is echoed. */
function reasonText(thrown: Thrown, info: CallInfo): string {
  const inner = thrown.cause as Thrown | undefined;
  const text = messageInBody(thrown.responseBody) ?? thrown.message ?? inner?.message ?? 'no reason given';
  const hidden = info.secret ? withoutKey(text, info.secret) : text;
  // oxlint-disable-next-line no-control-regex -- control characters must not reach a terminal
  const plain = hidden.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ').trim();
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}

/** A short key, such as the placeholder for a local server, may be part of ordinary words. */
function withoutKey(text: string, key: string): string {
  if (key.length >= 8) return text.replaceAll(key, '[key]');
  return text.replace(new RegExp(`(?<!\\w)${literalPattern(key)}(?!\\w)`, 'g'), '[key]');
}

function messageInBody(body: string | undefined): string | undefined {
  if (!body) return undefined;
  try {
    const { error, message, detail } = JSON.parse(body) as Record<'error' | 'message' | 'detail', unknown>;
    return textIn(error) ?? textIn(message) ?? textIn(detail);
  } catch {
    return /<html|<!doctype/i.test(body) ? 'an HTML page instead of JSON' : body;
  }
}

/** A text, or the first text of a mapping or list; Mistral names the wrong field in `loc`. */
function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textIn(value[0]);
  if (typeof value !== 'object' || value === null) return undefined;
  const { message, msg, detail, loc } = value as Record<string, unknown>;
  const text = textIn(message) ?? textIn(msg) ?? textIn(detail);
  return text !== undefined && Array.isArray(loc) ? `${loc.join('.')}: ${text}` : text;
}

function networkText(error: Thrown): string {
  const descriptions: Record<string, string> = {
    ECONNREFUSED: 'nothing is listening there',
    ENOTFOUND: 'no such host',
    EAI_AGAIN: 'the host name cannot be resolved now',
    ECONNRESET: 'the connection was closed',
    ETIMEDOUT: 'no reply in time',
  };
  const code = String(error.code);
  return descriptions[code] ? `${code}: ${descriptions[code]}` : code;
}

/** The error itself or the first of its causes that matches, at most five levels deep. */
function find(error: Thrown, fits: (error: Thrown) => boolean): Thrown | undefined {
  let current: Thrown | undefined = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    if (fits(current)) return current;
    current = current.cause as Thrown | undefined;
  }
  return undefined;
}
