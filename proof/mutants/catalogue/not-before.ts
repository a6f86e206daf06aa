/** Mutants of the reasons for beginning work only after a time. */

import { jest, type Mutant } from '../mutant.ts';

const file = 'lib/core/step/defer.ts';

export const NOT_BEFORE: readonly Mutant[] = [
  {
    id: 'paused-work-comes-at-once',
    rule: 'work that waited for a service comes back spread over time',
    bug: 'All work of a paused agent comes back at once.',
    file,
    find: 'paused: { isPassed: false, isSpread: true }',
    replace: 'paused: { isPassed: false, isSpread: false }',
    killer: jest('core/step/breaker', 'waits until the hold is over, and then not all of it comes at once'),
  },
  {
    id: 'rate-is-passed',
    rule: 'a late message passes no reason that it cannot refute',
    bug: 'A message that comes late is taken beside the rate of its agent.',
    file,
    find: 'rate: { isPassed: false,',
    replace: 'rate: { isPassed: true,',
    killer: jest('core/execution/deliver', 'that comes before its time to what is deferred as'),
  },
  {
    id: 'missing-agent-before-it-is-due',
    rule: 'an agent that is not deployed defers only what is due',
    bug: 'What waits for its backoff is deferred as of an agent that is not deployed.',
    file: 'lib/core/supervision/dispatch.ts',
    find: 'if (!isEarly) return',
    replace: 'if (!isEarly || event.fresh) return',
    killer: jest('core/supervision/supervise', 'is asked for when it is due, and not before'),
  },
  {
    id: 'pause-after-the-last-round',
    bug: 'The pause between rounds also follows the one that ends them.',
    rule: 'a pause follows each round that does not end them, and no other',
    file: 'lib/author/builder/pause-between.ts',
    find: 'return valueAt(output, path as readonly Json[]) ?? NOTHING;',
    replace: 'return NOTHING;',
    killer: jest('kit/rounds-with-pauses', 'take as many pauses as lie between them'),
  },
  {
    id: 'given-of-the-round-around',
    bug: 'Whether a pause follows is asked of a value that no round has.',
    rule: 'a pause follows each round that does not end them, and no other',
    file: 'lib/author/builder/pause-between.ts',
    find: "if ($ref === 'given') return { ...expr, $ref: 'input' };",
    replace: '',
    killer: jest('kit/rounds-with-pauses', 'reads what a round was given'),
  },
];
