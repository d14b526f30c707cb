/** One sentence about each pass of the office story, as scripted. */
export const QUESTION = 'Can you check if Redis is running?';

export const OFFICE_STEPS: readonly string[] = [
  'the message becomes a task, and the planner asks the executor to check',
  'the executor reads how the office is set up, and asks to run a command',
  'the command waits for your approval',
  'the approved command runs',
  'the executor reads the output and reports',
  'the planner asks the evaluator to write the reply',
  'the evaluator looks up how Sarah likes to be answered, and writes it',
  'the planner asks the executor to send the reply',
  'the executor asks to run the action that replies on Slack',
  'the reply waits for your approval',
  'the approved action runs',
  'the executor reports',
  'the planner sums up',
  'everything is done',
];
