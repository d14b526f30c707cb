/** What each pass of the office story is about, as the script plays it. */
export const QUESTION = 'Can you check if Redis is running?';

export const OFFICE_STEPS: readonly string[] = [
  'the message becomes a task; the planner gives the executor something to find out',
  'the executor reads how the office is set up, and proposes a command',
  'nobody may go on before the human has looked at the command',
  'the allowed command runs, in its sandbox',
  'the executor reads the outcome and concludes',
  'the planner has the facts, and asks the evaluator for the words',
  'the evaluator looks up how Sarah likes to be answered, and writes',
  'the planner has the reply sent',
  'the executor picks the way to send it, and proposes it',
  'nothing leaves the house before the human has read it',
  'the reply is sent',
  'the executor reports',
  'the planner sees that nothing is left to do',
  'and nothing is',
];
