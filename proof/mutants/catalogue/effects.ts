/**
 * Mutants of the order of effects in roles and engine: write, then send; report, then continue; only the
 * first writer acts.
 */

import { jest, type Mutant, simulation } from '../mutant.ts';

export const EFFECTS: readonly Mutant[] = [
  {
    id: 'send-before-write',
    bug: 'Messages are sent before the write that makes them true.',
    file: 'lib/engine/commit.ts',
    find: '  if (write !== undefined) {\n',
    replace:
      '  if (decision.sends.length > 0) await ports.queue.send(decision.sends);\n  if (write !== undefined) {\n',
    also: [
      {
        file: 'lib/engine/commit.ts',
        find: '  if (sends.length > 0) await ports.queue.send(sends);\n',
        replace: '',
      },
    ],
    killer: jest('supervisor/sweep', 'of the same thing twice at once sends it once'),
  },
  {
    id: 'record-before-object',
    bug: 'A record names a value beside the table that is not there yet.',
    file: 'lib/engine/values-apart.ts',
    find: '    await largeValues.put(key, json);\n    return ref;\n',
    replace: '    void largeValues.put(key, json).catch(() => undefined);\n    return ref;\n',
    killer: simulation(),
  },
  {
    id: 'announce-after-write',
    bug: 'An end is announced after the write that takes its wake time away.',
    file: 'lib/engine/commit.ts',
    find: '  if (decision.announce !== undefined) await ports.announcer.announce(decision.announce);\n',
    replace: '',
    also: [
      {
        file: 'lib/engine/commit.ts',
        find: '  const calling = callSupervisor(',
        replace:
          '  if (decision.announce !== undefined) await ports.announcer.announce(decision.announce);\n  const calling = callSupervisor(',
      },
    ],
    killer: simulation(),
  },
  {
    id: 'call-before-write',
    bug: 'A supervisor is called before the write that says so, by all who race for it.',
    file: 'lib/engine/wake-up.ts',
    find: "    if ((await wakeUps.write(wanted)) === 'conflict') return;\n    await wakeUps.call(wanted);\n",
    replace:
      "    await wakeUps.call(wanted);\n    if ((await wakeUps.write(wanted)) === 'conflict') return;\n",
    killer: jest('engine/wake-up', 'one does, and the others lose the write'),
  },
  {
    id: 'write-id-reused',
    bug: 'Two writes carry the same write id.',
    file: 'lib/engine/decision-inputs.ts',
    find: '  writeId: ports.random.id(),',
    replace: '  writeId: ports.random.id().slice(0, 4),',
    killer: simulation(),
  },
  {
    id: 'own-claim-not-recognised',
    bug: 'A claim whose answer was lost is not recognised by its token, and costs a lease.',
    file: 'lib/agent/message.ts',
    find: 'if (isLeased(mine) && tokens.has(mine.token)) {',
    replace: 'if (isLeased(mine) && tokens.size > 99) {',
    killer: jest('engine/faults', 'a write whose answer is lost'),
  },
  {
    id: 'acknowledged-while-running',
    bug: "A message is acknowledged while the author's code still runs, which then goes on in a thawed process.",
    file: 'lib/agent/reporting.ts',
    find: '  const { codeReturned } = await work;\n',
    replace: '  const { codeReturned } = report;\n',
    also: [
      { file: 'lib/agent/reporting.ts', find: '    if (!report.codeReturned) await work;\n', replace: '' },
    ],
    killer: simulation(),
  },
  {
    id: 'given-back-unreported',
    rule: 'The code of an attempt does not act after the deadline of its process.',
    bug: 'A process whose report could not be written is given back while the code of its author still runs.',
    file: 'lib/agent/reporting.ts',
    find: '    if (!report.codeReturned) await work;\n',
    replace: '',
    killer: jest('agent/late-and-large', 'keeps its process also where no report'),
  },
  {
    id: 'death-before-the-group-is-gone',
    bug: 'An attempt is said to be dead while what its process has started may still run.',
    file: 'lib/worker/attempt-process.ts',
    find: 'pid === undefined || (await endPrograms({ pid, mark }));',
    replace: 'pid === undefined || endPrograms({ pid, mark }) !== undefined;',
    killer: jest('e2e/attempt-process', 'is not said to be dead before all of it is gone'),
  },
  {
    id: 'evaluation-from-before-the-report',
    bug: 'An evaluation that has begun to read counts for a report that is written after that.',
    file: 'lib/agent/single-flight.ts',
    find: 'await flight.next.over;',
    replace: 'await flight.over;',
    killer: jest('agent/single-flight', 'become one after the one that is under way'),
  },
  {
    id: 'error-acknowledged',
    bug: 'A message whose handling failed is acknowledged.',
    file: 'lib/agent/handler.ts',
    find: "correlated(about));\n    return 'give-back';",
    replace: "correlated(about));\n    return 'handled';",
    killer: jest('aws/invocation', 'one that could not be handled comes again'),
  },
  {
    id: 'word-of-a-moment-later',
    bug: 'A person who has looked while an attempt could still act is believed, because it could not when the answer was decided on.',
    file: 'lib/scheduler/incidents.ts',
    find: 'const problem = resolutionProblem(plan, state, incident, answer, asOf);',
    replace: 'const problem = resolutionProblem(plan, state, incident, answer, ports.clock.now());',
    killer: jest('scheduler/word', 'takes no word for what could still happen when it was given'),
  },
  {
    id: 'refused-and-started',
    bug: 'A step fails over the input of an execution that somebody has started, and leaves it behind.',
    file: 'lib/engine/children.ts',
    find: "  if (existing !== 'written' && !isPlaceHolder(existing)) return undefined;\n",
    replace: '',
    killer: jest('engine/families', 'is left alone where somebody has started it'),
  },
];
