/** S1, S2: a second list of the legal moves; all others are refused. */

import { isTerminal } from '../../lib/core/records/state.ts';
import {
  EXECUTION_EVENTS,
  type ExecutionEvent,
  STEP_EVENTS,
  type StepEvent,
  EXECUTION_STATUSES,
  STEP_STATUSES,
} from '../../lib/core/moves.ts';
import { canMoveStep, moveExecution, moveStep } from '../../lib/core/decisions/change.ts';
import { EXECUTION_MOVES, STEP_MOVES } from '../../lib/core/transitions.ts';

const STEP_ROWS = `
  ready     claim              running
  ready     skip               skipped
  ready     fence              fenced
  ready     elapse             done
  ready     heartbeat          waiting
  ready     queue              waiting
  ready     admit              done
  ready     receive            done
  ready     answer             answered
  ready     complete           done
  ready     reject             failed
  ready     expire             failed
  ready     fail               failed
  ready     start-children     running
  ready     stop-children      running|compensating
  running   heartbeat          running
  running   done               done
  running   fail               retrying|waiting|failed
  running   lose               unknown
  running   start-children     running
  running   child-ended        running
  running   stop-children      running|compensating
  running   begin-try          running
  running   end-rounds         running
  running   receive            running
  running   elapse             running
  retrying  claim              running
  retrying  expire             failed
  retrying  done               done
  retrying  fence              fenced
  retrying  start-undo         compensating
  retrying  begin-try          running
  retrying  stop-children      compensating
  waiting   heartbeat          waiting
  waiting   queue              waiting
  waiting   admit              done
  waiting   answer             answered
  waiting   complete           done
  waiting   elapse             done
  waiting   reject             failed
  waiting   expire             failed
  waiting   skip               skipped
  waiting   done               done
  waiting   choose-retry       retrying|unknown
  waiting   choose-end         failed
  waiting   fence              fenced
  waiting   start-undo         compensating
  waiting   stop-children      compensating
  running   accept             accepted
  retrying  accept             accepted
  waiting   accept             accepted
  unknown   accept             accepted
  failed    accept             accepted
  probing   find-open          accepted|unknown
  accepted  accept             accepted
  accepted  done               done
  accepted  defer              accepted
  accepted  process-died       accepted
  accepted  probe              probing
  accepted  fence              fenced
  accepted  overdue            waiting
  accepted  start-undo         compensating
  accepted  fail-undo          compensation-failed
  answered  complete           done
  answered  reject             failed
  answered  skip               skipped
  answered  fence              fenced
  unknown   probe              probing
  unknown   done               done
  unknown   fence              fenced
  unknown   start-undo         compensating
  probing   heartbeat          probing
  probing   done               done
  probing   find-nothing       retrying|failed|waiting
  probing   give-up            failed|waiting
  fenced    restart            ready|retrying|unknown
  fenced    restart-answered   answered
  fenced    begin-try          running
  done      start-undo         compensating
  done      stop-children      compensating
  done      child-ended        done
  failed    ask                waiting
  failed    keep-effects       failed
  failed    done               done
  failed    tolerate           tolerated
  failed    start-undo         compensating
  failed    stop-children      compensating
  failed    child-ended        failed
  failed    restart            ready|retrying|unknown
  failed    begin-try          running
  compensating tolerate           tolerated
  compensating start-undo         compensating
  compensating heartbeat          compensating
  compensating fail-undo          compensating|compensation-failed
  compensating compensated        compensated
  compensating child-ended        compensating
  compensating stop-children      compensating
  compensating keep-effects       failed|done
  retrying  fail-undo          compensation-failed
  waiting   fail-undo          compensation-failed
  unknown   fail-undo          compensation-failed
  done      fail-undo          compensation-failed
  failed    fail-undo          compensation-failed
  compensated tolerate           tolerated
  compensated next-stage         retrying
  compensation-failed tolerate           tolerated
  compensation-failed choose-retry       compensating
  compensation-failed compensated        compensated
  ready     defer              retrying
  retrying  defer              retrying
  waiting   defer              waiting
  unknown   defer              unknown
  done      defer              done
  failed    defer              failed
  compensating defer              compensating
  retrying  overdue            waiting
  unknown   overdue            waiting
  running   process-died       running
  retrying  process-died       retrying
  waiting   process-died       waiting
  unknown   process-died       unknown
  probing   process-died       probing
  fenced    process-died       fenced
  done      process-died       done
  failed    process-died       failed
  compensating process-died       compensating
  compensation-failed process-died       compensation-failed`;

