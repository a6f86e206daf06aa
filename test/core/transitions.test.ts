/** S1, S2: the legal moves, written out a second time; whatever is not here is refused. */

import { isTerminal } from '../../lib/core/records/state.ts';
import {
  canMoveStep,
  EXECUTION_EVENTS,
  EXECUTION_MOVES,
  EXECUTION_STATUSES,
  type ExecutionEvent,
  moveExecution,
  moveStep,
  STEP_EVENTS,
  STEP_MOVES,
  STEP_STATUSES,
  type StepEvent,
} from '../../lib/core/transitions.ts';

const STEP_ROWS = `
  ready     claim              running
  ready     skip               skipped
  ready     hold               held
  ready     seal               sealed
  ready     elapse             done
  ready     beat               waiting
  ready     answer             answered
  ready     complete           done
  ready     reject             failed
  ready     expire             failed
  ready     fail               failed
  ready     start-children     running
  ready     stop-children      undoing
  running   beat               running
  running   done               done
  running   retry              retrying
  running   ask                waiting
  running   fail               failed
  running   lose               unknown
  running   start-children     running
  running   told               running
  running   stop-children      undoing
  retrying  claim              running
  retrying  done               done
  retrying  hold               held
  retrying  seal               sealed
  retrying  start-undo         undoing
  waiting   beat               waiting
  waiting   answer             answered
  waiting   complete           done
  waiting   reject             failed
  waiting   expire             failed
  waiting   skip               skipped
  waiting   done               done
  waiting   choose-retry       retrying
  waiting   choose-output      done
  waiting   choose-skip        skipped
  waiting   choose-end         failed
  waiting   seal               sealed
  waiting   start-undo         undoing
  answered  complete           done
  answered  reject             failed
  answered  skip               skipped
  answered  seal               sealed
  unknown   probe              probing
  unknown   done               done
  unknown   hold               held
  unknown   seal               sealed
  unknown   start-undo         undoing
  probing   beat               probing
  probing   find-done          done
  probing   find-nothing       retrying
  probing   find-nothing-last  failed
  probing   find-open          unknown
  probing   give-up            failed
  probing   ask                waiting
  held      hold               held
  held      release            ready
  held      release-retry      retrying
  held      release-unknown    unknown
  held      done               done
  held      seal               sealed
  held      start-undo         undoing
  sealed    renew              ready
  sealed    renew-retry        retrying
  sealed    renew-unknown      unknown
  sealed    renew-answered     answered
  done      start-undo         undoing
  done      stop-children      undoing
  done      told               done
  failed    ask                waiting
  failed    start-undo         undoing
  failed    stop-children      undoing
  failed    told               failed
  failed    renew              ready
  failed    renew-retry        retrying
  failed    renew-unknown      unknown
  failed    renew-children     running
  undoing   start-undo         undoing
  undoing   beat               undoing
  undoing   retry-undo         undoing
  undoing   undone             undone
  undoing   fail-undo          undo-failed
  undoing   told               undoing
  undoing   stop-children      undoing
  undoing   leave              failed
  undoing   stay               done
  retrying  choose-output      done
  unknown   choose-output      done
  retrying  give-up-undo       undo-failed
  waiting   give-up-undo       undo-failed
  unknown   give-up-undo       undo-failed
  held      give-up-undo       undo-failed
  done      give-up-undo       undo-failed
  failed    give-up-undo       undo-failed
  undoing   give-up-undo       undo-failed
  undo-failed  choose-retry    undoing
  undo-failed  choose-undone   undone
  ready     park               retrying
  retrying  park               retrying
  waiting   park               waiting
  unknown   park               unknown
  done      park               done
  failed    park               failed
  undoing   park               undoing`;

const EXECUTION_ROWS = `
  running      watch       running
  running      adopt       running
  running      ask         waiting
  running      pause       pausing
  running      succeed     succeeded
  running      stop        undoing
  waiting      watch       waiting
  waiting      adopt       waiting
  waiting      ask         waiting
  waiting      answer      waiting
  waiting      resume      running
  waiting      pause       pausing
  waiting      stop        undoing
  pausing      watch       pausing
  pausing      adopt       pausing
  pausing      answer      pausing
  pausing      halt        paused
  pausing      go-on       running
  pausing      go-on-asking  waiting
  pausing      succeed     succeeded
  pausing      stop        undoing
  paused       watch       paused
  paused       adopt       paused
  paused       ask         paused
  paused       answer      paused
  paused       go-on       running
  paused       go-on-asking  waiting
  paused       succeed     succeeded
  paused       stop        undoing
  undoing      watch       undoing
  undoing      adopt       undoing
  undoing      ask         undoing
  undoing      answer      undoing
  undoing      keep        undoing
  undoing      compensate  compensated
  undoing      fail        failed
  undoing      cancel      canceled
  succeeded    watch       succeeded
  succeeded    announce    succeeded
  succeeded    recall      undoing
  compensated  watch       compensated
  compensated  announce    compensated
  failed       watch       failed
  failed       announce    failed
  failed       retry       running
  canceled     watch       canceled
  canceled     announce    canceled`;

