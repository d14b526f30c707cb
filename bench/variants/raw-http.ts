/** A plain loop over `node:http`, the client that Guildhall uses; `fetch` costs more. */
import http from 'node:http';
import { rawLoop, type Call, type ChatMessage } from './raw-loop.js';
import type { Subject, SubjectOptions } from './workloads.js';

export function open({ url, folder }: SubjectOptions): Subject {
  const agent = new http.Agent({ keepAlive: true });
  const call: Call = (body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const request = http.request(`${url}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
        let reply = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (reply += chunk));
        response.once('error', reject);
        response.on('end', () =>
          resolve((JSON.parse(reply) as { choices: { message: ChatMessage }[] }).choices[0]!.message),
        );
      });
      request.once('error', reject);
      request.end(text);
    });
  return { ...rawLoop(folder, call), close: async () => agent.destroy() };
}
