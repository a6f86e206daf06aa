/** Survivors that somebody has looked at. Owns: what was concluded. Does not own: the counts. */

export interface Note {
  readonly file: string;
  /** A piece of the line. */
  readonly at: string;
  /** 'test': a test notices it now. 'equivalent': nobody could. 'open': somebody could. */
  readonly answer: 'test' | 'equivalent' | 'open';
  readonly said: string;
}

export const NOTES: readonly Note[] = [
  {
    file: 'lib/core/attempts.ts',
    at: 'record.token !== token) return',
    answer: 'test',
    said: 'a beat under a token of the past renewed the lease. Properties see it in all their runs, not in a hundred.',
  },
  {
    file: 'lib/core/attempts.ts',
    at: "...(work.mode === 'execute' ? { anew: undefined } : {}),",
    answer: 'test',
    said: 'what a retry of the execution has begun anew was forgotten by a probe, or remembered by the next attempt.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'piece.step.agent === event.agent &&',
    answer: 'test',
    said: 'a message in another agent’s queue was claimed there.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'if (work.dueAt - event.now <= EARLY_MS)',
    answer: 'test',
    said: 'a message that is five seconds early was dropped instead of kept.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'if (event.hardEndAt - event.now < MIN_REMAINING_MS)',
    answer: 'test',
    said: 'a process with exactly the time that an attempt needs gave its message back.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'return dependents.every(',
    answer: 'test',
    said: 'the second read (C1) was spared although one of two dependents waits for another step, too.',
  },
  {
    file: 'lib/core/decide.ts',
    at: "if (step.status !== 'done' || state.execution.status !== 'running') return false;",
    answer: 'test',
    said: 'the second read was spared after a failure, or while a person is asked.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'const isLate = isOpenToLateMessages(work) && work.dueAt > event.now;',
    answer: 'test',
    said: 'each claim of what was once held back wrote the execution, too.',
  },
  {
    file: 'lib/core/decide.ts',
    at: '...(answered.incident === undefined ? {} : { incident: answered.incident }),',
    answer: 'test',
    said: 'a late success left the person’s question open.',
  },
  {
    file: 'lib/core/reports.ts',
    at: "if (next.kind === 'person') return stepAfter(record, 'ask', stamp, settled);",
    answer: 'test',
    said: 'a probe that finds nothing on the last rung before a person failed the step; nobody was asked.',
  },
  {
    file: 'lib/core/watch.ts',
    at: "if (rung.kind === 'useAgent') ms =",
    answer: 'test',
    said: 'H left out the agents that a ladder may come to: a shorter lease of theirs was looked at late.',
  },
  {
    file: 'lib/core/watch.ts',
    at: "const lastAt = leaseEndsAt(step.mode === 'probe' ?",
    answer: 'test',
    said: 'after an outage a lease lasted beyond the life of its process.',
  },
  {
    file: 'lib/core/watch.ts',
    at: 'const isQuiet = stepToHold(plan, snapshot) === undefined && !records.some(isHeld);',
    answer: 'test',
    said: 'a pause in which one still works was watched as if all were held.',
  },
  {
    file: 'lib/core/watch.ts',
    at: 'allEnded(children) || (children.started < children.count',
    answer: 'test',
    said: 'a list with room for another part was looked at only at its deadline.',
  },
  {
    file: 'lib/core/watch.ts',
    at: "snapshot.execution.status === 'pausing' ||",
    answer: 'test',
    said: 'a pause that is not complete was left alone while a person is asked about something else.',
  },
  {
    file: 'lib/core/watch.ts',
    at: 'work.some((piece) => piece.dueAt <= readAt)',
    answer: 'equivalent',
    said: 'left out, the same instant comes from the smallest `dueAt`, which is never taken from before the read.',
  },
  {
    file: 'lib/core/watch.ts',
    at: 'if (dispatch !== undefined && wasSentSinceParked(work, dispatch))',
    answer: 'equivalent',
    said: 'the function asks the same; the first half is for the compiler.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'const isUnwatched = execution.watchAt !== undefined &&',
    answer: 'equivalent',
    said: 'what is undefined is greater than nothing.',
  },
  {
    file: 'lib/core/decide.ts',
    at: 'planStep === undefined || isTerminal(state.execution.status)',
    answer: 'equivalent',
    said: 'a step that the plan does not know has no record, and a report about no record is refused.',
  },
  {
    file: 'lib/core/reports.ts',
    at: "{ kind: 'unknown', failure: LEASE_LOST, settled: false }",
    answer: 'equivalent',
    said: 'of a probe whose lease ended only the failure is read.',
  },
  {
    file: 'lib/core/decide.ts',
    at: "parkedBy(work, 'breaker', event.now, hold), retryAt, true, event)",
    answer: 'test',
    said: 'a message that was taken up and held back did not answer those that were sent before it. The test is newer than the table.',
  },
  {
    file: 'lib/core/refs.ts',
    at: 'return listOf(argument, scope).some((item) => item === true);',
    answer: 'test',
    said: '`or` of conditions none of which holds held.',
  },
  {
    file: 'lib/core/refs.ts',
    at: 'if (keys.length !== Object.keys(right).length) return false;',
    answer: 'test',
    said: 'an object was the same as one with a key more.',
  },
  {
    file: 'lib/core/refs.ts',
    at: "return kind === 'token' ? scope.token?.(step) : undefined;",
    answer: 'test',
    said: 'a callback’s token was nothing where an expression reads it.',
  },
  {
    file: 'lib/core/children.ts',
    at: "rung.kind === 'withInput' ? (evaluate(rung.input, of) ?? null) : null",
    answer: 'equivalent',
    said: 'a rung without an input of its own has none to evaluate, which is null, too.',
  },
  {
    file: 'lib/core/children.ts',
    at: "if (step.kind === 'child' || step.concurrency === undefined)",
    answer: 'equivalent',
    said: 'a child step has no concurrency; the first half is for the compiler.',
  },
  {
    file: 'lib/core/child-plans.ts',
    at: "const part = PART.exec(way[at] ?? '');",
    answer: 'equivalent',
    said: 'any text that names no part will do.',
  },
  {
    file: 'lib/core/counted.ts',
    at: 'if (counted === undefined || counted === record) continue;',
    answer: 'equivalent',
    said: 'where there is no record both are undefined; the first half is for the compiler.',
  },
  {
    file: 'lib/core/decide-children.ts',
    at: '...(started.children === undefined ?',
    answer: 'equivalent',
    said: 'what was started has children.',
  },
  {
    file: 'lib/core/decide-children.ts',
    at: 'if (heard !== undefined && isToGoOn(execution, heard))',
    answer: 'equivalent',
    said: 'no version is smaller than nothing.',
  },
  {
    file: 'lib/core/refs.ts',
    at: 'if (left === undefined || right === undefined ||',
    answer: 'equivalent',
    said: 'what is undefined is no object, and was answered a line before.',
  },
  {
    file: 'lib/core/refs.ts',
    at: "typeof source === 'string' ? source.split(':') : [];",
    answer: 'equivalent',
    said: 'what is no text points to nothing, whatever is taken for its kind.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: "const onlySelf = event.concern !== 'all' &&",
    answer: 'equivalent',
    said: 'the word is not empty, so the second half says the same; the first is for the compiler.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: 'if (known === undefined || !wasSentSinceParked(piece, known)) return undefined;',
    answer: 'equivalent',
    said: 'the function asks the same; the first half is for the compiler.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: 'const hold = gates[piece.step.agent]?.hold;',
    answer: 'equivalent',
    said: 'an agent without a gate was asked for before.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: '(overdue ? [piece.step.name] : [])',
    answer: 'equivalent',
    said: 'no step has the name that is put there.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: '...(graceFrom === undefined ? {} : { graceFrom })',
    answer: 'equivalent',
    said: 'it is only read.',
  },
  {
    file: 'lib/core/children.ts',
    at: 'if (parts.length >= MAX_PARTS)',
    answer: 'open',
    said: 'a list of more than a thousand parts has 100 MB of text, which takes seconds to count.',
  },
  {
    file: 'lib/core/outside.ts',
    at: "typeof until === 'string' && ISO.test(until) ?",
    answer: 'test',
    said: 'a list with a date in it was a time.',
  },
  {
    file: 'lib/core/outside.ts',
    at: "return typeof at === 'number' && Number.isFinite(at) ? at : undefined;",
    answer: 'equivalent',
    said: 'what is no number is not finite; the first half is for the compiler.',
  },
  {
    file: 'lib/core/trigger.ts',
    at: "value !== null && value !== ''",
    answer: 'equivalent',
    said: 'null is an object, too, and refused as one.',
  },
  {
    file: 'lib/core/dispatch.ts',
    at: 'else if (one.overdue) later[workKey(one.piece)] = gate.laterAt;',
    answer: 'test',
    said: 'what is sent for the first time, and not yet overdue, was put off beyond its own time.',
  },
];
