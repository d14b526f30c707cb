/** The stories of `guild demo --ui`: which example plays, and one sentence about each scene. */
import type { Event } from '../../../app/index.js';
import { problemError } from '../../../domain/problem.js';
import { HUMAN } from '../../../domain/task/task.js';
import type { StoryStep } from '../../../web/base/contract.js';
import { QUESTION } from './steps.js';

/** A scene starts with the first event that fits. */
interface Scene extends StoryStep {
  starts: (event: Event) => boolean;
  /** How many times longer than another scene it stays on the screen. */
  stays?: number;
}

export interface Story {
  example: string;
  about: string;
  first: StoryStep;
  scenes: Scene[];
  /** Tasks that arrive from outside when everything else is at rest, in this order. */
  later: { file: string; task: object }[];
}

const startedBy =
  (agent: string) =>
  (event: Event): boolean =>
    event.name === 'task.claimed' && event.agent === agent;
const named =
  (name: string, task = /./) =>
  (event: Event): boolean =>
    event.name === name && task.test(event.task ?? '');
const isAsked = (event: Event): boolean => event.name === 'task.created' && event.agent === HUMAN;

export const STORIES: Record<string, Story> = {
  office: {
    example: 'office',
    about: 'Sarah asks on Slack whether Redis is running. You decide twice, in the Inbox.',
    first: { text: `Sarah asks on Slack: “${QUESTION}” The planner reads her message.` },
    scenes: [
      {
        starts: startedBy('executor'),
        text: 'The planner asked the executor to check. It reads how the office is set up.',
      },
      { starts: isAsked, text: 'The executor asks to run a command. You decide.', page: 'inbox' },
      { starts: named('approval.answered'), text: 'You have answered, and the executor continues.' },
      { starts: startedBy('evaluator'), text: 'The evaluator writes the reply the way Sarah likes it.' },
      { starts: startedBy('executor'), text: 'The executor looks up how replies are sent.' },
      { starts: isAsked, text: 'The executor asks to send the reply. You decide again.', page: 'inbox' },
      { starts: named('approval.answered'), text: 'You have answered. The executor reports, and the planner sums up.' },
    ],
    later: [],
  },
  swarm: {
    example: 'swarm',
    about: 'Agents bid for a task and break it down. Then a task needs an agent that does not exist, and one is made.',
    first: { text: 'A new task names no agent: “Build a REST API for user management”.' },
    scenes: [
      { starts: named('task.offered'), text: 'It is offered. Every agent that could take it says how well it fits.' },
      { starts: named('task.awarded'), text: 'The agent breakdown made the best bid. It plans the parts of the work.' },
      {
        starts: named('task.claimed', /\.rules$/),
        text: 'The parts are worked on in their order, each by an agent that can do it.',
      },
      { starts: named('task.offered', /\.routes$/), text: 'Three agents could take the next part, so they bid.' },
      {
        starts: named('task.created', /\.work-2$/),
        text: 'A check found the answer incomplete. The agent learns why and tries again.',
      },
      { starts: named('task.claimed', /\.proof$/), text: 'Another agent looks at everything that was written.' },
      {
        starts: ({ task }) => /^diagram\b/.test(task ?? ''),
        text: 'A second task: “Draw the data model of the API”. No agent can draw.',
      },
      { starts: named('task.created', /new-draft/), text: 'The maker drafts an agent that can.' },
      {
        starts: named('task.created', /new-trial/),
        text: 'The draft is tried on a small task, and the trial is judged.',
      },
      { starts: isAsked, text: 'The maker proposes the new agent. Read its file, then decide.', page: 'inbox' },
      {
        starts: startedBy('drawer'),
        text: 'The new agent, drawer, works on the task. It is on probation.',
        page: 'agents',
      },
    ],
    later: [
      {
        file: 'tasks/pending/diagram.json',
        task: { description: 'Draw the data model of the API', requirements: ['diagram_drawing'] },
      },
    ],
  },
  deadlock: {
    example: 'deadlock',
    about: 'Three agents wait for each other in a cycle. Watch the Wait graph: the cycle is found and broken.',
    first: { text: 'Three agents start at the same time: coder, analyst and reviewer.', page: 'waits' },
    scenes: [
      {
        starts: named('task.parked', /^(?:chart|figures|release)$/),
        text: 'The coder needs the figures, the analyst a review, the reviewer the code.',
        page: 'waits',
      },
      {
        starts: named('task.awarded', /^release/),
        text: 'Each of them waits for the next: a deadlock. Nobody can continue.',
        page: 'waits',
        stays: 3,
      },
      {
        starts: named('deadlock.broken'),
        text: 'The cycle was found. The reviewer gives way: it has the lowest priority, and it learns why.',
        page: 'waits',
      },
      {
        starts: named('task.completed', /^release$/),
        text: 'The reviewer found another way. Now the others get what they asked for.',
        page: 'waits',
      },
    ],
    later: [],
  },
};

const LAST: StoryStep = {
  text: 'The story has ended. Look around: nothing works here now.',
  page: 'replay',
  isOver: true,
};

export function storyOf(name: string): Story {
  const story = STORIES[name];
  if (story !== undefined) return story;
  throw problemError('bad_usage', `there is no story ${JSON.stringify(name)}`, {
    hint: `these exist: ${Object.keys(STORIES).join(', ')}`,
  });
}

/** The scene of the story that plays now. Scenes follow each other in their order. */
export interface NowPlaying {
  step(): StoryStep;
  /** How long the scene stays, compared with others. */
  stays(): number;
  /** True if a new scene starts with this event. */
  see(event: Event): boolean;
  end(): void;
}

export function sceneOf(story: Story): NowPlaying {
  const left = [...story.scenes];
  const claimed = new Set<string | undefined>();
  let step = story.first;
  let stays = 1;
  return {
    step: () => step,
    stays: () => stays,
    see(event) {
      // Continuing a task is not a start, whether it waited or was put back in between.
      if (event.name === 'task.claimed' && claimed.has(event.task)) return false;
      if (event.name === 'task.claimed') claimed.add(event.task);
      const at = left.findIndex(({ starts }) => starts(event));
      if (at === -1) return false;
      const { starts: _, stays: longer = 1, ...next } = left[at]!;
      step = next;
      stays = longer;
      left.splice(0, at + 1);
      return true;
    },
    end: () => void (step = LAST),
  };
}