/** 'status event' → next status */
const rowsOf = (text: string): Map<string, string> =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([status, event, next]) => [`${status} ${event}`, next ?? '']),
  );

/** Out of an end: of a child that succeeded, when its parent is undone; of what failed, when it is tried again. */
const WAYS_BACK: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['undoing'],
  failed: ['running'],
};

const STEP_ENDS = ['skipped', 'undone'];
const stepRows = rowsOf(STEP_ROWS);
const executionRows = rowsOf(EXECUTION_ROWS);

const cross = <A, B>(left: readonly A[], right: readonly B[]): [A, B][] =>
  left.flatMap((a) => right.map((b): [A, B] => [a, b]));

function reachable(
  first: string,
  moves: Readonly<Record<string, Readonly<Record<string, string>>>>,
): string[] {
  const seen = new Set<string>();
  const queue = [first];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...Object.values(moves[next] ?? {}));
  }
  return [...seen].sort();
}

const waysOut = (
  status: string,
  moves: Readonly<Record<string, Readonly<Record<string, string>>>>,
): string[] => Object.values(moves[status] ?? {}).filter((next) => next !== status);

describe('a step (S2)', () => {
  const events = Object.keys(STEP_EVENTS) as StepEvent[];

  it.each(cross(STEP_STATUSES, events))('that is %s answers %s by the table, or refuses', (status, event) => {
    const next = stepRows.get(`${status} ${event}`);
    expect(canMoveStep(status, event)).toBe(next !== undefined);
    if (next === undefined) {
      const refusal = {
        code: 'illegal-move',
        message: expect.stringContaining(`${status} cannot '${event}'`),
      };
      expect(() => moveStep(status, event)).toThrow(expect.objectContaining(refusal));
    } else {
      expect(moveStep(status, event)).toBe(next);
    }
  });

  it('has no row beyond those written here', () => {
    const rows = Object.values(STEP_MOVES).reduce((sum, row) => sum + Object.keys(row).length, 0);
    expect(rows).toBe(stepRows.size);
  });

  it('can reach every status', () => {
    expect(reachable('ready', STEP_MOVES)).toEqual([...STEP_STATUSES].sort());
  });

  it.each([...STEP_STATUSES])('that is %s has a way out unless that is an end', (status) => {
    expect(waysOut(status, STEP_MOVES).length > 0).toBe(!STEP_ENDS.includes(status));
  });

  it('uses every event', () => {
    expect(new Set([...stepRows.keys()].map((key) => key.split(' ')[1]))).toEqual(new Set(events));
  });
});

describe('an execution (S1, S2)', () => {
  const events = Object.keys(EXECUTION_EVENTS) as ExecutionEvent[];

  it.each(cross(EXECUTION_STATUSES, events))(
    'that is %s answers %s by the table, or refuses',
    (status, event) => {
      const next = executionRows.get(`${status} ${event}`);
      if (next === undefined) {
        const refusal = {
          code: 'illegal-move',
          message: expect.stringContaining(`${status} cannot '${event}'`),
        };
        expect(() => moveExecution(status, event)).toThrow(expect.objectContaining(refusal));
      } else {
        expect(moveExecution(status, event)).toBe(next);
      }
    },
  );

  it('has no row beyond those written here', () => {
    const rows = Object.values(EXECUTION_MOVES).reduce((sum, row) => sum + Object.keys(row).length, 0);
    expect(rows).toBe(executionRows.size);
  });

  it('can reach every status', () => {
    expect(reachable('running', EXECUTION_MOVES)).toEqual([...EXECUTION_STATUSES].sort());
  });

  it.each([...EXECUTION_STATUSES])(
    'that is %s absorbs if it is terminal, else has a way out (S1)',
    (status) => {
      const ways = waysOut(status, EXECUTION_MOVES);
      if (isTerminal(status)) expect(ways).toEqual(WAYS_BACK[status] ?? []);
      else expect(ways.length).toBeGreaterThan(0);
    },
  );

  it('uses every event', () => {
    expect(new Set([...executionRows.keys()].map((key) => key.split(' ')[1]))).toEqual(new Set(events));
  });
});
