/** A supervisor that is called where none would look in time, and its promise. */

import { jest, type Mutant } from '../mutant.ts';

const WAKE_UP = 'lib/engine/wake-up.ts';
const PRESENCE = 'lib/supervisor/stay.ts';

export const PRESENCES: readonly Mutant[] = [
  {
    id: 'called-calls-another',
    from: 'own',
    bug: 'A supervisor that was called calls the next.',
    file: WAKE_UP,
    find: 'if (ports.wakeUps === undefined) return ports;',
    replace: 'if (ports.wakeUps !== undefined) return ports;',
    killer: jest('engine/wake-up', 'calls nobody, whatever it starts itself'),
  },
  {
    id: 'presence-ignored',
    from: 'own',
    bug: 'A supervisor is called although one is present.',
    file: WAKE_UP,
    find: 'stored !== undefined && stored.untilAt > now',
    replace: 'stored !== undefined && stored.untilAt > Number.MAX_VALUE',
    killer: jest('engine/wake-up', 'nobody is called, and a process asks once'),
  },
  {
    id: 'presence-forgotten',
    from: 'own',
    bug: 'A process asks at every start whether a supervisor is present.',
    file: WAKE_UP,
    find: '      known.untilAt = stored.untilAt;\n',
    replace: '',
    killer: jest('engine/wake-up', 'nobody is called, and a process asks once'),
  },
  {
    id: 'all-call',
    from: 'own',
    bug: 'Who loses the write of the presence calls all the same.',
    file: WAKE_UP,
    find: "if ((await wakeUps.write(wanted)) === 'conflict') return;",
    replace: 'await wakeUps.write(wanted);',
    killer: jest('engine/wake-up', 'one does, and the others lose the write'),
  },
  {
    id: 'any-write-calls',
    from: 'own',
    bug: 'A supervisor is called also for a wake time that was written before.',
    file: 'lib/core/supervision/presence.ts',
    find: ' && wakeAt < (beforeAt ?? Number.POSITIVE_INFINITY)',
    replace: '',
    killer: jest('core/supervision/presence', 'one that stays as it was'),
  },
  {
    id: 'promise-broken',
    from: 'own',
    bug: 'A supervisor that was called goes home before its promise is over.',
    file: PRESENCE,
    find: 'if (!busy) return now < this.#mine.untilAt + INDEX_LAG_MS;',
    replace: 'if (!busy) return false;',
    killer: jest('supervisor/stay', 'not before it has looked once more'),
  },
  {
    id: 'called-stays-beside-a-tick',
    from: 'own',
    bug: 'A supervisor that was called stays although a tick has come.',
    file: PRESENCE,
    find: "(await this.renew(SWEEPS_A_PROMISE * sweepEveryMs)) !== 'lost'",
    replace: "(await this.renew(SWEEPS_A_PROMISE * sweepEveryMs)) !== 'unsure'",
    killer: jest('supervisor/stay', 'gives way to a tick that stays'),
  },
  {
    id: 'two-take-over',
    from: 'own',
    bug: 'An event that comes twice starts two supervisors.',
    file: PRESENCE,
    find: "=== 'lost' ? undefined : one;",
    replace: "=== 'unsure' ? undefined : one;",
    killer: jest('supervisor/stay', 'does nothing when another has taken its call over'),
  },
];
