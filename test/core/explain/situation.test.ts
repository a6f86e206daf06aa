/** What is said of a deployment whose storage keeps no write: before all else, in one sentence. */

import { type Finding, situationText, verdictOf, worstFirst } from '../../../lib/core/explain/situation.ts';

const AT = Date.UTC(2026, 6, 1, 9, 30);

it('a storage that keeps no write comes first, and is down', () => {
  const failure = { code: 'DiskFull', message: 'the disk is full' };
  const storage: Finding = { kind: 'storage', since: AT, failure };
  const findings = worstFirst([{ kind: 'overdue', since: AT }, storage, { kind: 'at-risk' }]);
  expect(findings[0]).toBe(storage);
  expect(verdictOf([storage])).toBe('down');
  expect(situationText(findings, AT + 60_000)).toBe(
    'No write is kept since 2026-07-01 09:30:00Z (1 min) (DiskFull: the disk is full); mend that, and nothing else: executions go on by themselves with the next write. And 2 more.',
  );
});
