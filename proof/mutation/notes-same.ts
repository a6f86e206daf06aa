/** Survivors in the rules and records of the core that change nothing. Owns: what was concluded of each. */

import type { Note } from './notes.ts';

const same = (file: string, at: string, said: string): Note => ({
  file: `lib/core/${file}.ts`,
  at,
  answer: 'equivalent',
  said,
});

export const SAME: readonly Note[] = [
  same(
    'step/ready',
    "record?.status === 'answered' || record?.status === 'waiting'",
    'where there is no record the step has not begun, which is asked first; the rest is for the compiler.',
  ),
  same(
    'holds/pause',
    'const pauses = [...(execution.pauses ?? []).slice(0, -1)',
    'there is a pause under way by then; the other half is for the compiler.',
  ),
  same(
    'decisions/change',
    '...(execution.pauses ?? []).slice(0, -1)',
    'there is a last pause by then; the other half is for the compiler.',
  ),
  same(
    'operators/resolution',
    'if (!decides || step === undefined)',
    'the question about no step was answered before; the second half is for the compiler.',
  ),
  same(
    'operators/resolution',
    "return state.steps[step ?? '']?.status !== expects",
    'no step has an empty name, nor that one.',
  ),
  same(
    'operators/obey',
    "const name = lastPoint(plan, state)?.name ?? '';",
    'it is said only where such a point was found; the rest is for the compiler.',
  ),
  same('operators/obey', "case 'free':", 'nothing is what a function without an end answers, too.'),
  same(
    'operators/obey',
    'execution: { ...(write?.execution ?? before)',
    'every command writes its execution; the rest is for the compiler.',
  ),
  same(
    'questions/incident',
    'known.stepVersion === record?.version',
    'there is a record by then; the question mark is for the compiler.',
  ),
  same(
    'questions/choices',
    "const step = agentStep(plan, incident.step ?? '');",
    'no step has an empty name, nor that one.',
  ),
  same('questions/choices', "const record = state.steps[incident.step ?? ''];", 'likewise.'),
  same(
    'questions/choices',
    'if (match.notBefore !== undefined && match.notBefore > asOf)',
    'a choice says a time only where that is later than now.',
  ),
  same(
    'questions/deadline',
    "const point = lastPoint(plan, state)?.name ?? '';",
    'the question is asked only where such a point was found; the rest is for the compiler.',
  ),
  same(
    'questions/deadline',
    'const hangs = step !== undefined &&',
    'of a step without a name there is no record, and what is no record does not hang.',
  ),
  same(
    'questions/deadline',
    "const record = state.steps[incident.step ?? ''];",
    'no step has an empty name, nor that one.',
  ),
  same(
    'step/defer',
    'record !== undefined && overdueAt(record, state.execution) <= event.now;',
    'who is asked has a record; the first half is for the compiler.',
  ),
  same(
    'step/defer',
    'if (!Object.values(state.steps).some(isOverdue)) return undefined;',
    'it spares most looks the list of all work, which would find the same.',
  ),
  same('operators/retry', "step.kind === 'agent' &&", 'of what no agent performs no attempt may have acted.'),
  same(
    'step/breaker',
    "cooldowns: 0,\n  writeId: ''",
    'the write id of no record is replaced by that of the first one.',
  ),
  same(
    'step/breaker',
    'const flapping = before.closedAt !== undefined &&',
    'since nothing no time has passed that is less than any other.',
  ),
  same(
    'step/breaker',
    'if ((code !== undefined && OURS.has(code)) || report.interrupted === true)',
    'nothing is in no set; the first half is for the compiler.',
  ),
  same(
    'step/breaker',
    "if (report.kind !== 'found' ||",
    'no other report has a verdict; the first half is for the compiler.',
  ),
  same(
    'step/recovery',
    'if (number === 0) return step;',
    'the first variant is the step itself: it spares the table of variants.',
  ),
  same(
    'step/recovery',
    "if (current !== undefined && current.kind !== 'human' &&",
    'a person has no number of attempts, and nothing is less than that; it is for the compiler.',
  ),
  same(
    'execution/child-rules',
    'const below = all.length > MAX_STOPS ?',
    'where there are no more, there is none behind the last, and the answer is the same.',
  ),
  same('decisions/message', '} catch {', 'what could not be read is nothing, which is no message either.'),
  same(
    'decisions/message',
    "if (typeof value !== 'object' || value === null) return undefined;",
    'of a number or a text all fields are missing.',
  ),
  same('decisions/message', "typeof step === 'string' &&", 'a name is asked for its type, too.'),
  same(
    'decisions/change',
    'const gone = names.filter((name) => given[name] === undefined);',
    'what is taken away is put there again: only the order of the fields differs.',
  ),
  same(
    'decisions/change',
    'if (record.deferred !== undefined && changes.deferred === undefined)',
    'likewise, and what is not there cannot be taken away.',
  ),
  same(
    'decisions/change',
    'if (!Object.values(changes).includes(undefined)) return next as Execution;',
    'it spares most writes a second copy.',
  ),
  same('plan/outcomes', 'if (known === undefined) {', 'it spares the next call the same answer.'),
  same(
    'plan/outcomes',
    'new Set(plan.steps.flatMap(({ when }) => (when === undefined ? [] : stepsIn(when))))',
    'no step has such a name, and in what is not there no step is named.',
  ),
  same(
    'execution/tolerate',
    'state.execution.cause?.at ?? 0',
    'a stop has a cause; the rest is for the compiler.',
  ),
  same(
    'execution/tolerate',
    "state.execution.status !== 'compensating'",
    'what leaves things as they are and performs nothing is such a stop, or over.',
  ),
  same('execution/tolerate', "case 'compensation-failed':", 'the other half has the answer of both.'),
  same('execution/tolerate', 'default:', 'nothing is what a function without an end answers, too.'),
  same(
    'execution/tolerate',
    "step.kind === 'agent' && attemptedVariant(step, record)",
    'what is no agent’s has no effect of its own, and acts by its executions alone.',
  ),
];
