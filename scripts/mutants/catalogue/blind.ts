/**
 * Bugs of the kinds that the simulated worlds alone must see, without a unit test: order of compensation past direct
 * dependents, rows of the table of moves, times of questions and pauses, how often an undo is tried, forgotten attempts.
 * Each is found within 20,000 executions.
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
  {
    id: 'default-holds-early',
    from: 'own',
    bug: 'The default of a question holds after half of its time.',
    file: 'lib/core/state.ts',
    find: '  incident.deadlineAt <= now &&',
    replace: '  incident.openedAt + (incident.deadlineAt - incident.openedAt) / 2 <= now &&',
    killer: simulated(),
  },
  {
    id: 'default-holds-in-a-pause',
    from: 'own',
    bug: 'The default of a question about a step holds during a pause.',
    file: 'lib/core/state.ts',
    find: " && (incident.kind === 'pause' || !isPausedOrPausing(execution.status));",
    replace: ';',
    killer: simulated(),
  },
  {
    id: 'pause-takes-the-outside-time',
    from: 'own',
    bug: 'The time of a pause is not given back to a callback.',
    file: 'lib/core/outside.ts',
    find: '    sinceAt + step.withinMs + pausedSince(snapshot.execution, sinceAt),',
    replace: '    sinceAt + step.withinMs,',
    killer: simulated(),
  },
  {
    id: 'undo-tried-too-seldom',
    from: 'own',
    bug: 'An undo is given up one try too early.',
    file: 'lib/core/ladder.ts',
    find: 'undoAttempt > step.undo.attempts)',
    replace: 'undoAttempt >= step.undo.attempts)',
    killer: simulated(),
  },
  {
    id: 'undo-tried-too-often',
    from: 'own',
    bug: 'An undo is tried once more than declared.',
    file: 'lib/core/ladder.ts',
    find: 'undoAttempt > step.undo.attempts)',
    replace: 'undoAttempt > step.undo.attempts + 1)',
    killer: simulated(),
  },
  {
    id: 'wait-behind-the-watch',
    from: 'own',
    bug: 'A wait that is shorter than the shortest lease is over when something else is looked at.',
    file: 'lib/core/look-kinds.ts',
    find: '  if (untilAt >= execution.watchAt) return undefined;',
    replace: '  if (untilAt >= 0) return undefined;',
    killer: simulated('none'),
  },
  {
    id: 'wake-forgets-questions',
    from: 'own',
    bug: 'The watch does not know when the default of a question holds.',
    file: 'lib/core/watch.ts',
    find: '    ...questionDeadlines(snapshot),\n',
    replace: '',
    killer: simulated(),
  },
];
