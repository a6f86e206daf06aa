/**
 * Mutants of people's commands: bulk actions, repeated commands, pauses. The simulation finds them within
 * 20,000 executions, or a unit test does.
 */

import { jest, type Mutant, simulated } from '../mutant.ts';

export const ORDERS: readonly Mutant[] = [
  {
    id: 'bulk-means-what-came-later',
    bug: 'A bulk retry means what has failed within a minute after it was made, too.',
    file: 'lib/scheduler/bulk-page.ts',
    find: '{ ...asked, asOf: createdAt });',
    replace: '{ ...asked, asOf: createdAt + 60_000 });',
    killer: simulated(),
  },
  {
    id: 'bulk-answers-what-was-asked-since',
    bug: 'A bulk approval answers the question that a retry has asked since the bulk action was made.',
    file: 'lib/scheduler/bulk-page.ts',
    find: "?? '', answer, by, createdAt);",
    replace: "?? '', answer, by);",
    killer: jest('scheduler/bulk-answers', 'are no answer to what a retry has asked since'),
  },
  {
    id: 'answer-of-another-question',
    bug: 'The answer to one question of an execution is given to its first that is open.',
    file: 'lib/scheduler/incidents.ts',
    find: '      incident: number,\n      answer,\n',
    replace:
      '      incident: Object.values(state.questions ?? {}).flatMap((one) => "number" in one && one.closedAt === undefined ? [one.number] : [])[0] ?? number,\n      answer,\n',
    killer: jest('scheduler/incidents', 'answers the question that is named, and no other'),
  },
  {
    id: 'bulk-obeyed-by-each-try',
    bug: 'A page that is done again, after its process died, gives its commands new ids.',
    file: 'lib/scheduler/bulk-page.ts',
    find: 'const asked = { commandId: commandIdOf(id, executionId),',
    replace: 'const asked = { commandId: `${commandIdOf(id, executionId)}.${scheduler.ports.random.id()}`,',
    killer: simulated(),
  },
  {
    id: 'bulk-before-it-is-confirmed',
    bug: 'A bulk action begins before the write that confirms it.',
    file: 'lib/scheduler/bulks.ts',
    find: "    if ((await bulks.write({ bulk: confirmed })) === 'written') return begun(scheduler, confirmed);\n",
    replace:
      "    await begun(scheduler, confirmed);\n    if ((await bulks.write({ bulk: confirmed })) === 'written') return confirmed;\n",
    also: [
      {
        file: 'lib/scheduler/bulk-page.ts',
        find: 'if (bulk?.confirmedAt === undefined || page === undefined)',
        replace: 'if (bulk === undefined || page === undefined)',
      },
    ],
    killer: simulated(),
  },
  {
    id: 'bulk-page-counted-twice',
    bug: 'A page that was counted is acted on and counted once more.',
    file: 'lib/scheduler/bulk-page.ts',
    find: '    known ?? (await counted(',
    replace: '    (await counted(',
    also: [
      {
        file: 'lib/scheduler/bulk-page.ts',
        find: 'version: 1, writeId: ports.random.id(), goneAt };',
        replace:
          'version: ((await bulks.readResult(bulk, page))?.version ?? 0) + 1, writeId: ports.random.id(), goneAt };',
      },
    ],
    killer: simulated(),
  },
  {
    id: 'nothing-to-do-is-forgotten',
    bug: 'A pause of what is paused is not remembered, and pauses once more when it is repeated after the resume.',
    file: 'lib/core/operators/obey.ts',
    find: '  const commands = remembering(execution, command);\n  if (commands === execution.commands) return nothing();\n',
    replace:
      '  const commands = remembering(execution, command);\n  if (commands !== undefined) return nothing();\n',
    killer: simulated(),
  },
  {
    id: 'refusal-written-to-the-end',
    bug: 'A refused command is written to what has ended, which its parent then knows no more.',
    file: 'lib/scheduler/commands.ts',
    find: '    if (problem !== undefined) throw refusal(execution, command, problem);\n',
    replace:
      '    if (problem !== undefined && execution.endedAt !== undefined && commandId !== undefined) {\n      const { version, commands } = execution;\n      const told = { version: version + 1, writeId: ports.random.id(), commands: [...commands, commandId] };\n      await ports.store.write({ executionId, execution: { ...execution, ...told } });\n    }\n    if (problem !== undefined) throw refusal(execution, command, problem);\n',
    killer: simulated(),
  },
  {
    id: 'unread-pause-lets-through',
    bug: 'An agent whose pause cannot be read goes on.',
    file: 'lib/agent/breaker.ts',
    find: "> CLOSED_FRESH_MS) return 'unread';",
    replace: '> CLOSED_FRESH_MS) return {};',
    killer: simulated(),
  },
];
