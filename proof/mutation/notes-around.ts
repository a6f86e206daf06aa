/**
 * Survivors around the decision: executions of steps, dispatch, references, the external party, triggers,
 * plans, explanations. Owns: what was concluded. Does not own: the other survivors (`notes.ts`).
 */

import type { Note } from './notes.ts';

export const AROUND: readonly Note[] = [
  {
    file: 'lib/core/plan/refs.ts',
    at: 'return listOf(argument, scope).some((item) => item === true);',
    answer: 'test',
    said: '`or` of conditions none of which holds held.',
  },
  {
    file: 'lib/core/plan/refs.ts',
    at: 'if (keys.length !== Object.keys(right).length) return false;',
    answer: 'test',
    said: 'an object was the same as one with a key more.',
  },
  {
    file: 'lib/core/waiting/map.ts',
    at: "stage.kind === 'withInput' ? (evaluateExpression(stage.input, of) ?? null) : null",
    answer: 'equivalent',
    said: 'a stage without an input of its own has none to evaluate, which is null, too.',
  },
  {
    file: 'lib/core/waiting/map.ts',
    at: "if (step.kind === 'child' || step.concurrency === undefined)",
    answer: 'equivalent',
    said: 'a child step has no concurrency; the first half is for the compiler.',
  },
  {
    file: 'lib/core/plan/child-plans.ts',
    at: "const [, size, tolerated, before] = PART.exec(name ?? '') ?? [];",
    answer: 'equivalent',
    said: 'any text that names no part will do.',
  },
  {
    file: 'lib/core/execution/effective-state.ts',
    at: 'if (counted === undefined || counted === record) continue;',
    answer: 'equivalent',
    said: 'where there is no record both are undefined; the first half is for the compiler.',
  },
  {
    file: 'lib/core/execution/on-child.ts',
    at: 'if (endVersion !== undefined && isToGoOn(execution, endVersion))',
    answer: 'equivalent',
    said: 'no version is smaller than nothing.',
  },
  {
    file: 'lib/core/plan/refs.ts',
    at: 'if (left === undefined || right === undefined ||',
    answer: 'equivalent',
    said: 'what is undefined is no object, and was answered a line before.',
  },
  {
    file: 'lib/core/plan/refs.ts',
    at: "typeof source === 'string' ? source.split(':') : [];",
    answer: 'equivalent',
    said: 'what is no text points to nothing, whatever is taken for its kind.',
  },
  {
    file: 'lib/core/supervision/dispatch.ts',
    at: "const onlySelf = event.affected !== 'all' &&",
    answer: 'equivalent',
    said: 'the word is not empty, so the second half says the same; the first is for the compiler.',
  },
  {
    file: 'lib/core/supervision/dispatch.ts',
    at: 'if (known === undefined || !wasSentSinceDeferred(piece, known)) return undefined;',
    answer: 'equivalent',
    said: 'the function asks the same; the first half is for the compiler.',
  },
  {
    file: 'lib/core/supervision/dispatch.ts',
    at: '(overdue ? [piece.step.name] : [])',
    answer: 'equivalent',
    said: 'no step has the name that is put there.',
  },
  {
    file: 'lib/core/waiting/map.ts',
    at: 'if (parts.length >= MAX_PARTS)',
    answer: 'open',
    said: 'a list of more than a thousand parts has 100 MB of text, which takes seconds to count.',
  },
  {
    file: 'lib/core/values/duration.ts',
    at: "if (typeof until === 'string')",
    answer: 'test',
    said: 'a list with a date in it was a time.',
  },
  {
    file: 'lib/core/values/duration.ts',
    at: "return typeof until === 'number' && Number.isFinite(until) && until >= EARLIEST_TIME ?",
    answer: 'equivalent',
    said: 'what is no number is not finite; the first half is for the compiler.',
  },
  {
    file: 'lib/core/supervision/dispatch.ts',
    at: 'else if (one.overdue) later[workKey(one.piece)] = admission.laterAt;',
    answer: 'test',
    said: 'what is sent for the first time, and not yet overdue, was deferred beyond its own time.',
  },
  {
    file: 'lib/explain/why.ts',
    at: "ofSteps.find(({ who }) => who === 'child')",
    answer: 'test',
    said: 'what a step that is done waits for was called the next thing.',
  },
  {
    file: 'lib/core/plan/child-plans.ts',
    at: "else if (step?.kind === 'map') {",
    answer: 'test',
    said: 'the name of a part of an agent’s step was the name of a plan.',
  },
  {
    file: 'lib/explain/why.ts',
    at: "'${lastPoint(plan, state)?.name}'",
    answer: 'equivalent',
    said: 'a failure waits for a point of no return, so there is one.',
  },
  {
    file: 'lib/explain/deferred.ts',
    at: "step.kind === 'agent' ? agentFor(step, record, deferred).agent : step.name;",
    answer: 'equivalent',
    said: 'only what an agent performs is held back.',
  },
  {
    file: 'lib/explain/why.ts',
    at: '(graphOf(plan).dependents.get(step.name) ?? [])',
    answer: 'equivalent',
    said: 'the graph has every step of the plan.',
  },
  {
    file: 'lib/explain/why.ts',
    at: '    affected: [],',
    answer: 'equivalent',
    said: 'of a look that ends in no write nothing is told, whatever it concerns.',
  },
  {
    file: 'lib/explain/why.ts',
    at: "    writeId: 'why',",
    answer: 'equivalent',
    said: 'nothing is written.',
  },
  {
    file: 'lib/explain/past.ts',
    at: 'if (closedAt === undefined || closedBy === undefined) return asked;',
    answer: 'equivalent',
    said: 'what is resolved says by whom.',
  },
  {
    file: 'lib/core/plan/agent.ts',
    at: "ms('maxNoProgress', '1m')",
    answer: 'equivalent',
    said: 'it is asked for only where it is given.',
  },
  {
    file: 'lib/core/plan/agent.ts',
    at: 'spec.maxNoProgressMs !== undefined && spec.maxNoProgressMs < 1_000',
    answer: 'equivalent',
    said: 'nothing is not smaller than a second.',
  },
  {
    file: 'lib/core/plan/plan.ts',
    at: 'if (known !== undefined) return known.has(name);',
    answer: 'equivalent',
    said: 'what was found once is found again.',
  },
  {
    file: 'lib/core/plan/plan.ts',
    at: 'const queue = [...(graph.step.get(other)?.after ?? [])];',
    answer: 'equivalent',
    said: 'no step has the name that is put there.',
  },
  {
    file: 'lib/core/plan/plan.ts',
    at: 'queue.push(...(graph.step.get(next)?.after ?? []));',
    answer: 'equivalent',
    said: 'likewise.',
  },
];