const EXECUTION_ROWS = `
  running      set-wake-time running
  running      adopt       running
  running      ask         waiting
  running      pause       paused
  running      succeed     succeeded
  running      stop        compensating
  waiting      set-wake-time waiting
  waiting      adopt       waiting
  waiting      resolve     running
  waiting      pause       paused
  waiting      stop        compensating
  paused       set-wake-time paused
  paused       adopt       paused
  paused       resume      running
  paused       succeed     succeeded
  paused       stop        compensating
  compensating set-wake-time compensating
  compensating adopt       compensating
  compensating leave-effects compensating
  compensating compensate  compensated
  compensating fail        failed
  compensating cancel      canceled
  compensating follow-up   following-up
  following-up set-wake-time following-up
  following-up adopt       following-up
  following-up compensate  compensated
  following-up fail        failed
  following-up cancel      canceled
  succeeded    set-wake-time succeeded
  succeeded    announce    succeeded
  succeeded    recall      compensating
  compensated  set-wake-time compensated
  compensated  announce    compensated
  failed       set-wake-time failed
  failed       announce    failed
  failed       retry       running
  canceled     set-wake-time canceled
  canceled     announce    canceled`;

/** Reads the rows of a table: 'status event' → next statuses. */
const rowsOf = (text: string): Map<string, string[]> =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([status, event, next]) => [`${status} ${event}`, next?.split('|') ?? []]),
  );

/** Moves out of an end: a successful child when its parent is undone; a failed one when it is retried. */
const WAYS_BACK: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['compensating'],
  failed: ['running'],
};

const STEP_ENDS = ['skipped', 'tolerated'];
const stepRows = rowsOf(STEP_ROWS);
const executionRows = rowsOf(EXECUTION_ROWS);

const cross = <A, B>(left: readonly A[], right: readonly B[]): [A, B][] =>
  left.flatMap((a) => right.map((b): [A, B] => [a, b]));

type Moves = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

function reachable(first: string, moves: Moves): string[] {
  const seen = new Set<string>();
  const queue = [first];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    queue.push(...Object.values(moves[next] ?? {}).flat());
  }
  return [...seen].sort();
}

const waysOut = (status: string, moves: Moves): string[] =>
  Object.values(moves[status] ?? {})
    .flat()
    .filter((next) => next !== status);

const refusal = (status: string, event: string): Error => {
  const message = expect.stringContaining(`${status} cannot '${event}'`) as string;
  return expect.objectContaining({ code: 'illegal-move', message }) as Error;
};

describe('a step (S2)', () => {
  const events = Object.keys(STEP_EVENTS) as StepEvent[];

  it.each(cross(STEP_STATUSES, events))('that is %s answers %s by the table, or refuses', (status, event) => {
    const next = stepRows.get(`${status} ${event}`) ?? [];
    expect(canMoveStep(status, event)).toBe(next.length > 0);
    for (const to of STEP_STATUSES) {
      if (next.includes(to)) expect(moveStep(status, event, to)).toBe(to);
      else expect(() => moveStep(status, event, to)).toThrow(refusal(status, event));
    }
    if (next.length === 1) expect(moveStep(status, event)).toBe(next[0]);
    else expect(() => moveStep(status, event)).toThrow(refusal(status, event));
  });

  it('that meets an event ends in one of three statuses at most', () => {
    expect(Math.max(...[...stepRows.values()].map(({ length }) => length))).toBe(3);
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
        expect(() => moveExecution(status, event)).toThrow(refusal(status, event));
      } else {
        expect([moveExecution(status, event)]).toEqual(next);
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
