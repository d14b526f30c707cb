/** A plain loop over `fetch` that keeps nothing. */
import { rawLoop, type Call, type ChatMessage } from './raw-loop.js';
import type { Subject, SubjectOptions } from './workloads.js';

export function open({ url, folder }: SubjectOptions): Subject {
  return rawLoop(folder, fetchCall(url));
}

export function fetchCall(url: string): Call {
  return async (body) => {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const reply = (await response.json()) as { choices: { message: ChatMessage }[] };
    return reply.choices[0]!.message;
  };
}
