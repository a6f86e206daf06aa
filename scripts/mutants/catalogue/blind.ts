/**
 * Bugs of the kinds that the simulated worlds alone must see, without a unit test: order of compensation past direct
 * dependents, rows of the table of moves, forgotten attempts. Each is found within 20,000 executions.
 */

import { type Mutant, simulated } from '../mutant.ts';

const WORK = 'lib/core/work.ts';
const IS_CLEAR = '    if (!isClear(next, record, false)) return undefined;\n';
const FARTHER = '    queue.push(...dependentsOf(plan, next.name));\n';

export const BLIND: readonly Mutant[] = [
  {
    id: 'undo-before-distant-dependents',
    from: 'own',
    bug: 'A step is undone when its direct dependents are clear, whatever depends on those.',
    file: WORK,
    find: FARTHER,
    replace: '',
    killer: simulated(),
  },
  {
    id: 'undo-not-behind-none',
    from: 'own',
    bug: "Behind a dependent with `undo: 'none'` nothing is waited for.",
    file: WORK,
    find: FARTHER,
    replace:
      "    if (next.kind !== 'step' || next.undo !== 'none') queue.push(...dependentsOf(plan, next.name));\n",
    killer: simulated(),
  },
  {
    id: 'failed-never-acted',
    from: 'own',
    bug: 'A dependent that failed is taken for one that did not act.',
    file: WORK,
    find: IS_CLEAR,
    replace: IS_CLEAR.replace('(!', "(record?.status !== 'failed' && !"),
    killer: simulated(),
  },
  {
    id: 'held-is-clear',
    from: 'own',
    bug: 'A dependent that a pause held is taken for one that neither acted nor can start.',
    file: WORK,
    find: IS_CLEAR,
    replace: IS_CLEAR.replace('(!', "(record?.status !== 'held' && !"),
    killer: simulated(),
  },
  {
    id: 'unknown-is-clear',
    from: 'own',
    bug: 'A dependent of unknown outcome is taken for one that did not act.',
    file: WORK,
    find: IS_CLEAR,
    replace: IS_CLEAR.replace('(!', "(record?.status !== 'unknown' && !"),
    killer: simulated(),
  },
  {
    id: 'none-needs-no-quiet',
    from: 'own',
    bug: "A dependent is taken for over while a lost attempt of it may still act, as with `undo: 'none'`.",
    file: WORK,
    find: 'clearAt = Math.max(clearAt, record.changedAt, quietAt(next, record));',
    replace: 'clearAt = Math.max(clearAt, record.changedAt);',
    killer: simulated(),
  },
  {
    id: 'row-expire-skips',
    from: 'own',
    bug: 'A row of the table of moves is wrong: a callback that was not answered in time counts as skipped.',
    file: 'lib/core/transitions.ts',
    find: "    expire: 'failed',\n    fail: 'failed',",
    replace: "    expire: 'skipped',\n    fail: 'failed',",
    killer: simulated(),
  },
];
