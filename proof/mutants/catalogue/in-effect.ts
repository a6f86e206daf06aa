/** Mutants of the function that decides which effects a step has in place. */

import { jest, type Mutant } from '../mutant.ts';

const file = 'lib/core/step/effect.ts';

export const IN_EFFECT: readonly Mutant[] = [
  {
    id: 'next-variant-is-undone',
    rule: 'S10 undone is the variant that was attempted',
    bug: 'Whether an undo is owed is asked of the first variant, whichever has acted.',
    file,
    find: 'effectOfAttempts(attemptedVariant(step, record), record)',
    replace: 'effectOfAttempts(step, record)',
    killer: jest('core/execution/fence', 'where the agent that acted has an undo'),
  },
  {
    id: 'kept-is-undone',
    rule: 'S10 what its author keeps is owed no undo',
    bug: 'A child whose effects its author keeps is owed an undo.',
    file,
    find: "is === 'undone' || (is !== 'open' && hasNoUndo(step));",
    replace: "is === 'undone';",
    killer: jest('core/execution/fence', 'a child whose effect stays'),
  },
  {
    id: 'wrong-answer-leaves-nothing',
    rule: 'S10 a wrong answer about work without an undo leaves what it did',
    bug: 'An execution is called undone although a wrong answer left an effect that has no undo.',
    file,
    find: "(record.status === 'failed' && is === 'stands' && !isOwed);",
    replace: "(record.status === 'failed' && is === 'stands' && isOwed);",
    killer: jest('core/step/effect', 'a wrong answer about work without an undo'),
  },
  {
    id: 'answered-work-is-not-awaited',
    rule: 'S10 nothing before accepted work is undone while that may act',
    bug: 'What may act beside a step that is clear is asked of its attempts alone, not of accepted work.',
    file: 'lib/core/step/ready.ts',
    find: 'return isOwed && !left ? undefined : Math.max(record.changedAt, actsUntil);',
    replace:
      'return isOwed && !left ? undefined : Math.max(record.changedAt, Math.min(actsUntil, record.processDeadlineAt));',
    killer: jest('core/step/accepted', 'until then also where its undo has failed, or it was given up'),
  },
];
