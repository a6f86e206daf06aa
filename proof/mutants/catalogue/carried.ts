/** Mutants of carrying on and of functions that host several agents: one for each sentence of their rules. */

import { jest, type Killer, type Mutant } from '../mutant.ts';

const KEPT = 'lib/agent/kept-message.ts';
const carryOn = (test: string): Killer => jest('agent/carry-on', test);

export const CARRIED: readonly Mutant[] = [
  {
    id: 'kept-without-report',
    rule: 'A message is kept only after the report that it follows from was written, and answered so.',
    bug: 'A message is kept although it is not known whether the report was written in time.',
    file: 'lib/agent/reporting.ts',
    find: 'const own = onTime ? (kept?.behind(ports, claim.state.execution.id) ?? ports) : ports;',
    replace: 'const own = kept?.behind(ports, claim.state.execution.id) ?? ports;',
    killer: carryOn('whose write got no clear answer'),
  },
  {
    id: 'kept-and-sent',
    rule: 'A kept message leaves by exactly one way.',
    bug: 'An evaluation that is made again sends what is kept already.',
    file: KEPT,
    find: '!this.#isKept(one) && ',
    replace: '',
    killer: carryOn('keeps one of several messages, after the others have left'),
  },
  {
    id: 'kept-and-lost',
    rule: 'A kept message that cannot be handled is sent.',
    bug: 'A kept message is lost when its handling throws.',
    file: 'lib/agent/carry-on.ts',
    find: '      noteFailure(ports, send, error);\n    }\n',
    replace: '      return noteFailure(ports, send, error);\n    }\n',
    killer: carryOn('sends what it kept if it cannot be handled here'),
  },
  {
    id: 'kept-of-another',
    rule: 'Only a message of the execution just reported is kept.',
    bug: 'A process keeps a message of another execution, which waits for all that it does meanwhile.',
    file: KEPT,
    find: '      message.execution === executionId &&\n',
    replace: '',
    killer: carryOn('sends the work of other executions, and anything but a first attempt to execute'),
  },
  {
    id: 'run-without-end',
    rule: 'After its time a process keeps nothing more.',
    bug: 'A process carries one execution on without a bound in time.',
    file: KEPT,
    find: '      this.#beganWithMs - this.#leftMs() < mostMs &&\n',
    replace: '',
    killer: carryOn('carries on for'),
  },
  {
    id: 'one-rate-for-all',
    rule: 'Each agent of a function has its own worker.',
    bug: 'The rate of one agent binds all agents of its function.',
    file: 'lib/agent/host-handler.ts',
    find: 'const rate = this.#settings.rates[name];',
    replace: 'const [rate] = Object.values(this.#settings.rates);',
    killer: jest('agent/host-handler', 'gives each agent a worker of its own'),
  },
  {
    id: 'cut-short-here',
    rule: 'An attempt begins here only if its lease does not end with this process.',
    bug: 'A process with too little time for the lease claims the step, and its successor waits for its end.',
    file: 'lib/core/execution/on-message.ts',
    find: 'Math.max(step.timeoutMs + KEPT_SPARE_MS, shortestMs(step))',
    replace: 'step.timeoutMs + KEPT_SPARE_MS',
    killer: jest('agent/carry-on-time', 'would cut its lease short'),
  },
  {
    id: 'kept-from-a-batch',
    rule: 'Nothing is kept out of a batch of several messages.',
    bug: 'A message of a batch carries its execution on, and delays the acknowledgement of the others.',
    file: 'lib/agent/host-handler.ts',
    find: 'const isAlone = event.Records.length === 1;',
    replace: 'const isAlone = event.Records.length >= 1;',
    killer: jest('agent/host-handler', 'each is alone'),
  },
  {
    id: 'queue-by-its-end',
    rule: 'A message belongs to the agent whose queue it comes from.',
    bug: "An agent gets the messages of another whose name ends like its own ('ship' those of 'airship').",
    file: 'lib/agent/host-handler.ts',
    find: 'queue === `${prefix}${name}`',
    replace: 'queue.endsWith(name)',
    killer: jest('agent/host-handler', 'gives back the messages of an agent that does not load'),
  },
];
