/** An explanation's warnings about the deployment: a late supervisor, an agent that is not deployed. */

import { timeText } from '../../lib/core/values/text.ts';
import { SUPERVISOR_LATE_MS } from '../../lib/explain/warnings.ts';
import type { PlanStep } from '../../lib/core/plan/plan.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { StepStatus } from '../../lib/core/moves.ts';
import { otherStage, planOf, recordOf, step } from '../core/one-step.ts';
import { planStep } from '../author/refusals.ts';
import { NOW } from '../core/states.ts';
import { explained, type More, paused, compensating } from '../core/words.ts';

const warnings = (...given: Parameters<typeof explained>): readonly string[] => explained(...given).warnings;

describe('a supervisor', () => {
  const late = (wakeAt: number | undefined, execution: Partial<Execution> = {}) =>
    warnings([], { ...execution, ...(wakeAt === undefined ? {} : { wakeAt }) });

  it('is late when none has swept for a tick and some seconds, with the time and the place to read', () => {
    expect(late(NOW - SUPERVISOR_LATE_MS)).toEqual([]);
    expect(late(NOW - 119_000)).toEqual([
      `the supervisor is late: it should have evaluated this at ${timeText(NOW - 119_000)}, 1 min 59 s ago; see GET /health, the alarms SupervisorSilent, OldestOverdue and EvaluationsFailing, and the supervisor's log for the id of this execution`,
    ]);
  });

  it('is late with the end, too, as long as it is not announced', () => {
    expect(late(NOW - 100_000, { status: 'succeeded' })).toHaveLength(1);
    expect(late(NOW + 100_000)).toEqual([]);
  });
});

describe('an agent that is not deployed', () => {
  const others = planOf(
    { ...step, agent: 'gone' },
    { ...step, name: 'next', agent: 'gone', after: ['it'] },
    { ...planStep, name: 'side', agent: 'there' },
  );
  const fenced = (...records: Step[]): Step[] => [
    ...records,
    ...['next', 'side']
      .filter((name) => !records.some((one) => one.name === name))
      .map((name) => recordOf(name, 'fenced')),
  ];
  const isDeployed = (agent: string): boolean => agent === 'there';
  const said = (records: readonly Step[], execution: Partial<Execution> = {}, more: More = {}) =>
    warnings(records, execution, { plan: others, isDeployed, ...more }).map((text) => {
      const [, agent, name, needs] =
        /^no agent '(\w+)' is deployed, and step '(\w+)' (.*): deploy it again;/.exec(text) ?? ['', text];
      return `${agent} ${name} ${needs}`;
    });

  it('is named with each step that needs it or may need it yet', () => {
    expect(said([])).toEqual(['gone it needs it', 'gone next may need it yet']);
    expect(said([], paused)).toEqual(['gone it may need it yet', 'gone next may need it yet']);
    expect(said([recordOf('it', 'done'), recordOf('next', 'skipped')])).toEqual(['gone it may need it yet']);
  });

  it('is named with what it has to undo', () => {
    expect(said(fenced(recordOf('it', 'done')), compensating)).toEqual(['gone it needs it']);
    expect(said(fenced(recordOf('it', 'done'), recordOf('next', 'done')), compensating)).toEqual([
      'gone it may need it yet',
      'gone next needs it',
    ]);
  });

  it.each<[string, StepStatus, Partial<Execution>]>([
    ['is undone', 'compensated', compensating],
    ['will never start', 'fenced', compensating],
    ['was skipped', 'skipped', {}],
  ])('is of no interest to a step that %s', (_, status, execution) => {
    expect(said([recordOf('it', status), recordOf('next', status)], execution)).toEqual([]);
  });

  it('is of no interest once the execution has ended, nor what is done and has no undo', () => {
    expect(said([recordOf('it', 'compensation-failed')], { status: 'failed' })).toEqual([]);
    const kept = planOf({ ...step, agent: 'gone', undo: 'none' });
    expect(said([recordOf('it', 'done')], {}, { plan: kept })).toEqual([]);
  });

  it('is the one of the stage that the step is on, or of the items of a list', () => {
    const recovery = [{ ...otherStage, agent: 'gone' }];
    const onStage = planOf({ ...step, agent: 'there', recovery });
    expect(said([recordOf('it', 'retrying', { stage: 0 })], {}, { plan: onStage })).toEqual([]);
    expect(said([recordOf('it', 'retrying', { stage: 1 })], {}, { plan: onStage })).toEqual([
      'gone it needs it',
    ]);
    const each = { ...step, agent: 'gone' };
    const list: PlanStep = { kind: 'map', name: 'it', after: [], over: [], each, tolerate: { items: 0 } };
    expect(said([], {}, { plan: planOf(list) })).toEqual(['gone it may need it yet']);
  });

  it('is what comes next, and a person must see to it', () => {
    const next = explained([], {}, { plan: others, isDeployed }).steps[0]?.next;
    expect(next).toEqual({
      what: "no agent 'gone' is deployed: deploy it again, and a supervisor sends it attempt 1",
      at: NOW,
      who: 'person',
      step: 'it',
    });
    expect(explained([], {}, { plan: others, isDeployed }).next).toEqual(next);
    const undo = explained(fenced(recordOf('it', 'done')), compensating, { plan: others, isDeployed }).next;
    expect(undo.what).toBe("no agent 'gone' is deployed: deploy it again, and a supervisor sends it undo 1");
  });
});
