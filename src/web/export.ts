/**
 * One run as one self-contained HTML file, for sharing. Text from outside and secrets stay here:
 * results of tools and messages from outside are left out unless the person asks for them.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { openAssets } from './assets.js';
import type { Conversation, Exported, Hello } from './base/contract.js';
import { openFeed } from './base/feed.js';
import { openLog } from './base/log.js';
import { redaction, type Redaction } from './redact.js';
import { presentOf, type Moment } from './reads/moment.js';
import { conversationOf } from './reads/session.js';
import { taskDetail, whyOf } from './reads/task.js';
import { forGuests, outsideOf, talkForGuests } from './showing.js';

interface ExportOptions {
  root: string;
  env: Record<string, string | undefined>;
  task: string;
  /** Includes text from outside: results of tools, messages of others. */
  all: boolean;
}

export async function exportRun({ root, env, task, all }: ExportOptions): Promise<string> {
  const feed = await openFeed(root, env);
  try {
    const hide = redaction(root, env);
    const moment = presentOf(feed, await openLog(root, feed.states))();
    const answers = hide.value(await answersOf(moment, task, { all, hide }));
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

async function answersOf(moment: Moment, root: string, { all, hide }: Sharing): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const outside = outsideOf(all ? [] : await moment.tasks(''));
  const top = await taskDetail(moment, root);
  for (const { id, session, isGroup } of top.tree) {
    if (isGroup === true) continue;
    const detail = id === root ? top : await taskDetail(moment, id);
    answers[`/api/tasks/${encodeURIComponent(id)}`] = forGuests(detail, outside);
    answers[`/api/tasks/${encodeURIComponent(id)}/why`] = forGuests(await whyOf(moment, id), outside);
    if (session === undefined) continue;
    const key = `/api/sessions/${encodeURIComponent(session)}`;
    // The agent's current activity may belong to other runs, so it is left out.
    const { agentNow: _, ...talk } = await conversationOf(moment, session, Infinity, Infinity);
    answers[key] ??= forGuests(all ? withoutSecrets(talk, hide) : talkForGuests(talk, hide), outside);
  }
  return answers;
}

function withoutSecrets({ text: _, ...talk }: Conversation, hide: Redaction): Conversation {
  return { ...talk, messages: talk.messages.map((each) => ({ ...each, calls: each.calls.map(hide.call) })) };
}

function readOnlyHello(name: string, now: string): Hello {
  const counts = { requests: 0, pending: 0, active: 0, waiting: 0 };
  const spend = { microUsd: 0, tokens: 0, unpricedCalls: 0 };
  const workspace = { name, path: '', shown: '' };
  return {
    boot: '',
    cursor: '',
    assets: '',
    workspace,
    readOnly: true,
    csrf: '',
    now,
    processes: 0,
    missingKeys: [],
    worker: null,
    counts,
    spend,
  };
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
