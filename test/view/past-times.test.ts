/** A past instant is never shown as a future one, even if the writer's clock differs from the reader's. */

import { findingsOf } from '../../lib/api/findings.ts';
import { pastText } from '../../lib/core/values/text.ts';
import { situationText } from '../../lib/explain/situation.ts';
import { agentsText, situationLines } from '../../lib/view/deployment.ts';

const NOW = Date.UTC(2026, 10, 30, 17, 30);
const MIN = 60_000;
const DAY = 1_440 * MIN;

test.each([
  ['of a right clock', NOW - 3 * MIN, NOW, 0, '2026-11-30 17:27:00Z (3 min)'],
  ['of a clock some ms ahead', NOW + 900, NOW, 0, '2026-11-30 17:30:00Z (0 ms)'],
  [
    'of one a day ahead, read by a right one',
    NOW + DAY,
    NOW,
    0,
    '2026-11-30 17:30:00Z at the latest, written by a clock that was 1 d ahead',
  ],
  [
    'of one that is a day ahead still',
    NOW + DAY - 3 * MIN,
    NOW + DAY,
    DAY,
    '2026-11-30 17:27:00Z (3 min, by a clock that is 1 d ahead)',
  ],
  ['of before it was ahead', NOW - MIN, NOW + DAY, DAY, '2026-11-30 17:29:00Z (1 d)'],
])('%s', (_, at, now, aheadMs, text) => expect(pastText(at, now, aheadMs)).toBe(text));

it('on a server whose clock was set back a day, failures of a minute ago are shown as such', () => {
  const [now, failedAt] = [NOW + DAY, NOW + DAY - MIN];
  const failure = { code: 'Error', message: '503' };
  const breaker = { status: 'open', since: failedAt } as const;
  const findings = findingsOf({
    now,
    clockAheadMs: DAY,
    missing: new Map(),
    breakers: [{ agent: 'charge', breaker, failure, failingSince: failedAt }],
    atRisk: { items: [] },
    lost: new Map([['reserve', { attempts: 3, since: failedAt, at: failedAt }]]),
  });
  const says = [situationText(findings, now), ...situationLines({ status: 'degraded', findings }, now)];
  for (const text of says) {
    expect(text).toContain('since 2026-11-30 17:29:00Z (1 min, by a clock that is 1 d ahead)');
    expect(text).not.toContain('2026-12-01');
  }
  const lost = { attempts: 3, since: failedAt, at: failedAt };
  const missing = [{ name: 'gone', waiting: 2, since: failedAt, planned: 0 }];
  const items = [
    { name: 'reserve', effect: 'none', workflows: [], breaker: { status: 'closed' }, lost },
  ] as const;
  const shown = agentsText({ items, missing, examined: 1, clockAheadMs: DAY }, now);
  expect(shown.match(/2026-11-30 17:29:00Z/g)).toHaveLength(2);
  expect(shown).not.toContain('2026-12-01');
});
