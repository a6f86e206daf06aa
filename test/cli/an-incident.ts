/** API answers for tests: an execution that waits for a person, and its incident. */

export const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
export const open = {
  executionId: 'e1',
  workflow: 'order',
  status: 'waiting',
  startedAt: AT,
  plan: 'p1',
  deadlineAt: AT + 900_000,
  input: {},
  incidents: [],
  steps: [],
};

export const incident = {
  executionId: 'e1',
  number: 2,
  kind: 'recovery',
  step: 'charge',
  failure: { code: 'PermanentError', message: 'declined' },
  openedAt: AT,
  deadlineAt: AT + 3_600_000,
  otherwise: 'undo-all',
  reminders: 0,
};
