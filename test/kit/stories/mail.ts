/** Stories about messages in the inbox, from arrival to reply. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../cluster.js';
import { agent, mark, type Story } from './story.js';

export const MAIL: Story[] = [
  office(),
  {
    name: 'messages in an inbox, one of them twice and one invalid',
    agents: { planner: agent('description: Plans') },
    files: {
      'inbox/slack-messages.jsonl': [
        '{"from":"sarah","text":"Is Redis up?"}',
        'not json',
        '{"id":"m2","from":"tom","text":"Lunch?"}',
        '{"id":"m2","from":"tom","text":"Lunch?"}',
        '{"from":"half',
      ].join('\n'),
    },
    tasks: {},
    script: `
- {agent: planner, when: Redis, say: It is up.}
- {agent: planner, when: Lunch, say: At noon.}
`,
    results: {
      'inbox-slack-messages-2d43e7d708c5fea8deb0': 'It is up.',
      'inbox-slack-messages-ba4f5c821fddb158b8ce': 'At noon.',
    },
    calls: 2,
  },
];

/**
 * The shipped example, unchanged: Sarah asks, three agents investigate and answer, a human approves
 * two actions.
 */
function office(): Story {
  const folder = fileURLToPath(new URL('../../../../examples/office/', import.meta.url));
  const text = (file: string): string => fs.readFileSync(path.join(folder, file), 'utf8');
  const names = ['planner', 'executor', 'evaluator'];
  return {
    name: 'the office: from a message to a reply',
    agents: Object.fromEntries(names.map((name) => [name, text(`agents/${name}.md`)])),
    files: {
      'memory/system-config.md': text('memory/system-config.md'),
      'memory/team-prefs.md': text('memory/team-prefs.md'),
      'inbox/slack-messages.jsonl': `${JSON.stringify({ id: 's1', from: 'sarah', channel: 'ops', text: 'Can you check if Redis is running?' })}\n`,
    },
    tasks: {},
    asks: ['execute_command'],
    human: (disk) => mark(disk, '[x]'),
    script: text('script.yaml'),
    results: {},
    calls: 15,
    slack: 1,
    check(disk) {
      const [root, more] = disk.list(path.join(ROOT, 'tasks/completed')).filter((name) => !name.includes('.call-'));
      const outbox = disk.tree().get(`${ROOT}/inbox/slack-outbox.jsonl`) ?? '';
      const sent = outbox.split('\n').filter((line) => line !== '');
      const wrong =
        root === undefined || more !== undefined ? [`the message came to ${root ? 'two ends' : 'no end'}`] : [];
      if (sent.length > 1) wrong.push(`the reply was sent ${sent.length} times`);
      return wrong;
    },
  };
}
