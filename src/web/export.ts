/**
 * One run as one self-contained HTML file, for sharing. Text from outside and secrets stay here:
 * results of tools and messages from outside are left out unless the person asks for them.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { openAssets } from './assets.js';
import type { Conversation, Exported, Hello, ShownCall, TaskDetail } from './base/contract.js';
import { openFeed, type Feed } from './base/feed.js';
import { openLog, type Log } from './base/log.js';
import { redaction, type Redaction } from './redact.js';
import { conversationOf } from './reads/session.js';
import { taskDetail, whyOf } from './reads/task.js';

export interface ExportOptions {
  root: string;
  env: Record<string, string | undefined>;
  task: string;
  /** Also what came from outside: results of tools, messages of others. */
  all: boolean;
}

export async function exportRun({ root, env, task, all }: ExportOptions): Promise<string> {
  const feed = await openFeed(root, env);
  try {
    const hide = redaction(root, env);
    const answers = hide.value(await answersOf(feed, await openLog(root, feed.states), task, { all, hide }));
    const at = new Date().toISOString();
    const about = all ? 'Secrets are left out.' : 'Text from outside and secrets are left out.';
    const name = path.basename(path.resolve(root));
    return html({ workspace: name, task, at, about, hello: readOnlyHello(name, at), answers });
  } finally {
    await feed.close();
  }
}

interface Sharing {
  all: boolean;
  hide: Redaction;
}

async function answersOf(feed: Feed, log: Log, root: string, sharing: Sharing): Promise<Record<string, unknown>> {
  const { all } = sharing;
  const answers: Record<string, unknown> = {};
  const top = await taskDetail(feed, log, root);
  for (const { id, session } of top.tree) {
    const detail = id === root ? top : await taskDetail(feed, log, id);
    answers[`/api/tasks/${encodeURIComponent(id)}`] = all ? detail : withoutTainted(detail);
    answers[`/api/tasks/${encodeURIComponent(id)}/why`] = await whyOf(feed, log, id);
    if (session === undefined) continue;
    const key = `/api/sessions/${encodeURIComponent(session)}`;
    answers[key] ??= shared(await conversationOf(feed, session, Infinity, Infinity), sharing);
  }
  return answers;
}

const LEFT_OUT = '[text from outside, not exported]';

function withoutTainted(detail: TaskDetail): TaskDetail {
  return detail.taint.length === 0 || detail.result === undefined ? detail : { ...detail, result: LEFT_OUT };
}

function shared(talk: Conversation, { all, hide }: Sharing): Conversation {
  const { text: _, ...rest } = talk;
  return {
    ...rest,
    messages: talk.messages.map((message) => ({
      ...message,
      text: message.tainted && !all ? LEFT_OUT : message.text,
      calls: message.calls.map(hide.call).map((call) => withoutResult(call, all)),
    })),
  };
}

function withoutResult(call: ShownCall, all: boolean): ShownCall {
  return all || call.result === undefined ? call : { ...call, result: LEFT_OUT };
}

function readOnlyHello(name: string, now: string): Hello {
  const counts = { requests: 0, pending: 0, active: 0, waiting: 0 };
  const spend = { microUsd: 0, tokens: 0, unpricedCalls: 0 };
  const workspace = { name, path: '' };
  return { boot: '', assets: '', workspace, readOnly: true, csrf: '', now, processes: 0, worker: null, counts, spend };
}

/** The policy of the file allows exactly its own script and style, and no connection. */
function html(exported: Exported): string {
  const { script, style } = openAssets().exported();
  const safe = script.replaceAll('</script', '<\\/script');
  const csp = `default-src 'none'; script-src '${hashOf(safe)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`;
  const data = JSON.stringify(exported).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${csp}">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>A run in Guildhall</title><style>${style}</style></head>
<body><div id="app"><p class="plain">This file needs a browser with JavaScript modules.</p></div>
<script type="application/json" id="exported">${data}</script><script type="module">${safe}</script></body></html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
