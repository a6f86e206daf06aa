/** The choices that answer an incident: their texts, and the value that each needs. */

import type { Choice } from '../../lib/api/answers.ts';

/** The name of a choice, and what it does. */
export const MEANS: Readonly<Record<Choice, readonly [string, string]>> = {
  retry: ['Retry', 'The same attempt is made again.'],
  'retry-with-input': ['Retry with another input', 'The next attempt gets the input below.'],
  'give-output': [
    'Give the output',
    'The step counts as done, with the output below: somebody did the work by hand.',
  ],
  skip: ['Skip the step', 'The execution continues without this step.'],
  resume: ['Resume', 'The pause ends.'],
  'undo-all': ['Undo everything', 'Every step that acted is undone, and the execution ends.'],
  continue: ['Continue without it', 'The failure is tolerated, and the execution continues.'],
  keep: ['Keep what was done', 'The execution fails, and the effects of steps that acted stay.'],
};

export const GRAVE: ReadonlySet<Choice> = new Set(['undo-all', 'keep', 'skip', 'give-output']);

/** The value that a choice needs. */
export const SIDE: Readonly<Partial<Record<Choice, 'input' | 'output'>>> = {
  'retry-with-input': 'input',
  'give-output': 'output',
};
