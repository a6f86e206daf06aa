/** Which answers to an incident are safe, in small states, and why others are refused (S10). */

import { timeText } from '../../../lib/core/values/text.ts';
import { choicesFor, deedOf, resolutionProblem } from '../../../lib/core/operators/incidents.ts';
import { CHOICES } from '../../../lib/core/records/question.ts';
import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Resolution } from '../../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { incidentOf, planOf, recordOf, stateOf } from '../one-step.ts';
import { agentStepOf, otherAgent } from '../small-steps.ts';
import { NOW } from '../states.ts';

const plan = planOf(agentStepOf('it'));
const acted = { mayHaveActed: true, processDeadlineAt: NOW };
const waiting = recordOf('it', 'waiting');
const past = recordOf('p', 'done');
const open = recordOf('p', 'unknown', acted);
const withPoint = (step: AgentStep): Plan => planOf(step, agentStepOf('p', { pointOfNoReturn: true }));

describe('the choices', () => {
  const of = (state: Snapshot, incident = incidentOf(), given = plan) =>
    choicesFor(given, state, incident, NOW);
  const during = (status: Execution['status'], ...records: Step[]) => stateOf(records, { status });
  const needs = { needs: 'nothingHappened' };
  const careful = { ...needs, notBefore: NOW + 5_000 };
  const first = [
    { choice: 'retry' },
    { choice: 'retry-with-input' },
    { choice: 'give-output' },
    { choice: 'skip' },
  ];
  const free = [...first, { choice: 'undo-all' }, { choice: 'keep' }];
  const probed = planOf(agentStepOf('it', { effect: 'probed', recovery: [otherAgent] }));
  const point = withPoint(agentStepOf('it', { pointOfNoReturn: true }));
  const unsure = { ...waiting, ...acted };
  const end = [{ choice: 'undo-all' }, { choice: 'keep' }];
  const guarded = (retry: object, with_: object, last: object[] = end) => [
    { choice: 'retry', ...retry },
    { choice: 'retry-with-input', ...with_ },
    { choice: 'give-output' },
    { choice: 'skip', ...with_ },
    ...last,
  ];
  const quiet = { ...unsure, processDeadlineAt: NOW - 5_000 };
  const onStage = { ...unsure, stage: 1, keyVariant: 1 };
  const behind = withPoint(agentStepOf('it'));
  const kept = [...first, { choice: 'keep' }];
  const ofPoint = guarded({}, careful, [{ choice: 'undo-all', ...careful }, { choice: 'keep' }]);
  it.each<[string, Snapshot, Plan, object[]]>([
    ['of what has not acted', during('waiting', waiting), plan, free],
    ['during a pause', during('paused', waiting), plan, free],
    ['while it is running', during('running', waiting), plan, free],
    ['while it is undone', during('compensating', waiting), plan, []],
    ['of a step that is not there', during('waiting'), plan, []],
    ['of a step that the plan does not know', during('waiting', waiting), planOf(agentStepOf('b')), []],
    ['of what may have acted', during('waiting', unsure), plan, guarded({}, careful)],
    ['of what has become quiet', during('waiting', quiet), plan, guarded({}, needs)],
    ['of what may not be repeated', during('waiting', unsure), probed, guarded(careful, careful)],
    [
      'of what may be repeated on its stage',
      during('waiting', onStage),
      probed,
      guarded({}, { ...careful, notBefore: NOW + 6_000 }),
    ],
    ['behind a point of no return', during('waiting', waiting, past), behind, kept],
    ['while it is open whether one is passed', during('waiting', waiting, open), behind, kept],
    ['of the point itself', during('waiting', unsure), point, ofPoint],
    ['of the point itself, which has not acted', during('waiting', waiting), point, free],
  ])('%s', (_, state, given, choices) => {
    expect(of(state, incidentOf(), given)).toStrictEqual(choices);
  });

  it('a question that is answered has none', () => {
    expect(of(during('waiting', waiting), incidentOf({ closedAt: NOW }))).toStrictEqual([]);
    const { step: _, ...none } = incidentOf();
    expect(of(during('waiting', waiting), none)).toStrictEqual([]);
  });

  it('about a pause', () => {
    const kind = 'pause' as const;
    const both = [{ choice: 'resume' }, { choice: 'keep' }];
    expect(of(during('paused'), incidentOf({ kind }))).toStrictEqual([
      { choice: 'resume' },
      { choice: 'undo-all' },
      { choice: 'keep' },
    ]);
    expect(of(during('paused', past), incidentOf({ kind }), withPoint(agentStepOf('it')))).toStrictEqual(
      both,
    );
    expect(of(during('running'), incidentOf({ kind }))).toStrictEqual([]);
  });

  it('about an undo: that it is done by hand, when the last try is over', () => {
    const kind = 'undo' as const;
    const record = (processDeadlineAt: number, stage = 0) =>
      recordOf('it', 'compensation-failed', { processDeadlineAt, stage, keyVariant: stage });
    const choices = (skip: object) => [{ choice: 'retry' }, { choice: 'skip', ...skip }, { choice: 'keep' }];
    expect(of(during('compensating', record(NOW - 5_000)), incidentOf({ kind }))).toStrictEqual(choices({}));
    expect(of(during('compensating', record(NOW - 4_999)), incidentOf({ kind }))).toStrictEqual(
      choices({ notBefore: NOW + 1 }),
    );
    expect(of(during('compensating', record(NOW, 1)), incidentOf({ kind }), probed)).toStrictEqual(
      choices({ notBefore: NOW + 6_000 }),
    );
  });

  it('about an undo: nothing goes on beside accepted work before its time is over', () => {
    const work = { at: 0, untilAt: NOW + 9_000, askFrom: 0, everyMs: 1, seq: 1, asked: 0 };
    const failed = { mayHaveActed: true, processDeadlineAt: NOW - 9_000, accepted: work };
    const state = during('waiting', recordOf('it', 'compensation-failed', failed));
    const tolerated = planOf(agentStepOf('it', { tolerate: true }));
    expect(of(state, incidentOf({ kind: 'undo' }), tolerated)).toStrictEqual([
      { choice: 'retry' },
      { choice: 'skip' },
      { choice: 'continue', notBefore: NOW + 9_000 },
      { choice: 'keep' },
    ]);
  });

  it('about an undo: no retry of it once what has acted is left as it is, for nobody would perform it', () => {
    const cause = { kind: 'cancel', at: 1, failure: { code: 'c', message: 'm' }, undo: false } as const;
    const left = stateOf([recordOf('it', 'compensation-failed')], { status: 'compensating', cause });
    expect(of(left, incidentOf({ kind: 'undo' }))).toStrictEqual([{ choice: 'skip' }, { choice: 'keep' }]);
  });
});

