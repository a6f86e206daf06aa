/** The answers to an incident in words, and what each needs besides. */

import type { Choice } from '../../lib/api/answers.ts';

/** Its name, and what it does. */
export const MEANS: Readonly<Record<Choice, readonly [string, string]>> = {
  retry: ['Retry', 'The same again.'],
  'retry-with-input': ['Retry with another input', 'The next attempt gets the input below.'],
  'give-output': [
    'Give its output',
    'It counts as done with the output below: somebody has done it by hand.',
  ],
  skip: ['Skip it', 'The execution goes on without it.'],
  resume: ['Resume', 'The pause ends.'],
  'undo-all': ['Undo everything', 'What has acted is undone, and the execution ends.'],
  continue: ['Go on without it', 'Its failure is tolerated, and the execution goes on.'],
  fail: ['Let it fail', 'The execution fails, and what has acted stays as it is.'],
};

export const GRAVE: ReadonlySet<Choice> = new Set(['undo-all', 'fail', 'skip', 'give-output']);

/** What is given with it. */
export const SIDE: Readonly<Partial<Record<Choice, 'input' | 'output'>>> = {
  'retry-with-input': 'input',
  'give-output': 'output',
};