describe('an answer is refused', () => {
  const why = (state: Snapshot, answer: Partial<Resolution> & Pick<Resolution, 'choice'>, now = NOW) =>
    resolutionProblem(plan, state, incidentOf(), { closedBy: 'answer', ...answer }, now);
  const sure = stateOf([waiting], { status: 'waiting' });
  const unsure = stateOf([{ ...waiting, ...acted }], { status: 'waiting' });
  const nothingHappened = true;
  it('that is not offered', () => {
    expect(why(sure, { choice: 'resume' })).toBe(
      "'resume' is not possible here; possible are: retry, retry-with-input, give-output, skip, undo-all, keep",
    );
  });

  it('where nothing is offered', () => {
    expect(why(stateOf([]), { choice: 'retry' })).toBe(
      "'retry' is not possible here; possible are: none, because the execution has gone another way",
    );
  });

  it('that needs the word of a person, and time', () => {
    const needs =
      'an attempt may have acted: \'skip\' needs "nothingHappened": true from a person who has checked';
    expect(why(unsure, { choice: 'skip' })).toBe(needs);
    expect(why(unsure, { choice: 'skip', nothingHappened: false })).toBe(needs);
    const at = timeText(NOW + 5_000);
    expect(why(unsure, { choice: 'skip', nothingHappened })).toBe(
      `an attempt may still act: 'skip' is possible from ${at}: check again then`,
    );
    expect(why(unsure, { choice: 'skip', nothingHappened }, NOW + 5_000)).toBeUndefined();
    expect(why(sure, { choice: 'skip' })).toBeUndefined();
  });

  it('that says too much or too little', () => {
    expect(why(sure, { choice: 'retry', input: 1 })).toBe("'retry' takes no input");
    expect(why(sure, { choice: 'retry', output: 1 })).toBe("'retry' takes no output");
    expect(why(sure, { choice: 'retry-with-input' })).toBe("'retry-with-input' needs an input");
    expect(why(sure, { choice: 'give-output' })).toBe("'give-output' needs an output");
    expect(why(sure, { choice: 'retry-with-input', input: 1 })).toBeUndefined();
    expect(why(sure, { choice: 'give-output', output: null })).toBeUndefined();
    expect(why(sure, { choice: 'retry' })).toBeUndefined();
  });
});

it('each choice by which the execution goes on is an act of the person who made it; a choice that ends it is not', () => {
  expect(CHOICES.filter((choice) => deedOf(choice) === undefined)).toEqual(['undo-all', 'keep']);
});
